"""Checks that every set classifier should pass, for your own as well as for setwise's."""

from setwise.evaluation.testing.battery import (
    Check,
    OnRows,
    check_set_classifier,
    on_rows,
    set_classifier_checks,
)
from setwise.evaluation.testing.data import separable_sets

__all__ = [
    "Check",
    "OnRows",
    "check_set_classifier",
    "on_rows",
    "separable_sets",
    "set_classifier_checks",
]
