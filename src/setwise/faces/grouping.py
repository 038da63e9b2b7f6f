"""Faces grouped by person: near in dlib's space, and never two of one photo."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import numpy as np

from setwise._support.types import FloatArray, IntArray
from setwise.features.face_networks import network_of

# Single faces are joined up to the distance asked for, groups of many up to a larger one: there
# likeness by chance averages out. For n and m faces, n m / (n + m) says how much is averaged.
LARGER, SINGLE = 1.07, 0.035
# Two faces of one photo are so much nearer than two of one person only where the photo shows
# one person twice, as a collage does.
ONE_FACE = 0.5
# Pairs of faces that are visited: of each face, with so many nearest ones. Groups that no such
# pair joins are compared as wholes.
N_NEAREST = 64
# Rows whose distances to all others are computed at once.
BLOCK = 512


def group_faces(
    vectors: FloatArray,
    where: Sequence[AbstractSet[str]],
    known: Sequence[int] | None = None,
    max_distance: float | None = None,
) -> IntArray:
    """Group of each face, numbered in the order of first members.

    Average linkage: groups are joined while the root of the mean squared distance between the
    faces of both is at most ``max_distance`` (7 % more for groups of many faces), first along
    pairs of near faces, then as wholes. Two groups stay apart if they share a place, as two
    faces of a photo do, unless these are so near that the photo shows one person twice.

    Parameters
    ----------
    vectors : array of shape (n_faces, n_features)
        Vectors by :func:`setwise.find_faces`.
    where : sequence of sets of str
        Places of each face, such as its photo; faces with a common place are of two people.
    known : sequence of int, optional
        Groups that are settled, -1 for none. Faces with one number are of one group, whatever
        their distance, and two settled groups are never joined.
    max_distance : float, optional
        Largest distance of two faces that are joined; by default that of the network.

    Examples
    --------
    >>> faces = np.array([[0.0], [0.1], [5.0], [0.8]])
    >>> group_faces(faces, [{"a"}, {"b"}, {"b"}, {"a"}], max_distance=1)
    array([0, 0, 1, 2])
    """
    values = np.asarray(vectors, dtype=np.float64)
    settled = np.full(len(values), -1) if known is None else np.asarray(known)
    most = network_of(values).near if max_distance is None else max_distance
    groups = _Groups(values, _places(values, where, most), settled, most)
    for i, j in _near_pairs(values, most):
        groups.join(i, j)
    while groups.join_wholes():
        pass
    roots = [groups.root(i) for i in range(len(values))]
    numbers = {root: number for number, root in enumerate(dict.fromkeys(roots))}
    return np.array([numbers[root] for root in roots], dtype=np.int64)


def near_groups(
    groups: Sequence[FloatArray],
    where: Sequence[AbstractSet[str]],
    max_distance: float | None = None,
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
    max_distance : float, optional
        Largest distance that leaves a doubt; by default that of the network.

    Examples
    --------
    >>> near_groups([np.zeros((2, 1)), np.array([[1.05]]), np.array([[2.0]])], [set()] * 3, 1.1)
    [(1, 2), (0, 1)]
    """
    if not groups:
        return []
    most = network_of(np.concatenate(groups)).unsure if max_distance is None else max_distance
    means = np.stack([group.mean(axis=0) for group in groups])
    squares = np.array([np.mean(np.sum(group**2, axis=1)) for group in groups])
    squared = squares[:, None] + squares - 2 * means @ means.T
    first, second = np.nonzero(np.triu(squared <= most**2, 1))
    order = np.argsort(squared[first, second], kind="stable")
    pairs = zip(first[order].tolist(), second[order].tolist(), strict=True)
    return [(i, j) for i, j in pairs if where[i].isdisjoint(where[j])]


