"""One layer's result for one probe: Algorithm 1 on columns that are being clustered."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from setwise._support.parallel import lazy
from setwise._support.types import FloatArray, IntArray
from setwise.classify.distributions import (
    Distance,
    class_cluster_distributions,
    class_cluster_histogram,
    overlap,
)
from setwise.cluster import PROBE, Clusterer, Clustering, Clusters
from setwise.cut import CutRule

__all__ = [
    "Columns",
    "Comparison",
    "LayerResult",
    "compare",
    "finite",
    "spans_of_sets",
]


@dataclass(frozen=True)
class LayerResult:
    """How far the probe is from every row, and the clusters that say so.

    Attributes
    ----------
    distances : array of shape (n_rows,)
        Distance to each class (or gallery set); ``inf`` where no cluster is shared.
    overlaps : array of shape (n_rows,)
        Bhattacharyya coefficient with each.
    histogram : array of shape (n_rows + 1, n_clusters)
        Class-cluster histogram ``H_cc``; the probe is the last row.
    clusters : Clusters
        Cluster of each column, gallery's then probe's, and SHC's tree.
    """

    distances: FloatArray
    overlaps: FloatArray
    histogram: FloatArray
    clusters: Clusters


def spans_of_sets(column_sets: IntArray) -> tuple[IntArray, IntArray]:
    """First column of each set that has any, and which of its set's columns each one is.

    Examples
    --------
    >>> import numpy as np
    >>> spans_of_sets(np.array([0, 0, 2, 2, 2]))
    (array([0, 2]), array([0, 1, 0, 1, 2]))
    """
    # As np.diff would do with a value before the first, in half the time.
    begins = np.ones(len(column_sets), dtype=bool)
    np.not_equal(column_sets[1:], column_sets[:-1], out=begins[1:])
    first = np.flatnonzero(begins)
    return first, np.arange(len(column_sets)) - first[np.cumsum(begins) - 1]


@dataclass(frozen=True)
class Columns:
    """Whose the gallery's columns are.

    Attributes
    ----------
    sets, classes, rows : arrays of int, shape (n_columns,)
        Gallery set and class of each column, and the row (class or set) in whose
        distribution it counts.
    n_rows : int
        Number of rows.
    """

    sets: IntArray
    classes: IntArray
    rows: IntArray
    n_rows: int

    @lazy
    def set_rows(self) -> IntArray:
        """The row of each set that has any column."""
        return self.rows[spans_of_sets(self.sets)[0]]

    def with_probe(self, n_columns: int) -> tuple[IntArray, IntArray]:
        """Classes and rows of the columns, with so many of a probe behind them."""
        return (
            np.concatenate([self.classes, np.full(n_columns, PROBE)]),
            np.concatenate([self.rows, np.full(n_columns, self.n_rows)]),
        )

    def with_set_as_probe(self, index: int) -> tuple[IntArray, IntArray]:
        """Classes and rows of the columns, one gallery set being the probe."""
        is_probe = self.sets == index
        return (
            np.where(is_probe, PROBE, self.classes),
            np.where(is_probe, self.n_rows, self.rows),
        )


@dataclass(frozen=True)
class Comparison:
    """How columns are clustered and distributions compared.

    Attributes
    ----------
    clusterer : Clusterer
        Makes the clusters.
    cut : CutRule
        How SHC divides, see :func:`setwise.cut.bisect`.
    distance : Distance
        Between distributions over the clusters.
    seed : int
        Of clusterers that start at random.
    """

    clusterer: Clusterer
    cut: CutRule
    distance: Distance
    seed: int


def compare(
    clustering: Clustering, classes: IntArray, rows: IntArray, n_rows: int, distance: Distance
) -> LayerResult:
    """Algorithm 1: class-cluster distributions, and how far the probe's is from each."""
    clusters = clustering.under(classes)
    histogram = class_cluster_histogram(rows, clusters.labels, n_rows + 1)
    distributions = class_cluster_distributions(histogram)
    gallery, probe = distributions[:-1], distributions[-1]
    return LayerResult(
        distances=distance.between(gallery, probe),
        overlaps=overlap(gallery, probe),
        histogram=histogram,
        clusters=clusters,
    )


def finite(result: LayerResult) -> FloatArray:
    """Distances with a stand-in for infinity, so that they can be summed.

    A row of ``m`` columns and a probe of ``n`` that share one column each have overlap
    ``1 / sqrt(m n)``, the smallest there is. Sharing nothing counts as half of that: farther
    than any row that shares something, but not so far that one layer decides alone.
    """
    *sizes, probe_size = result.histogram.sum(axis=1)
    # A row without columns (its only set is left out) is as far as the farthest.
    row_sizes = np.where(np.array(sizes) > 0, sizes, max(*sizes, 1.0))
    least = 1.0 / np.sqrt(row_sizes * max(probe_size, 1.0))
    return np.where(np.isinf(result.distances), -np.log(0.5 * least), result.distances)
