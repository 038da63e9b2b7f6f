"""The best NCut among all thresholds of a vector."""

from __future__ import annotations

from setwise._support.compiled import kernels_of
from setwise._support.types import Adjacency, BoolArray, FloatArray
from setwise.cut.edges import Edges

__all__ = ["sweep"]


def sweep(adjacency: Adjacency, vector: FloatArray) -> BoolArray | None:
    """Cut the graph where the sorted ``vector`` gives the smallest NCut.

    The Fiedler vector relaxes the NCut problem; rounding it at zero is one way back to a cut,
    trying every threshold is another, and never worse in NCut.

    Returns
    -------
    array of bool, shape (n_vertices,), or None
        True on the high side. None when all values are equal.

    Examples
    --------
    >>> import numpy as np
    >>> adjacency = np.array([[0, 1, 0, 0], [1, 0, 0.1, 0], [0, 0.1, 0, 1], [0, 0, 1, 0]])
    >>> from setwise.cut import sweep
    >>> sweep(adjacency, np.array([0.9, 0.5, 0.4, -1.0]))
    array([ True,  True, False, False])
    """
    edges = Edges.of(adjacency)
    side, exists = kernels_of("setwise.cut").sweep(*edges, edges.degrees, vector)
    return side if exists else None
