"""SHC, Algorithm 2: cut in two until every cluster is indivisible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import validate_data

from setwise._support.compiled import kernels_of
from setwise._support.types import IntArray
from setwise.cluster.tree import CutTree
from setwise.cut import CutRule
from setwise.errors import reject
from setwise.features import unit_rows
from setwise.graph import Graph

# The dummy label of the probe's vertices. Class codes are 0, 1, ..., so no class can have it.
PROBE = -1


@dataclass(frozen=True)
class HierarchicalClusters:
    """The leaves SHC stopped at.

    ``labels`` number the ``leaves``, nodes of ``tree`` left to right; ``inner`` are the divided
    nodes, in the order of division.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.cluster import PROBE, CutTree, shc
    >>> tree = CutTree(np.array([[0, 1, 0], [1, 0, 0.1], [0, 0.1, 0]]))
    >>> shc(tree, np.array([0, PROBE, 1])).leaves
    (1, 2)
    """

    labels: IntArray
    leaves: tuple[int, ...]
    inner: tuple[int, ...]
    tree: CutTree


def is_indivisible(class_codes: IntArray) -> bool:
    """Whether a cluster tells all it can: no probe in it, or fewer than two classes.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.cluster import PROBE, is_indivisible
    >>> is_indivisible(np.array([0, 0, PROBE])), is_indivisible(np.array([0, 1, PROBE]))
    (True, False)
    """
    everything = np.arange(len(class_codes))
    return bool(kernels_of("setwise.cluster").indivisible(class_codes, everything))


def shc(tree: CutTree, class_codes: IntArray) -> HierarchicalClusters:
    """Divide clusters until each is indivisible (Algorithm 2, with a stack).

    The paper's recursion may go as deep as there are vertices; a stack may too.

    ``class_codes`` is the class of each vertex, ``PROBE`` for the unlabelled; cuts that the
    tree does not have yet are made.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.cluster import PROBE, CutTree, shc
    >>> tree = CutTree(np.array([[0, 1, 0], [1, 0, 0.1], [0, 0.1, 0]]))
    >>> shc(tree, np.array([0, PROBE, 1])).labels
    array([0, 0, 1])
    """
    labels, leaves, inner = tree.grow(class_codes)
    return HierarchicalClusters(labels, tuple(leaves.tolist()), tuple(inner.tolist()), tree)


def check_row_labels(y: Any, n_rows: int, caller: str) -> npt.NDArray[Any]:
    """Validate one class per row, -1 for the unlabelled."""
    labels = np.asarray(y)
    if labels.shape != (n_rows,):
        reject(
            f"{caller}: y must hold one class for each of the {n_rows} rows, -1 for the "
            f"unlabelled, got an array of shape {labels.shape}."
        )
    return labels


class SemiSupervised(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """A clusterer of rows that asks for their classes, with -1 for the unlabelled."""

    # See :class:`setwise.cluster.clusterers.GivenClusterer`.
    is_semi_supervised = True

    def fit_predict(self, X: Any, y: Any = None) -> IntArray:
        """Cluster of each row."""
        return self.fit(X, y).labels_


class SHC(SemiSupervised):
    """Semi-supervised hierarchical clustering: nothing to guess, labels say when to stop.

    Rows are cut in two by the graph alone, again and again, until no cluster holds
    unlabelled rows together with two classes. The number of clusters is an outcome.

    Parameters
    ----------
    graph : str or Graph, default="lasso"
        How proximity is measured, see :mod:`setwise.graph`.
    cut : {"sweep", "exact", "paper"} or CutRule, default="sweep"
        How a connected cluster is divided, see :func:`setwise.cut.bisect`.

    Attributes
    ----------
    labels_ : array of int, shape (n_samples,)
        Cluster of each row.
    n_clusters_ : int
        How many there are.
    clusters_ : HierarchicalClusters
        Leaves, divided nodes and the tree of cuts.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.cluster import SHC
    >>> X = np.array([[1, 0.1, 0], [1, 0.2, 0], [0, 0.1, 1], [0, 0.2, 1], [1, 0.15, 0]])
    >>> SHC().fit_predict(X, [0, 0, 1, 1, -1])
    array([0, 0, 1, 1, 0])
    """

    def __init__(self, graph: str | Graph = "lasso", cut: str | CutRule = "sweep") -> None:
        self.graph = graph
        self.cut = cut

    def fit(self, X: Any, y: Any) -> Self:
        """Cluster the rows of ``X``, of classes ``y``; -1 marks the unlabelled rows."""
        vectors = validate_data(self, X, dtype=np.float64)
        labels = check_row_labels(y, len(vectors), "SHC.fit")
        is_probe = labels == PROBE
        codes = np.full(len(labels), PROBE, dtype=np.int64)
        codes[~is_probe] = np.unique(labels[~is_probe], return_inverse=True)[1]
        adjacency = Graph.of(self.graph, "SHC").adjacency(unit_rows(vectors).T)
        self.clusters_ = shc(CutTree(adjacency, self.cut), codes)
        self.labels_ = self.clusters_.labels
        self.n_clusters_ = len(self.clusters_.leaves)
        return self
