"""One small interface for every way to cluster the columns.

A clusterer sees columns and graph once, and is then asked for clusters under a labelling.
Only SHC looks at the labelling (to know when to stop); for the others it changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from setwise.cluster.shc import PROBE, HierarchicalClusters, shc
from setwise.cluster.tree import LOCAL_ABOVE, CutTree
from setwise.errors import ParameterError
from setwise.types import FloatArray, IntArray

__all__ = ["ClusterMaker", "FlatClusters", "cluster_maker"]


@dataclass(frozen=True)
class FlatClusters:
    """Clusters without a tree."""

    labels: IntArray


Clusters: TypeAlias = HierarchicalClusters | FlatClusters
# class codes (PROBE for the probe's) -> clusters
ClusterMaker: TypeAlias = Callable[[IntArray], Clusters]


def cluster_maker(
    clusterer: Any, cut: str, adjacency: sp.csr_array, columns: Callable[[], FloatArray]
) -> ClusterMaker:
    """Prepare to cluster columns, whose graph is ``adjacency``.

    Parameters
    ----------
    clusterer : None or scikit-learn clusterer
        None is SHC. Any object with ``fit_predict`` clusters the columns, presented as rows;
        one with ``affinity="precomputed"`` clusters the graph.
    cut : str
        How SHC divides, see :func:`setwise.cut.bisect`.
    adjacency : csr_array of shape (n_columns, n_columns)
        The proximity graph.
    columns : function
        Gives the unit columns, of shape (n_features, n_columns); SHC does not need them.
    """
    if clusterer is None and adjacency.shape[0] > LOCAL_ABOVE:
        # Large clusters are divided around the probe, so every labelling has its own tree.
        return lambda class_codes: shc(
            CutTree(adjacency, cut, seeds=np.flatnonzero(class_codes == PROBE)), class_codes
        )
    if clusterer is None:
        tree = CutTree(adjacency, cut)
        return lambda class_codes: shc(tree, class_codes)
    if not hasattr(clusterer, "fit_predict"):
        msg = (
            "clusterer must be None (SHC) or have fit_predict like scikit-learn's, got "
            f"{type(clusterer).__name__}."
        )
        raise ParameterError(msg)
    from sklearn.base import clone

    takes_graph = getattr(clusterer, "affinity", None) == "precomputed"
    found = clone(clusterer).fit_predict(adjacency if takes_graph else columns().T)
    # Density methods mark noise with -1: points without cluster are clusters of their own.
    noise = np.flatnonzero(np.asarray(found) < 0)
    labels = np.unique(np.where(found < 0, 0, found), return_inverse=True)[1].astype(np.int64)
    labels[noise] = labels.max() + 1 + np.arange(len(noise))
    flat = FlatClusters(np.unique(labels, return_inverse=True)[1].astype(np.int64))
    return lambda class_codes: flat
