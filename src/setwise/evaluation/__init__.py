"""Which method for these sets? All of them, on one table, with how sure it is."""

from setwise.evaluation.compare import (
    METHODS,
    SLOW,
    TimedAnswers,
    check_methods,
    compare,
    evaluate,
    timed_answers,
)
from setwise.evaluation.cross_validation import cross_validate
from setwise.evaluation.datasets import DatasetComparison, compare_datasets
from setwise.evaluation.evaluation import Evaluation, JudgedSet
from setwise.evaluation.groups import (
    GROUPERS,
    GroupComparison,
    GroupResult,
    GroupScores,
    compare_groups,
)
from setwise.evaluation.significance import (
    adjusted_for_many,
    chance_of_difference,
    corrected_chance,
)
from setwise.evaluation.table import Comparison, MethodResult, plot_accuracy_time

__all__ = [
    "GROUPERS",
    "METHODS",
    "SLOW",
    "Comparison",
    "DatasetComparison",
    "Evaluation",
    "GroupComparison",
    "GroupResult",
    "GroupScores",
    "JudgedSet",
    "MethodResult",
    "TimedAnswers",
    "adjusted_for_many",
    "chance_of_difference",
    "check_methods",
    "compare",
    "compare_datasets",
    "compare_groups",
    "corrected_chance",
    "cross_validate",
    "evaluate",
    "plot_accuracy_time",
    "timed_answers",
]
