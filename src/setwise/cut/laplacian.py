"""Degrees, the symmetric normalised Laplacian, and the NCut value of a bipartition."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from setwise._support.compiled import kernels_of
from setwise._support.types import Adjacency, BoolArray, FloatArray
from setwise.cut.edges import Edges

__all__ = ["degrees", "ncut", "normalised_laplacian"]


def degrees(adjacency: Adjacency) -> FloatArray:
    """Sum of the weights at each vertex (paper eq. 6).

    Examples
    --------
    >>> import numpy as np
    >>> adjacency = np.array([[0, 1, 0, 0], [1, 0, 0.1, 0], [0, 0.1, 0, 1], [0, 0, 1, 0]])
    >>> from setwise.cut import degrees
    >>> degrees(adjacency)
    array([1. , 1.1, 1.1, 1. ])
    """
    if isinstance(adjacency, Edges):
        return adjacency.degrees
    return np.asarray(adjacency.sum(axis=1), dtype=np.float64).ravel()


def normalised_laplacian(adjacency: Adjacency) -> Adjacency:
    """``D^-1/2 (D - A) D^-1/2``, the symmetric normalised Laplacian (paper eq. 12).

    Every vertex must have an edge: separate the connected components first.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.cut import normalised_laplacian
    >>> normalised_laplacian(np.array([[0.0, 2.0], [2.0, 0.0]]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    scale = 1.0 / np.sqrt(degrees(adjacency))
    if sp.issparse(adjacency):
        scaling = sp.diags_array(scale)
        return sp.csr_array(sp.eye_array(len(scale)) - scaling @ adjacency @ scaling)
    laplacian = -(adjacency * scale) * scale[:, None]
    laplacian.flat[:: len(scale) + 1] += 1.0
    return laplacian


def ncut(adjacency: Adjacency, side: BoolArray) -> float:
    """Weight across the cut times the sum of the inverse volumes (paper eq. 7).

    Examples
    --------
    >>> import numpy as np
    >>> path = np.array([[0., 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> ncut(path, np.array([True, False, False]))
    1.3333333333333333
    """
    edges = Edges.of(adjacency)
    return float(kernels_of("setwise.cut").ncut(*edges, edges.degrees, side))
