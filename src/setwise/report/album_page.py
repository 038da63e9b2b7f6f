"""``write_answers``: albums, and the answers of a gallery, as one HTML file."""

from __future__ import annotations

import base64
import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setwise._support.extras import require
from setwise._support.files import write_whole
from setwise._support.parallel import in_threads
from setwise._support.progress import Progress, reported
from setwise.classify.answer import QUITE_SURE, SURE, Answer, kind_of
from setwise.classify.explanation import Explanation
from setwise.classify.judge import Inference, judge
from setwise.gallery import Gallery
from setwise.report.answers import AnswerRow, answer_page, answer_rows, check_lengths
from setwise.report.photos import photo, why_nothing_is_alike
from setwise.report.tables import Confusion, ConfusionTable, confusion_table, number
from setwise.sets import SetBatch
from setwise.sets.origins import has_photos, noun_of

if TYPE_CHECKING:
    from jinja2 import Environment

_HERE = "setwise.report"
# Sets with a page of their own.
MOST_PAGES = 60
# Files that are listed by name where left out or out of place; of more, how many.
_MOST_NAMES = 200


def write_answers(
    path: str | os.PathLike[str], gallery: Gallery | Sequence[Gallery], probes: SetBatch,
    answers: Sequence[Answer], **options: Any,
) -> Path:  # fmt: skip
    """Write a page of answers to a file, as of :func:`render_answers`: all of it, or nothing.

    Folders above it are made; a file that is there is replaced.

    Examples
    --------
    >>> import tempfile
    >>> from setwise import CVC, SetBatch
    >>> from setwise.evaluation.testing import separable_sets
    >>> from setwise.report import write_answers
    >>> sets, labels = separable_sets()
    >>> clf, probes = CVC(dims=(1, 2)).fit(sets[1:], labels[1:]), SetBatch.from_list(sets[:1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = f"{folder}/why.html"
    ...     write_answers(path, clf.gallery_, probes, list(clf.judge(probes))).name
    'why.html'
    """
    return write_whole(Path(path), render_answers(gallery, probes, answers, **options))


