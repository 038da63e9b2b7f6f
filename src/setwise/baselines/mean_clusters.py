"""Clusters of the mean directions of sets: what is usually done with embeddings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import squareform
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import DBSCAN, HDBSCAN
from sklearn.metrics import silhouette_score

from setwise._support.parameters import check_choice, check_count
from setwise._support.types import FloatArray, IntArray
from setwise.baselines.simple import mean_direction
from setwise.sets import check_sets

# Shares of all pairs that are nearer than the thresholds that are tried.
SHARES = np.geomspace(0.002, 0.5, 30)
# Rounds of whispers, which settle after a few.
_ROUNDS = 50

Partitions = Iterator[IntArray]


def finch_partitions(rows: FloatArray) -> Partitions:
    """Each row joins its nearest one, then each cluster by its mean, down to one cluster.

    Sarfraz, Sharma and Stiefelhagen, "Efficient parameter-free clustering using first neighbor
    relations" (CVPR 2019): rows are linked that are first neighbours, or share one.

    Examples
    --------
    >>> rows = np.array([[1.0, 0], [1, 0.1], [0, 1], [0.1, 1]])
    >>> next(finch_partitions(rows)).tolist()
    [0, 0, 1, 1]
    """
    labels = np.arange(len(rows))
    means = rows
    while len(means) > 2:
        cosines = means @ means.T
        np.fill_diagonal(cosines, -np.inf)
        first = sp.csr_array(
            (np.ones(len(means)), (np.arange(len(means)), cosines.argmax(axis=1))),
            shape=(len(means), len(means)),
        )
        # Two that share a first neighbour are linked through it.
        n_left, code = connected_components(first, directed=False)
        if n_left == 1:
            return
        labels = code[labels]
        yield labels
        sums = np.zeros((n_left, rows.shape[1]))
        np.add.at(sums, labels, rows)
        means = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)


def average_partitions(rows: FloatArray) -> Partitions:
    """Average linkage of cosine distances, cut at every number of clusters."""
    tree = linkage(squareform(_distances(rows), checks=False), "average")
    for n_clusters in range(2, len(rows)):
        yield fcluster(tree, n_clusters, "maxclust") - 1


def dbscan_partitions(rows: FloatArray) -> Partitions:
    """DBSCAN with clusters of two rows or more, at thirty radii."""
    distances = _distances(rows)
    for radius in _thresholds(distances):
        yield DBSCAN(eps=radius, min_samples=2, metric="precomputed").fit_predict(distances)


def hdbscan_partitions(rows: FloatArray) -> Partitions:
    """HDBSCAN with clusters of two rows or more."""
    yield HDBSCAN(min_cluster_size=2, copy=True).fit_predict(rows)


def whispers_partitions(rows: FloatArray) -> Partitions:
    """Chinese whispers at thirty thresholds: each row takes the label of most of its weight.

    Biemann, "Chinese whispers" (TextGraphs 2006), as in dlib. The order of the rows is random
    there; here it is that of one seed.
    """
    distances = _distances(rows)
    for threshold in _thresholds(distances):
        weights = np.where(distances <= threshold, 1.0 - distances, 0.0)
        np.fill_diagonal(weights, 0.0)
        yield _whispered(np.maximum(weights, 0.0))


def _whispered(weights: FloatArray) -> IntArray:
    labels, rng = np.arange(len(weights)), np.random.default_rng(0)
    for _ in range(_ROUNDS):
        before = labels.copy()
        for i in rng.permutation(len(weights)):
            near = np.flatnonzero(weights[i])
            if len(near):
                votes = np.bincount(labels[near], weights[i, near])
                labels[i] = votes.argmax()
        if (labels == before).all():
            break
    return labels


def _distances(rows: FloatArray) -> FloatArray:
    distances = np.maximum(1.0 - rows @ rows.T, 0.0)
    np.fill_diagonal(distances, 0.0)
    return distances


def _thresholds(distances: FloatArray) -> list[float]:
    """Distances that some shares of the pairs are below; DBSCAN wants them above zero."""
    pairs = distances[np.triu_indices(len(distances), 1)]
    return np.unique(np.maximum(np.quantile(pairs, SHARES), 1e-9)).tolist()


PARTITIONS: dict[str, Callable[[FloatArray], Partitions]] = {
    "average": average_partitions,
    "dbscan": dbscan_partitions,
    "finch": finch_partitions,
    "hdbscan": hdbscan_partitions,
    "whispers": whispers_partitions,
}


@dataclass(eq=False, repr=False)
class MeanClusters(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Clusters of the mean directions of sets, by a clusterer of vectors.

    Of the partitions that a method offers, at all its thresholds, the one of the largest mean
    silhouette of cosine distances is taken; rows that are left out are clusters of one.

    Parameters
    ----------
    method : {"average", "dbscan", "finch", "hdbscan", "whispers"}, default="average"
        Average linkage, DBSCAN, FINCH, HDBSCAN, Chinese whispers.
    n_clusters : int, optional
        Number of clusters that average linkage is told, in place of silhouettes.

    Attributes
    ----------
    labels_ : array of shape (n_sets,)
        -1 for what is left out.

    Examples
    --------
    >>> from setwise.baselines import MeanClusters
    >>> from setwise.evaluation.testing import separable_sets
    >>> MeanClusters("dbscan").fit_predict(separable_sets()[0])
    array([0, 0, 0, 1, 1, 1, 2, 2, 2])
    """

    method: str = "average"
    _: KW_ONLY
    n_clusters: int | None = None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster sets; ``y`` is ignored."""
        check_choice("MeanClusters", "method", self.method, tuple(PARTITIONS))
        rows = np.array([mean_direction(one) for one in check_sets(X, caller="MeanClusters")])
        if self.n_clusters is None:
            self.labels_ = best_partition(rows, PARTITIONS[self.method](rows))
        else:
            check_count("MeanClusters", "n_clusters", self.n_clusters)
            check_choice("MeanClusters", "method", self.method, ("average",))
            tree = linkage(squareform(_distances(rows), checks=False), "average")
            self.labels_ = fcluster(tree, self.n_clusters, "maxclust") - 1
        return self


def best_partition(rows: FloatArray, partitions: Partitions) -> IntArray:
    """The partition of the largest mean silhouette; one cluster where there is none.

    Examples
    --------
    >>> rows = np.array([[1.0, 0], [1, 0.1], [0, 1], [0.1, 1]])
    >>> best_partition(rows, average_partitions(rows)).tolist()
    [0, 0, 1, 1]
    """
    distances, best, found = _distances(rows), -np.inf, np.zeros(len(rows), dtype=np.int64)
    for labels in partitions:
        whole = alone_where_left_out(labels)
        if 1 < len(np.unique(whole)) < len(rows):
            score = silhouette_score(distances, whole, metric="precomputed")
            if score > best:
                best, found = score, labels
    return found


def alone_where_left_out(labels: npt.ArrayLike) -> IntArray:
    """Labels in which each -1 is a cluster of its own.

    Examples
    --------
    >>> from setwise.baselines.mean_clusters import alone_where_left_out
    >>> alone_where_left_out([0, -1, 0, -1])
    array([0, 1, 0, 2])
    """
    found = np.array(labels, dtype=np.int64)
    out = found < 0
    found[out] = found.max(initial=-1) + 1 + np.arange(int(out.sum()))
    return found
