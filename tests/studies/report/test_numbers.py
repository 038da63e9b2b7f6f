import math

import pytest

from setwise.report.tables import number
from setwise.studies.accuracy import AccuracyRow
from setwise.studies.report.numbers import (
    accuracy,
    agreement,
    seconds,
    signed,
    tolerance,
)
from setwise.studies.spec import Published


def row(mean, *, std=3.0, paper_mean=90.0, paper_std=6.0, n_folds=9):
    published = None if paper_mean is None else Published(mean=paper_mean, std=paper_std)
    return AccuracyRow("x", mean, std, 0, 100, n_folds, 90, published=published)


@pytest.mark.parametrize(
    ("mean", "expected"),
    [(90.0, "within"), (93.0, "within"), (87.0, "within"), (93.1, "above"), (86.9, "below")],
)
def test_agreement_is_within_both_standard_errors(mean, expected):
    # 3 / sqrt(9) of ours, and 6 / sqrt(9) of the paper's.
    assert tolerance(row(mean)) == pytest.approx(3.0)
    assert agreement(row(mean)) == expected


def test_paper_without_deviation_counts_with_ours_alone():
    assert agreement(row(90.9, paper_std=None)) == "within"
    assert agreement(row(91.1, paper_std=None)) == "above"


def test_paper_without_figure_agrees_with_nothing():
    assert agreement(row(90.0, paper_mean=None)) == ""


def test_what_is_missing_is_a_dash():
    for write in (accuracy, signed, number, seconds):
        assert write(None) == write(math.nan) == "–"


def test_minus_is_a_minus():
    assert signed(-0.5) == "\N{MINUS SIGN}0.50"


def test_infinity_is_said():
    assert number(math.inf) == "∞"
    assert number(0.123456) == "0.123"
