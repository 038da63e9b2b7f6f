"""Checks that every set classifier should pass, for your own as well as for setwise's."""

from setwise.evaluation.testing.checks import Check, check_set_classifier, set_classifier_checks
from setwise.evaluation.testing.data import separable_sets
from setwise.evaluation.testing.rows import OnRows, on_rows

__all__ = [
    "Check",
    "OnRows",
    "check_set_classifier",
    "on_rows",
    "separable_sets",
    "set_classifier_checks",
]
