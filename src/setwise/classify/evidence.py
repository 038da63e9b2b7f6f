"""What a layer's graph says of a probe: clusters, edges, angles.

Algorithm 1 looks at the clusters alone. But the graph in which they were found, and the inner
products of which it was made, hold more: whom the probe's columns are joined to before
anything is cut (:class:`EdgeShare`), and how far the spaces of two sets coincide
(:class:`SmallestAngle`, :class:`AllAngles`). They fail on different data; a *member* of the
ensemble is one kind of evidence of one layer.

Every kind is a number between 0 and 1 for each row (a class, or a gallery set).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from setwise._support.parallel import lazy
from setwise._support.parameters import check_choice
from setwise._support.parts import Part
from setwise._support.types import FloatArray, IntArray
from setwise.basis import Basis
from setwise.classify.layer import (
    Columns,
    Comparison,
    LayerResult,
    compare,
    finite,
    spans_of_sets,
)
from setwise.cluster import Clustering
from setwise.graph import GalleryGraph
from setwise.sets.classifier import largest_by_class

__all__ = [
    "AllAngles",
    "ClusterOverlap",
    "EdgeShare",
    "Evidence",
    "OwnSet",
    "Seen",
    "SharedTree",
    "SmallestAngle",
    "own_sets",
    "set_angles",
]

# Stands for no overlap at all where a logarithm is taken.
_LEAST = 1e-6


class Seen:
    """What one layer sees of a probe; each thing is computed when first asked for.

    Parameters
    ----------
    graph : GalleryGraph
        The gallery's columns, solved.
    columns : Columns
        Whose they are.
    probe : array of shape (n_features, n_probe_columns)
        The probe's columns.
    basis : Basis
        What made them.
    how : Comparison
        How columns are clustered and distributions compared.
    """

    def __init__(
        self,
        graph: GalleryGraph,
        columns: Columns,
        probe: FloatArray,
        basis: Basis,
        how: Comparison,
    ) -> None:
        self.graph = graph
        self.columns = columns
        self.probe = probe
        self.basis = basis
        self.how = how

    @lazy
    def adjacency(self) -> sp.csr_array:
        """Graph of the gallery's columns followed by the probe's."""
        return self.graph.insert(self.probe)

    @lazy
    def edges(self) -> FloatArray:
        """Weights between the probe's columns (rows) and the gallery's."""
        n, graph = self.graph.columns.shape[1], self.adjacency
        # The last rows, which SciPy would slice in ten times as long.
        begin, counts = graph.indptr[n], np.diff(graph.indptr[n:])
        weights = np.zeros((len(counts), graph.shape[1]))
        rows = np.repeat(np.arange(len(counts)), counts)
        weights[rows, graph.indices[begin:]] = graph.data[begin:]
        return weights[:, :n]

    @lazy
    def cosines(self) -> FloatArray:
        """Inner products of the probe's columns (rows) and the gallery's."""
        columns = self.graph.columns
        # In the type that the gallery is kept in: to convert all of it would take longer.
        return np.asarray(self.probe.T.astype(columns.dtype) @ columns, dtype=np.float64)

    @lazy
    def angles(self) -> tuple[FloatArray, FloatArray]:
        """Largest, and mean squared, cosine of the angles to each row's nearest set."""
        to_sets = set_angles(self.cosines, self.columns.sets, self.basis)
        rows, n_rows = self.columns.set_rows, self.columns.n_rows
        largest, mean = (largest_by_class(a, rows, n_rows) for a in to_sets)
        # A row whose every set is left out has none.
        return np.maximum(largest, 0.0), np.maximum(mean, 0.0)

    @lazy
    def sets_per_row(self) -> FloatArray:
        """How many gallery sets each row has."""
        counts = np.bincount(self.columns.set_rows, minlength=self.columns.n_rows)
        return counts.astype(np.float64)

    @lazy
    def edge_shares(self) -> FloatArray:
        """Share of each probe column's edges (rows) that goes to each row of the gallery.

        Per gallery set, so that a class of many sets has no advantage. A column without any
        edge to the gallery has none.
        """
        by_row = np.zeros((len(self.edges), self.columns.n_rows))
        np.add.at(by_row.T, self.columns.rows, self.edges.T)
        by_row /= np.maximum(self.sets_per_row, 1.0)
        total = by_row.sum(axis=1, keepdims=True)
        return by_row / np.where(total > 0, total, 1.0)

    @lazy
    def clustered(self) -> LayerResult:
        """Algorithm 1."""
        graph, how = self.graph, self.how
        clustering = how.clusterer.start(
            self.adjacency,
            lambda: np.hstack([graph.columns, self.probe]),
            cut=how.cut,
            seed=how.seed,
        )
        classes, rows = self.columns.with_probe(self.probe.shape[1])
        return compare(clustering, classes, rows, self.columns.n_rows, how.distance)


