"""What is computed of the results: pure functions of lists and arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import binomtest, rankdata

N_BINS = 10

Records = Mapping[int, Mapping[str, Any]]


def mean_and_error(values: Sequence[float]) -> tuple[float, float | None]:
    """Mean, and its standard error where there are two values or more."""
    if len(values) < 2:
        return float(np.mean(values)), None
    return float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(len(values)))


def wins_and_losses(ours: Records, theirs: Records) -> tuple[int, int]:
    """Of the probe sets, how many we get right more often than they do, and less often.

    A set that is a probe of several splits counts once, by all of them together: its answers
    are not independent of each other. Splits that only one of the two has are left out.
    """
    balance: dict[str, int] = {}
    for i in ours.keys() & theirs.keys():
        for name, a, b in zip(
            ours[i]["probes"], ours[i]["correct"], theirs[i]["correct"], strict=True
        ):
            balance[name] = balance.get(name, 0) + a - b
    differences = np.array(list(balance.values()))
    return int((differences > 0).sum()), int((differences < 0).sum())


def sign_test(wins: int, losses: int) -> float:
    """Exact two-sided sign test; McNemar's where every set is a probe once."""
    return float(binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0


def auroc(scores: np.ndarray, is_positive: np.ndarray) -> float:
    """Chance that a positive has the larger score than a negative; ties count half."""
    positive = np.asarray(is_positive, dtype=bool)
    n, m = int(positive.sum()), int((~positive).sum())
    ranks = rankdata(scores)
    return float((ranks[positive].sum() - n * (n + 1) / 2) / (n * m))


def bins_of(probability: np.ndarray) -> np.ndarray:
    """Which of the ten bins each probability is in; 1.0 is in the last."""
    return np.minimum((np.asarray(probability) * N_BINS).astype(int), N_BINS - 1)


def calibration_error(probability: np.ndarray, correct: np.ndarray) -> float:
    """Expected calibration error: mean gap between confidence and accuracy over the bins."""
    gaps = np.bincount(bins_of(probability), np.asarray(probability) - correct, N_BINS)
    return float(np.abs(gaps).sum() / len(probability))
