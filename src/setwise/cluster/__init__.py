"""Columns to clusters: SHC, and any scikit-learn clusterer behind one small interface."""

from setwise.cluster.shc import (
    PROBE,
    HierarchicalClusters,
    is_indivisible,
    shc,
)
from setwise.cluster.tree import CutTree, Node

__all__ = ["PROBE", "CutTree", "HierarchicalClusters", "Node", "is_indivisible", "shc"]
