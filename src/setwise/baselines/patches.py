"""A set divided into patches that are nearly flat: hierarchical divisive clustering.

A set is taken for a sample of a manifold. Where the manifold is flat, the way along it (the
geodesic distance) is no longer than the straight way; patches are divided until the mean
ratio of the two is small (R. Wang, S. Shan, X. Chen, Q. Dai and W. Gao, *Manifold-manifold
distance and its application to face recognition with image sets*, TIP 2012).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, dijkstra
from scipy.spatial.distance import cdist

from setwise._support.types import BoolArray, FloatArray, IntArray

__all__ = ["linear_patches"]


def linear_patches(
    vectors: FloatArray, *, n_neighbors: int = 12, max_ratio: float = 2.0, min_size: int = 10
) -> list[IntArray]:
    """Divide a set into nearly flat patches.

    The largest patch is divided, as in the authors' release, as long as the mean ratio of
    geodesic to Euclidean distance reaches ``max_ratio`` in any patch and the largest is of at
    least twice ``min_size``.

    Parameters
    ----------
    vectors : array of shape (n_vectors, n_features)
        One set.
    n_neighbors : int
        Neighbours in the graph along which geodesics run; two more at a time until it is
        connected.
    max_ratio : float
        Ratio above which a patch is not flat.
    min_size : int
        Patches of fewer than twice so many vectors are not divided.

    Returns
    -------
    list of arrays of int
        Vectors of each patch, sorted.
    """
    n_vectors = len(vectors)
    if n_vectors < 2 * min_size:
        return [np.arange(n_vectors)]
    straight = cdist(vectors, vectors)
    is_near, geodesic = _geodesics(straight, n_neighbors)
    # Copies are at distance 0 either way: as flat as can be.
    ratio = np.ones_like(straight)
    np.divide(geodesic, straight, out=ratio, where=straight > 0)
    patches = [np.arange(n_vectors)]
    while max(ratio[np.ix_(patch, patch)].mean() for patch in patches) >= max_ratio:
        largest = max(range(len(patches)), key=lambda i: len(patches[i]))
        if len(patches[largest]) < 2 * min_size:
            break
        patches[largest : largest + 1] = _divided(patches[largest], is_near, geodesic, ratio)
    return patches


def _geodesics(straight: FloatArray, n_neighbors: int) -> tuple[BoolArray, FloatArray]:
    """Which vectors are neighbours of which, and distances along the graph of neighbours."""
    n = len(straight)
    order = np.argsort(straight + np.diag(np.full(n, -1.0)), axis=1, kind="stable")
    while True:
        n_neighbors = min(n_neighbors, n - 1)
        is_near = np.zeros((n, n), dtype=bool)
        np.put_along_axis(is_near, order[:, 1 : n_neighbors + 1], True, axis=1)
        is_near |= is_near.T
        rows, columns = np.nonzero(is_near)
        graph = sp.csr_array((straight[rows, columns], (rows, columns)), shape=(n, n))
        if connected_components(graph, directed=False)[0] == 1:
            return is_near, dijkstra(graph, directed=False)
        n_neighbors += 2


def _divided(
    patch: IntArray, is_near: BoolArray, geodesic: FloatArray, ratio: FloatArray
) -> list[IntArray]:
    """Two patches, grown at the same time from the two vectors farthest apart."""
    inside = np.ix_(patch, patch)
    is_near, geodesic, ratio = is_near[inside], geodesic[inside], ratio[inside]
    seeds = np.unravel_index(geodesic.argmax(), geodesic.shape)
    sides = (_Side(int(seeds[0]), ratio), _Side(int(seeds[1]), ratio))
    is_free = np.ones(len(patch), dtype=bool)
    is_free[list(seeds)] = False
    while is_free.any():
        wanted = [is_free & is_near[side.members].any(axis=0) for side in sides]
        for side, is_wanted in zip(sides, wanted, strict=True):
            if len(side.members) == 1 and not is_wanted.any():
                is_wanted[_nearest(side.members[0], is_free, geodesic)] = True
        is_contested = wanted[0] & wanted[1]
        for side, is_wanted in zip(sides, wanted, strict=True):
            side.take(np.flatnonzero(is_wanted & ~is_contested).tolist())
        for vector in np.flatnonzero(is_contested).tolist():
            min(sides, key=_Side.rank).take([vector])
        is_claimed = wanted[0] | wanted[1]
        if not is_claimed.any():
            for vector in np.flatnonzero(is_free).tolist():
                min(sides, key=lambda side: len(side.members)).take([vector])
            break
        is_free &= ~is_claimed
    return [patch[np.sort(side.members)] for side in sides]


def _nearest(vector: int, is_free: BoolArray, geodesic: FloatArray) -> int:
    return int(np.where(is_free, geodesic[vector], np.inf).argmin())


class _Side:
    """One half of a patch while it grows, and its mean ratio."""

    def __init__(self, seed: int, ratio: FloatArray) -> None:
        self.members = [seed]
        self._ratio = ratio
        self._sum = float(ratio[seed, seed])

    def take(self, vectors: Iterable[int]) -> None:
        """Add vectors, one after the other."""
        for vector in vectors:
            to_members = self._ratio[vector, self.members].sum()
            self._sum += 2.0 * float(to_members) + float(self._ratio[vector, vector])
            self.members.append(vector)

    def rank(self) -> tuple[bool, float]:
        """A side of one vector comes first, then the flatter one."""
        return len(self.members) > 1, self._sum / len(self.members) ** 2