class OwnSet(Seen):
    """What one layer sees of a gallery set, as if it were the probe and the others all.

    Its columns are in the graph already, and neither graph nor cuts depend on who is the
    probe: all sets share them, which is hardly dearer than judging one.
    """

    def __init__(
        self,
        graph: GalleryGraph,
        columns: Columns,
        index: int,
        basis: Basis,
        how: Comparison,
        tree: SharedTree,
    ) -> None:
        self.is_own = columns.sets == index
        super().__init__(graph, columns, graph.columns[:, self.is_own], basis, how)
        self.index = index
        self.tree = tree

    @lazy
    def edges(self) -> FloatArray:
        """Weights to the columns of the other sets."""
        rows = self.graph.adjacency[np.flatnonzero(self.is_own)].toarray()
        return np.where(self.is_own, 0.0, rows)

    @lazy
    def cosines(self) -> FloatArray:
        """Inner products with the columns of the other sets."""
        return np.where(self.is_own, 0.0, self.probe.T @ self.graph.columns)

    @lazy
    def sets_per_row(self) -> FloatArray:
        """How many other gallery sets each row has."""
        counts = super().sets_per_row
        own = self.columns.rows[self.is_own][:1]
        return counts - np.bincount(own, minlength=len(counts))

    @lazy
    def clustered(self) -> LayerResult:
        """Algorithm 1, on the tree that all sets share."""
        classes, rows = self.columns.with_set_as_probe(self.index)
        clustering = self.tree.clustering
        return compare(clustering, classes, rows, self.columns.n_rows, self.how.distance)


class SharedTree:
    """Clusters of the gallery's columns alone, begun when first asked for."""

    def __init__(self, graph: GalleryGraph, how: Comparison) -> None:
        self._graph, self._how = graph, how

    @lazy
    def clustering(self) -> Clustering:
        """The clusters, as far as they are made."""
        graph, how = self._graph, self._how
        return how.clusterer.start(
            graph.adjacency, lambda: graph.columns, cut=how.cut, seed=how.seed
        )


def own_sets(
    graph: GalleryGraph, columns: Columns, chosen: IntArray, basis: Basis, how: Comparison
) -> Iterator[OwnSet]:
    """Some gallery sets, each seen as if it were the probe."""
    tree = SharedTree(graph, how)
    return (OwnSet(graph, columns, int(i), basis, how, tree) for i in chosen)


