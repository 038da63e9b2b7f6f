"""Answers by a solved gallery: judging, explanations, and the estimator CVC."""

from setwise.classify.answer import Answer
from setwise.classify.cvc import CVC
from setwise.classify.explanation import CutStep, Explanation, MemberVote
from setwise.classify.judge import Inference, judge
from setwise.classify.judge_together import judge_together
from setwise.classify.saved import edit, load
from setwise.gallery import (
    Description,
    Distance,
    Fusion,
    Gallery,
    Layer,
    Representation,
    Shortlist,
    bhattacharyya,
    class_cluster_distributions,
    class_cluster_histogram,
    conditional_orthogonality,
    fuse,
    hellinger,
    overlap,
    signal_to_noise,
    solve,
    update,
)

__all__ = [
    "CVC",
    "Answer",
    "CutStep",
    "Description",
    "Distance",
    "Explanation",
    "Fusion",
    "Gallery",
    "Inference",
    "Layer",
    "MemberVote",
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
    "judge_together",
    "load",
    "overlap",
    "signal_to_noise",
    "solve",
    "update",
]
