"""The interface of proximity graphs: an adjacency, and insertion of a probe."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from setwise._support.compiled import kernels_of
from setwise._support.parallel import lazy
from setwise._support.parts import Part
from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.lasso import Codes


class Graph(Part, ABC):
    """A way to turn columns into a weighted graph; its parameters and nothing else.

    Examples
    --------
    >>> from setwise.graph import Graph
    >>> Graph.of("lasso", "CVC")
    LassoGraph(alpha=0.05)
    """

    family: ClassVar[str] = "graph"

    @abstractmethod
    def adjacency(self, columns: FloatArray) -> sp.csr_array:
        """Symmetric non-negative weights between unit columns, zero on the diagonal."""

    def solve(self, columns: FloatArray, *, n_jobs: int | None = None) -> GalleryGraph:
        """Everything about the gallery's columns that does not depend on a probe."""
        return GalleryGraph(self, columns, self.adjacency(columns))

    def for_one_probe(self, columns: FloatArray) -> GalleryGraph:
        """As :meth:`solve`, for a single probe: edges may wait until it is inserted."""
        return self.solve(columns)

    def enroll(self, gallery: GalleryGraph, columns: FloatArray) -> GalleryGraph:
        """The solved graph of a gallery with more columns at its end."""
        return self.solve(np.hstack([gallery.columns, columns]))

    def forget(self, gallery: GalleryGraph, is_kept: BoolArray) -> GalleryGraph:
        """The solved graph of a gallery without some of its columns."""
        return self.solve(gallery.columns[:, is_kept])

    def can_update(self, gallery: GalleryGraph, n_columns: int) -> bool:
        """Whether an update equals solving a gallery of so many columns from scratch."""
        return True

    def restored(self, columns: FloatArray, solution: Mapping[str, Any]) -> GalleryGraph:
        """The solved graph of the columns and their :meth:`GalleryGraph.solution`."""
        parts = (solution["data"], solution["indices"], solution["indptr"])
        n = columns.shape[1]
        return GalleryGraph(self, columns, sp.csr_array(parts, shape=(n, n)))

    def memory(self, n_features: int, n_columns: int) -> int:
        """Bytes that solving a gallery takes, and judging a probe against it."""
        return 8 * n_columns * (n_features + 3 * n_columns)  # dense matrices of all pairs


@dataclass(frozen=True)
class NoGraph(Graph):
    """Columns without edges, which only angles compare; not a choice of the user.

    Examples
    --------
    >>> from setwise.graph.base import NoGraph
    >>> NoGraph().solve(np.eye(2)).adjacency.nnz
    0
    """

    def adjacency(self, columns: FloatArray) -> sp.csr_array:
        """No edge."""
        return sp.csr_array((columns.shape[1], columns.shape[1]))

    def solve(self, columns: FloatArray, *, n_jobs: int | None = None) -> GalleryGraph:
        """The columns, in the order that products with those of a probe take least time in."""
        return super().solve(np.ascontiguousarray(columns))

    def memory(self, n_features: int, n_columns: int) -> int:
        """The columns alone."""
        return 8 * n_columns * n_features


@dataclass(frozen=True)
class GalleryGraph:
    """The graph of a gallery, solved once; inserting a probe does not change it.

    Examples
    --------
    >>> from setwise.graph import LassoGraph
    >>> LassoGraph().solve(np.eye(2)).insert(np.array([[0.6], [0.8]])).shape
    (3, 3)
    """

    #: Whether insertion takes the inner products of the probe's columns and the gallery's.
    needs_cosines: ClassVar[bool] = False

    graph: Graph
    columns: npt.NDArray[Any]
    adjacency: sp.csr_array

    def solution(self) -> dict[str, npt.NDArray[Any]]:
        """The arrays to save, from which the rest follows."""
        adjacency = self.adjacency
        return {
            "data": adjacency.data,
            "indices": adjacency.indices.astype(np.int32),
            "indptr": adjacency.indptr.astype(np.int64),
        }

    def insert(self, probe: FloatArray) -> sp.csr_array:
        """Adjacency of the gallery's columns followed by the probe's."""
        return self.graph.adjacency(np.hstack([self.columns, probe]))

    def insertion(self, probe: FloatArray, cosines: FloatArray | None = None) -> Insertion:
        """As :meth:`insert`, of which edges of the probe, or the whole graph, may be asked.

        ``cosines`` are the inner products of the probe's columns (rows) and the gallery's, if
        they are known.
        """
        return Insertion(self.insert(probe), self.columns.shape[1])


@dataclass(frozen=True)
class Insertion:
    """A probe in the graph of a gallery.

    Examples
    --------
    >>> from setwise.graph import LassoGraph
    >>> LassoGraph().solve(np.eye(2)).insertion(np.array([[0.6], [0.8]])).edges.shape
    (1, 2)
    """

    adjacency: sp.csr_array
    n_gallery: int  # columns of the gallery

    @lazy
    def edges(self) -> FloatArray:
        """Weights between the probe's columns (rows) and the gallery's."""
        n, graph = self.n_gallery, self.adjacency
        # The last rows; slicing them in SciPy takes ten times as long.
        begin, counts = graph.indptr[n], np.diff(graph.indptr[n:])
        weights = np.zeros((len(counts), graph.shape[1]))
        rows = np.repeat(np.arange(len(counts)), counts)
        weights[rows, graph.indices[begin:]] = graph.data[begin:]
        return weights[:, :n]


def symmetrised(codes: sp.csc_array) -> sp.csr_array:
    """``A = |S| + |S'|``: from codes, one per column, indices ascending, to a graph."""
    pointers, atoms = codes.indptr.astype(np.int64), codes.indices.astype(np.int64)
    return graph_of_codes(Codes(np.diff(pointers), atoms, codes.data))


def graph_of_codes(
    codes: Codes, targets: IntArray | None = None, new: Codes | None = None
) -> sp.csr_array:
    """The same of :class:`Codes`, some replaced or added as by :meth:`Codes.replaced`."""
    begins, ends, atoms, values = codes.spliced(targets, new)
    n, n_entries = len(begins), int((ends - begins).sum())
    row_ends, indptr = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int32)
    users, weights = np.empty(n_entries, np.int32), np.empty(n_entries)
    indices, data = np.empty(2 * n_entries, np.int32), np.empty(2 * n_entries)
    size = kernels_of("setwise.graph").symmetrise(
        begins, ends, atoms, values, row_ends, users, weights, indptr, indices, data
    )
    arrays = data[:size].copy(), indices[:size].copy(), indptr
    adjacency = sp.csr_array(arrays, shape=(n, n))
    adjacency.has_sorted_indices = adjacency.has_canonical_format = True
    return adjacency
