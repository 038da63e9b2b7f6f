"""Clusters to label: distributions, layers, gallery, fusion, answers, explanation."""

from setwise.classify.cvc import CVC
from setwise.classify.description import Description, Layer, Representation
from setwise.classify.distributions import (
    Distance,
    bhattacharyya,
    class_cluster_distributions,
    class_cluster_histogram,
    conditional_orthogonality,
    hellinger,
    overlap,
    signal_to_noise,
)
from setwise.classify.explanation import Explanation
from setwise.classify.fusion import Fusion, fuse
from setwise.classify.gallery import Gallery
from setwise.classify.judge import Answer, judge
from setwise.classify.saved import edit, load
from setwise.classify.shortlist import Shortlist
from setwise.classify.solve import solve, update

__all__ = [
    "CVC",
    "Answer",
    "Description",
    "Distance",
    "Explanation",
    "Fusion",
    "Gallery",
    "Layer",
    "Representation",
    "Shortlist",
    "bhattacharyya",
    "class_cluster_distributions",
    "class_cluster_histogram",
    "conditional_orthogonality",
    "edit",
    "fuse",
    "hellinger",
    "judge",
    "load",
    "overlap",
    "signal_to_noise",
    "solve",
    "update",
]
