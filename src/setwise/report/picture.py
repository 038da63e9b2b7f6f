"""One picture per set: what it is, how sure that is, and what it looks like in the gallery."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from setwise._support.progress import Progress, reported
from setwise._support.text import distinct_file_names
from setwise.classify.answer import kind_of, sentence
from setwise.classify.judge import Answer
from setwise.classify.pictured import pictured
from setwise.errors import DataError, reject
from setwise.gallery import Gallery
from setwise.plots.answer_picture import AnswerPicture, draw_picture
from setwise.plots.sheet import WIDTH, Sheet
from setwise.report.answers import bars
from setwise.report.likeness import why_nothing_is_alike
from setwise.report.photos import time_span
from setwise.sets import SetBatch
from setwise.sets.photos import noun_of

__all__ = ["draw_answer", "draw_answers"]

_MOST_BARS = 6
# Letters of a file name; of any script, these are fewer bytes than file systems allow.
_LONGEST_NAME = 60


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
    path: str | os.PathLike[str],
    gallery: Gallery,
    probes: SetBatch,
    i: int,
    answer: Answer,
    *,
    width: float = WIDTH,
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
    width : float
        Inches. From 8 on there are two columns, below one.

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
    sheet = Sheet.empty(width)
    bottom = draw_picture(sheet, _picture(gallery, probes, i, answer))
    _make_folder(file.parent)
    try:
        sheet.save(file, bottom + 0.1)
    except OSError as error:
        raise _unwritable(file, error) from error
    return file


def _picture(gallery: Gallery, probes: SetBatch, i: int, answer: Answer) -> AnswerPicture:
    n_vectors, noun = len(answer.is_typical), noun_of(probes)
    about = f"{n_vectors} {noun}{'' if n_vectors == 1 else 's'}"
    labels = (answer.label, answer.runner_up) if answer.is_informed else ()
    shown = tuple(label for label in labels if label is not None)
    looks = pictured(gallery, probes, i, answer.is_typical, shown)
    if_known = ", if it were known after all" if kind_of(answer) == "unknown" else ""
    return AnswerPicture(
        name=looks.name,
        about="  ·  ".join(part for part in (about, time_span(probes, i)) if part),
        sentence=str(sentence(answer)),
        images=looks.images,
        files=looks.files,
        is_out=~answer.is_typical,
        bars=bars(answer, _MOST_BARS),
        n_more=max(len(answer.classes) - _MOST_BARS, 0),
        bars_title=f"How probable{if_known}",
        alike=looks.alike,
        note=why_nothing_is_alike(gallery),
    )


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
