"""Why one needs sets: the whole job on bundled real digits."""

from setwise.demo.digits import DigitSets, digit_sets
from setwise.demo.run import Accuracy, DemoResult, Identified, Round, run_demo

__all__ = [
    "Accuracy",
    "DemoResult",
    "DigitSets",
    "Identified",
    "Round",
    "digit_sets",
    "run_demo",
]
