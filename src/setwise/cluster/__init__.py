"""Columns to clusters: SHC, and any scikit-learn clusterer behind one interface."""

from setwise.cluster.clusterers import (
    SHC,
    Clusterer,
    Clustering,
    Clusters,
    FlatClusters,
    GivenClusterer,
)
from setwise.cluster.tree import PROBE, CutTree, HierarchicalClusters, Node, is_indivisible, shc

__all__ = [
    "PROBE", "SHC", "Clusterer", "Clustering", "Clusters", "CutTree", "FlatClusters",
    "GivenClusterer", "HierarchicalClusters", "Node", "is_indivisible", "shc",
]  # fmt: skip
