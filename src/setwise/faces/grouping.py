"""Faces grouped by person: near in dlib's space, and never two of one photo."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

import numpy as np

from setwise._support.types import FloatArray, IntArray
from setwise.features.face_networks import SFACE

# Groups are joined while the root of the mean squared distance of their faces is below the
# first; a little farther apart, people are asked.
NEAR, UNSURE = SFACE.near, SFACE.unsure
# Rows whose distances to all others are computed at once.
BLOCK = 512


def group_faces(
    vectors: FloatArray,
    where: Sequence[AbstractSet[str]],
    known: Sequence[int] | None = None,
    max_distance: float = NEAR,
) -> IntArray:
    """Group of each face, numbered in the order of first members.

    Pairs of faces are visited from the nearest on, and their groups joined if the mean squared
    distance between the faces of both is at most ``max_distance ** 2``: average linkage, in
    the order of single pairs. Two groups stay apart if they share a place, as two faces of a
    photo do.

    Parameters
    ----------
    vectors : array of shape (n_faces, n_features)
        Vectors by :func:`setwise.find_faces`.
    where : sequence of sets of str
        Places of each face, such as its photo; faces with a common place are of two people.
    known : sequence of int, optional
        Groups that are settled, -1 for none. Faces with one number are of one group, whatever
        their distance, and two settled groups are never joined.
    max_distance : float
        Largest distance of groups that are joined.

    Examples
    --------
    >>> faces = np.array([[0.0], [0.1], [5.0], [0.05]])
    >>> group_faces(faces, [{"a"}, {"b"}, {"b"}, {"a"}])
    array([0, 1, 2, 1])
    """
    values = np.asarray(vectors, dtype=np.float64)
    settled = np.full(len(values), -1) if known is None else np.asarray(known)
    groups = _Groups(values, where, settled)
    for i, j in _near_pairs(values, max_distance):
        groups.join(i, j, max_distance)
    roots = [groups.root(i) for i in range(len(values))]
    numbers = {root: number for number, root in enumerate(dict.fromkeys(roots))}
    return np.array([numbers[root] for root in roots], dtype=np.int64)


def near_groups(
    groups: Sequence[FloatArray],
    where: Sequence[AbstractSet[str]],
    max_distance: float = UNSURE,
) -> list[tuple[int, int]]:
    """Pairs of groups that may be one person, the nearest first.

    The distance of two groups is the root of the mean squared distance of their faces, as for
    :func:`group_faces`. Groups that share a place are of two people.

    Parameters
    ----------
    groups : sequence of arrays of shape (n_faces, n_features)
        Vectors of each group.
    where : sequence of sets of str
        Places of each group.
    max_distance : float
        Largest distance that leaves a doubt.

    Examples
    --------
    >>> near_groups([np.zeros((2, 1)), np.full((1, 1), 0.55), np.ones((1, 1))], [set()] * 3)
    [(1, 2), (0, 1)]
    """
    if not groups:
        return []
    means = np.stack([group.mean(axis=0) for group in groups])
    squares = np.array([np.mean(np.sum(group**2, axis=1)) for group in groups])
    squared = squares[:, None] + squares - 2 * means @ means.T
    first, second = np.nonzero(np.triu(squared <= max_distance**2, 1))
    order = np.argsort(squared[first, second], kind="stable")
    pairs = zip(first[order].tolist(), second[order].tolist(), strict=True)
    return [(i, j) for i, j in pairs if where[i].isdisjoint(where[j])]


class _Groups:
    """Disjoint groups, with what the distance of two of them depends on."""

    def __init__(
        self, values: FloatArray, where: Sequence[AbstractSet[str]], settled: IntArray
    ) -> None:
        self.above = list(range(len(values)))
        self.sizes = [1] * len(values)
        self.sums = values.copy()
        self.squares = np.sum(values**2, axis=1)
        self.where = [set(places) for places in where]
        self.settled = settled.tolist()
        first: dict[int, int] = {}
        for i, number in enumerate(self.settled):
            if number >= 0:
                self._merge(self.root(first.setdefault(number, i)), i)

    def root(self, i: int) -> int:
        """The face that stands for the group of a face."""
        while self.above[i] != i:
            self.above[i] = self.above[self.above[i]]
            i = self.above[i]
        return i

    def join(self, i: int, j: int, max_distance: float) -> None:
        """Join the groups of two faces if they may be, and are near."""
        a, b = sorted((self.root(i), self.root(j)))
        both_settled = self.settled[a] >= 0 and self.settled[b] >= 0
        if a == b or both_settled or not self.where[a].isdisjoint(self.where[b]):
            return
        means = self.sums[a] / self.sizes[a], self.sums[b] / self.sizes[b]
        spread = self.squares[a] / self.sizes[a] + self.squares[b] / self.sizes[b]
        if spread - 2 * float(means[0] @ means[1]) <= max_distance**2 + 1e-12:
            self._merge(a, b)

    def _merge(self, a: int, b: int) -> None:
        if a == b:
            return
        self.above[b] = a
        self.sizes[a] += self.sizes[b]
        self.sums[a] += self.sums[b]
        self.squares[a] += self.squares[b]
        self.where[a] |= self.where[b]
        self.settled[a] = max(self.settled[a], self.settled[b])


def _near_pairs(values: FloatArray, max_distance: float) -> Iterator[tuple[int, int]]:
    """Pairs of rows that are near enough, the nearest first; ties in the order of rows."""
    found = []
    norms = np.sum(values**2, axis=1)
    for start in range(0, len(values), BLOCK):
        block = slice(start, start + BLOCK)
        squared = norms[block, None] + norms[None, :] - 2 * values[block] @ values.T
        i, j = np.nonzero(squared <= max_distance**2 + 1e-12)
        later = j > i + start
        found.append(np.column_stack([i[later] + start, j[later], squared[i, j][later]]))
    pairs = np.concatenate([np.empty((0, 3)), *found])
    for i, j, _ in pairs[np.lexsort((pairs[:, 1], pairs[:, 0], pairs[:, 2].round(12)))]:
        yield int(i), int(j)
