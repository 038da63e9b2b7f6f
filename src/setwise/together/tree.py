"""The tree of groups: average linkage, within the groups that were found first."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from setwise._support.types import FloatArray, IntArray
from setwise.together.links import Links
from setwise.together.modules import in_order


@dataclass(frozen=True)
class GroupTree:
    """A binary tree over sets, in the layout of scikit-learn's agglomerative clustering.

    Node ``i`` below ``n_leaves`` is a leaf; node ``n_leaves + r`` joins the nodes
    ``children[r]``. Joins are in the order in which they were made.

    Examples
    --------
    >>> from setwise.together import GroupTree
    >>> tree = GroupTree(3, np.array([[0, 1], [2, 3]]), np.array([5.0, 1.0]), n_sound=2)
    >>> tree.cut(2)
    array([0, 0, 1])
    """

    n_leaves: int
    children: IntArray  #: shape (n_leaves - 1, 2)
    similarity: FloatArray  #: mean similarity between the children of each inner node
    n_sound: int  #: number of joins, the first ones, that keep apart what must be

    def cut(self, n_groups: int) -> IntArray:
        """Group of each leaf when so many are left, numbered in the order of first leaves."""
        above = np.arange(self.n_leaves + len(self.children))
        for row in range(self.n_leaves - n_groups):
            above[self.children[row]] = self.n_leaves + row
        # A node is below its parent in number, so that one pass from the root finds all tops.
        for node in range(len(above) - 1, -1, -1):
            above[node] = above[above[node]]
        return in_order(above[: self.n_leaves])


def grow_tree(similarity: sp.csr_array, links: Links, groups: IntArray) -> GroupTree:
    """Join bundles by average linkage: those of one group first, those to be kept apart last.

    Parameters
    ----------
    similarity : csr_array of shape (n_sets, n_sets)
        Symmetric, stored for the sets that were compared. Others count as what both have with
        their least similar sets, on average: they were not among the nearest.
    links : Links
        Bundles of sets, which become the leaves.
    groups : array of shape (n_bundles,)
        Group of each bundle.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from setwise.together import Links, grow_tree
    >>> table = sp.csr_array([[0, 3, 1.0], [3, 0, 1], [1, 1, 0]])
    >>> grow_tree(table, Links.of(3), np.arange(3)).children
    array([[0, 1],
           [2, 3]])
    """
    joins = _Joins.of(Between.of(similarity), links)
    n = links.n_bundles
    if n > 1:
        joins.join_near(groups)
        for group in np.unique(groups).tolist():
            joins.join_rest(joins.alive_of(groups, group))
        joins.join_near(np.zeros(n, dtype=np.int64))
        joins.join_rest(joins.alive)
        n_sound = len(joins.rows)
        joins.apart = {}
        joins.join_near(np.zeros(n, dtype=np.int64))
        joins.join_rest(joins.alive)
    else:
        n_sound = 0
    children = np.array([row[:2] for row in joins.rows], dtype=np.int64).reshape(-1, 2)
    heights = np.array([row[2] for row in joins.rows], dtype=np.float64)
    return GroupTree(n, children, heights, n_sound)


@dataclass(frozen=True)
class Between:
    """Similarity of sets, of those not compared too: what is above a base of both sets."""

    above: sp.csr_array
    base: FloatArray  # of each set, half of its least similarity

    @classmethod
    def of(cls, similarity: sp.csr_array) -> Between:
        """The parts of a symmetric table without a diagonal."""
        n = similarity.shape[0]
        rows = np.repeat(np.arange(n), np.diff(similarity.indptr))
        least = np.full(n, np.inf)
        np.minimum.at(least, rows, similarity.data)
        base = np.where(np.isfinite(least), least, 0.0) / 2
        above = similarity.data - base[rows] - base[similarity.indices]
        table = sp.csr_array((above, similarity.indices, similarity.indptr), shape=(n, n))
        return cls(table, base)


@dataclass
class _Joins:
    """Clusters of bundles while they are joined; ``rows`` are the joins so far."""

    above: dict[int, dict[int, float]]  # sums, between each two clusters with any
    base: dict[int, float]  # sums over sets
    sizes: dict[int, int]  # in sets
    members: dict[int, int]  # a bundle of each cluster
    apart: dict[int, set[int]]  # clusters that it must not be joined with
    rows: list[tuple[int, int, float]] = field(default_factory=list)

    @classmethod
    def of(cls, between: Between, links: Links) -> _Joins:
        n, bundles = links.n_bundles, links.bundles
        above: dict[int, dict[int, float]] = {i: {} for i in range(n)}
        pairs = between.above.tocoo()
        first, second = (bundles[one].tolist() for one in pairs.coords)
        for i, j, value in zip(first, second, pairs.data.tolist(), strict=True):
            if i != j:  # sums of 0 count too: these were compared
                above[i][j] = above[i].get(j, 0.0) + value
        apart: dict[int, set[int]] = {i: set() for i in range(n)}
        for i, j in links.apart.tolist():
            apart[i].add(j)
            apart[j].add(i)
        base = np.bincount(bundles, between.base, minlength=n).tolist()
        sizes = np.bincount(bundles, minlength=n).tolist()
        places = list(range(n))
        return cls(
            above, dict(enumerate(base)), dict(enumerate(sizes)), dict(enumerate(places)), apart
        )

    @property
    def alive(self) -> list[int]:
        """Clusters that have not been joined."""
        return list(self.sizes)

    def alive_of(self, groups: IntArray, group: int) -> list[int]:
        """Those of one group."""
        return [i for i in self.sizes if groups[self.members[i]] == group]

    def similarity(self, i: int, j: int) -> float:
        """Mean similarity between the sets of two clusters."""
        a, b = self.sizes[i], self.sizes[j]
        return self.above[i].get(j, 0.0) / (a * b) + self.base[i] / a + self.base[j] / b

    def join_near(self, groups: IntArray) -> None:
        """Join clusters that were compared, the most similar first, within groups."""
        waiting = [
            (-self.similarity(i, j), i, j)
            for i, near in self.above.items()
            for j in near
            if i < j and self._may(i, j, groups)
        ]
        heapq.heapify(waiting)
        while waiting:
            _, i, j = heapq.heappop(waiting)
            if i not in self.sizes or j not in self.sizes or not self._may(i, j, groups):
                continue
            new = self.join(i, j)
            for other in self.above[new]:
                if self._may(new, other, groups):
                    heapq.heappush(waiting, (-self.similarity(new, other), other, new))

    def _may(self, i: int, j: int, groups: IntArray) -> bool:
        is_one = groups[self.members[i]] == groups[self.members[j]]
        return bool(is_one) and j not in self.apart.get(i, ())

    def join_rest(self, clusters: list[int]) -> None:
        """Join clusters that were not compared, those nearest to others first."""
        left = sorted(clusters, key=lambda i: (-self.base[i] / self.sizes[i], i))
        made: list[int] = []
        for one in left:
            into = next((i for i in made if one not in self.apart.get(i, ())), None)
            if into is None:
                made.append(one)
            else:
                made[made.index(into)] = self.join(into, one)

    def join(self, i: int, j: int) -> int:
        """Make one cluster of two; its number."""
        self.rows.append((i, j, self.similarity(i, j)))
        new = len(self.members)
        near, other = self.above.pop(i), self.above.pop(j)
        if len(near) < len(other):
            near, other = other, near
        for k, value in other.items():
            near[k] = near.get(k, 0.0) + value
        near.pop(i, None)
        near.pop(j, None)
        for k, value in near.items():
            theirs = self.above[k]
            theirs.pop(i, None)
            theirs.pop(j, None)
            theirs[new] = value
        self.above[new] = near
        for kept in (self.base, self.sizes):
            kept[new] = kept.pop(i) + kept.pop(j)  # type: ignore[assignment]
        self.members[new] = self.members[i]
        if self.apart:
            self.apart[new] = self.apart.pop(i) | self.apart.pop(j)
            for k in self.apart[new]:
                self.apart[k] = self.apart[k] - {i, j} | {new}
        return new