def _places(
    values: FloatArray, where: Sequence[AbstractSet[str]], max_distance: float
) -> list[set[str]]:
    """The places of each face, without those that it shares with its own image."""
    places = [set(own) for own in where]
    shown: dict[str, list[int]] = {}
    for i, own in enumerate(places):
        for place in own:
            shown.setdefault(place, []).append(i)
    least = (ONE_FACE * max_distance) ** 2
    for place, members in shown.items():
        for n, i in enumerate(members):
            nearer = [j for j in members[:n] if place in places[j]]
            if nearer and np.sum((values[nearer] - values[i]) ** 2, axis=1).min() < least:
                places[i].discard(place)
    return places


class _Groups:
    """Disjoint groups, with what the distance of two of them depends on."""

    def __init__(
        self, values: FloatArray, where: list[set[str]], settled: IntArray, max_distance: float
    ) -> None:
        self.above = list(range(len(values)))
        self.sizes = np.ones(len(values))
        self.sums = values.copy()
        self.squares = np.sum(values**2, axis=1)
        self.where = where
        self.settled = settled.tolist()
        self.most = max_distance**2 + 1e-12
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

    def join(self, i: int, j: int) -> bool:
        """Join the groups of two faces if they may be, and are near."""
        a, b = sorted((self.root(i), self.root(j)))
        both_settled = self.settled[a] >= 0 and self.settled[b] >= 0
        if a == b or both_settled or not self.where[a].isdisjoint(self.where[b]):
            return False
        n, m = self.sizes[a], self.sizes[b]
        spread = self.squares[a] / n + self.squares[b] / m
        distance = spread - 2 * float(self.sums[a] @ self.sums[b]) / (n * m)
        if distance > self.most * (LARGER - SINGLE * (n + m) / (n * m)) ** 2:
            return False
        self._merge(a, b)
        return True

    def join_wholes(self) -> bool:
        """Join groups that are near as wholes, the nearest first; whether there were any."""
        roots = np.array([i for i, above in enumerate(self.above) if i == above], dtype=int)
        means = self.sums[roots] / self.sizes[roots, None]
        squares = self.squares[roots] / self.sizes[roots]
        pairs = _pairs_below(means, squares, self.most * LARGER**2)
        return sum(self.join(int(roots[i]), int(roots[j])) for i, j in pairs) > 0

    def _merge(self, a: int, b: int) -> None:
        if a == b:
            return
        self.above[b] = a
        self.sizes[a] += self.sizes[b]
        self.sums[a] += self.sums[b]
        self.squares[a] += self.squares[b]
        self.where[a] |= self.where[b]
        self.settled[a] = max(self.settled[a], self.settled[b])


def _near_pairs(values: FloatArray, max_distance: float) -> IntArray:
    """Pairs of each row and its nearest ones, the nearest first; ties in the order of rows."""
    squares = np.sum(values**2, axis=1)
    most = (LARGER * max_distance) ** 2
    return _pairs_below(values, squares, most, N_NEAREST)


def _pairs_below(
    means: FloatArray, squares: FloatArray, most: float, n_nearest: int | None = None
) -> IntArray:
    """Pairs of rows of a mean squared distance of ``most`` or less, the nearest first."""
    found = [np.empty((0, 3))]
    for start in range(0, len(means), BLOCK):
        block = slice(start, start + BLOCK)
        squared = squares[block, None] + squares[None, :] - 2 * means[block] @ means.T
        np.fill_diagonal(squared[:, start:], np.inf)
        if n_nearest is not None and n_nearest < len(means):
            limits = np.partition(squared, n_nearest - 1, axis=1)[:, n_nearest - 1, None]
            squared[squared > limits] = np.inf
        i, j = np.nonzero(squared <= most)
        low, high = np.minimum(i + start, j), np.maximum(i + start, j)
        found.append(np.column_stack([low, high, squared[i, j].round(12)]))
    pairs = np.unique(np.concatenate(found), axis=0)
    order = np.lexsort((pairs[:, 1], pairs[:, 0], pairs[:, 2]))
    return pairs[order, :2].astype(np.int64)
