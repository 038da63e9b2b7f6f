"""Answers as a page shows them: a row for each set, and a page for those that need a look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from setwise.classify.explanation import Explanation
from setwise.classify.judge import Answer
from setwise.gallery import Gallery
from setwise.plots.answer_picture import Bar, choose, ranked_bars
from setwise.report.clusters import ClusterTable, cluster_table
from setwise.report.likeness import Likeness, likenesses, why_nothing_is_alike
from setwise.report.photos import Photo, photo, time_span
from setwise.report.thumbnails import strip_data_uri
from setwise.report.tree_figure import tree_figure
from setwise.report.votes import VoteCount, count_votes, votes_by_view
from setwise.report.words import (
    Sentence,
    kind_of,
    meanings_in,
    number,
    runner_up_probability,
    sentence,
    sureness,
)
from setwise.sets import SetBatch
from setwise.sets.photos import has_photos

__all__ = ["AnswerPage", "AnswerRow", "Bar", "answer_page", "answer_rows", "bars"]

# Photos in a row of the list, on the page of a set, and pairs beside each other.
_MOST_IN_ROW, _MOST_ON_PAGE, _MOST_PAIRS = 5, 72, 4
_MOST_BARS = 6
# What needs a look comes first.
_URGENCY = ("guess", "unsure", "unknown", "known")


@dataclass(frozen=True)
class AnswerRow:
    """One set in the list.

    Attributes
    ----------
    index : int
        Of the set.
    name : str
        What it is called.
    kind, sureness : str
        See :mod:`setwise.report.words`.
    label, runner_up : str
        The answer, and what comes next; empty where nothing speaks for anything else.
    probability, runner_up_probability, margin : float
        Of these.
    photos : tuple of Photo
        A few; empty where there are no images.
    n_vectors, n_out : int
        How many it holds, and how many of them are out of place.
    truth : str
        What it really is; empty where nobody says so.
    is_right : bool or None
        Whether the answer is true; None where nobody knows.
    """

    index: int
    name: str
    kind: str
    sureness: str
    label: str
    runner_up: str
    probability: float
    runner_up_probability: float
    margin: float
    photos: tuple[Photo, ...]
    n_vectors: int
    n_out: int
    truth: str
    is_right: bool | None

    @property
    def page(self) -> str:
        """Anchor of its page."""
        return f"set-{self.index + 1}"

    @property
    def marks(self) -> str:
        """By what it can be picked from the list."""
        out, wrong = self.n_out > 0, self.is_right is False
        return " ".join([self.kind, *["out"] * out, *["wrong"] * wrong])

    @property
    def urgency(self) -> tuple[Any, ...]:
        """By what the list is ordered: wrong, unsure and unknown ones first."""
        place = _URGENCY.index(self.kind)
        return self.is_right is not False, place, self.n_out == 0, self.probability, self.index


@dataclass(frozen=True)
class AnswerPage:
    """Everything the page of one set shows.

    Attributes
    ----------
    row : AnswerRow
        Its row of the list.
    sentence : Sentence
        The answer.
    photos, out : tuple of Photo
        The set, or evenly spread photos of it; and all that are out of place.
    when : str
        When the photos were taken.
    strip : str
        The vectors as a picture, where they are no images.
    bars, n_more : tuple of Bar, int
        The probable classes, and how many there are besides.
    likenesses : tuple of Likeness
        What is most like the answer, and like the runner-up.
    by_view : dict
        Share of the votes by kind of label, for each thing that was looked at.
    meanings : dict
        What the words in the names of these things mean.
    votes, clusters, shown, snr, tree, tree_note
        As on the page of a wrong probe of a study.
    """

    row: AnswerRow
    sentence: Sentence
    photos: tuple[Photo, ...]
    out: tuple[Photo, ...]
    when: str
    strip: str
    bars: tuple[Bar, ...]
    n_more: int
    likenesses: tuple[Likeness, ...]
    by_view: dict[str, dict[str, float]]
    meanings: dict[str, str]
    votes: VoteCount
    clusters: ClusterTable
    shown: str
    snr: str
    tree: str
    tree_note: str


def answer_rows(
    probes: SetBatch, answers: Sequence[Answer], truth: Sequence[Any] | None
) -> list[AnswerRow]:
    """A row for each set: what needs a look first."""
    rows = [
        _row(probes, i, answer, None if truth is None or truth[i] is None else str(truth[i]))
        for i, answer in enumerate(answers)
    ]
    return sorted(rows, key=lambda row: row.urgency)


def _row(probes: SetBatch, i: int, answer: Answer, truth: str | None) -> AnswerRow:
    is_out = ~answer.is_typical
    # Those out of place are on the page: a row shows what the set is.
    shown = np.flatnonzero(answer.is_typical)
    shown = shown[choose(np.zeros(len(shown), dtype=np.bool_), _MOST_IN_ROW)]
    return AnswerRow(
        index=i,
        name=probes.names[i],
        kind=kind_of(answer),
        sureness=sureness(answer),
        label=str(answer.label),
        runner_up="" if answer.runner_up is None else str(answer.runner_up),
        probability=answer.probability,
        runner_up_probability=runner_up_probability(answer),
        margin=answer.margin,
        photos=tuple(photo(probes, i, int(j)) for j in shown) if has_photos(probes) else (),
        n_vectors=len(is_out),
        n_out=int(is_out.sum()),
        truth=truth or "",
        is_right=None if truth is None else is_right(answer, truth),
    )


def is_right(answer: Answer, truth: str) -> bool:
    """Whether an answer is true; of strangers, "unknown" and no answer are."""
    if kind_of(answer) in ("unknown", "guess"):
        return truth not in set(map(str, answer.classes))
    return truth == str(answer.label)


def bars(answer: Answer, most: int = _MOST_BARS) -> tuple[Bar, ...]:
    """The most probable classes: the answer, the runner-up, and others."""
    return ranked_bars(answer.classes, answer.probabilities, kinds_of(answer), most)


def kinds_of(answer: Answer) -> dict[str, str]:
    """What labels are to a reader: the first, and the second."""
    kinds = {} if answer.runner_up is None else {str(answer.runner_up): "second"}
    return kinds | ({str(answer.label): "first"} if answer.is_informed else {})


def answer_page(
    gallery: Gallery, probes: SetBatch, row: AnswerRow, answer: Answer, why: Explanation
) -> AnswerPage:
    """Everything the page of one set shows."""
    i, is_out, kinds = row.index, ~answer.is_typical, kinds_of(answer)
    by_view = votes_by_view(why, kinds)
    with_photos = has_photos(probes)
    tree, tree_note = tree_figure(why, f"Tree of cuts of set {i + 1}, {row.name}")
    shown = choose(is_out, _MOST_ON_PAGE) if with_photos else ()
    return AnswerPage(
        row=row,
        sentence=sentence(answer),
        photos=tuple(photo(probes, i, int(j), is_out=bool(is_out[j])) for j in shown),
        out=tuple(photo(probes, i, int(j), is_out=True) for j in np.flatnonzero(is_out)),
        when=time_span(probes, i),
        strip="" if with_photos else strip_data_uri(probes[i]),
        bars=bars(answer),
        n_more=max(len(answer.classes) - _MOST_BARS, 0),
        likenesses=_alike(gallery, probes, i, answer),
        by_view=by_view,
        meanings=meanings_in(" ".join(by_view)),
        votes=count_votes(why, kinds),
        clusters=cluster_table(why, kinds),
        shown=str(why.shown),
        snr=number(float(why.snr)),
        tree=tree,
        tree_note=tree_note,
    )


def _alike(gallery: Gallery, probes: SetBatch, i: int, answer: Answer) -> tuple[Likeness, ...]:
    """What of the set is most like answer and runner-up, where both sides can be shown."""
    if why_nothing_is_alike(gallery) or not answer.is_informed:
        return ()
    if not (has_photos(probes) and has_photos(gallery.sets)):
        return ()
    labels = (answer.label, *[answer.runner_up] * (answer.runner_up is not None))
    return likenesses(gallery, probes, i, answer.is_typical, labels, _MOST_PAIRS)
