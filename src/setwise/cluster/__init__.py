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
from setwise.cluster.skms import SKMS, KernelClusters, random_constraints, skms
from setwise.cluster.ssc import (
    SSC,
    AdmmCodes,
    spectral_labels,
    ssc_affinity,
    ssc_codes_admm,
    ssc_penalty,
)
from setwise.cluster.tree import CutTree, Node

__all__ = [
    "CLUSTERERS",
    "PROBE",
    "SHC",
    "SKMS",
    "SSC",
    "AdmmCodes",
    "ClusterMaker",
    "Clusters",
    "CutTree",
    "FlatClusters",
    "HierarchicalClusters",
    "KernelClusters",
    "NamedClusterer",
    "Node",
    "cluster_maker",
    "is_indivisible",
    "named_clusterer",
    "random_constraints",
    "shc",
    "skms",
    "spectral_labels",
    "ssc_affinity",
    "ssc_codes_admm",
    "ssc_penalty",
]
