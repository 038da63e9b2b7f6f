"""Who voted for what on one set, counted as the classifier counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from setwise.classify.explanation import Explanation, MemberVote
from setwise.report.words import number

__all__ = ["Kinds", "MemberCell", "Tally", "VoteCount", "count_votes", "votes_by_view"]

# What each label is to the reader: "truth" and "answer" of a wrong probe, "first" and "second"
# of an answer. All that are not named are "other".
Kinds: TypeAlias = Mapping[str, str]
OTHER = "other"

_MOST_LABELS = 6
# A probability that is shown though nobody voted for the class.
_WORTH_SHOWING = 0.01


@dataclass(frozen=True)
class MemberCell:
    """One vote; its kind is that of its label, ``"tie"`` between several, or ``"none"``."""

    label: str
    kind: str
    words: str


@dataclass(frozen=True)
class Tally:
    """A label, its kind, the votes it got, and the probability it was given."""

    label: str
    kind: str
    n_votes: float
    probability: float


@dataclass(frozen=True)
class VoteCount:
    """All votes.

    Attributes
    ----------
    tally : tuple of Tally
        Classes that got a vote or some probability, and those whose kind is named.
    n_votes : float
        Votes altogether; layers may count more or less than one.
    n_silent : int
        Members that have nothing in common with any class, and do not vote.
    columns, grid : tuple
        Dimensionalities; and for each look its name and a cell (or None) for each of them.
    """

    tally: tuple[Tally, ...]
    n_votes: float
    n_silent: int
    columns: tuple[int, ...]
    grid: tuple[tuple[str, tuple[MemberCell | None, ...]], ...]

    def votes_for(self, kind: str) -> float:
        """How many votes a kind of label got."""
        return sum(one.n_votes for one in self.tally if one.kind == kind)


def count_votes(why: Explanation, kinds: Kinds) -> VoteCount:
    """Count the votes of an explanation; classes that are equally near share one."""
    votes = dict.fromkeys((str(label) for label in why.classes), 0.0)
    for vote in why.votes:
        nearest = _nearest(vote, why)
        for label in nearest:
            votes[label] += vote.weight / len(nearest)
    columns, grid = _grid(why, kinds)
    return VoteCount(
        tally=_tally(why, votes, kinds),
        n_votes=sum(votes.values()),
        n_silent=sum(vote.label is None for vote in why.votes),
        columns=columns,
        grid=grid,
    )


def votes_by_view(why: Explanation, kinds: Kinds) -> dict[str, dict[str, float]]:
    """Share of the votes that went to each kind of label, by what the members looked at."""
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
    """The classes a layer votes for: mostly one."""
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


def _grid(
    why: Explanation, kinds: Kinds
) -> tuple[tuple[int, ...], tuple[tuple[str, tuple[MemberCell | None, ...]], ...]]:
    """Votes by look (rows) and dimensionality (columns)."""
    columns = sorted({vote.n_columns for vote in why.votes})
    rows: dict[str, dict[int, MemberCell]] = {}
    for vote in why.votes:
        cell = _cell(vote, _nearest(vote, why), kinds)
        rows.setdefault(vote.look, {})[vote.n_columns] = cell
    grid = tuple((look, tuple(row.get(d) for d in columns)) for look, row in rows.items())
    return tuple(columns), grid


def _cell(vote: MemberVote, nearest: list[str], kinds: Kinds) -> MemberCell:
    weight = "" if vote.weight == 1 else f", counts {vote.weight:.3g}"
    if not nearest:
        return MemberCell(
            "none", "none", f"{vote.layer}: has nothing in common with any class{weight}"
        )
    if len(nearest) > 1:
        words = f"{vote.layer}: {', '.join(nearest)} are equally near{weight}"
        return MemberCell(f"{len(nearest)} tie", "tie", words)
    words = f"{vote.layer}: {nearest[0]}, SNR {number(float(vote.snr))}{weight}"
    return MemberCell(nearest[0], kinds.get(nearest[0], OTHER), words)
