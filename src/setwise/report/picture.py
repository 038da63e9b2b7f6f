"""One picture per set: what it is, how sure that is, and what it looks like in the gallery."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from setwise._support.progress import Progress, reported
from setwise._support.text import distinct_file_names
from setwise._support.types import BoolArray
from setwise.classify.gallery import Gallery
from setwise.classify.judge import Answer
from setwise.errors import DataError, reject
from setwise.plots.labels import one_line
from setwise.plots.style import GREY, INK, LIGHT, OTHER, PALETTE
from setwise.report.answers import bars
from setwise.report.likeness import nearest_in_class, why_nothing_is_alike
from setwise.report.photos import choose, has_photos, noun_of, photo_name, pixels, time_span
from setwise.report.sheet import WIDTH, Sheet
from setwise.report.words import kind_of, sentence
from setwise.sets import SetBatch

__all__ = ["draw_answer", "draw_answers"]

# In inches: margin, photos, names and bars of classes, and the photos beside each other.
_LEFT, _PER_ROW, _GAP = 0.45, 12, 0.05
_TILE = (WIDTH - 2 * _LEFT + _GAP) / _PER_ROW
_NAMES, _BARS = 1.45, 2.4
_ALIKE, _PAIR = 5.3, 0.58
_MOST_ROWS, _MOST_PAIRS, _MOST_BARS = 3, 4, 6
_OUT = "#a83e22"
# Letters of a file name; of any script, these are fewer bytes than file systems allow.
_LONGEST_NAME = 60
_COLOURS = {"first": PALETTE[0], "second": PALETTE[1], "other": OTHER}


def draw_answers(
    folder: str | os.PathLike[str],
    gallery: Gallery,
    probes: SetBatch,
    answers: Sequence[Answer],
    *,
    progress: Progress | None = None,
) -> list[Path]:
    """Draw one picture per set into a folder, and say which: one file each, named after it.

    Parameters
    ----------
    folder : path
        Made if it is not there. Pictures that are there under the same names are replaced.
    gallery, probes, answers
        As for :func:`setwise.report.write_answers`.
    progress : callable, optional
        Called with ``"draw"``, the number of pictures done and of all.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from setwise import CVC, SetBatch
    >>> rng = np.random.default_rng(0)
    >>> stripes = np.add.outer(np.zeros(8), 60 * (np.arange(8) % 2))
    >>> def album(pattern):
    ...     return (pattern + rng.integers(0, 60, size=(6, 8, 8))).astype(np.uint8)
    >>> albums = [album(stripes.T if i % 2 else stripes) for i in range(7)]
    >>> photos = SetBatch.from_images(albums, list("abcdefg"))
    >>> clf = CVC(dims=(1, 2)).fit(photos[:6], ["upright", "level"] * 3)
    >>> answers = list(clf.judge(photos[6:]))
    >>> from setwise.report import draw_answers
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in draw_answers(folder, clf.gallery_, photos[6:], answers)]
    ['g.png']
    """
    if len(answers) != len(probes):
        reject(
            f"draw_answers: {len(answers)} answers for {len(probes)} sets. Expected one per "
            "set, in their order."
        )
    names = distinct_file_names(probes.names, _LONGEST_NAME)
    paths = [Path(folder) / f"{name}.png" for name in names]
    _make_folder(Path(folder))
    drawn = (
        draw_answer(path, gallery, probes, i, answer)
        for i, (path, answer) in enumerate(zip(paths, answers, strict=True))
    )
    return list(reported(drawn, len(paths), "draw", progress))


def draw_answer(
    path: str | os.PathLike[str], gallery: Gallery, probes: SetBatch, i: int, answer: Answer
) -> Path:
    """Draw one set and its answer; needs the extra ``plot``.

    Its photos, those out of place marked and named; how probable the answer, the runner-up
    and others are; the photos of the gallery that it is most like.

    Parameters
    ----------
    path : path
        Of the picture; the suffix says how (``.png``, ``.svg``, ``.pdf``).
    gallery : Gallery
        By which it was judged.
    probes : SetBatch
        The sets.
    i : int
        Which of them.
    answer : Answer
        What was said of it.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from setwise import CVC, SetBatch
    >>> rng = np.random.default_rng(0)
    >>> stripes = np.add.outer(np.zeros(8), 60 * (np.arange(8) % 2))
    >>> def album(pattern):
    ...     return (pattern + rng.integers(0, 60, size=(6, 8, 8))).astype(np.uint8)
    >>> albums = [album(stripes.T if i % 2 else stripes) for i in range(7)]
    >>> photos = SetBatch.from_images(albums, list("abcdefg"))
    >>> clf = CVC(dims=(1, 2)).fit(photos[:6], ["upright", "level"] * 3)
    >>> answers = list(clf.judge(photos[6:]))
    >>> from setwise.report import draw_answer
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = draw_answer(f"{folder}/g.png", clf.gallery_, photos[6:], 0, answers[0])
    ...     path.stat().st_size > 0
    True
    """
    file = Path(path)
    sheet = Sheet.empty()
    top = _draw_title(sheet, probes, i, answer)
    top = _draw_photos(sheet, top, probes, i, ~answer.is_typical)
    below_alike = _draw_alike(sheet, top, gallery, probes, i, answer)
    width = _BARS if below_alike > top else WIDTH - 2 * _LEFT - _NAMES - 0.5
    bottom = max(below_alike, _draw_bars(sheet, top, answer, width))
    _make_folder(file.parent)
    try:
        sheet.save(file, bottom + 0.1)
    except OSError as error:
        raise _unwritable(file, error) from error
    return file


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(folder, error) from error


def _unwritable(path: Path, error: OSError) -> DataError:
    return DataError(
        f"{path}: cannot be written: {error.strerror or error}. Expected a folder with room on "
        "its disk: make room, or name another folder, and run it again."
    )


def _draw_title(sheet: Sheet, probes: SetBatch, i: int, answer: Answer) -> float:
    """Name of the set, and the answer in words; like all that follow, it says where it ends."""
    n_vectors, noun = len(answer.is_typical), noun_of(probes)
    about = f"{n_vectors} {noun}{'' if n_vectors == 1 else 's'}"
    about = "  ·  ".join(part for part in (about, time_span(probes, i)) if part)
    sheet.write(_LEFT, 0.5, one_line(probes.names[i], 60), size=18, weight="bold")
    sheet.write(WIDTH - _LEFT, 0.5, about, color=GREY, ha="right")
    sheet.write(_LEFT, 0.86, one_line(sentence(answer), 110), size=11.5)
    return 1.1


def _draw_photos(
    sheet: Sheet, top: float, probes: SetBatch, i: int, is_out: BoolArray
) -> float:
    """The photos of the set, those out of place in a frame, and the names of these."""
    n_places = _PER_ROW * _MOST_ROWS if has_photos(probes) else 0
    shown = choose(is_out, n_places)
    for place, j in enumerate(map(int, shown)):
        row, column = divmod(place, _PER_ROW)
        corner = _LEFT + column * _TILE, top + row * _TILE
        frame = _OUT if is_out[j] else ""
        sheet.image(*corner, _TILE - _GAP, pixels(probes, i, j), frame)
        if is_out[j]:
            _name_on_photo(sheet, *corner, photo_name(probes, i, j))
    top += -(-len(shown) // _PER_ROW) * _TILE
    if is_out.any():
        names = [photo_name(probes, i, int(j)) for j in np.flatnonzero(is_out)]
        words = f"{len(names)} out of place: {', '.join(names)}"
        sheet.write(_LEFT, top + 0.15, one_line(words, 125), color=_OUT, size=9.5)
        top += 0.25
    return top + 0.35


def _name_on_photo(sheet: Sheet, x: float, y: float, name: str) -> None:
    side = _TILE - _GAP
    sheet.rectangle(x, y + side - 0.14, side, 0.14, _OUT)
    centre = {"ha": "center", "size": 6.5, "color": "white"}
    sheet.write(x + side / 2, y + side - 0.04, one_line(name, 15), **centre)


def _draw_bars(sheet: Sheet, top: float, answer: Answer, width: float) -> float:
    """How probable the answer and the runner-up are, and others, small and grey."""
    title = "How probable"
    if kind_of(answer) == "unknown":
        title += ", if it were of the gallery after all"
    sheet.write(_LEFT, top, title, weight="bold")
    top += 0.16
    shown = bars(answer, _MOST_BARS)
    for bar in shown:
        is_small = bar.kind == "other"
        height, size = (0.11, 8.0) if is_small else (0.24, 10.5)
        colour = GREY if is_small else INK
        weight = "bold" if bar.kind == "first" else "normal"
        base = top + height / 2 + size / 200
        x = _LEFT + _NAMES
        sheet.write(
            _LEFT, base, one_line(bar.label, 20), size=size, color=colour, weight=weight
        )
        sheet.rectangle(x, top, width, height, LIGHT)
        sheet.rectangle(x, top, width * bar.probability, height, _COLOURS[bar.kind])
        chance = f"{bar.probability:.2f}"
        sheet.write(x + width + 0.08, base, chance, size=size, color=colour, weight=weight)
        top += height + 0.11
    if len(answer.classes) > len(shown):
        words = f"and {len(answer.classes) - len(shown)} more, less probable"
        sheet.write(_LEFT, top + 0.1, words, size=8, color=GREY)
        top += 0.2
    return top + 0.2


def _draw_alike(
    sheet: Sheet, top: float, gallery: Gallery, probes: SetBatch, i: int, answer: Answer
) -> float:
    """Photos of the set beside those of answer and runner-up that are most alike."""
    if why_nothing_is_alike(gallery):
        right = {"size": 8, "color": GREY, "ha": "right"}
        sheet.write(WIDTH - _LEFT, top, why_nothing_is_alike(gallery), **right)
        return top
    if not (answer.is_informed and has_photos(probes) and has_photos(gallery.sets)):
        return top
    labels = [answer.label, *[answer.runner_up] * (answer.runner_up is not None)]
    for label, kind in zip(labels, ("first", "second"), strict=False):
        sheet.rectangle(_ALIKE, top - 0.1, 0.11, 0.11, _COLOURS[kind])
        words = f"Most alike of {one_line(label, 30)}"
        sheet.write(_ALIKE + 0.18, top, words, weight="bold")
        pairs = nearest_in_class(gallery, probes[i], answer.is_typical, label, _MOST_PAIRS)
        for place, pair in enumerate(pairs):
            x = _ALIKE + place * (2 * _PAIR + 0.14)
            sheet.image(x, top + 0.1, _PAIR, pixels(probes, i, pair.vector))
            sheet.image(x + _PAIR, top + 0.1, _PAIR, pixels(gallery.sets, pair.set, pair.other))
            name = photo_name(gallery.sets, pair.set, pair.other)
            words = one_line(f"{gallery.sets.names[pair.set]}, {name}", 24)
            right = {"ha": "right", "size": 6, "color": GREY}
            sheet.write(x + 2 * _PAIR, top + _PAIR + 0.21, words, **right)
        top += _PAIR + 0.55
    words = "left a photo of this set, right the one of the gallery most like it"
    sheet.write(_ALIKE, top - 0.12, words, size=7.5, color=GREY)
    return top
