"""SetClusters, the estimator: a heap of sets without labels falls into groups."""

from __future__ import annotations

import hashlib
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from setwise._support.parameters import check_count, check_jobs, refuse
from setwise._support.types import FloatArray, IntArray
from setwise.gallery.description import Description
from setwise.sets import SetBatch, check_sets
from setwise.together.consistency import consistent_weights
from setwise.together.divide import lasting_groups, told_groups
from setwise.together.graph import SetGraph, nearest_steps, pair_scores
from setwise.together.links import Links
from setwise.together.tree import N_NEAREST, GroupTree, grow_tree


class SetClusters(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Groups of sets, without labels: albums by person, tracks by face, bursts by scene.

    Sets are related to each other (:func:`setwise.together.relate`), by members of which each
    has the weight that its consistency deserves. The graph of sets is cut down to single sets,
    and the groups are the parts that last longest while the similarity that holds sets
    together is raised. A false join costs more than a missed one: what belongs to no group for
    sure is left out, and :func:`setwise.together.suggest` tells which groups may be one.

    The order of the sets makes no difference but to the numbers of equally large groups.

    Parameters
    ----------
    n_clusters : int, optional
        Number of groups; found by default.
    description : Description, optional
        Parts of the ensemble, see :meth:`setwise.CVC.describe`; those of ``CVC()`` by default.
        For images: ``CVC.for_images().describe()``.
    random_state : int, RandomState or None
        Of no effect, as nothing is random; scikit-learn's clusterers have one.
    n_jobs : int, optional
        Threads. The groups do not depend on it.

    Attributes
    ----------
    labels_ : array of shape (n_sets,)
        Group of each set, the largest first; -1 for sets that are left out. With
        ``n_clusters``, every set is in a group.
    probabilities_ : array of shape (n_sets,)
        Probability that a set belongs to its group; 0 for sets that are left out.
    n_clusters_ : int
        Number of groups.
    graph_ : SetGraph
        How alike the sets are.
    tree_ : GroupTree
        How the groups fall apart, down to bundles of sets that must be linked.
    links_ : Links
        The bundles, and which of them have to stay apart.

    Examples
    --------
    >>> from setwise import SetClusters
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets()
    >>> labels
    array([0, 0, 0, 1, 1, 1, 2, 2, 2])
    >>> SetClusters().fit_predict(sets)
    array([0, 0, 0, 1, 1, 1, 2, 2, 2])
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        description: Description | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.description = description
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self, X: Any, y: Any = None, *, must_link: Any = None, cannot_link: Any = None
    ) -> Self:
        """Find the groups.

        Parameters
        ----------
        X : list of arrays of shape (n_vectors_i, n_features), SetBatch or 3-D array
            Two sets or more.
        y : None
            Ignored; scikit-learn's clusterers have one.
        must_link : sequence of pairs of int, optional
            Sets, by index, that are of one group: parts of one track, or of one name.
        cannot_link : sequence of pairs of int, optional
            Sets that are of two: faces of one photo, tracks that overlap in time.
        """
        check_jobs("SetClusters", self.n_jobs)
        how = self._checked_description()
        batch = check_sets(X, caller="SetClusters.fit", is_compact=True)
        if self.n_clusters is not None:
            check_count("SetClusters", "n_clusters", self.n_clusters)
        links = Links.of(len(batch), must_link, cannot_link, "SetClusters.fit")
        graph = _related(batch, how, self.n_jobs)
        return self._fit_graph(graph, links)

    def fit_predict(
        self, X: Any, y: Any = None, *, must_link: Any = None, cannot_link: Any = None
    ) -> IntArray:
        """Find the groups, and return ``labels_``; see :meth:`fit`."""
        return self.fit(X, must_link=must_link, cannot_link=cannot_link).labels_

    def cut(self, n_clusters: int) -> IntArray:
        """Labels of so many groups, by the tree that was grown.

        Every set is in a group. Links are kept: a number that they rule out is refused.
        """
        check_is_fitted(self)
        check_count("SetClusters.cut", "n_clusters", n_clusters)
        nodes = told_groups(self.tree_, n_clusters, self.links_, "SetClusters.cut")
        return _numbered(self.tree_.labels(nodes)[self.links_.bundles], least=1)

    def _checked_description(self) -> Description | None:
        if self.description is None or isinstance(self.description, Description):
            return self.description
        expected = "None or a description, such as CVC().describe()"
        return refuse("SetClusters", "description", expected, self.description)

    def _fit_graph(self, graph: SetGraph, links: Links) -> Self:
        self.graph_, self.links_ = graph, links
        self.tree_, self.labels_ = group_graph(graph, links)
        if self.n_clusters is not None:
            self.labels_ = self.cut(self.n_clusters)
        self.n_clusters_ = int(self.labels_.max()) + 1
        self.probabilities_ = membership(graph, self.labels_)
        return self


