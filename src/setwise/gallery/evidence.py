"""Evidence that one layer's graph gives: clusters, edges, angles.

Every kind is a number between 0 and 1 for each *target*: a class, or a gallery set. A *member*
of the ensemble is one kind of evidence of one layer.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp

from setwise._support.parallel import lazy
from setwise._support.parameters import check_choice
from setwise._support.parts import Part
from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.basis import Basis
from setwise.cluster import PROBE, Clusterer, Clustering, Clusters
from setwise.cut import CutRule
from setwise.gallery.distributions import (
    Distance,
    class_cluster_distributions,
    class_cluster_histogram,
    overlap,
)
from setwise.gallery.regression import KernelRidge
from setwise.graph import GalleryGraph, Insertion
from setwise.sets.classifier import largest_by_class

# Replaces an overlap of zero before its logarithm is taken.
_LEAST = 1e-6
# Functions that compute attributes of a view, by name.
Given = Mapping[str, Callable[[], Any]]


@dataclass(frozen=True)
class Targets:
    """Gallery set, class and target of each column of a layer.

    Examples
    --------
    >>> sets, classes = np.array([0, 0, 1]), np.array([0, 0, 1])
    >>> Targets(sets, classes, classes, n_targets=2).sets_per_target
    array([1., 1.])
    """

    sets: IntArray  # ascending
    classes: IntArray
    targets: IntArray  # the class or set in whose distribution a column counts
    n_targets: int

    @lazy
    def of_sets(self) -> IntArray:
        """The target of each set that has any column."""
        return self.targets[self.spans.first]

    @lazy
    def spans(self) -> Spans:
        """See :func:`spans_of_sets`."""
        return spans_of_sets(self.sets)

    @lazy
    def sets_per_target(self) -> FloatArray:
        """Number of gallery sets of each target."""
        return np.bincount(self.of_sets, minlength=self.n_targets).astype(np.float64)


@dataclass(frozen=True)
class Comparison:
    """How columns are clustered and distributions compared.

    Examples
    --------
    >>> from setwise import CVC
    >>> from setwise.evaluation.testing import separable_sets
    >>> gallery = CVC(dims=(3,)).fit(*separable_sets()).gallery_
    >>> gallery.comparison.distance
    Bhattacharyya()
    """

    clusterer: Clusterer
    cut: CutRule
    distance: Distance
    seed: int  # of clusterers that start at random


@dataclass(frozen=True)
class LayerGraph:
    """The gallery's columns in one layer: their graph, their targets, how to compare them.

    Examples
    --------
    >>> from setwise import CVC
    >>> from setwise.evaluation.testing import separable_sets
    >>> gallery = CVC(dims=(3,)).fit(*separable_sets()).gallery_
    >>> gallery.everything.layer_graph(0).graph.columns.shape[1]
    9
    """

    graph: GalleryGraph
    targets: Targets
    basis: Basis
    how: Comparison

    @lazy
    def kernel_ridge(self) -> KernelRidge:
        """Regression of the targets on how alike sets are; of columns with lengths."""
        first = self.targets.spans.first
        of_sets, n_targets = self.targets.of_sets, self.targets.n_targets
        return KernelRidge.of_columns(self.graph.columns, first, of_sets, n_targets)


@dataclass(frozen=True)
class LayerResult:
    """Result of Algorithm 1 for one probe in one layer.

    Examples
    --------
    >>> from setwise import CVC
    >>> from setwise.evaluation.testing import separable_sets
    >>> gallery = CVC(dims=(3,)).fit(*separable_sets()).gallery_
    >>> LayerView(gallery.everything.layer_graph(0), left_out=0).clustered.overlaps.shape
    (3,)
    """

    distances: FloatArray  # to each target; inf where no cluster is shared
    overlaps: FloatArray  # Bhattacharyya coefficient with each target
    histogram: FloatArray  # H_cc, targets x clusters; the probe is the last row
    clusters: Clusters

    @property
    def finite_distances(self) -> FloatArray:
        """Distances with a stand-in for infinity, so that they can be summed.

        The smallest overlap of a target of ``m`` columns and a probe of ``n`` is
        ``1 / sqrt(m n)``. Sharing nothing counts as half of that, so that it is farthest, but
        one layer cannot decide alone.
        """
        *sizes, probe_size = self.histogram.sum(axis=1)
        # A target without columns (its only set is left out) is as far as the farthest.
        target_sizes = np.where(np.array(sizes) > 0, sizes, max(*sizes, 1.0))
        least = 1.0 / np.sqrt(target_sizes * max(probe_size, 1.0))
        return np.where(np.isinf(self.distances), -np.log(0.5 * least), self.distances)


class LayerView:
    """What one layer sees of a probe; each part is computed when first asked for.

    With ``left_out``, a gallery set is the probe: its columns are in the graph already, and are
    hidden from the gallery's side. Functions in ``given`` compute attributes otherwise, such as
    for many views at once.

    Examples
    --------
    >>> from setwise import CVC
    >>> from setwise.evaluation.testing import separable_sets
    >>> gallery = CVC(dims=(3,)).fit(*separable_sets()).gallery_
    >>> LayerView(gallery.everything.layer_graph(0), left_out=0).edge_shares.shape
    (1, 3)
    """

    def __init__(
        self,
        layer: LayerGraph,
        probe: FloatArray | None = None,
        *,
        left_out: int | None = None,
        given: Given | None = None,
    ) -> None:
        self.layer = layer
        self.graph, self.targets = layer.graph, layer.targets
        self.is_own: BoolArray | None = None
        if left_out is not None:
            self.is_own = self.targets.sets == left_out
        self.probe = self.graph.columns[:, self.is_own] if probe is None else probe
        self._given = given or {}

    def _or_given(self, name: str, compute: Callable[[], Any]) -> Any:
        return self._given.get(name, compute)()

    @lazy
    def insertion(self) -> Insertion:
        """The probe in the gallery's graph."""
        cosines = self.cosines if self.graph.needs_cosines else None
        return self.graph.insertion(self.probe, cosines)

    @property
    def adjacency(self) -> sp.csr_array:
        """Graph of the gallery's columns followed by the probe's."""
        return self.insertion.adjacency

    @lazy
    def edges(self) -> FloatArray:
        """Weights between the probe's columns (rows) and the gallery's."""
        if self.is_own is not None:
            rows = self.graph.adjacency[np.flatnonzero(self.is_own)].toarray()
            return np.where(self.is_own, 0.0, rows)
        return self.insertion.edges

    @lazy
    def cosines(self) -> FloatArray:
        """Inner products of the probe's columns (rows) and the gallery's."""
        columns = self.graph.columns
        # In the gallery's own type: converting all of it would take longer.
        cosines = self.probe.T.astype(columns.dtype, copy=False) @ columns
        return cosines if self.is_own is None else np.where(self.is_own, 0.0, cosines)

    @lazy
    def angles(self) -> tuple[FloatArray, FloatArray]:
        """Largest, and mean squared, cosine of the angles to each target's nearest set."""
        found: tuple[FloatArray, FloatArray] = self._or_given("angles", self._angles)
        return found

    def _angles(self) -> tuple[FloatArray, FloatArray]:
        return target_angles(self.to_sets, self.targets.of_sets, self.targets.n_targets)

    @lazy
    def to_sets(self) -> tuple[FloatArray, FloatArray]:
        """The same two cosines to each gallery set that has any column."""
        targets = self.targets
        return set_angles(self.cosines, targets.sets, self.layer.basis, targets.spans)

    @lazy
    def regressed(self) -> FloatArray:
        """Scores of the targets by regression on how alike the probe is to each set."""
        ridge = self.layer.kernel_ridge
        if self.is_own is None:
            return self.to_sets[1] @ ridge.coefficients
        first = self.targets.spans.first
        own = np.flatnonzero(self.is_own[first])
        scores = ridge.left_out[own]
        return scores[0] if len(own) else np.zeros(self.targets.n_targets)

    @lazy
    def sets_per_target(self) -> FloatArray:
        """Number of gallery sets of each target, without the left-out one."""
        counts = self.targets.sets_per_target
        if self.is_own is None:
            return counts
        own = self.targets.targets[self.is_own][:1]
        return counts - np.bincount(own, minlength=len(counts))

    @lazy
    def edge_shares(self) -> FloatArray:
        """Share of each probe column's edges (rows) that goes to each target.

        Per gallery set, so that a class of many sets has no advantage. All 0 for a column
        without edges to the gallery.
        """
        found: FloatArray = self._or_given("edge_shares", self._edge_shares)
        return found

    def _edge_shares(self) -> FloatArray:
        by_target = np.zeros((len(self.edges), self.targets.n_targets))
        np.add.at(by_target.T, self.targets.targets, self.edges.T)
        by_target /= np.maximum(self.sets_per_target, 1.0)
        total = by_target.sum(axis=1, keepdims=True)
        return by_target / np.where(total > 0, total, 1.0)

    @lazy
    def clustered(self) -> LayerResult:
        """Result of Algorithm 1."""
        classes, targets, n = self.targets.classes, self.targets.targets, self.targets.n_targets
        if self.is_own is None:
            n_columns = self.probe.shape[1]
            classes = np.concatenate([classes, np.full(n_columns, PROBE)])
            targets = np.concatenate([targets, np.full(n_columns, n)])
        else:
            classes = np.where(self.is_own, PROBE, classes)
            targets = np.where(self.is_own, n, targets)
        clusters = self._or_given("clustering", self._clustering).under(classes)
        histogram = class_cluster_histogram(targets, clusters.labels, n + 1)
        distributions = class_cluster_distributions(histogram)
        gallery, probe = distributions[:-1], distributions[-1]
        return LayerResult(
            distances=self.layer.how.distance.between(gallery, probe),
            overlaps=overlap(gallery, probe),
            histogram=histogram,
            clusters=clusters,
        )

    def _clustering(self) -> Clustering:
        if self.is_own is not None:
            return start_clustering(self.layer, self.graph.adjacency, self.graph.columns)
        return start_clustering(self.layer, self.adjacency, self.graph.columns, self.probe)


