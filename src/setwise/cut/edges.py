"""A graph as three plain arrays, and what is known of it at once: degrees, components, NCut."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from setwise._support.compiled import kernels_of
from setwise._support.parallel import lazy
from setwise._support.types import Adjacency, BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Edges:
    """Rows of a symmetric sparse matrix, as SciPy stores them; iterates over its arrays.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from setwise.cut import Edges
    >>> Edges.of(csr_array([[0, 0.5], [0.5, 0]])).data
    array([0.5, 0.5])
    """

    indptr: npt.NDArray[np.int32]
    indices: npt.NDArray[np.int32]
    data: FloatArray

    def __iter__(self) -> Iterator[npt.NDArray[Any]]:
        return iter((self.indptr, self.indices, self.data))

    @classmethod
    def of(cls, adjacency: Adjacency) -> Edges:
        """The edges of a graph in any form, without stored zeros."""
        if isinstance(adjacency, Edges):
            return adjacency
        is_ours = isinstance(adjacency, sp.csr_array) and adjacency.dtype == np.float64
        matrix = adjacency if is_ours else sp.csr_array(adjacency, dtype=np.float64)
        if not matrix.data.all():
            matrix = matrix.copy()
            matrix.eliminate_zeros()
        indptr = matrix.indptr.astype(np.int32, copy=False)
        return cls(indptr, matrix.indices.astype(np.int32, copy=False), matrix.data)

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return len(self.indptr) - 1

    @lazy
    def degrees(self) -> FloatArray:
        """Sum of the weights at each vertex (paper eq. 6)."""
        return kernels_of("setwise.cut").degrees(self.indptr, self.data)

    def components(self) -> IntArray:
        """Connected component of each vertex, numbered in the order of first vertices."""
        return kernels_of("setwise.cut").components(self.indptr, self.indices)

    def inside(self, members: IntArray) -> Edges:
        """The sub-graph of some vertices, given in ascending order."""
        return Edges(*kernels_of("setwise.cut").induced(*self, members))

    def to_csr(self) -> sp.csr_array:
        """The same graph for SciPy."""
        n = self.n_vertices
        return sp.csr_array((self.data, self.indices, self.indptr), shape=(n, n))

    def toarray(self) -> FloatArray:
        """The same graph, dense."""
        return self.to_csr().toarray()


@np.errstate(under="ignore")
def in_scale(adjacency: Adjacency) -> Adjacency:
    """The graph with weights whose squares neither overflow nor underflow.

    Ordinary weights are left as they are, because the paper's shift depends on their scale.

    Examples
    --------
    >>> from setwise.cut import in_scale
    >>> bool(in_scale(np.array([[0.0, 1e-300], [1e-300, 0.0]])).max() > 1e-100)
    True
    """
    if isinstance(adjacency, np.ndarray):
        dense = adjacency.astype(np.float64)
        return dense / _unit(dense)
    edges = Edges.of(adjacency)
    unit = _unit(edges.data)
    if unit == 1.0:
        return edges
    return Edges.of(Edges(edges.indptr, edges.indices, edges.data / unit).to_csr())


def _unit(weights: FloatArray) -> float:
    largest = float(weights.max(initial=0.0))
    return 1.0 if 1e-100 < largest < 1e100 or largest == 0 else largest


def components(adjacency: Adjacency) -> IntArray:
    """Connected component of each vertex, numbered in the order of their first vertices.

    A weight of zero is no edge, stored or not.

    Examples
    --------
    >>> from setwise.cut import components
    >>> components(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]]))
    array([0, 0, 1])
    """
    # SciPy's own function would take dense weights below 1e-8 for missing edges.
    return Edges.of(adjacency).components()


def degrees(adjacency: Adjacency) -> FloatArray:
    """Sum of the weights at each vertex (paper eq. 6).

    Examples
    --------
    >>> from setwise.cut import degrees
    >>> degrees(np.array([[0, 1, 0], [1, 0, 0.5], [0, 0.5, 0]]))
    array([1. , 1.5, 0.5])
    """
    if isinstance(adjacency, Edges):
        return adjacency.degrees
    return np.asarray(adjacency.sum(axis=1), dtype=np.float64).ravel()


def normalised_laplacian(adjacency: Adjacency) -> Adjacency:
    """``D^-1/2 (D - A) D^-1/2`` of a graph without isolated vertices (paper eq. 12).

    Examples
    --------
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
    >>> from setwise.cut import ncut
    >>> ncut(np.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]]), np.array([True, False, False]))
    1.3333333333333333
    """
    edges = Edges.of(adjacency)
    return float(kernels_of("setwise.cut").ncut(*edges, edges.degrees, side))
