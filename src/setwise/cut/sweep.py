"""The best NCut among all thresholds of a vector."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from setwise.compiled import kernels_of
from setwise.cut.laplacian import degrees
from setwise.types import Adjacency, BoolArray, FloatArray

__all__ = ["sweep"]

# Values closer than this (relative to their root mean square, weighted by degree, which no
# nearly isolated vertex can spoil) are one value: no threshold between them, or the order of
# the rows would decide.
_SAME = 1e-9


def sweep(adjacency: Adjacency, vector: FloatArray) -> BoolArray | None:
    """Cut the graph where the sorted ``vector`` gives the smallest NCut.

    The Fiedler vector relaxes the NCut problem; rounding it at zero is one way back to a cut,
    trying every threshold is another, and never worse in NCut.

    Returns
    -------
    array of bool, shape (n_vertices,), or None
        True on the high side. None when all values are equal.
    """
    order = np.argsort(vector, kind="stable")
    values = vector[order]
    degree = degrees(adjacency)[order]
    size = np.linalg.norm(np.sqrt(degree) * values) / np.sqrt(degree.sum())
    is_threshold = np.diff(values) > _SAME * size
    if not is_threshold.any():
        return None
    value = _ncut_of_thresholds(degree, _weight_to_earlier(adjacency, order))
    value[~is_threshold] = np.inf
    side = np.ones(len(vector), dtype=bool)
    side[order[: int(np.argmin(value)) + 1]] = False
    return side


def _ncut_of_thresholds(degree: FloatArray, to_earlier: FloatArray) -> FloatArray:
    """NCut after each vertex but the last.

    Both sides are summed from their own end and the lighter one decides what is across: the
    volume of a light side would be lost in the rounding of a sum that began at the other.
    """
    surplus = degree - 2.0 * to_earlier
    low, high = np.cumsum(degree)[:-1], np.cumsum(degree[::-1])[::-1][1:]
    from_low, from_high = np.cumsum(surplus)[:-1], -np.cumsum(surplus[::-1])[::-1][1:]
    across = np.maximum(np.where(low <= high, from_low, from_high), 0.0)
    is_free = across == 0.0
    return across / np.where(is_free, 1.0, low) + across / np.where(is_free, 1.0, high)


def _weight_to_earlier(adjacency: Adjacency, order: np.ndarray) -> FloatArray:
    """For each vertex in ``order``, the weight of its edges to those before it."""
    if not sp.issparse(adjacency):
        return kernels_of("setwise.cut").weight_to_earlier(adjacency, order)
    edges = adjacency.tocoo()
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    row, column = rank[edges.row], rank[edges.col]
    is_earlier = column < row
    return np.bincount(  # type: ignore[return-value]
        row[is_earlier], weights=edges.data[is_earlier], minlength=len(order)
    )
