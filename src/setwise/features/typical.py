"""Which vectors belong to a set, and which are strangers in it."""

from __future__ import annotations

import numpy as np

from setwise._support.types import BoolArray, FloatArray
from setwise.features.vectors import unit_rows

# Of fewer vectors, nobody can say which is the stranger.
FEWEST = 5
# In robust standard deviations. Sets that merely spread, such as the views of a turning
# object, have no wider gap; chosen by how many strangers and how many others were dropped.
WIDEST_GAP = 1.5
_MOST_ROUNDS = 10
# Cosines of all pairs of more vectors would fill the memory.
_MOST_PAIRED = 1000


def majority_direction(units: FloatArray) -> FloatArray:
    """Direction of the mean of that half of the vectors which is nearest to it."""
    n_kept = -(-len(units) // 2)
    if len(units) <= _MOST_PAIRED:
        direction = units[np.median(units @ units.T, axis=1).argmax()]
    else:
        direction = unit_rows(np.median(units, axis=0, keepdims=True))[0]
    for _ in range(_MOST_ROUNDS):
        nearest = np.argsort(-(units @ direction), kind="stable")[:n_kept]
        moved = unit_rows(units[nearest].mean(axis=0, keepdims=True))[0]
        if np.allclose(moved, direction):
            break
        direction = moved
    return direction


def is_typical(vectors: FloatArray) -> BoolArray:
    """Which vectors belong to the majority of their set.

    Sort the cosines to the majority's direction. Their scale is that of the shortest interval
    that holds half of them, which the other half cannot move. Going down from that interval,
    the first gap wider than :data:`WIDEST_GAP` scales parts the set from its strangers. A set
    that merely spreads has no such gap and is kept whole, as is one of fewer than
    :data:`FEWEST` vectors.

    Parameters
    ----------
    vectors : array of shape (n_vectors, n_features)
        One set, one vector per row.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> own, strangers = 3 + rng.normal(size=(8, 20)), rng.normal(size=(2, 20)) - 3
    >>> is_typical(np.vstack([own, strangers]))[-3:]
    array([ True, False, False])
    """
    n = len(vectors)
    if n < FEWEST:
        return np.ones(n, dtype=np.bool_)
    units = unit_rows(vectors)
    cosines = units @ majority_direction(units)
    ordered, half = np.sort(cosines), n // 2 + 1
    lengths = ordered[half - 1 :] - ordered[: n - half + 1]
    first = int(lengths.argmin())
    # Least median of squares, with its correction for small samples (Rousseeuw and Leroy).
    scale = max((1 + 5 / (n - 1)) * lengths[first] / 2 / 0.6745, 1e-6)
    wide = np.flatnonzero(np.diff(ordered[: first + 1]) > WIDEST_GAP * scale)
    floor = ordered[wide[-1] + 1] if len(wide) else -np.inf
    return np.asarray(cosines >= floor, dtype=np.bool_)


def is_out_of_place(vectors: FloatArray, is_kept: BoolArray) -> BoolArray:
    """Which of the vectors that were left out a person would call out of place.

    What is left out of a set is chosen so that the rest is pure, at the price of some that do
    belong. Here every vector is compared with the mean of the kept ones *without itself*. It is
    out of place if it is half as far again, by one minus the cosine, as the farthest of them.
    """
    if is_kept.all() or is_kept.sum() < 2:
        return ~is_kept
    units = unit_rows(np.asarray(vectors, dtype=np.float64))
    sums = units[is_kept].sum(axis=0) - units * is_kept[:, None]
    cosines = np.einsum("ij,ij->i", units, unit_rows(sums))
    farthest = 1.0 - float(cosines[is_kept].min())
    return np.asarray(~is_kept & (1.0 - cosines > 1.5 * farthest), dtype=np.bool_)