def render_answers(
    gallery: Gallery | Sequence[Gallery], probes: SetBatch, answers: Sequence[Answer], *,
    explanations: Mapping[int, Explanation] | None = None, truth: Sequence[Any] | None = None,
    title: str = "What is in these albums", command: str = "", left_out: Sequence[Any] = (),
    most_pages: int = MOST_PAGES, n_jobs: int | None = None, progress: Progress | None = None,
) -> str:  # fmt: skip
    """A page of answers: one HTML file that needs neither network nor JavaScript.

    Parameters
    ----------
    gallery : Gallery, or one per set
        The judge of the sets, as ``clf.gallery_``.
    probes : SetBatch
        The sets, with photos and file names as ``origins``, or with an ``image_shape``.
    answers : sequence of Answer
        From :func:`setwise.classify.judge`, in the order of the sets.
    explanations : dict of int to Explanation, optional
        By the index of the set, as of :func:`judge_and_explain`. Others are made.
    truth : sequence, optional
        The class of each set, None where it is not known: the page marks wrong answers.
    title, command : str
        Of the page, and the command that makes it again.
    left_out : sequence, optional
        Unreadable files: strings, or objects with a ``path`` and a ``reason``.
    most_pages : int, default=60
        Sets with a page of their own; sets that need a look come first.
    n_jobs : int, optional
        Threads that explain answers.
    progress : callable, optional
        Called with the name of the work, the sets that are done, and all sets.

    Examples
    --------
    >>> from setwise import CVC, SetBatch
    >>> from setwise.evaluation.testing import separable_sets
    >>> from setwise.report import render_answers
    >>> sets, labels = separable_sets()
    >>> clf, probes = CVC(dims=(1, 2)).fit(sets[1:], labels[1:]), SetBatch.from_list(sets[:1])
    >>> answers = list(clf.judge(probes))
    >>> "My sets" in render_answers(clf.gallery_, probes, answers, title="My sets")
    True
    """
    check_lengths("write_answers", probes, answers, truth)
    galleries = [gallery] * len(probes) if isinstance(gallery, Gallery) else list(gallery)
    gallery = galleries[0]  # all have its classes
    rows = answer_rows(probes, answers, truth)
    explained = rows[:most_pages]
    whys = _explanations(galleries, probes, explained, explanations or {}, n_jobs, progress)
    pages = [
        answer_page(galleries[row.index], probes, row, answers, why)
        for row, why in zip(explained, whys, strict=True)
    ]
    unread = (f"{x.path}: {x.reason}" if hasattr(x, "reason") else str(x) for x in left_out)
    return render_page(
        "answers.html.jinja",
        styles=("answers.css",),
        title=title,
        command=command,
        left_out=list(unread),
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


def judge_and_explain(
    gallery: Gallery, probes: SetBatch, *, n_jobs: int | None = None,
    progress: Progress | None = None,
) -> tuple[list[Answer], dict[int, Explanation]]:  # fmt: skip
    """Answers and their explanations from one look at each set.

    Of more sets than a page explains there are answers alone.

    Examples
    --------
    >>> from setwise import CVC, SetBatch
    >>> from setwise.evaluation.testing import separable_sets
    >>> from setwise.report import judge_and_explain
    >>> sets, labels = separable_sets()
    >>> clf = CVC(dims=(1, 2)).fit(sets[1:], labels[1:])
    >>> answers, whys = judge_and_explain(clf.gallery_, SetBatch.from_list(sets[:1]))
    >>> bool(answers[0].label == whys[0].label)
    True
    """
    if len(probes) > MOST_PAGES:
        return list(judge(gallery, probes, n_jobs=n_jobs, progress=progress)), {}
    checked = gallery.check(probes, "judge_and_explain")

    def both(i: int) -> tuple[Answer, Explanation]:
        why = Inference.of(gallery, checked[i]).explanation(probes.names[i])
        return why.answer, why

    found = in_threads(both, range(len(checked)), n_jobs)
    pairs = list(reported(found, len(checked), "judge", progress))
    return [answer for answer, _ in pairs], {i: why for i, (_, why) in enumerate(pairs)}


def _explanations(
    galleries: Sequence[Gallery], probes: SetBatch, rows: Sequence[AnswerRow],
    known: Mapping[int, Explanation], n_jobs: int | None, progress: Progress | None,
) -> Iterator[Explanation]:  # fmt: skip
    def why(row: AnswerRow) -> Explanation:
        if row.index in known:
            return known[row.index]
        gallery = galleries[row.index]
        (vectors,) = gallery.check(probes[[row.index]], "write_answers")
        return Inference.of(gallery, vectors).explanation()

    return reported(in_threads(why, rows, n_jobs), len(rows), "explain", progress)


def _count(rows: Sequence[AnswerRow], answers: Sequence[Answer]) -> dict[str, int]:
    """The number of sets of each kind."""
    kinds = Counter(kind_of(answer) for answer in answers)
    return {
        "sets": len(rows),
        "vectors": sum(row.n_vectors for row in rows),
        "known": kinds["known"],
        "unsure": kinds["unsure"],
        "unknown": kinds["unknown"],
        "guesses": kinds["guess"],
        "out": sum(row.n_out for row in rows),
        "with_out": sum(row.n_out > 0 for row in rows),
        "right": sum(row.is_right is True for row in rows),
        "wrong": sum(row.is_right is False for row in rows),
        "is_asked": any(answer.is_known is not None for answer in answers),
    }


def _confusion(gallery: Gallery, rows: Sequence[AnswerRow]) -> ConfusionTable:
    """Truths by answers; sets of no class, or of no known one, are "unknown"."""
    classes = [str(label) for label in gallery.classes]
    unknown = "unknown" if "unknown" not in classes else "(unknown)"
    judged = [row for row in rows if row.is_right is not None]
    truths = [row.truth if row.truth in classes else unknown for row in judged]
    labels = [row.label if row.kind in ("known", "unsure") else unknown for row in judged]
    if unknown in (*truths, *labels):
        classes.append(unknown)
    counts = Counter(zip(truths, labels, strict=True))
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


def render_page(
    template: str, *packages: str, filters: Mapping[str, Callable[..., Any]] | None = None,
    styles: tuple[str, ...] = (), **content: Any,
) -> str:  # fmt: skip
    """A template as one HTML file, with styles and script inside; no other script may run.

    ``template`` extends ``page.html.jinja``. It is looked for in ``packages`` first, as
    ``styles`` are beside ``style.css`` in this package. All ``content`` is escaped.
    """
    script, found = _text("report.js"), _environment(packages, filters or {})
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest())
    content |= {"script": script, "script_hash": digest.decode("ascii")}
    style = "\n".join(_text(name) for name in ("style.css", *styles))
    return found.get_template(template).render(style=style, **content)


def _environment(
    packages: tuple[str, ...], filters: Mapping[str, Callable[..., Any]]
) -> Environment:
    jinja2 = require("jinja2", "report")
    environment: Environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(one) for one in (*packages, _HERE)]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update({"number": number, **filters})
    return environment


def _text(name: str) -> str:
    return resources.files(_HERE).joinpath(name).read_text(encoding="utf-8")
