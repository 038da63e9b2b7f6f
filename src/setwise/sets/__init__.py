"""What a set is: the container, the one input gate, and splits that never cut a set."""

from setwise.sets.batch import SetBatch
from setwise.sets.classifier import SetClassifier
from setwise.sets.gate import check_labels, check_sets, check_some_labels
from setwise.sets.labels import gallery_probe_split, gallery_probe_splits
from setwise.sets.origins import Origins

__all__ = [
    "Origins",
    "SetBatch",
    "SetClassifier",
    "check_labels",
    "check_sets",
    "check_some_labels",
    "gallery_probe_split",
    "gallery_probe_splits",
]
