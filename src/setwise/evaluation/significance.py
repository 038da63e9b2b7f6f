"""How sure accuracies and their differences are: intervals and tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import stats

from setwise._support.types import BoolArray, FloatArray


def accuracy_interval(is_right: BoolArray, confidence: float) -> tuple[float, float]:
    """Exact binomial interval (Clopper and Pearson, 1934) of the share of right answers."""
    found = stats.binomtest(int(is_right.sum()), len(is_right)).proportion_ci(confidence)
    return float(found.low), float(found.high)


def chance_of_difference(one: BoolArray, other: BoolArray) -> float:
    """Probability of a difference at least as large between two equally good methods.

    McNemar's exact test: each probe that exactly one of the two got right is as likely to be
    the one's as the other's. Probes are assumed independent.

    Examples
    --------
    >>> chance_of_difference(np.array([True, True]), np.array([True, False]))
    1.0
    """
    n_one, n_other = int((one & ~other).sum()), int((other & ~one).sum())
    if n_one + n_other == 0:
        return 1.0
    return float(stats.binomtest(n_one, n_one + n_other).pvalue)


def adjusted_for_many(p_values: Sequence[float]) -> FloatArray:
    """P values after Holm's correction for multiple tests.

    Examples
    --------
    >>> adjusted_for_many([0.04, 0.01])
    array([0.04, 0.02])
    """
    values = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    factors = np.arange(len(values), 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(np.maximum.accumulate(values[order] * factors), 1.0)
    return adjusted


def corrected_interval(
    accuracies: FloatArray, ratio: float, confidence: float
) -> tuple[float, float]:
    """Interval of the mean accuracy of repeated splits, by the corrected resampled t.

    ``ratio`` is the number of probes per gallery set. Galleries of different splits share sets,
    so that accuracies vary less than those of new data would; ``ratio`` makes up for it.
    """
    mean, reach = float(accuracies.mean()), _corrected_error(accuracies, ratio)
    reach *= float(stats.t.ppf((1 + confidence) / 2, len(accuracies) - 1))
    return max(mean - reach, 0.0), min(mean + reach, 1.0)


def corrected_chance(differences: FloatArray, ratio: float) -> float:
    """Probability of differences at least as large between two equally good methods.

    The corrected resampled t-test (Nadeau and Bengio, 2003) on the differences of accuracy in
    repeated splits. Differences that are all equal have no variance: a sign test is left.
    ``ratio`` is the number of probes per gallery set.

    Examples
    --------
    >>> round(corrected_chance(np.array([0.1, 0.2, 0.15]), ratio=0.5), 3)
    0.081
    """
    if np.ptp(differences) < 1e-12:
        is_zero = abs(float(differences[0])) < 1e-12
        return 1.0 if is_zero else float(2 * 0.5 ** len(differences))
    t = abs(float(differences.mean())) / _corrected_error(differences, ratio)
    return float(2 * stats.t.sf(t, len(differences) - 1))


def _corrected_error(values: FloatArray, ratio: float) -> float:
    return float(np.sqrt(values.var(ddof=1) * (1 / len(values) + ratio)))


def ranks_of_methods(accuracies: FloatArray) -> FloatArray:
    """Rank of each method (column) on each dataset (row), 1 for the best; ties share."""
    return np.asarray(stats.rankdata(-np.round(accuracies, 12), axis=1), dtype=np.float64)


def friedman_chance(ranks: FloatArray) -> float:
    """Probability of mean ranks as far apart if all methods are equally good.

    Friedman's statistic, corrected for ties, in the form of Iman and Davenport (1980).
    """
    n_datasets, n_methods = ranks.shape
    apart = ranks - (n_methods + 1) / 2
    spread = float(np.sum(apart**2))
    if spread == 0:
        return 1.0
    chi = (n_methods - 1) * float(np.sum(apart.sum(axis=0) ** 2)) / spread
    most = n_datasets * (n_methods - 1)
    if chi >= most - 1e-9:  # all datasets rank them alike
        return float(np.prod(1.0 / np.arange(1, n_methods + 1)) ** (n_datasets - 1))
    f = (n_datasets - 1) * chi / (most - chi)
    return float(stats.f.sf(f, n_methods - 1, (n_methods - 1) * (n_datasets - 1)))


def critical_difference(n_methods: int, n_datasets: int, confidence: float) -> float:
    """Difference of mean ranks from which on two methods are told apart (Nemenyi, 1963)."""
    q = float(stats.studentized_range.ppf(confidence, n_methods, np.inf)) / np.sqrt(2)
    return q * float(np.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets)))
