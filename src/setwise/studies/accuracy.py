"""Accuracies over folds and seeds: rows of tables and lines of figures, in percent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from setwise._support.progress import duration
from setwise.studies.spec import Published

__all__ = ["AccuracyRow", "Curve", "accuracy_cells", "accuracy_of", "curve_of", "mean_text"]


@dataclass(frozen=True)
class AccuracyRow:
    """One row of a table of accuracies, over all folds and seeds.

    Attributes
    ----------
    name : str
        Method or fusion.
    mean, std, low, high : float
        Of the accuracies of the folds, in percent; ``std`` with n in the denominator.
    n_folds, n_probes : int
        How many folds (times seeds) and, over all of them, probes.
    fit_seconds, probe_seconds : float or None
        Medians over the folds: to learn the gallery, and to judge one probe.
    published : Published or None
        The paper's row.
    """

    name: str
    mean: float
    std: float
    low: float
    high: float
    n_folds: int
    n_probes: int
    fit_seconds: float | None = None
    probe_seconds: float | None = None
    published: Published | None = None

    @classmethod
    def of(
        cls,
        name: str,
        results: Sequence[Mapping[str, Any]],
        published: Published | None,
        *,
        is_timed: bool = True,
    ) -> AccuracyRow:
        """The row of the results of one method, each of a fold and seed."""
        accuracies = np.array([accuracy_of(result) for result in results])
        times = {
            what: float(np.median([result[what] for result in results]))
            for what in ("fit_seconds", "probe_seconds")
            if is_timed
        }
        return cls(
            name=name,
            mean=float(accuracies.mean()),
            std=float(accuracies.std()),
            low=float(accuracies.min()),
            high=float(accuracies.max()),
            n_folds=len(accuracies),
            n_probes=sum(len(result["truth"]) for result in results),
            published=published,
            **times,
        )

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's, in points; None where the paper has no such figure."""
        if self.published is None or self.published.mean is None:
            return None
        return self.mean - self.published.mean

    @property
    def standard_error(self) -> float:
        """Of our mean."""
        return float(self.std / max(self.n_folds, 1) ** 0.5)

    def numbers(self) -> dict[str, Any]:
        """The row in types that JSON knows."""
        published = self.published
        return asdict(self) | {
            "difference": self.difference,
            "published": None if published is None else published.model_dump(exclude_none=True),
        }


@dataclass(frozen=True)
class Curve:
    """A line of a figure: ``mean`` and ``std`` at each ``x``."""

    name: str
    x: tuple[float, ...]
    mean: tuple[float, ...]
    std: tuple[float, ...]


def accuracy_of(result: Mapping[str, Any]) -> float:
    """Percent of the probes that got their label."""
    answers = np.array(result["answers"][""])
    return float(100.0 * np.mean(answers == np.array(result["truth"])))


def curve_of(name: str, points: Mapping[float, Sequence[float]]) -> Curve:
    """Mean and standard deviation of the accuracies at each place."""
    x = sorted(points)
    return Curve(
        name=name,
        x=tuple(float(at) for at in x),
        mean=tuple(float(np.mean(points[at])) for at in x),
        std=tuple(float(np.std(points[at])) for at in x),
    )


def accuracy_cells(row: AccuracyRow) -> tuple[str, ...]:
    """Name, the paper's accuracy, ours, their difference, and times; empty where unknown."""
    published = row.published
    return (
        row.name,
        "" if published is None else mean_text(published.mean, published.std),
        mean_text(row.mean, row.std if row.n_folds > 1 else None),
        "" if row.difference is None else f"{row.difference:+.2f}",
        "" if row.fit_seconds is None else duration(row.fit_seconds),
        "" if row.probe_seconds is None else duration(row.probe_seconds),
    )


def mean_text(mean: float | None, std: float | None = None) -> str:
    """A mean and its deviation, as far as they are known."""
    if mean is None:
        return ""
    return f"{mean:.2f}" if std is None else f"{mean:.2f} ± {std:.2f}"
