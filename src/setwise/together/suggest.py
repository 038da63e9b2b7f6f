"""What a person should look at: groups to merge, sets to move, the set to name next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from setwise._support.types import FloatArray, IntArray
from setwise.together.graph import SetGraph, nearest_affinities, nearest_steps
from setwise.together.links import Links
from setwise.together.tree import N_NEAREST

# Least probability of a suggestion that is made.
WORTH_ASKING = 0.1
# Probability that a walker goes on: a name that came over many sets is worth less.
_GOING_ON = 0.8
# Sets up to which every one is tried as the next to be named; of more, those of largest degree.
_MOST_TRIED = 2000


@dataclass(frozen=True)
class Merge:
    """Two groups that may be one.

    Examples
    --------
    >>> from setwise.together import Merge
    >>> Merge(0, 2, 0.4).first
    0
    """

    first: int
    second: int
    probability: float


@dataclass(frozen=True)
class Move:
    """A set that may be in the wrong group; ``to`` is -1 where it fits none.

    Examples
    --------
    >>> from setwise.together import Move
    >>> Move(7, group=0, to=2, probability=0.6).to
    2
    """

    index: int  # of the set
    group: int  # where it is, -1 if left out
    to: int
    probability: float


@dataclass(frozen=True)
class NextLabel:
    """A set of which the name would teach much.

    Examples
    --------
    >>> from setwise.together import NextLabel
    >>> NextLabel(7, gain=3.2).index
    7
    """

    index: int  # of the set
    gain: float  # sets that are expected to get a label from it, its own included


@dataclass(frozen=True)
class Suggestions:
    """Everything that is suggested, the most probable first.

    Examples
    --------
    >>> from setwise.evaluation.testing import separable_sets
    >>> from setwise.together import relate, suggest
    >>> sets, labels = separable_sets()
    >>> found = suggest(relate(sets), labels)
    >>> found.moves, len(found.next_labels)
    ((), 5)
    """

    merges: tuple[Merge, ...]
    moves: tuple[Move, ...]
    next_labels: tuple[NextLabel, ...]


def suggest(
    graph: SetGraph, labels: IntArray, links: Links | None = None, *, n_next: int = 5
) -> Suggestions:
    """Suggest merges, moves, and sets to name next.

    Parameters
    ----------
    graph : SetGraph
        The graph of sets, such as ``SetClusters().graph_``.
    labels : array of int, shape (n_sets,)
        Group of each set, -1 for sets that are left out.
    links : Links, optional
        What is known of pairs; nothing is suggested against it.
    n_next : int
        Sets to name next.
    """
    known = Links.of(len(graph)) if links is None else links
    codes = np.asarray(labels, dtype=np.int64)
    return Suggestions(
        tuple(merges(graph, codes, known)),
        tuple(moves(graph, codes, known)),
        tuple(next_labels(graph, np.full(len(codes), -1), n_next)),
    )


def merges(graph: SetGraph, labels: IntArray, links: Links) -> list[Merge]:
    """Pairs of groups, with the normalised cut between them for a probability.

    Halves of one group that were cut at random have a normalised cut of about 1, groups that
    share no neighbour one of 0.

    Examples
    --------
    >>> from setwise.evaluation.testing import separable_sets
    >>> from setwise.together import Links, relate
    >>> from setwise.together.suggest import merges
    >>> halves = np.array([0, 0, 1, 1, 2, 2])
    >>> found = merges(relate(separable_sets(n_sets=2)[0]), halves, Links.of(6))
    >>> [merge for merge in found if merge.probability > 0.5]
    []
    """
    grouped = np.flatnonzero(labels >= 0)
    n_groups = int(labels.max(initial=-1)) + 1
    member = sp.csr_array(
        (np.ones(len(grouped)), (grouped, labels[grouped])), shape=(len(labels), n_groups)
    )
    affinities = nearest_affinities(graph.similarity, N_NEAREST, 1.0)
    flow = sp.csr_array(member.T @ affinities @ member)
    inside = flow.diagonal()
    apart = _groups_apart(labels, links)
    found = []
    upper = sp.coo_array(sp.triu(flow, k=1))
    for a, b, across in zip(*upper.coords, upper.data, strict=True):
        both = across / (inside[a] + across) + across / (inside[b] + across)
        if both >= WORTH_ASKING and (int(a), int(b)) not in apart:
            found.append(Merge(int(a), int(b), float(min(1.0, both))))
    return sorted(found, key=lambda merge: (-merge.probability, merge.first, merge.second))


def moves(graph: SetGraph, labels: IntArray, links: Links) -> list[Move]:
    """Sets that are nearer to another group than to their own, and where they may belong.

    The probability is the share of the other group in the steps of a walker from the set.

    Examples
    --------
    >>> from setwise.evaluation.testing import separable_sets
    >>> from setwise.together import Links, relate
    >>> from setwise.together.suggest import moves
    >>> sets, labels = separable_sets()
    >>> wrong = labels.copy()
    >>> wrong[0] = 1
    >>> [(move.index, move.to) for move in moves(relate(sets), wrong, Links.of(9))]
    [(0, 0)]
    """
    shares = group_shares(graph, labels)
    apart = _sets_apart(labels, links)
    found = []
    for i in range(len(labels)):
        row = shares[[i]].toarray().ravel()
        own = row[labels[i]] if labels[i] >= 0 else 0.0
        allowed = [g for g in np.flatnonzero(row > own) if (i, int(g)) not in apart]
        if allowed:
            best = max(allowed, key=lambda g: (row[g], -g))
            probability = float(row[best])
            if best != labels[i] and probability >= 0.5:
                found.append(Move(i, int(labels[i]), int(best), probability))
    return sorted(found, key=lambda move: (-move.probability, move.index))


def group_shares(graph: SetGraph, labels: IntArray) -> sp.csr_array:
    """Share of the steps from each set that end in each group.

    Examples
    --------
    >>> from setwise.evaluation.testing import separable_sets
    >>> from setwise.together import relate
    >>> from setwise.together.suggest import group_shares
    >>> sets, labels = separable_sets()
    >>> group_shares(relate(sets), labels).shape
    (9, 3)
    """
    steps = nearest_steps(graph.similarity, N_NEAREST, 1.0)
    grouped = np.flatnonzero(labels >= 0)
    shape = (len(labels), int(labels.max(initial=-1)) + 1)
    member = sp.csr_array((np.ones(len(grouped)), (grouped, labels[grouped])), shape=shape)
    return sp.csr_array(steps @ member)


def next_labels(graph: SetGraph, known: IntArray, n_next: int) -> list[NextLabel]:
    """Sets of which the names would teach most, one after the other.

    Of walkers that start at every set without a label, those that come to a labelled set take
    its label home. The set that most walkers come to before they come to any labelled one is
    the next; it then counts as labelled (a greedy cover).

    Parameters
    ----------
    graph : SetGraph
        The graph of sets.
    known : array of int, shape (n_sets,)
        Class of each set that has a label, -1 for the others.
    n_next : int
        Number of sets.

    Examples
    --------
    >>> from setwise.evaluation.testing import separable_sets
    >>> from setwise.together import relate
    >>> from setwise.together.suggest import next_labels
    >>> sets, labels = separable_sets()
    >>> found = next_labels(relate(sets), np.full(9, -1), 3)
    >>> sorted(labels[[step.index for step in found]].tolist())
    [0, 1, 2]
    """
    steps = nearest_steps(graph.similarity, N_NEAREST, 1.0)
    is_known, found = np.asarray(known) >= 0, list[NextLabel]()
    while len(found) < n_next and not is_known.all():
        asked = np.flatnonzero(~is_known)
        gains = _walkers_that_come(steps, asked)
        best = int(np.argmax(gains.round(9)))
        if gains[best] <= 0:
            break
        found.append(NextLabel(int(asked[best]), float(gains[best])))
        is_known[asked[best]] = True
    return found


def _walkers_that_come(steps: sp.csr_array, asked: IntArray) -> FloatArray:
    """Expected number of walkers, one from each set, that come to each of them."""
    inner = _GOING_ON * steps[asked][:, asked]
    solve = splu(sp.csc_array(sp.eye_array(len(asked)) - inner)).solve
    tried = np.argsort(-np.asarray(inner.sum(axis=0)).ravel(), kind="stable")[:_MOST_TRIED]
    gains = np.zeros(len(asked))
    for column in np.array_split(tried, max(1, len(tried) // 256)):
        ends = np.zeros((len(asked), len(column)))
        ends[column, np.arange(len(column))] = 1.0
        visits = solve(ends)
        gains[column] = (visits / visits[column, np.arange(len(column))]).sum(axis=0)
    return gains


def _groups_apart(labels: IntArray, links: Links) -> set[tuple[int, int]]:
    """Pairs of groups that hold two bundles that have to stay apart."""
    groups = _groups_of_bundles(labels, links)
    found = set()
    for first, second in links.apart.tolist():
        a, b = int(groups[first]), int(groups[second])
        found |= {(a, b), (b, a)}
    return found


def _sets_apart(labels: IntArray, links: Links) -> set[tuple[int, int]]:
    """Sets, and groups that they cannot go to."""
    groups = _groups_of_bundles(labels, links)
    members: dict[int, list[int]] = {}
    for i, bundle in enumerate(links.bundles.tolist()):
        members.setdefault(bundle, []).append(i)
    found = set()
    for pair in links.apart.tolist():
        for one, other in (pair, pair[::-1]):
            found |= {(i, int(groups[other])) for i in members[one]}
    return found


def _groups_of_bundles(labels: IntArray, links: Links) -> IntArray:
    groups = np.full(links.n_bundles, -1)
    groups[links.bundles] = labels
    return groups