def start_clustering(
    layer: LayerGraph, adjacency: sp.csr_array, *columns: FloatArray
) -> Clustering:
    """Clusters of columns, made as far as they are asked for."""
    how = layer.how
    return how.clusterer.start(
        adjacency,
        lambda: np.hstack(columns) if len(columns) > 1 else columns[0],
        cut=how.cut,
        seed=how.seed,
    )


class Spans(NamedTuple):
    """Where the columns of each set are that has any."""

    first: IntArray
    widths: IntArray  # number of columns
    place: IntArray  # of each column within its set


def spans_of_sets(column_sets: IntArray) -> Spans:
    """Where the columns of sets are, which stand one set after the other."""
    # np.diff with a value before the first takes twice as long.
    begins = np.ones(len(column_sets), dtype=bool)
    np.not_equal(column_sets[1:], column_sets[:-1], out=begins[1:])
    first = np.flatnonzero(begins)
    place = np.arange(len(column_sets)) - first[np.cumsum(begins) - 1]
    return Spans(first, np.diff(first, append=len(column_sets)), place)


def set_angles(
    cosines: FloatArray,
    column_sets: IntArray,
    basis: Basis,
    spans: Spans | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Largest and mean squared cosine between a probe's columns and those of each gallery set.

    Of orthonormal columns, by the canonical angles between what they span. Of columns with
    lengths, the sum of squares and its root. Of others, between each probe column and the
    nearest of the set. ``spans`` is what :func:`spans_of_sets` gives, where that is known.
    """
    first, widths, place = spans or spans_of_sets(column_sets)
    n_probe, n_sets = len(cosines), len(first)
    if n_probe == 0 or n_sets == 0:
        return np.zeros(n_sets), np.zeros(n_sets)
    if basis.has_lengths:
        squares = np.minimum(np.add.reduceat((cosines**2).sum(axis=0), first), 1.0)
        return np.sqrt(squares), squares
    if not basis.is_orthonormal:
        largest = np.maximum.reduceat(cosines, first, axis=1).astype(np.float64)
        nearest = np.maximum(largest, 0.0)
        return nearest.max(axis=0), (nearest**2).mean(axis=0)
    # Sets of fewer columns are filled up with zeros, which changes no singular value.
    most = int(widths.max())
    blocks = cosines.reshape(n_probe, n_sets, most) if n_sets * most == len(place) else None
    if blocks is None:
        blocks = np.zeros((n_probe, n_sets, most))
        blocks[:, np.repeat(np.arange(n_sets), widths), place] = cosines
    blocks = blocks.transpose(1, 0, 2)
    gram = blocks @ blocks.transpose(0, 2, 1)
    squares = np.clip(np.linalg.eigvalsh(gram)[:, -1], 0.0, 1.0)
    n_angles = np.minimum(n_probe, widths)
    return np.sqrt(squares), np.trace(gram, axis1=1, axis2=2) / n_angles


def target_angles(
    to_sets: tuple[FloatArray, FloatArray], set_targets: IntArray, n_targets: int
) -> tuple[FloatArray, FloatArray]:
    """Both cosines of each target's nearest set; 0 for a target without sets."""
    largest, mean = (largest_by_class(a, set_targets, n_targets) for a in to_sets)
    return np.maximum(largest, 0.0), np.maximum(mean, 0.0)


def distances_and_overlaps(
    pairs: Sequence[tuple[Evidence, LayerView]],
) -> tuple[FloatArray, FloatArray]:
    """Of each kind of evidence of a view, a row."""
    overlaps = np.array([evidence.overlaps(view) for evidence, view in pairs])
    distances = -np.log(np.clip(overlaps, _LEAST, 1.0))
    for i, (evidence, view) in enumerate(pairs):
        if type(evidence).distances is not Evidence.distances:
            distances[i] = evidence.distances(view)
    return distances, overlaps


class Evidence(Part, ABC):
    """One kind of evidence that layers give."""

    family: ClassVar[str] = "evidence"
    #: Whether it is read from the graph; only layers that have one are asked for it.
    needs_graph: ClassVar[bool] = True

    def asked_at(self, dims: Sequence[int]) -> tuple[int, ...]:
        """Dimensionalities of a representation at which it is used."""
        return tuple(dims)

    def is_asked_of(self, basis: Basis) -> bool:
        """Whether columns of a basis give this evidence."""
        return basis.has_graph or not self.needs_graph

    @abstractmethod
    def overlaps(self, view: LayerView) -> FloatArray:
        """Nearness of the probe to each target, from 0 (nothing in common) to 1."""

    def distances(self, view: LayerView) -> FloatArray:
        """Finite distances: minus the logarithm of the overlaps."""
        return -np.log(np.clip(self.overlaps(view), _LEAST, 1.0))


@dataclass(frozen=True)
class ClusterOverlap(Evidence):
    """How alike probe and target spread over the clusters (Algorithm 1)."""

    name: ClassVar[str] = "clusters"
    dims: str = "all"

    def __post_init__(self) -> None:
        check_choice("ClusterOverlap", "dims", self.dims, ("all", "middle"))

    def asked_at(self, dims: Sequence[int]) -> tuple[int, ...]:
        """All dimensionalities, or the middle one."""
        middle = (len(dims) - 1) // 2
        return tuple(dims) if self.dims == "all" else tuple(dims[middle : middle + 1])

    def overlaps(self, view: LayerView) -> FloatArray:
        """Bhattacharyya coefficients."""
        return view.clustered.overlaps

    def distances(self, view: LayerView) -> FloatArray:
        """Finite distances, by the description's distance."""
        return view.clustered.finite_distances


@dataclass(frozen=True)
class EdgeShare(Evidence):
    """Share of the probe's edge weight that goes to each target, before any cut.

    A column that the cuts separate from all of the gallery still counts here.
    """

    name: ClassVar[str] = "edges"

    def overlaps(self, view: LayerView) -> FloatArray:
        """Mean over the probe's columns."""
        shares = view.edge_shares
        return shares.sum(axis=0) / max(len(shares), 1)


@dataclass(frozen=True)
class SmallestAngle(Evidence):
    """Cosine of the smallest angle between the probe and the nearest set of the target."""

    name: ClassVar[str] = "smallest angle"
    needs_graph: ClassVar[bool] = False

    def is_asked_of(self, basis: Basis) -> bool:
        """Of all but columns with lengths, which have a single likeness."""
        return not basis.has_lengths

    def overlaps(self, view: LayerView) -> FloatArray:
        """The largest cosine."""
        return np.minimum(view.angles[0], 1.0)


@dataclass(frozen=True)
class AllAngles(Evidence):
    """Mean squared cosine of all angles between probe and nearest set of the target.

    Of columns with lengths (:class:`setwise.basis.Spread`), the sum of squares.
    """

    name: ClassVar[str] = "all angles"
    needs_graph: ClassVar[bool] = False

    def overlaps(self, view: LayerView) -> FloatArray:
        """The mean of the squares."""
        return np.minimum(view.angles[1], 1.0)


@dataclass(frozen=True)
class Regression(Evidence):
    """Targets as predicted from how alike the probe is to every gallery set.

    Kernel ridge regression, of columns with lengths alone (:class:`setwise.basis.Spread`).
    """

    name: ClassVar[str] = "regression"
    needs_graph: ClassVar[bool] = False

    def is_asked_of(self, basis: Basis) -> bool:
        """Of columns with lengths."""
        return basis.has_lengths

    def overlaps(self, view: LayerView) -> FloatArray:
        """Shares of what each target's prediction is above the smallest."""
        above = view.regressed - view.regressed.min()
        total = above.sum()
        return above / total if total > 0 else above
