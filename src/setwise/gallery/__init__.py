"""The gallery: description, evidence, solved layers or a shortlist, calibration."""

from setwise.gallery.description import Description, Layer, Representation, Shortlist
from setwise.gallery.distributions import (
    Distance,
    bhattacharyya,
    class_cluster_distributions,
    class_cluster_histogram,
    conditional_orthogonality,
    hellinger,
    overlap,
    signal_to_noise,
)
from setwise.gallery.evidence import Comparison, LayerGraph, LayerResult, LayerView, Targets
from setwise.gallery.fusion import Fusion, fuse
from setwise.gallery.gallery import Calibration, Gallery
from setwise.gallery.solve import is_stale, learnt, solve, update

__all__ = [
    "Calibration",
    "Comparison",
    "Description",
    "Distance",
    "Fusion",
    "Gallery",
    "Layer",
    "LayerGraph",
    "LayerResult",
    "LayerView",
    "Representation",
    "Shortlist",
    "Targets",
    "bhattacharyya",
    "class_cluster_distributions",
    "class_cluster_histogram",
    "conditional_orthogonality",
    "fuse",
    "hellinger",
    "is_stale",
    "learnt",
    "overlap",
    "signal_to_noise",
    "solve",
    "update",
]
