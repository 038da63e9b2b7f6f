"""Methods compared over several datasets: mean ranks, and which are told apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from setwise._support.parameters import check_number
from setwise._support.types import FloatArray
from setwise.errors import reject
from setwise.evaluation.significance import (
    critical_difference,
    friedman_chance,
    ranks_of_methods,
)
from setwise.evaluation.table import Comparison, aligned


@dataclass(frozen=True)
class DatasetComparison:
    """Methods on several datasets, the best mean rank first. Print it, or read it.

    Examples
    --------
    >>> accuracies = np.array([[0.9, 0.7], [0.8, 0.6], [0.9, 0.5]])
    >>> found = DatasetComparison(("ours", "theirs"), ("a", "b", "c"), accuracies)
    >>> found.mean_ranks
    {'ours': 1.0, 'theirs': 2.0}
    """

    methods: tuple[str, ...]
    datasets: tuple[str, ...]
    accuracies: FloatArray  # a row per dataset, a column per method
    confidence: float = 0.95
    p_value: float = field(init=False)  # that all methods are equally good: Friedman's test
    critical_difference: float = field(init=False)  # of mean ranks: Nemenyi's test

    def __post_init__(self) -> None:
        ranks = ranks_of_methods(self.accuracies)
        order = np.argsort(ranks.mean(axis=0), kind="stable")
        reach = critical_difference(len(self.methods), len(self.datasets), self.confidence)
        values = {
            "methods": tuple(self.methods[i] for i in order),
            "accuracies": self.accuracies[:, order],
            "p_value": friedman_chance(ranks),
            "critical_difference": reach,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def mean_ranks(self) -> dict[str, float]:
        """Mean rank of each method, 1 for one that is best everywhere."""
        means = ranks_of_methods(self.accuracies).mean(axis=0)
        return dict(zip(self.methods, means.tolist(), strict=True))

    @property
    def not_told_apart(self) -> tuple[str, ...]:
        """Methods that are not significantly worse than the best one."""
        first, *others = self.methods
        if self.p_value >= 1 - self.confidence:
            return tuple(others)
        ranks = self.mean_ranks
        return tuple(m for m in others if ranks[m] - ranks[first] < self.critical_difference)

    def summary(self) -> str:
        """A sentence: the best method, and those not significantly worse."""
        on = f"{len(self.datasets)} datasets (Friedman: p = {self.p_value:.2g})"
        tied = self.not_told_apart
        text = f"Not significantly different from it: {'; '.join(tied)}."
        return f"Best mean rank on {on}: {self.methods[0]}. " + (
            text if tied else "All others are significantly worse."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and strings."""
        rows = dict(zip(self.datasets, self.accuracies.tolist(), strict=True))
        return {
            "mean_ranks": self.mean_ranks,
            "p_value": self.p_value,
            "critical_difference": self.critical_difference,
            "not_told_apart": list(self.not_told_apart),
            "accuracies": {
                dataset: dict(zip(self.methods, row, strict=True))
                for dataset, row in rows.items()
            },
        }

    def __str__(self) -> str:
        rows: list[tuple[str, ...]] = [("method", "mean rank", *self.datasets)]
        ranks = self.mean_ranks
        for i, method in enumerate(self.methods):
            cells = [f"{100 * value:.1f}" for value in self.accuracies[:, i]]
            rows.append((method, f"{ranks[method]:.2f}", *cells))
        reach = f"Mean ranks {self.critical_difference:.2f} apart differ (Nemenyi)."
        return "\n".join([aligned(rows, str.rjust), "", self.summary(), reach])


def compare_datasets(
    comparisons: Mapping[str, Comparison], *, confidence: float = 0.95
) -> DatasetComparison:
    """Compare methods over datasets, by Friedman's test on their ranks and Nemenyi's after it.

    Parameters
    ----------
    comparisons : mapping of str to Comparison
        Results of :func:`setwise.compare`, by the name of the dataset. Methods that succeeded
        on all of them are compared. With fewer than five datasets, the tests tell little.
    confidence : float, default=0.95
        Of differences reported as significant.

    Examples
    --------
    >>> from setwise import compare
    >>> from setwise.evaluation import compare_datasets
    >>> from setwise.evaluation.testing import separable_sets
    >>> found = {}
    >>> for seed in range(3):
    ...     X, y = separable_sets(n_sets=6, seed=seed)
    ...     split = X[::2], y[::2], X[1::2], y[1::2]
    ...     found[f"made {seed}"] = compare(*split, methods=["MSM", "GDA"])
    >>> compare_datasets(found).mean_ranks
    {'GDA': 1.5, 'MSM': 1.5}
    """
    check_number("compare_datasets", "confidence", confidence, at_most=1.0 - 1e-9)
    if len(comparisons) < 2:
        reject(
            f"compare_datasets: comparisons holds {len(comparisons)} datasets. Expected two or "
            "more; for one, see the p values of compare itself."
        )
    tables = list(comparisons.values())
    names = sorted(one.name for one in tables[0])
    shared = [name for name in names if all(name in {r.name for r in t} for t in tables)]
    if len(shared) < 2:
        reject(
            f"compare_datasets: {len(shared)} methods succeeded on all {len(tables)} datasets. "
            "Expected two or more: give the same methods to each comparison."
        )
    accuracies = np.array([[table[name].accuracy for name in shared] for table in tables])
    return DatasetComparison(tuple(shared), tuple(comparisons), accuracies, confidence)
