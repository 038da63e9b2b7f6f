"""SetClusters, the estimator: a heap of sets without labels falls into groups."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from setwise._support.parameters import check_count, check_jobs, refuse
from setwise._support.types import IntArray
from setwise.errors import reject
from setwise.gallery.description import Description
from setwise.sets import check_sets
from setwise.together.find import FoundGroups, find_groups, numbered, own_share
from setwise.together.links import Links


class SetClusters(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Groups of sets, without labels: albums by person, tracks by face, bursts by scene.

    Sets are related to each other by the members of an ensemble, each with the weight that it
    deserves by what it does without labels. Walkers on the graph of sets find groups at many
    scales, and the scale is chosen at which these are clearest and last longest. A false join
    costs more than a missed one: what belongs to no group for sure is left out, and
    :func:`setwise.together.suggest` tells which groups may be one.

    How alike two sets are is relative to the others: the heap has to hold sets that belong
    together. Of one where no two do, the most alike are grouped all the same.

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
    found_ : FoundGroups
        How the groups were found; :func:`setwise.together.suggest` takes it.
    graph_ : SetGraph
        How alike the sets are.
    tree_ : GroupTree
        How groups are joined and fall apart, from bundles of sets that must be linked.
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
        caller = "SetClusters.fit"
        check_jobs("SetClusters", self.n_jobs)
        how = self._checked_description()
        batch = check_sets(X, caller=caller, is_compact=True)
        if self.n_clusters is not None:
            check_count("SetClusters", "n_clusters", self.n_clusters)
        links = Links.of(len(batch), must_link, cannot_link, caller)
        found = find_groups(batch, links, description=how, n_jobs=self.n_jobs, caller=caller)
        self.found_, self.labels_, self.probabilities_ = (
            found,
            found.labels,
            found.probabilities,
        )
        if self.n_clusters is not None:
            self.labels_ = self.cut(self.n_clusters)
            self.probabilities_ = _cut_probabilities(found, self.labels_)
        self.n_clusters_ = int(self.labels_.max()) + 1
        self.graph_, self.tree_, self.links_ = found.graph, found.tree, found.links
        return self

    def fit_predict(
        self, X: Any, y: Any = None, *, must_link: Any = None, cannot_link: Any = None
    ) -> IntArray:
        """Find the groups, and return ``labels_``; see :meth:`fit`."""
        return self.fit(X, must_link=must_link, cannot_link=cannot_link).labels_

    def cut(self, n_clusters: int) -> IntArray:
        """Labels of so many groups, by the tree.

        Groups that were found are joined, or fall apart, and every set is in one. Links are
        kept: a number that they rule out is refused.
        """
        check_is_fitted(self, "found_")
        check_count("SetClusters.cut", "n_clusters", n_clusters)
        tree, links = self.found_.tree, self.found_.links
        fewest, most = tree.n_leaves - tree.n_sound, tree.n_leaves
        if not fewest <= n_clusters <= most:
            bound = f"at least {fewest}" if n_clusters < fewest else f"at most {most}"
            reject(
                f"SetClusters.cut: {n_clusters} groups are asked for, of sets that fall into "
                f"{bound}, as must_link and cannot_link demand. Ask for that number or give "
                "fewer links."
            )
        return numbered(tree.cut(n_clusters)[links.bundles])

    def _checked_description(self) -> Description | None:
        if self.description is None or isinstance(self.description, Description):
            return self.description
        expected = "None or a description, such as CVC().describe()"
        return refuse("SetClusters", "description", expected, self.description)


def _cut_probabilities(found: FoundGroups, labels: IntArray) -> Any:
    """Probabilities of sets to belong to groups of a cut."""
    links = found.links
    first = np.unique(links.bundles, return_index=True)[1]
    return own_share(found.scaled, labels[first], links.sizes)[links.bundles]
