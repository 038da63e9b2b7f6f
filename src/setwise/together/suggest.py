"""What a person should look at: groups to merge, sets to move, the set to name next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from setwise._support.types import FloatArray, IntArray
from setwise.together.find import FoundGroups
from setwise.together.links import Links
from setwise.together.scales import ScaledGroups

# Least probability of a suggestion that is made.
WORTH_ASKING = 0.1


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
    gain: float  # sets without a name that are expected to be of its group, itself included


@dataclass(frozen=True)
class Suggestions:
    """Everything that is suggested, the most probable first.

    Examples
    --------
    >>> from setwise import SetClusters
    >>> from setwise.evaluation.testing import separable_sets
    >>> from setwise.together import suggest
    >>> found = suggest(SetClusters().fit(separable_sets()[0]).found_)
    >>> found.moves, len(found.next_labels)
    ((), 3)
    """

    merges: tuple[Merge, ...]
    moves: tuple[Move, ...]
    next_labels: tuple[NextLabel, ...]


def suggest(
    found: FoundGroups, labels: IntArray | None = None, *, n_next: int = 5
) -> Suggestions:
    """Suggest merges, moves, and sets to name next.

    All by how probable it is that two sets are of one group: by the share of the scales at
    which they are, each scale counting by its own probability.

    Parameters
    ----------
    found : FoundGroups
        Such as ``SetClusters().fit(sets).found_``.
    labels : array of int, shape (n_sets,), optional
        Other groups than those that were found, such as ``SetClusters.cut`` makes; -1 for sets
        that are left out. Sets that must be linked are in one.
    n_next : int
        Most sets to name next.

    Examples
    --------
    >>> from setwise import SetClusters
    >>> from setwise.evaluation.testing import separable_sets
    >>> from setwise.together import suggest
    >>> sets, labels = separable_sets()
    >>> clusters = SetClusters().fit(sets)
    >>> named = clusters.labels_ // 2  # two groups taken for one
    >>> steps = suggest(clusters.found_, named).next_labels
    >>> sorted(labels[[step.index for step in steps]].tolist())
    [0, 1, 2]
    """
    links, codes = found.links, found.labels if labels is None else np.asarray(labels)
    first = np.unique(links.bundles, return_index=True)[1]
    groups = codes[first]  # of bundles
    table = found.scaled.together(groups, links.sizes)
    return Suggestions(
        tuple(merges(table, groups, links)),
        tuple(moves(table, groups, links)),
        tuple(next_labels(found.scaled, links, n_next)),
    )


def merges(table: sp.csr_array, groups: IntArray, links: Links) -> list[Merge]:
    """Pairs of groups that may be one.

    Parameters
    ----------
    table : csr_array of shape (n_bundles, n_groups)
        See :meth:`setwise.together.scales.ScaledGroups.together`.
    groups : array of shape (n_bundles,)
        Group of each bundle, -1 for none.
    links : Links
        Nothing is suggested against them.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from setwise.together import Links
    >>> from setwise.together.suggest import merges
    >>> table = sp.csr_array([[1.0, 0.2], [0.4, 1.0]])
    >>> merges(table, np.array([0, 1]), Links.of(2))
    [Merge(first=0, second=1, probability=0.30000000000000004)]
    """
    inside, n_groups = np.flatnonzero(groups >= 0), table.shape[1]
    sizes = links.sizes[inside]
    counts = np.bincount(groups[inside], sizes, minlength=n_groups)
    member = sp.csr_array((sizes, (groups[inside], inside)), shape=table.shape[::-1])
    mean = sp.coo_array(member @ table)
    shares = mean.data / counts[mean.coords[0]]
    both = sp.csr_array((shares, mean.coords), shape=mean.shape)
    upper = sp.coo_array(sp.triu((both + both.T) / 2, k=1))
    apart = {tuple(sorted(groups[pair].tolist())) for pair in links.apart}
    found = [
        Merge(a, b, p)
        for a, b, p in zip(
            *(c.tolist() for c in upper.coords), upper.data.tolist(), strict=True
        )
        if p >= WORTH_ASKING and (a, b) not in apart
    ]
    return sorted(found, key=lambda merge: (-merge.probability, merge.first, merge.second))


def moves(table: sp.csr_array, groups: IntArray, links: Links) -> list[Move]:
    """Sets that another group is more probable for than their own, or than none.

    Parameters
    ----------
    table, groups, links
        As for :func:`merges`.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from setwise.together import Links
    >>> from setwise.together.suggest import moves
    >>> table = sp.csr_array([[0.9, 0.1], [0.3, 0.6]])
    >>> moves(table, np.array([0, 0]), Links.of(2))
    [Move(index=1, group=0, to=1, probability=0.6)]
    """
    first = np.unique(links.bundles, return_index=True)[1]
    barred: dict[int, set[int]] = {}
    for one, other in links.apart.tolist():
        barred.setdefault(one, set()).add(int(groups[other]))
        barred.setdefault(other, set()).add(int(groups[one]))
    found = []
    for i in range(len(groups)):
        row = slice(table.indptr[i], table.indptr[i + 1])
        shares = dict(zip(table.indices[row].tolist(), table.data[row].tolist(), strict=True))
        own = max(shares.pop(int(groups[i]), 0.0), WORTH_ASKING)
        allowed = [g for g, p in shares.items() if p > own and g not in barred.get(i, ())]
        if allowed:
            best = max(allowed, key=lambda g: (shares[g], -g))
            found.append(Move(int(first[i]), int(groups[i]), best, shares[best]))
    return sorted(found, key=lambda move: (-move.probability, move.index))


def next_labels(
    scaled: ScaledGroups, links: Links, n_next: int, known: IntArray | None = None
) -> list[NextLabel]:
    """Sets of which the names would teach most, one after the other.

    A name is expected to hold for all sets of its group. The set of which most sets without a
    name are probably in the group is the next; it then counts as named.

    Parameters
    ----------
    scaled : ScaledGroups
        Of bundles.
    links : Links
        The bundles.
    n_next : int
        Most sets; none is named that would teach nothing but its own name.
    known : array of bool, shape (n_sets,), optional
        Sets that have a name.

    Examples
    --------
    >>> from setwise.evaluation.testing import separable_sets
    >>> from setwise.together import Links, relate
    >>> from setwise.together.scales import scaled_groups
    >>> from setwise.together.suggest import next_labels
    >>> sets, labels = separable_sets()
    >>> links = Links.of(9)
    >>> found = next_labels(scaled_groups(relate(sets).similarity, links), links, 5)
    >>> sorted(labels[[step.index for step in found]].tolist())
    [0, 1, 2]
    """
    first, n = np.unique(links.bundles, return_index=True)[1], links.n_bundles
    open_ = np.ones(n)  # probability that no name is known yet
    if known is not None:
        for bundle in np.unique(links.bundles[np.asarray(known, dtype=np.bool_)]).tolist():
            open_ *= 1.0 - _together_with(scaled, bundle)
    found: list[NextLabel] = []
    while len(found) < n_next:
        gains = np.zeros(n)
        for share, groups in zip(scaled.probabilities, scaled.groups, strict=True):
            gains += share * np.bincount(groups, open_ * links.sizes, minlength=n)[groups]
        gains = np.where(open_ > 0, gains, 0.0).round(9)
        best = int(gains.argmax())
        if gains[best] <= links.sizes[best]:
            break
        found.append(NextLabel(int(first[best]), float(gains[best])))
        open_ *= 1.0 - _together_with(scaled, best)
    return found


def _together_with(scaled: ScaledGroups, bundle: int) -> FloatArray:
    """Probability that each bundle is of one group with one; 1 for itself."""
    shares = (scaled.groups == scaled.groups[:, [bundle]]).T @ scaled.probabilities
    shares[bundle] = 1.0
    return np.minimum(shares, 1.0)
