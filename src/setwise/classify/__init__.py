"""Clusters to label: distributions, CVC, ensemble and fusion, explanation."""

from setwise.classify.cvc import CVC
from setwise.classify.distributions import (
    bhattacharyya,
    class_cluster_distributions,
    class_cluster_histogram,
    conditional_orthogonality,
    hellinger,
    overlap,
    signal_to_noise,
)
from setwise.classify.explanation import Explanation

__all__ = [
    "CVC",
    "Explanation",
    "bhattacharyya",
    "class_cluster_distributions",
    "class_cluster_histogram",
    "conditional_orthogonality",
    "hellinger",
    "overlap",
    "signal_to_noise",
]
