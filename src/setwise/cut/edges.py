"""A sparse graph as three plain arrays: what the compiled loops take, without ceremony."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from setwise.compiled import kernels_of
from setwise.types import Adjacency, FloatArray, IntArray

__all__ = ["Edges"]


class Edges(NamedTuple):
    """Rows of a symmetric sparse matrix, as SciPy stores them."""

    indptr: npt.NDArray[np.int32]
    indices: npt.NDArray[np.int32]
    data: FloatArray

    @classmethod
    def of(cls, adjacency: Adjacency) -> Edges:
        """The edges of a graph in any form, without stored zeros."""
        if isinstance(adjacency, Edges):
            return adjacency
        matrix = sp.csr_array(adjacency, dtype=np.float64)
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

    def degrees(self) -> FloatArray:
        """Sum of the weights at each vertex (paper eq. 6)."""
        # reduceat would repeat the next entry at a vertex without edges.
        ends = np.concatenate([self.data, [0.0]])
        total = np.add.reduceat(ends, self.indptr[:-1].astype(np.int64))
        return np.where(np.diff(self.indptr) > 0, total, 0.0)

    def components(self) -> IntArray:
        """Connected component of each vertex, numbered in the order of first vertices."""
        return kernels_of("setwise.cut").sparse_components(*self)

    def parts(self, part: IntArray) -> list[tuple[IntArray, Edges]]:
        """Vertices and sub-graph of each part, parts being numbered from 0."""
        order = np.argsort(part, kind="stable")
        counts = np.bincount(part)
        first = np.cumsum(counts) - counts
        number = np.empty(len(part), dtype=np.int64)
        number[order] = np.arange(len(part)) - np.repeat(first, counts)
        induced: Any = kernels_of("setwise.cut").induced
        members = np.split(order, first[1:])
        return [
            (inside, Edges(*induced(*self, part, child, inside, number)))
            for child, inside in enumerate(members)
        ]

    def to_csr(self) -> sp.csr_array:
        """The same graph for SciPy."""
        n = self.n_vertices
        return sp.csr_array((self.data, self.indices, self.indptr), shape=(n, n))

    def toarray(self) -> FloatArray:
        """The same graph, dense."""
        return self.to_csr().toarray()
