"""Columns to clusters: SHC, its rivals, and any scikit-learn clusterer behind one interface."""

from setwise.cluster.clusterers import (
    CLUSTERERS,
    ClusterMaker,
    Clusters,
    FlatClusters,
    NamedClusterer,
    cluster_maker,
    named_clusterer,
)
from setwise.cluster.shc import PROBE, SHC, HierarchicalClusters, is_indivisible, shc
from setwise.cluster.tree import CutTree, Node

__all__ = [
    "CLUSTERERS",
    "PROBE",
    "SHC",
    "ClusterMaker",
    "Clusters",
    "CutTree",
    "FlatClusters",
    "HierarchicalClusters",
    "NamedClusterer",
    "Node",
    "cluster_maker",
    "is_indivisible",
    "named_clusterer",
    "shc",
]
