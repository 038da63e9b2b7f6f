"""The gallery: description, evidence, solved layers or a shortlist, calibration."""

from setwise.gallery.description import Description, Layer, Member, Representation, Shortlist
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
from setwise.gallery.evidence import (
    Comparison,
    Evidence,
    LayerGraph,
    LayerResult,
    LayerView,
    Targets,
)
from setwise.gallery.fusion import Fusion, ScoreMatrix, fuse
from setwise.gallery.gallery import Calibration, Gallery
from setwise.gallery.solve import solve, update

__all__ = [
    "Calibration",
    "Comparison",
    "Description",
    "Distance",
    "Evidence",
    "Fusion",
    "Gallery",
    "Layer",
    "LayerGraph",
    "LayerResult",
    "LayerView",
    "Member",
    "Representation",
    "ScoreMatrix",
    "Shortlist",
    "Targets",
    "bhattacharyya",
    "class_cluster_distributions",
    "class_cluster_histogram",
    "conditional_orthogonality",
    "fuse",
    "hellinger",
    "overlap",
    "signal_to_noise",
    "solve",
    "update",
]
