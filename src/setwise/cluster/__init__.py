"""Columns to clusters: SHC, and any scikit-learn clusterer behind one small interface."""

from setwise.cluster.clusterers import ClusterMaker, Clusters, FlatClusters, cluster_maker
from setwise.cluster.shc import PROBE, SHC, HierarchicalClusters, is_indivisible, shc
from setwise.cluster.tree import CutTree, Node

__all__ = [
    "PROBE",
    "SHC",
    "ClusterMaker",
    "Clusters",
    "CutTree",
    "FlatClusters",
    "HierarchicalClusters",
    "Node",
    "cluster_maker",
    "is_indivisible",
    "shc",
]
