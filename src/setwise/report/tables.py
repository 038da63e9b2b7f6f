"""The tables of a page: votes, clusters, confusion; and numbers in few digits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from setwise._support.types import FloatArray
from setwise.classify.explanation import Explanation, MemberVote

# Kinds of labels: "truth" and "answer" of a wrong probe, "first" and "second" of an answer.
# Labels that are not named are "other".
Kinds: TypeAlias = Mapping[str, str]
OTHER = "other"
NOTHING = "–"  # noqa: RUF001 (an en dash, meant)

# Of more classes in a confusion matrix, only mistaken ones, and their mistakes.
MOST_CLASSES = 24
_MOST_LABELS, _MOST_CLUSTERS, _MOST_ROWS = 6, 12, 16
# A probability that is shown even of a class without votes.
_WORTH_SHOWING = 0.01


def number(value: float | None, digits: int = 3) -> str:
    """A number in a few digits, ∞, or a dash for none."""
    if value is None or math.isnan(value):
        return NOTHING
    return "∞" if math.isinf(value) else f"{value:.{digits}g}"


@dataclass(frozen=True)
class VoteCell:
    """One vote; its kind is that of its label, ``"tie"`` between several, or ``"none"``."""

    label: str
    kind: str
    words: str


Grid: TypeAlias = tuple[tuple[str, tuple[VoteCell | None, ...]], ...]


@dataclass(frozen=True)
class Tally:
    """A label, its kind, the votes for it, and its probability."""

    label: str
    kind: str
    n_votes: float
    probability: float


@dataclass(frozen=True)
class VoteCount:
    """All votes, ``n_abstained`` for no class: by class, and by source and dimensionality."""

    tally: tuple[Tally, ...]
    n_votes: float
    n_abstained: int
    columns: tuple[int, ...]
    grid: Grid

    def votes_for(self, kind: str) -> float:
        """Votes for a kind of label."""
        return sum(one.n_votes for one in self.tally if one.kind == kind)


def count_votes(why: Explanation, kinds: Kinds) -> VoteCount:
    """Count the votes of an explanation; classes that are equally near share one."""
    votes = dict.fromkeys((str(label) for label in why.classes), 0.0)
    for vote in why.votes:
        nearest = _nearest(vote, why)
        for label in nearest:
            votes[label] += vote.weight / len(nearest)
    columns, grid = _grid(why, kinds)
    n_abstained = sum(vote.label is None for vote in why.votes)
    return VoteCount(_tally(why, votes, kinds), sum(votes.values()), n_abstained, columns, grid)


def votes_by_view(why: Explanation, kinds: Kinds) -> dict[str, dict[str, float]]:
    """Share of the votes for each kind of label, by representation."""
    votes: dict[str, dict[str, float]] = {}
    for vote in why.votes:
        nearest = _nearest(vote, why)
        view = votes.setdefault(vote.representation, {})
        for label in nearest:
            kind = kinds.get(label, OTHER)
            view[kind] = view.get(kind, 0.0) + vote.weight / len(nearest)
    return {
        view: {kind: n_votes / sum(by_kind.values()) for kind, n_votes in by_kind.items()}
        for view, by_kind in votes.items()
    }


def _nearest(vote: MemberVote, why: Explanation) -> list[str]:
    """The classes that a vote is for: mostly one."""
    if vote.label is None:
        return []
    smallest = np.min(vote.distances)
    return [str(why.classes[code]) for code in np.flatnonzero(vote.distances == smallest)]


def _tally(why: Explanation, votes: Mapping[str, float], kinds: Kinds) -> tuple[Tally, ...]:
    chances = dict(zip(votes, map(float, why.probabilities), strict=True))
    ranked = sorted(chances, key=lambda label: (-votes[label], -chances[label]))
    kept = [one for one in ranked if votes[one] or chances[one] >= _WORTH_SHOWING]
    kept = kept[:_MOST_LABELS]
    kept += [one for one in kinds if one in chances and one not in kept]
    return tuple(Tally(one, kinds.get(one, OTHER), votes[one], chances[one]) for one in kept)


def _grid(why: Explanation, kinds: Kinds) -> tuple[tuple[int, ...], Grid]:
    """Votes by source (rows) and dimensionality (columns)."""
    columns = sorted({vote.n_columns for vote in why.votes})
    rows: dict[str, dict[int, VoteCell]] = {}
    for vote in why.votes:
        cell = _cell(vote, _nearest(vote, why), kinds)
        rows.setdefault(vote.source, {})[vote.n_columns] = cell
    grid = tuple((source, tuple(row.get(d) for d in columns)) for source, row in rows.items())
    return tuple(columns), grid


def _cell(vote: MemberVote, nearest: list[str], kinds: Kinds) -> VoteCell:
    weight = "" if vote.weight == 1 else f", counts {vote.weight:.3g}"
    if not nearest:
        words = f"{vote.layer}: has nothing in common with any class{weight}"
        return VoteCell("none", "none", words)
    if len(nearest) > 1:
        words = f"{vote.layer}: {', '.join(nearest)} are equally near{weight}"
        return VoteCell(f"{len(nearest)} tie", "tie", words)
    words = f"{vote.layer}: {nearest[0]}, SNR {number(float(vote.snr))}{weight}"
    return VoteCell(nearest[0], kinds.get(nearest[0], OTHER), words)


@dataclass(frozen=True)
class ClusterTable:
    """Shares of classes and probe (last) in the clusters that hold the probe, and the rest."""

    numbers: tuple[int, ...]
    rows: tuple[tuple[str, str, tuple[float, ...], float, str], ...]


def cluster_table(why: Explanation, kinds: Kinds) -> ClusterTable:
    """The clusters that hold most of the probe, numbered as the leaves of the tree."""
    probe = why.class_cluster[-1]
    with_probe = np.flatnonzero(probe > 0)
    most = np.argsort(-probe[with_probe], kind="stable")[:_MOST_CLUSTERS]
    numbers = np.sort(most)
    shown = why.class_cluster[:, with_probe[numbers]]
    rest = why.class_cluster.sum(axis=1) - shown.sum(axis=1)
    distances = _distances(why)
    names = [str(label) for label in why.classes]
    ranked = np.argsort(distances, kind="stable")
    codes = [int(c) for c in ranked if shown[c].any() or names[c] in kinds][:_MOST_ROWS]
    rows = [
        (
            names[c],
            kinds.get(names[c], OTHER),
            tuple(shown[c].tolist()),
            float(rest[c]),
            distances[c],
        )
        for c in codes
    ]
    own = ("probe", "probe", tuple(shown[-1].tolist()), float(rest[-1]), np.nan)
    return ClusterTable(
        numbers=tuple(int(one) + 1 for one in numbers),
        rows=tuple((*row[:4], number(float(row[4]))) for row in [*rows, own]),
    )


def _distances(why: Explanation) -> FloatArray:
    """Distances of the shown layer to each class."""
    for vote in why.votes:
        if vote.layer == why.shown:
            return vote.distances
    return np.full(len(why.classes), np.nan)


@dataclass(frozen=True)
class Confusion:
    """How often each class was taken for each, over all folds: ``counts[truth][answer]``."""

    classes: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class ConfusionTable:
    """The rows of a confusion matrix: counts and shares of the true class.

    ``classes`` have a name and a picture or "". ``accuracies`` are in percent. ``n_left_out``
    classes without any mistake are not shown.
    """

    classes: tuple[tuple[str, str], ...]
    rows: tuple[tuple[tuple[int, float], ...], ...]
    accuracies: tuple[float, ...]
    n_left_out: int


def confusion_table(confusion: Confusion, pictures: Mapping[str, str]) -> ConfusionTable:
    """Shares and pictures for a confusion matrix; ``pictures`` are ``data:`` addresses."""
    counts, names = confusion.counts, confusion.classes
    every = range(len(names))
    shown = list(every)
    if len(names) > MOST_CLASSES:
        wrong = [{j for j in every if (counts[i][j] or counts[j][i]) and i != j} for i in every]
        shown = [i for i in every if wrong[i]]
    totals = [max(sum(row), 1) for row in counts]
    return ConfusionTable(
        classes=tuple((names[i], pictures.get(names[i], "")) for i in shown),
        rows=tuple(
            tuple((counts[i][j], counts[i][j] / totals[i]) for j in shown) for i in shown
        ),
        accuracies=tuple(100 * counts[i][i] / totals[i] for i in shown),
        n_left_out=len(names) - len(shown),
    )
