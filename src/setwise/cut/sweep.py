"""The best NCut among all thresholds of a vector."""

from __future__ import annotations

import numpy as np

from setwise._support.compiled import kernels_of
from setwise._support.types import Adjacency, BoolArray, FloatArray
from setwise.cut.edges import Edges

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

    Examples
    --------
    >>> import numpy as np
    >>> adjacency = np.array([[0, 1, 0, 0], [1, 0, 0.1, 0], [0, 0.1, 0, 1], [0, 0, 1, 0]])
    >>> from setwise.cut import sweep
    >>> sweep(adjacency, np.array([0.9, 0.5, 0.4, -1.0]))
    array([ True,  True, False, False])
    """
    edges = Edges.of(adjacency)
    order = np.argsort(vector, kind="stable")
    values = vector[order]
    degree = edges.degrees[order]
    size = np.linalg.norm(np.sqrt(degree) * values) / np.sqrt(degree.sum())
    n_low, _ = kernels_of("setwise.cut").best_threshold(
        *edges, order, values, degree, _SAME * size
    )
    if n_low == 0:
        return None
    side = np.ones(len(vector), dtype=bool)
    side[order[:n_low]] = False
    return side
