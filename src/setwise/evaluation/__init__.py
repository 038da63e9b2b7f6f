"""Which method for these sets? All of them, on one table, with how sure it is."""

from setwise.evaluation.compare import TimedAnswers, compare, evaluate, timed_answers
from setwise.evaluation.methods import METHODS, SLOW, check_methods
from setwise.evaluation.table import Comparison, MethodResult, plot_accuracy_time

__all__ = [
    "METHODS",
    "SLOW",
    "Comparison",
    "MethodResult",
    "TimedAnswers",
    "check_methods",
    "compare",
    "evaluate",
    "plot_accuracy_time",
    "timed_answers",
]
