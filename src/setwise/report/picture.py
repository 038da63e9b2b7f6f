"""One picture per set: its answer, how sure that is, and the most similar photos."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from setwise._support.progress import Progress, reported
from setwise._support.text import counted, distinct_file_names
from setwise.classify.answer import Answer, sentence
from setwise.classify.pictured import pictured
from setwise.errors import reject
from setwise.gallery import Gallery
from setwise.plots.answer_picture import AnswerPicture, draw_picture
from setwise.plots.sheet import WIDTH, Sheet
from setwise.report.answers import check_lengths
from setwise.report.photos import time_span, why_nothing_is_alike
from setwise.sets import SetBatch
from setwise.sets.origins import noun_of

# Letters of a file name; of any script, these are fewer bytes than file systems allow.
_LONGEST_NAME = 60


def draw_answers(
    folder: str | os.PathLike[str], gallery: Gallery, probes: SetBatch,
    answers: Sequence[Answer], *, progress: Progress | None = None,
) -> list[Path]:  # fmt: skip
    """Draw one picture per set into a folder, each named after its set; return the files.

    The folder is made if it is not there. Pictures of the same names are replaced.

    Examples
    --------
    >>> import tempfile
    >>> from setwise import CVC, SetBatch
    >>> from setwise.evaluation.testing import separable_sets
    >>> from setwise.report import draw_answers
    >>> sets, labels = separable_sets()
    >>> clf = CVC(dims=(1, 2)).fit(sets[1:], labels[1:])
    >>> probes = SetBatch.from_list(sets[:1], ["g"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     drawn = draw_answers(folder, clf.gallery_, probes, list(clf.judge(probes)))
    ...     [path.name for path in drawn]
    ['g.png']
    """
    check_lengths("draw_answers", probes, answers)
    names = distinct_file_names(probes.names, _LONGEST_NAME)
    paths = [Path(folder) / f"{name}.png" for name in names]
    with _written(Path(folder)) as made:
        made.mkdir(parents=True, exist_ok=True)
    drawn = (
        draw_answer(path, gallery, probes, i, answer)
        for i, (path, answer) in enumerate(zip(paths, answers, strict=True))
    )
    return list(reported(drawn, len(paths), "draw", progress))


def draw_answer(
    path: str | os.PathLike[str], gallery: Gallery, probes: SetBatch, i: int, answer: Answer,
    *, width: float = WIDTH,
) -> Path:  # fmt: skip
    """Draw set ``i`` and its answer; needs the extra ``plot``.

    The suffix of ``path`` says how (``.png``, ``.svg``, ``.pdf``). ``width`` is in inches: from
    8 on there are two columns, below one.

    Examples
    --------
    >>> import tempfile
    >>> from setwise import CVC, SetBatch
    >>> from setwise.evaluation.testing import separable_sets
    >>> from setwise.report import draw_answer
    >>> sets, labels = separable_sets()
    >>> clf, probes = CVC(dims=(1, 2)).fit(sets[1:], labels[1:]), SetBatch.from_list(sets[:1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     (answer,) = clf.judge(probes)
    ...     draw_answer(f"{folder}/g.png", clf.gallery_, probes, 0, answer).stat().st_size > 0
    True
    """
    file = Path(path)
    sheet = Sheet.empty(width)
    bottom = draw_picture(sheet, _picture(gallery, probes, i, answer))
    with _written(file.parent) as folder:
        folder.mkdir(parents=True, exist_ok=True)
    with _written(file):
        sheet.cut_below(bottom + 0.1, file)
    return file


def _picture(gallery: Gallery, probes: SetBatch, i: int, answer: Answer) -> AnswerPicture:
    about = counted(len(answer.is_typical), noun_of(probes))
    labels = (answer.nearest, answer.runner_up) if answer.is_informed else ()
    shown = tuple(label for label in labels if label is not None)
    looks = pictured(gallery, probes, i, answer.is_typical, shown)
    return AnswerPicture(
        name=looks.name,
        answer=answer,
        about="  ·  ".join(part for part in (about, time_span(probes, i)) if part),
        sentence=str(sentence(answer)),
        images=looks.images,
        files=looks.files,
        alike=looks.alike,
        note=why_nothing_is_alike(gallery),
    )


@contextmanager
def _written(path: Path) -> Iterator[Path]:
    """A path to write in a block, whose errors name it."""
    try:
        yield path
    except OSError as error:
        reject(
            f"{path}: cannot be written: {error.strerror or error}. Expected a folder with "
            "room on its disk: make room, or name another folder, and run it again.",
            error,
        )