def group_graph(graph: SetGraph, links: Links) -> tuple[GroupTree, IntArray]:
    """The tree of groups of a graph of sets, and the group of each set; -1 for single sets.

    Examples
    --------
    >>> from setwise.evaluation.testing import separable_sets
    >>> from setwise.together import Links, relate
    >>> from setwise.together.clusters import group_graph
    >>> group_graph(relate(separable_sets()[0]), Links.of(9))[1]
    array([0, 0, 0, 1, 1, 1, 2, 2, 2])
    """
    tree = grow_tree(graph.similarity, graph.neighbours(N_NEAREST), links)
    nodes = lasting_groups(tree, np.bincount(links.bundles), links)
    return tree, _numbered(tree.labels(nodes)[links.bundles], least=2)


def membership(graph: SetGraph, labels: IntArray) -> FloatArray:
    """Probability that each set belongs to its group: share of its steps that stay there.

    Examples
    --------
    >>> from setwise.evaluation.testing import separable_sets
    >>> from setwise.together import relate
    >>> from setwise.together.clusters import membership
    >>> sets, labels = separable_sets()
    >>> bool((membership(relate(sets), labels) > 0.5).all())
    True
    """
    steps = nearest_steps(graph.similarity, N_NEAREST, 1.0)
    rows = np.repeat(np.arange(len(labels)), np.diff(steps.indptr))
    stays = (labels[rows] == labels[steps.indices]) & (labels[rows] >= 0)
    shares = np.zeros(len(labels))
    np.add.at(shares, rows[stays], steps.data[stays])
    return np.clip(shares, 0.0, 1.0)


def _numbered(groups: IntArray, least: int) -> IntArray:
    """Numbers from 0, the largest group first, then the earliest; smaller ones get -1."""
    _, first, codes, sizes = np.unique(
        groups, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.lexsort((first, -sizes))
    numbers = np.full(len(sizes), -1)
    kept = order[sizes[order] >= least]
    numbers[kept] = np.arange(len(kept))
    return numbers[codes.ravel()]


def _related(sets: SetBatch, description: Description | None, n_jobs: int | None) -> SetGraph:
    """The graph of sets, to the last bit independent of their order."""
    order = in_order_of_content(sets)
    found = pair_scores(
        sets[order], description=description, n_jobs=n_jobs, caller="SetClusters.fit"
    )
    weights = consistent_weights(found)
    table = found.similarity(weights)
    rows = np.repeat(order, np.diff(table.indptr))
    places = (rows, order[table.indices])
    similarity = sp.csr_array((table.data, places), shape=table.shape)
    similarity.sort_indices()
    return SetGraph(similarity, found.members, weights, sets.names)


def in_order_of_content(sets: SetBatch) -> npt.NDArray[np.int64]:
    """Indices of the sets in the order of a digest of their vectors."""
    digests = [hashlib.sha256(one.tobytes()).digest() for one in sets]
    return np.array(sorted(range(len(sets)), key=digests.__getitem__), dtype=np.int64)
