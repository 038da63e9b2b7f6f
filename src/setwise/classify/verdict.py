"""One member's verdict on one probe: Algorithm 1 on a solved gallery graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from setwise._support.types import FloatArray, IntArray
from setwise.classify.distributions import (
    bhattacharyya,
    class_cluster_distributions,
    class_cluster_histogram,
    hellinger,
    overlap,
)
from setwise.cluster import PROBE, ClusterMaker, Clusters, cluster_maker
from setwise.graph import GalleryGraph

__all__ = ["DISTANCES", "MemberGallery", "Verdict", "finite"]

DISTANCES: dict[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "bhattacharyya": bhattacharyya,
    "hellinger": hellinger,
}


@dataclass(frozen=True)
class Verdict:
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


@dataclass(frozen=True)
class MemberGallery:
    """The gallery as one member sees it: its columns, and their graph solved once.

    Attributes
    ----------
    solution : GalleryGraph
        The gallery's graph.
    column_sets : array of int, shape (n_columns,)
        Gallery set of each column.
    column_rows : array of int, shape (n_columns,)
        Row (class, or set) whose distribution each column counts in.
    column_classes : array of int, shape (n_columns,)
        Class code of each column.
    n_rows : int
        Number of rows.
    clusterer, cut : see :func:`setwise.cluster.cluster_maker`
    distance : str
        Name in ``DISTANCES``.
    """

    solution: GalleryGraph
    column_sets: IntArray
    column_rows: IntArray
    column_classes: IntArray
    n_rows: int
    clusterer: Any
    cut: str
    distance: str

    def judge(self, probe: FloatArray) -> Verdict:
        """Cluster the gallery's columns with the probe's, and compare distributions."""
        n_new = probe.shape[1]
        maker = self._maker(
            self.solution.insert(probe), lambda: np.hstack([self.solution.columns, probe])
        )
        classes = np.concatenate([self.column_classes, np.full(n_new, PROBE)])
        rows = np.concatenate([self.column_rows, np.full(n_new, self.n_rows)])
        return self._verdict(maker, classes, rows)

    def judge_own_sets(self, chosen: IntArray) -> list[Verdict]:
        """Judge some gallery sets, each as if it were the probe and the others the gallery.

        Its columns are in the graph already and the cuts do not depend on who is the probe,
        so all sets share one graph and one tree: hardly dearer than judging one. (Of a large
        graph, every set has a tree of its own, see :func:`setwise.cluster.cluster_maker`.)
        """
        maker = self._maker(self.solution.adjacency, lambda: self.solution.columns)
        verdicts = []
        for i in chosen:
            is_probe = self.column_sets == i
            classes = np.where(is_probe, PROBE, self.column_classes)
            rows = np.where(is_probe, self.n_rows, self.column_rows)
            verdicts.append(self._verdict(maker, classes, rows))
        return verdicts

    def _maker(self, adjacency: Any, columns: Callable[[], FloatArray]) -> ClusterMaker:
        return cluster_maker(self.clusterer, self.cut, adjacency, columns)

    def _verdict(self, maker: ClusterMaker, classes: IntArray, rows: IntArray) -> Verdict:
        clusters = maker(classes)
        histogram = class_cluster_histogram(rows, clusters.labels, self.n_rows + 1)
        distributions = class_cluster_distributions(histogram)
        gallery, probe = distributions[:-1], distributions[-1]
        return Verdict(
            distances=DISTANCES[self.distance](gallery, probe),
            overlaps=overlap(gallery, probe),
            histogram=histogram,
            clusters=clusters,
        )


def finite(verdict: Verdict) -> FloatArray:
    """Distances with a stand-in for infinity, so that they can be summed.

    A row of ``m`` columns and a probe of ``n`` that share one column each have overlap
    ``1 / sqrt(m n)``, the smallest there is. Sharing nothing counts as half of that: farther
    than any row that shares something, but not so far that one member decides alone.
    """
    *sizes, probe_size = verdict.histogram.sum(axis=1)
    # A row without columns (its only set is left out) is as far as the farthest.
    row_sizes = np.where(np.array(sizes) > 0, sizes, max(*sizes, 1.0))
    least = 1.0 / np.sqrt(row_sizes * max(probe_size, 1.0))
    return np.where(np.isinf(verdict.distances), -np.log(0.5 * least), verdict.distances)
