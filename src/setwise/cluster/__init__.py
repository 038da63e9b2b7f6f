"""Columns to clusters: SHC, and any scikit-learn clusterer behind one interface."""

from setwise.cluster.clusterers import (
    Clusterer,
    Clustering,
    Clusters,
    FlatClusters,
    GivenClusterer,
)
from setwise.cluster.shc import PROBE, SHC, HierarchicalClusters, is_indivisible, shc
from setwise.cluster.tree import CutTree, Node

__all__ = [
    "PROBE",
    "SHC",
    "Clusterer",
    "Clustering",
    "Clusters",
    "CutTree",
    "FlatClusters",
    "GivenClusterer",
    "HierarchicalClusters",
    "Node",
    "is_indivisible",
    "shc",
]
