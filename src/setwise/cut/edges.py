"""A sparse graph as three plain arrays: what the compiled loops take, without ceremony."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from setwise._support.compiled import kernels_of
from setwise._support.lazy import lazy
from setwise._support.types import Adjacency, FloatArray, IntArray

__all__ = ["Edges"]


@dataclass(frozen=True, eq=False)
class Edges:
    """Rows of a symmetric sparse matrix, as SciPy stores them; iterates over its arrays.

    Examples
    --------
    >>> import numpy as np
    >>> adjacency = np.array([[0, 1, 0, 0], [1, 0, 0.1, 0], [0, 0.1, 0, 1], [0, 0, 1, 0]])
    >>> from setwise.cut import in_scale
    >>> from scipy.sparse import csr_array
    >>> edges = in_scale(csr_array(adjacency))
    >>> type(edges).__name__, edges.data
    ('Edges', array([1. , 1. , 0.1, 0.1, 1. , 1. ]))
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
        return cls(
            matrix.indptr.astype(np.int32, copy=False),
            matrix.indices.astype(np.int32, copy=False),
            matrix.data,
        )

    @property
    def n_vertices(self) -> int:
        """How many vertices the graph has."""
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