def set_angles(
    cosines: FloatArray, column_sets: IntArray, basis: Basis
) -> tuple[FloatArray, FloatArray]:
    """Cosines of the angles between a probe's columns and those of each gallery set.

    Of orthonormal columns, the canonical angles between what they span. Of others, those
    between each probe column and the nearest of the set.

    Parameters
    ----------
    cosines : array of shape (n_probe_columns, n_columns)
        Inner products.
    column_sets : array of int, shape (n_columns,)
        Gallery set of each column, ascending.
    basis : Basis
        What made the columns.

    Returns
    -------
    largest, mean : arrays of shape (n_sets with any column,)
        Cosine of the smallest angle, and mean of the squares of all.
    """
    first, place = spans_of_sets(column_sets)
    widths = np.diff(first, append=len(column_sets))
    n_probe, n_sets = len(cosines), len(first)
    if n_probe == 0 or n_sets == 0:
        return np.zeros(n_sets), np.zeros(n_sets)
    if not basis.is_orthonormal:
        nearest = np.maximum(np.maximum.reduceat(cosines, first, axis=1), 0.0)
        return nearest.max(axis=0), (nearest**2).mean(axis=0)
    # Sets of fewer columns are filled up with zeros, which changes no singular value.
    blocks = np.zeros((n_sets, n_probe, int(widths.max())))
    blocks[np.repeat(np.arange(n_sets), widths), :, place] = cosines.T
    gram = blocks @ blocks.transpose(0, 2, 1)
    squares = np.clip(np.linalg.eigvalsh(gram)[:, -1], 0.0, 1.0)
    n_angles = np.minimum(n_probe, widths)
    return np.sqrt(squares), np.trace(gram, axis1=1, axis2=2) / n_angles


class Evidence(Part, ABC):
    """One kind of evidence that layers give."""

    family: ClassVar[str] = "evidence"

    def asked_at(self, dims: Sequence[int]) -> tuple[int, ...]:
        """At which dimensionalities of a representation it is asked for."""
        return tuple(dims)

    @abstractmethod
    def overlaps(self, seen: Seen) -> FloatArray:
        """How near the probe is to each row, between 0 (nothing in common) and 1."""

    def distances(self, seen: Seen) -> FloatArray:
        """How far it is, finite: minus the logarithm of the overlaps."""
        return -np.log(np.clip(self.overlaps(seen), _LEAST, 1.0))


@dataclass(frozen=True)
class ClusterOverlap(Evidence):
    """How alike probe and row spread over the clusters (Algorithm 1).

    Parameters
    ----------
    dims : {"all", "middle"}, default="all"
        At which dimensionalities of each representation; a tree of cuts is what costs most.
    """

    name: ClassVar[str] = "clusters"
    dims: str = "all"

    def __post_init__(self) -> None:
        check_choice("ClusterOverlap", "dims", self.dims, ("all", "middle"))

    def asked_at(self, dims: Sequence[int]) -> tuple[int, ...]:
        """All of them, or the one in the middle."""
        middle = (len(dims) - 1) // 2
        return tuple(dims) if self.dims == "all" else tuple(dims[middle : middle + 1])

    def overlaps(self, seen: Seen) -> FloatArray:
        """Bhattacharyya coefficients."""
        return seen.clustered.overlaps

    def distances(self, seen: Seen) -> FloatArray:
        """By the distance of the description."""
        return finite(seen.clustered)


@dataclass(frozen=True)
class EdgeShare(Evidence):
    """Share of the probe's edge weight that goes to each row, before anything is cut.

    One hop in the graph. A column that the cuts part from all of the gallery still counts
    here, by the edges that were cut.
    """

    name: ClassVar[str] = "edges"

    def overlaps(self, seen: Seen) -> FloatArray:
        """Mean over the probe's columns."""
        shares = seen.edge_shares
        return shares.sum(axis=0) / max(len(shares), 1)


@dataclass(frozen=True)
class SmallestAngle(Evidence):
    """Cosine of the smallest angle between the probe and the nearest set of the row."""

    name: ClassVar[str] = "smallest angle"

    def overlaps(self, seen: Seen) -> FloatArray:
        """The largest cosine."""
        return np.minimum(seen.angles[0], 1.0)


@dataclass(frozen=True)
class AllAngles(Evidence):
    """Mean squared cosine of all angles between the probe and the nearest set of the row."""

    name: ClassVar[str] = "all angles"

    def overlaps(self, seen: Seen) -> FloatArray:
        """The mean of the squares."""
        return np.minimum(seen.angles[1], 1.0)
