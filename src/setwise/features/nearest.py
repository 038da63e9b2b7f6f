"""Which vectors of a set are most like which of others: what is shown side by side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from setwise._support.types import FloatArray
from setwise.features.units import unit_rows
from setwise.sets import SetBatch

__all__ = ["Pair", "closest_pairs", "nearest_pairs"]


@dataclass(frozen=True)
class Pair:
    """A vector, and one of another set that is like it.

    Attributes
    ----------
    vector : int
        Which one of the set that was asked about.
    set, other : int
        The other set, and which of its vectors.
    distance : float
        Of the two, scaled to unit norm.
    """

    vector: int
    set: int
    other: int
    distance: float


def nearest_pairs(vectors: FloatArray, sets: SetBatch, most: int) -> list[Pair]:
    """The closest pairs of a set's vectors and those of others, scaled to unit norm.

    Parameters
    ----------
    vectors : array of shape (n_vectors, n_features)
        One set.
    sets : SetBatch
        The others; none give no pairs.
    most : int
        How many pairs.
    """
    from sklearn.metrics.pairwise import euclidean_distances

    if len(sets) == 0 or len(vectors) == 0:
        return []
    distances = euclidean_distances(unit_rows(vectors), unit_rows(sets.vectors))
    pairs = []
    for vector, row in closest_pairs(distances, most):
        place = int(np.searchsorted(sets.offsets, row, side="right")) - 1
        other = row - int(sets.offsets[place])
        pairs.append(Pair(vector, place, other, float(distances[vector, row])))
    return pairs


def closest_pairs(distances: FloatArray, most: int) -> list[tuple[int, int]]:
    """The closest pairs, each row once, and each column once while there are others."""
    rows_left = distances.astype(np.float64)
    both_left = rows_left.copy()
    pairs: list[tuple[int, int]] = []
    while len(pairs) < min(most, len(distances)):
        left = both_left if np.isfinite(both_left).any() else rows_left
        row, column = map(int, np.unravel_index(left.argmin(), left.shape))
        pairs.append((row, column))
        rows_left[row] = both_left[row] = np.inf
        both_left[:, column] = np.inf
    return sorted(pairs, key=lambda pair: (distances[pair], pair))
