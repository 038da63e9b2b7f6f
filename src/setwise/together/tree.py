"""The tree of groups: normalised cuts of the graph of sets, down to single sets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from setwise._support.parallel import quiet
from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.cut import Edges, bisect
from setwise.errors import ConvergenceWarning, DegenerateSplitWarning
from setwise.together.links import Links
from setwise.together.spread import walked

# Nearest sets of each set that its neighbourhood holds. Groups may be as small as two sets.
N_NEAREST = 3


@dataclass(frozen=True)
class GroupTree:
    """A binary tree over sets, in the layout of scikit-learn's agglomerative clustering.

    Node ``i`` below ``n_leaves`` is a leaf; node ``n_leaves + r`` joins the nodes
    ``children[r]``. The root is the last one.

    Examples
    --------
    >>> from setwise.together import GroupTree
    >>> tree = GroupTree(3, np.array([[0, 1], [2, 3]]), np.array([5.0, 1.0]))
    >>> tree.leaves(3), tree.labels([3, 2])
    (array([0, 1]), array([0, 0, 1]))
    """

    n_leaves: int
    children: IntArray  #: shape (n_leaves - 1, 2)
    #: Mean similarity between the children of each inner node, at least that of its parent.
    similarity: FloatArray

    def leaves(self, node: int) -> IntArray:
        """The leaves under a node, ascending."""
        found, left = [], [node]
        while left:
            i = left.pop()
            if i < self.n_leaves:
                found.append(i)
            else:
                left += self.children[i - self.n_leaves].tolist()
        return np.sort(np.array(found, dtype=np.int64))

    def labels(self, nodes: list[int]) -> IntArray:
        """Number of the node that each leaf is under, -1 for none."""
        found = np.full(self.n_leaves, -1)
        for number, node in enumerate(nodes):
            found[self.leaves(node)] = number
        return found


def grow_tree(similarity: sp.csr_array, affinities: sp.csr_array, links: Links) -> GroupTree:
    """Cut the graph of bundles in two, and each half again, down to single bundles.

    Each cut is the normalised cut of Algorithm 2 (:func:`setwise.cut.bisect`). Where it is
    no better than a cut through the middle of one group, and parts none of the pairs that
    have to stay apart, the halves are the sets from which a walker comes to one of such a pair
    before the other.

    Parameters
    ----------
    similarity : csr_array of shape (n_sets, n_sets)
        Similarity of the sets that were compared.
    affinities : csr_array of shape (n_sets, n_sets)
        Symmetric, see :meth:`setwise.together.SetGraph.neighbours`.
    links : Links
        Bundles of sets, which become the leaves.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from setwise.together import Links, grow_tree
    >>> table = sp.csr_array([[0, 3, 1.0], [3, 0, 1], [1, 1, 0]])
    >>> grow_tree(table, table, Links.of(3)).children
    array([[0, 1],
           [3, 2]])
    """
    n = links.n_bundles
    edges, between = _of_bundles(affinities, links.bundles), Between.of(similarity, links)
    rows: list[tuple[int, int, float]] = []
    # Nodes are numbered from below: halves first, in the order of their first leaves.
    waiting: list[tuple[IntArray, bool]] = [(np.arange(n), False)]
    halves: list[tuple[IntArray, IntArray]] = []
    made: list[int] = []
    while waiting:
        members, is_cut = waiting.pop()
        if len(members) == 1:
            made.append(int(members[0]))
        elif is_cut:
            one, other = halves.pop()
            second, first = made.pop(), made.pop()
            rows.append((first, second, between.mean(one, other)))
            made.append(n + len(rows) - 1)
        else:
            side = _side(edges.inside(members), members, links)
            one, other = members[side], members[~side]
            halves.append((one, other))
            waiting += [(members, True), (other, False), (one, False)]
    children = np.array([row[:2] for row in rows], dtype=np.int64).reshape(-1, 2)
    heights = np.array([row[2] for row in rows], dtype=np.float64)
    return GroupTree(n, children, _falling(children, heights, n))


def _side(edges: Edges, members: IntArray, links: Links) -> BoolArray:
    """The half of each member; that of the first is True."""
    with quiet("", ConvergenceWarning), quiet("", DegenerateSplitWarning):
        cut = bisect(edges.to_csr())
    side = cut.side
    inside = np.isin(links.apart, members).all(axis=1)
    if inside.any() and cut.ncut >= CONNECTED:
        pairs = np.searchsorted(members, links.apart[inside])
        if not (side[pairs[:, 0]] != side[pairs[:, 1]]).any():
            side = _reached_first(edges.to_csr(), pairs[0])
    return side == side[0]


# NCut above which the halves are no two groups: each loses a quarter of its steps.
CONNECTED = 0.5


def _reached_first(affinities: sp.csr_array, pair: IntArray) -> BoolArray:
    """Whether a walker comes to the first of two vertices before the second."""
    n = affinities.shape[0]
    codes = np.full(n, -1)
    codes[pair] = 0, 1
    degrees = np.asarray(affinities.sum(axis=1)).ravel()
    steps = sp.csr_array(sp.diags_array(1.0 / np.maximum(degrees, 1e-300)) @ affinities)
    shares = walked(steps, codes, 2, going_on=1.0 - 1e-9)
    found: BoolArray = shares[:, 0] >= shares[:, 1]
    return found


def _of_bundles(affinities: sp.csr_array, bundles: IntArray) -> Edges:
    """Affinities between bundles: sums of those between their sets."""
    n = len(bundles)
    member = sp.csr_array((np.ones(n), (np.arange(n), bundles)))
    joined = sp.csr_array(member.T @ affinities @ member)
    joined.setdiag(0.0)
    joined.eliminate_zeros()
    joined.sort_indices()
    return Edges.of(joined)


def _falling(children: IntArray, heights: FloatArray, n: int) -> FloatArray:
    """Heights of which none is below that of the node above it."""
    found = heights.copy()
    for row in range(len(children) - 1, -1, -1):
        for child in children[row]:
            if child >= n:
                found[child - n] = max(found[child - n], found[row])
    return found


@dataclass(frozen=True)
class Between:
    """Mean similarity between groups of bundles.

    Pairs that were not compared count as the mean of the least similarities of both sets: they
    were not among the nearest.
    """

    bundles: sp.csr_array  # which sets are of each bundle
    above: sp.csr_array  # similarity of the compared pairs above that of others
    least: FloatArray  # of each set, half of its least similarity

    @classmethod
    def of(cls, similarity: sp.csr_array, links: Links) -> Between:
        """The means of a graph of sets."""
        n = similarity.shape[0]
        counts = np.diff(similarity.indptr)
        rows = np.repeat(np.arange(n), counts)
        least = np.full(n, np.inf)
        np.minimum.at(least, rows, similarity.data)
        least = np.where(np.isfinite(least), least, 0.0) / 2
        above = similarity.data - least[rows] - least[similarity.indices]
        table = sp.csr_array((above, similarity.indices, similarity.indptr), shape=(n, n))
        ones = np.ones(n)
        return cls(sp.csr_array((ones, (links.bundles, np.arange(n)))), table, least)

    def mean(self, one: IntArray, other: IntArray) -> float:
        """Mean similarity between the sets of some bundles and those of others."""
        few, many = sorted((self._sets(one), self._sets(other)), key=len)
        asked = np.zeros(self.above.shape[0])
        asked[many] = 1.0
        total = float((self.above[few] @ asked).sum())
        least = self.least[few].mean() + self.least[many].mean()
        return total / (len(few) * len(many)) + float(least)

    def _sets(self, bundles: IntArray) -> IntArray:
        return self.bundles[bundles].indices


def undivided(tree: GroupTree, is_allowed: Callable[[int], bool]) -> list[int]:
    """The largest nodes that are allowed, from the left to the right."""
    found, left = [], [tree.n_leaves + len(tree.children) - 1]
    while left:
        node = left.pop()
        if node < tree.n_leaves or is_allowed(node):
            found.append(node)
        else:
            left += tree.children[node - tree.n_leaves].tolist()[::-1]
    return found
