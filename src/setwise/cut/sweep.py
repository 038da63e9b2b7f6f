"""The best NCut among all thresholds of a vector."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from setwise.cut.laplacian import degrees
from setwise.types import Adjacency, BoolArray, FloatArray

__all__ = ["sweep"]

# Values closer than this (relative to the spread) are one value: no threshold between them,
# or the order of the rows would decide.
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
    is_threshold = np.diff(values) > _SAME * np.abs(values).max()
    if not is_threshold.any():
        return None
    degree = degrees(adjacency)[order]
    across = np.cumsum(degree - 2.0 * _weight_to_earlier(adjacency, order))[:-1]
    volume = np.cumsum(degree)
    low, high = volume[:-1], volume[-1] - volume[:-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.maximum(across, 0.0) * (1.0 / low + 1.0 / high)
    value[~is_threshold] = np.inf
    side = np.ones(len(vector), dtype=bool)
    side[order[: int(np.nanargmin(value)) + 1]] = False
    return side


def _weight_to_earlier(adjacency: Adjacency, order: np.ndarray) -> FloatArray:
    """For each vertex in ``order``, the weight of its edges to those before it."""
    if not sp.issparse(adjacency):
        return np.tril(adjacency[np.ix_(order, order)], -1).sum(axis=1)
    edges = adjacency.tocoo()
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    row, column = rank[edges.row], rank[edges.col]
    is_earlier = column < row
    return np.bincount(  # type: ignore[return-value]
        row[is_earlier], weights=edges.data[is_earlier], minlength=len(order)
    )
