"""``write_answers``: one's own albums, and what a gallery says of them, as one HTML file."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from setwise._support.parallel import in_threads
from setwise._support.progress import Progress, reported
from setwise._support.whole_file import write_whole
from setwise.classify.explanation import Explanation
from setwise.classify.judge import Answer, Inference
from setwise.errors import reject
from setwise.gallery import Gallery
from setwise.report.answers import AnswerRow, answer_page, answer_rows
from setwise.report.confusion import Confusion, ConfusionTable, confusion_table
from setwise.report.likeness import why_nothing_is_alike
from setwise.report.page import render_page
from setwise.report.photos import has_photos, noun_of, photo
from setwise.report.words import QUITE_SURE, SURE, kind_of
from setwise.sets import SetBatch

__all__ = ["render_answers", "write_answers"]

# Files that were left out, or are out of place, that are listed by name; of more, how many.
_MOST_NAMES = 200


def write_answers(
    path: str | os.PathLike[str],
    gallery: Gallery | Sequence[Gallery],
    probes: SetBatch,
    answers: Sequence[Answer],
    **options: Any,
) -> Path:
    """Write a page of answers to a file: all of it, or nothing.

    Parameters
    ----------
    path : path
        Of the HTML file. Folders above it are made; a file that is there is replaced.
    gallery, probes, answers, **options
        As for :func:`render_answers`.

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
    >>> from setwise.report import write_answers
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_answers(f"{folder}/why.html", clf.gallery_, photos[6:], answers)
    ...     path.name
    'why.html'
    """
    return write_whole(Path(path), render_answers(gallery, probes, answers, **options))


def render_answers(
    gallery: Gallery | Sequence[Gallery],
    probes: SetBatch,
    answers: Sequence[Answer],
    *,
    truth: Sequence[Any] | None = None,
    title: str = "What is in these albums",
    command: str = "",
    left_out: Sequence[Any] = (),
    most_pages: int = 60,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> str:
    """A page of answers: one HTML file that asks the network for nothing.

    It can be read without JavaScript.

    Parameters
    ----------
    gallery : Gallery, or one per set
        By which the sets were judged, as ``clf.gallery_``.
    probes : SetBatch
        The sets. Photos and file names are those of their ``origins``; without any, vectors
        are shown as images where ``image_shape`` says that they are.
    answers : sequence of Answer
        What :func:`setwise.classify.judge` said of them, in their order.
    truth : sequence, optional
        What each set really is, None where nobody knows: then the page says which answers are
        right, and what was taken for what. A label that no class of the gallery has is a
        stranger, and "unknown" is right of it.
    title, command : str
        Of the page, and what to run to make it again.
    left_out : sequence, optional
        What could not be read, or was not asked for: strings, or things with a ``path`` and a
        ``reason``.
    most_pages : int, default=60
        Sets that get a page of their own, those first that need a look.
    n_jobs : int, optional
        Threads that explain answers.
    progress : callable, optional
        Called with what is being done, how many sets are done, and of how many.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise import CVC, SetBatch
    >>> rng = np.random.default_rng(0)
    >>> stripes = np.add.outer(np.zeros(8), 60 * (np.arange(8) % 2))
    >>> def album(pattern):
    ...     return (pattern + rng.integers(0, 60, size=(6, 8, 8))).astype(np.uint8)
    >>> albums = [album(stripes.T if i % 2 else stripes) for i in range(7)]
    >>> photos = SetBatch.from_images(albums, list("abcdefg"))
    >>> clf = CVC(dims=(1, 2)).fit(photos[:6], ["upright", "level"] * 3)
    >>> answers = list(clf.judge(photos[6:]))
    >>> from setwise.report import render_answers
    >>> page = render_answers(clf.gallery_, photos[6:], answers, title="My albums")
    >>> "My albums" in page, "upright" in page
    (True, True)
    """
    _check_lengths(probes, answers, truth)
    galleries = [gallery] * len(probes) if isinstance(gallery, Gallery) else list(gallery)
    gallery = galleries[0]  # whose classes all have
    rows = answer_rows(probes, answers, truth)
    explained = rows[:most_pages]
    whys = _explanations(galleries, probes, explained, n_jobs, progress)
    pages = [
        answer_page(galleries[row.index], probes, row, answers[row.index], why)
        for row, why in zip(explained, whys, strict=True)
    ]
    return render_page(
        "answers.html.jinja",
        styles=("answers.css",),
        title=title,
        command=command,
        left_out=[_left_out_words(one) for one in left_out],
        most_names=_MOST_NAMES,
        noun=noun_of(probes),
        rows=rows,
        pages=pages,
        count=_count(rows, answers),
        levels={"sure": SURE, "quite_sure": QUITE_SURE},
        classes=[str(label) for label in gallery.classes],
        n_gallery_sets=len(gallery.sets),
        confusion=None if truth is None else _confusion(gallery, rows),
        why_nothing_is_alike=why_nothing_is_alike(gallery),
    )


def _check_lengths(
    probes: SetBatch, answers: Sequence[Answer], truth: Sequence[Any] | None
) -> None:
    for what, given in (("answers", answers), ("labels in truth", truth)):
        if given is not None and len(given) != len(probes):
            reject(
                f"write_answers: {len(given)} {what} for {len(probes)} sets. Expected one per "
                "set, in their order."
            )


def _explanations(
    galleries: Sequence[Gallery],
    probes: SetBatch,
    rows: Sequence[AnswerRow],
    n_jobs: int | None,
    progress: Progress | None,
) -> Iterator[Explanation]:
    def why(row: AnswerRow) -> Explanation:
        gallery = galleries[row.index]
        (vectors,) = gallery.check(probes[[row.index]], "write_answers")
        return Inference.of(gallery, vectors).explanation()

    return reported(in_threads(why, rows, n_jobs), len(rows), "explain", progress)


@dataclass(frozen=True)
class _Count:
    """How many sets there are of each kind."""

    sets: int
    vectors: int
    known: int
    unsure: int
    unknown: int
    guesses: int
    out: int
    with_out: int
    right: int
    wrong: int
    is_asked: bool


def _count(rows: Sequence[AnswerRow], answers: Sequence[Answer]) -> _Count:
    kinds = Counter(kind_of(answer) for answer in answers)
    return _Count(
        sets=len(rows),
        vectors=sum(row.n_vectors for row in rows),
        known=kinds["known"],
        unsure=kinds["unsure"],
        unknown=kinds["unknown"],
        guesses=kinds["guess"],
        out=sum(row.n_out for row in rows),
        with_out=sum(row.n_out > 0 for row in rows),
        right=sum(row.is_right is True for row in rows),
        wrong=sum(row.is_right is False for row in rows),
        is_asked=any(answer.is_known is not None for answer in answers),
    )


def _confusion(gallery: Gallery, rows: Sequence[AnswerRow]) -> ConfusionTable:
    """What was taken for what; strangers, and what was taken for one, are "unknown"."""
    classes = [str(label) for label in gallery.classes]
    stranger = "unknown" if "unknown" not in classes else "(unknown)"
    judged = [row for row in rows if row.is_right is not None]
    truths = [row.truth if row.truth in classes else stranger for row in judged]
    said = [row.label if row.kind in ("known", "unsure") else stranger for row in judged]
    if stranger in (*truths, *said):
        classes.append(stranger)
    counts = Counter(zip(truths, said, strict=True))
    table = tuple(tuple(counts[truth, answer] for answer in classes) for truth in classes)
    return confusion_table(Confusion(tuple(classes), table), _pictures_of_classes(gallery))


def _pictures_of_classes(gallery: Gallery) -> dict[str, str]:
    """A photo of each class, from the middle of its first set."""
    if why_nothing_is_alike(gallery) or not has_photos(gallery.sets):
        return {}
    first = [int((gallery.codes == code).argmax()) for code in range(gallery.n_classes)]
    return {
        str(label): photo(gallery.sets, i, int(gallery.sets.sizes[i]) // 2).uri
        for label, i in zip(gallery.classes, first, strict=True)
    }


def _left_out_words(given: Any) -> str:
    if hasattr(given, "path") and hasattr(given, "reason"):
        return f"{given.path}: {given.reason}"
    return str(given)
