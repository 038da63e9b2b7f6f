"""Confidence of an accuracy, and of the difference of two."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import binomtest

from setwise._support.types import BoolArray, FloatArray


def accuracy_interval(is_right: BoolArray, confidence: float) -> tuple[float, float]:
    """Exact binomial interval (Clopper and Pearson, 1934) of the share of right answers."""
    found = binomtest(int(is_right.sum()), len(is_right)).proportion_ci(confidence)
    return float(found.low), float(found.high)


def chance_of_difference(one: BoolArray, other: BoolArray) -> float:
    """Probability of a difference at least as large between two equally good methods.

    McNemar's exact test: each probe that exactly one of the two got right is as likely to be
    the one's as the other's. Probes are assumed independent.
    """
    n_one, n_other = int((one & ~other).sum()), int((other & ~one).sum())
    if n_one + n_other == 0:
        return 1.0
    return float(binomtest(n_one, n_one + n_other).pvalue)


def adjusted_for_many(p_values: Sequence[float]) -> FloatArray:
    """P values after Holm's correction for multiple tests."""
    values = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    factors = np.arange(len(values), 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(np.maximum.accumulate(values[order] * factors), 1.0)
    return adjusted
