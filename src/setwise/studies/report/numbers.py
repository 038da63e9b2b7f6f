"""Numbers as a report writes them: few digits, a real minus sign, a dash where none is."""

from __future__ import annotations

import math

from setwise._support.progress import duration
from setwise.report.tables import NOTHING
from setwise.studies.accuracy import AccuracyRow

__all__ = ["accuracy", "agreement", "seconds", "signed", "tolerance"]


def accuracy(value: float | None) -> str:
    """An accuracy in percent.

    Examples
    --------
    >>> from setwise.studies.report.numbers import accuracy
    >>> accuracy(91.75)
    '91.75'
    """
    return NOTHING if value is None or math.isnan(value) else f"{value:.2f}"


def signed(value: float | None) -> str:
    """A difference, with its sign.

    Examples
    --------
    >>> from setwise.studies.report.numbers import signed
    >>> signed(0.5), signed(-0.001)
    ('+0.50', '0.00')
    """
    if value is None or math.isnan(value):
        return NOTHING
    rounded = round(value, 2)
    sign = "+" if rounded > 0 else "−" if rounded < 0 else ""  # noqa: RUF001 (a minus)
    return f"{sign}{abs(rounded):.2f}"


def seconds(value: float | None) -> str:
    """A duration, or a dash where none was taken."""
    return NOTHING if value is None or math.isnan(value) else duration(value)


def tolerance(row: AccuracyRow) -> float:
    """How far ours and the paper's mean may differ by chance: both standard errors together.

    The paper's deviation is taken to be over as many folds as ours.
    """
    published = row.published.std if row.published is not None else None
    return row.standard_error + (published or 0.0) / max(row.n_folds, 1) ** 0.5


def agreement(row: AccuracyRow) -> str:
    """Whether ours is ``"above"``, ``"below"`` or ``"within"`` what chance allows.

    Empty where the paper has no such figure.
    """
    difference = row.difference
    if difference is None or math.isnan(difference):
        return ""
    if abs(difference) <= tolerance(row) + 1e-9:
        return "within"
    return "above" if difference > 0 else "below"
