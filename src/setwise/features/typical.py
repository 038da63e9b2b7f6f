"""Which vectors belong to a set, and which are outliers of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.features.vectors import unit_rows

# Of fewer vectors, any could be the outlier.
FEWEST = 5
# In robust standard deviations. Sets that merely spread, such as the views of a turning
# object, have no wider gap; chosen by how many outliers and how many others were dropped.
WIDEST_GAP = 1.5
_MOST_ROUNDS = 10
# Cosines of all pairs of more vectors would fill the memory.
_MOST_PAIRED = 1000
# Place of each byte in the order of the bytes of doubles.
_RANK = np.arange(256.0).view(np.dtype((np.void, 8))).argsort().argsort().astype(np.uint8)
# Numbers that are converted to double precision at once.
_BLOCK = 2**19


def canonical_order(vectors: npt.NDArray[Any]) -> IntArray:
    """An order of the vectors that depends on their values alone, not on their order."""
    if vectors.dtype == np.uint8:  # by the same order, without a copy eight times as large
        rows = _RANK[vectors]
    else:
        rows = np.ascontiguousarray(vectors, dtype=np.float64) + 0.0  # no negative zeros
    return np.argsort(rows.view(np.dtype((np.void, rows.strides[0]))).ravel(), kind="stable")


def cosines_of_pairs(vectors: npt.NDArray[Any]) -> FloatArray:
    """Cosines of all pairs of vectors, 0 where one is zero; vectors of any type and length.

    Examples
    --------
    >>> import numpy as np
    >>> cosines_of_pairs(np.array([[3, 4], [0, 5], [0, 0]], dtype=np.uint8))
    array([[1. , 0.8, 0. ],
           [0.8, 1. , 0. ],
           [0. , 0. , 0. ]])
    """
    products = np.zeros((len(vectors), len(vectors)))
    step = max(1, _BLOCK // max(1, len(vectors)))
    for start in range(0, vectors.shape[1], step):  # images are not all converted at once
        block = np.asarray(vectors[:, start : start + step], dtype=np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            products += block @ block.T
    squares = products.diagonal()
    is_safe = (squares > 1e-200) & (squares < 1e200)
    if not (is_safe | ~vectors.any(axis=1)).all():
        units = unit_rows(np.asarray(vectors, dtype=np.float64))
        return np.asarray(units @ units.T)
    lengths = np.sqrt(np.where(is_safe, squares, 1.0))
    return np.asarray(products / np.outer(lengths, lengths))  # symmetric to the last bit


def majority_cosines(vectors: npt.NDArray[Any]) -> FloatArray:
    """Cosine of each vector with the direction of the mean of the half nearest to it."""
    if len(vectors) > _MOST_PAIRED:
        return _majority_of_many(unit_rows(np.asarray(vectors, dtype=np.float64)))
    cosines = cosines_of_pairs(vectors)
    to_majority = cosines[np.median(cosines, axis=1).argmax()]
    n_kept, half = -(-len(vectors) // 2), np.empty(0, dtype=np.int64)
    for _ in range(_MOST_ROUNDS):
        before, half = half, np.argsort(-to_majority, kind="stable")[:n_kept]
        if np.array_equal(before, half):
            break
        length = np.sqrt(max(float(cosines[np.ix_(half, half)].sum()), 1e-300))
        to_majority = cosines[:, half].sum(axis=1) / length
    return to_majority


def _majority_of_many(units: FloatArray) -> FloatArray:
    """The same of more vectors than can be compared in pairs."""
    n_kept = -(-len(units) // 2)
    direction = unit_rows(np.median(units, axis=0, keepdims=True))[0]
    for _ in range(_MOST_ROUNDS):
        nearest = np.argsort(-(units @ direction), kind="stable")[:n_kept]
        moved = unit_rows(units[nearest].mean(axis=0, keepdims=True))[0]
        if np.allclose(moved, direction):
            break
        direction = moved
    return np.asarray(units @ direction)


def is_typical(vectors: npt.NDArray[Any]) -> BoolArray:
    """Which vectors belong to the majority of their set.

    Sort the cosines to the majority's direction. Their scale is that of the shortest interval
    that holds half of them, which the other half cannot move. Going down from that interval,
    the first gap wider than :data:`WIDEST_GAP` scales separates the set from its outliers. A
    set that merely spreads has no such gap and is kept whole, as is one of fewer than
    :data:`FEWEST` vectors. The order of the vectors does not matter.

    Parameters
    ----------
    vectors : array of shape (n_vectors, n_features)
        One set, one vector per row.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> own, others = 3 + rng.normal(size=(8, 20)), rng.normal(size=(2, 20)) - 3
    >>> is_typical(np.vstack([own, others]))[-3:]
    array([ True, False, False])
    """
    n = len(vectors)
    if n < FEWEST:
        return np.ones(n, dtype=np.bool_)
    order = canonical_order(vectors)
    cosines = np.empty(n)
    cosines[order] = majority_cosines(vectors[order])
    ordered, half = np.sort(cosines), n // 2 + 1
    lengths = ordered[half - 1 :] - ordered[: n - half + 1]
    first = int(lengths.argmin())
    # Least median of squares, with its correction for small samples (Rousseeuw and Leroy).
    scale = max((1 + 5 / (n - 1)) * lengths[first] / 2 / 0.6745, 1e-6)
    wide = np.flatnonzero(np.diff(ordered[: first + 1]) > WIDEST_GAP * scale)
    floor = ordered[wide[-1] + 1] if len(wide) else -np.inf
    return np.asarray(cosines >= floor, dtype=np.bool_)


def is_out_of_place(vectors: FloatArray, inliers: BoolArray) -> BoolArray:
    """Which outliers a person would call out of place.

    Outliers are chosen so that the rest is pure, at the price of some vectors that do belong: a
    vector is nearer to a mean that it is part of, and that alone may set a majority apart. Here
    every vector is compared with the mean of the inliers *without itself*. It is out of place
    if it is half as far again, by one minus the cosine, as the farthest of them.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> own, other = 3 + rng.normal(size=(6, 20)), rng.normal(size=(1, 20)) - 3
    >>> inliers = np.array([True, True, True, True, False, True, False])
    >>> np.flatnonzero(is_out_of_place(np.vstack([own, other]), inliers))
    array([6])
    """
    if inliers.all() or inliers.sum() < 2:
        return ~inliers
    units = unit_rows(np.asarray(vectors, dtype=np.float64))
    sums = units[inliers].sum(axis=0) - units * inliers[:, None]
    cosines = np.einsum("ij,ij->i", units, unit_rows(sums))
    farthest = 1.0 - float(cosines[inliers].min())
    return np.asarray(~inliers & (1.0 - cosines > 1.5 * farthest), dtype=np.bool_)
