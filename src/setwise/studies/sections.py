"""What came out of each experiment, ready to be shown: numbers and names, nothing drawn.

The tables say what the paper says beside what we found. Everything here is made from finished
items by :mod:`setwise.studies.summary`, and shown by the command, the report and the docs.
Accuracies are in percent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from setwise.studies.spec import (
    Distributions,
    Fusion,
    Gaussians,
    Methods,
    Published,
    Robustness,
    Study,
)

__all__ = [
    "AccuracyRow",
    "CloudRow",
    "Confusion",
    "Curve",
    "DistributionExample",
    "DistributionRow",
    "DistributionsSection",
    "Failure",
    "FusionSection",
    "GaussiansSection",
    "MethodsSection",
    "RobustnessSection",
    "Section",
    "StudyResult",
    "SwitchRow",
    "WrongProbe",
]


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


@dataclass(frozen=True)
class Curve:
    """A line of a figure: ``mean`` and ``std`` at each ``x``."""

    name: str
    x: tuple[float, ...]
    mean: tuple[float, ...]
    std: tuple[float, ...]


@dataclass(frozen=True)
class FusionSection:
    """Accuracy by fusion, and by the number of dimensionalities that are fused.

    Attributes
    ----------
    experiment : Fusion
        What was asked.
    rows : tuple of AccuracyRow
        One a fusion, all dimensionalities.
    curves : tuple of Curve
        One a fusion; ``x`` is the largest dimensionality.
    """

    experiment: Fusion
    rows: tuple[AccuracyRow, ...]
    curves: tuple[Curve, ...]


@dataclass(frozen=True)
class Confusion:
    """How often each class was taken for each, over all folds.

    Attributes
    ----------
    classes : tuple of str
        In the order of rows and columns.
    counts : tuple of tuple of int
        ``counts[truth][answer]``.
    """

    classes: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class WrongProbe:
    """A probe that got a wrong label, and why.

    Attributes
    ----------
    method : str
        Row of the table.
    fold, seed : int
        Where it was.
    probe : str
        Name of the set.
    truth, answer : str
        Its class, and what it was taken for.
    index : int
        Of the set in the dataset, as ``data`` in the experiment describes it.
    explanation : dict
        What ``setwise.studies.tasks.explain`` found; see there.
    """

    method: str
    fold: int
    seed: int
    probe: str
    truth: str
    answer: str
    index: int
    explanation: Mapping[str, Any]


@dataclass(frozen=True)
class MethodsSection:
    """Methods side by side.

    Attributes
    ----------
    experiment : Methods
        What was asked.
    rows : tuple of AccuracyRow
        One a method, in the order asked for.
    confusion : Confusion or None
        Of the method that is explained.
    wrong : tuple of WrongProbe
        Its wrong answers.
    """

    experiment: Methods
    rows: tuple[AccuracyRow, ...]
    confusion: Confusion | None = None
    wrong: tuple[WrongProbe, ...] = ()


@dataclass(frozen=True)
class RobustnessSection:
    """Accuracy against outliers.

    Attributes
    ----------
    experiment : Robustness
        What was asked.
    gallery, probes : tuple of Curve
        One a method; ``x`` is the number of images taken of each set, from 0 on.
    gallery_share, probes_share : tuple of float
        For each ``x``, outliers in percent of the images that were there before, on average.
    """

    experiment: Robustness
    gallery: tuple[Curve, ...]
    probes: tuple[Curve, ...]
    gallery_share: tuple[float, ...]
    probes_share: tuple[float, ...]


@dataclass(frozen=True)
class DistributionExample:
    """One clusterer on the draw that is shown.

    Attributes
    ----------
    clusterer : str
        Its name.
    classes : tuple of str
        Rows of ``table`` but the last, which is the probe.
    truth, answer : str
        Class of the probe, and the nearest by distance.
    table : tuple of tuple of float
        Class-cluster distributions, the probe last; rows sum to 1.
    distances : tuple of float or None
        Bhattacharyya distance to each class; None where no cluster is shared.
    snr : float or None
        Second smallest distance over the smallest; None where it is infinite.
    points : tuple of (float, float, float)
        Each image by its three largest principal components.
    point_rows, point_clusters : tuple of int
        Row of ``table`` and cluster of each image.
    """

    clusterer: str
    classes: tuple[str, ...]
    truth: str
    answer: str
    table: tuple[tuple[float, ...], ...]
    distances: tuple[float | None, ...]
    snr: float | None
    points: tuple[tuple[float, float, float], ...]
    point_rows: tuple[int, ...]
    point_clusters: tuple[int, ...]


@dataclass(frozen=True)
class DistributionRow:
    """One clusterer over all draws.

    Attributes
    ----------
    clusterer : str
        Its name.
    accuracy : float
        Percent of the draws in which the nearest class is the probe's.
    median_snr : float or None
        Over the draws; None where it is infinite.
    median_distance : float or None
        Smallest distance, over the draws; None where it is infinite.
    mean_clusters : float
        How many clusters it made.
    n_draws : int
        How many draws.
    published_snr, published_distance : float or None
        The paper's, on its one example (faces of MoBo).
    """

    clusterer: str
    accuracy: float
    median_snr: float | None
    median_distance: float | None
    mean_clusters: float
    n_draws: int
    published_snr: float | None = None
    published_distance: float | None = None


@dataclass(frozen=True)
class DistributionsSection:
    """Class-cluster distributions of several clusterers."""

    experiment: Distributions
    rows: tuple[DistributionRow, ...]
    examples: tuple[DistributionExample, ...]


@dataclass(frozen=True)
class CloudRow:
    """All draws of two clouds at one distance and size; shares in percent.

    Attributes
    ----------
    distance, size : float, int
        Between the centres, and points of each cloud.
    connectivity : float
        Second smallest eigenvalue of the normalised Laplacian, by Algorithm 3.
    error, exact_error : float
        Points on the wrong side: of Algorithm 3's cut, and of the exact Fiedler vector's.
    switches : float
        Sign switches a point, not counting those away from the start vector.
    """

    distance: float
    size: int
    connectivity: float
    error: float
    exact_error: float
    switches: float


@dataclass(frozen=True)
class SwitchRow:
    """Points that switched sides equally often; the last row is *so often or more*."""

    switches: int
    n_points: int
    error: float


@dataclass(frozen=True)
class GaussiansSection:
    """NCut on two clouds.

    Attributes
    ----------
    experiment : Gaussians
        What was asked.
    rows : tuple of CloudRow
        One for each distance and size.
    switches : tuple of SwitchRow
        Of points that switched 0, 1, and 2 or more times after the first iterate.
    switches_from_start : tuple of SwitchRow
        The same, the switches away from the start vector counted too.
    example : dict
        One draw to look at: ``distance``, ``size``, ``points`` (x, y), ``is_second`` (cloud)
        and ``is_wrong``.
    """

    experiment: Gaussians
    rows: tuple[CloudRow, ...]
    switches: tuple[SwitchRow, ...]
    switches_from_start: tuple[SwitchRow, ...]
    example: Mapping[str, Any]


Section: TypeAlias = (
    FusionSection | MethodsSection | RobustnessSection | DistributionsSection | GaussiansSection
)


@dataclass(frozen=True)
class Failure:
    """An item that could not be done: which experiment, what it was, why, and where to read on.

    ``traceback`` is the path of a file, or empty.
    """

    experiment: str
    what: str
    error: str
    traceback: str = ""


@dataclass(frozen=True)
class StudyResult:
    """Everything a report of a study shows.

    Attributes
    ----------
    study : Study
        What was asked.
    sections : tuple of Section
        One an experiment that has any finished item, in the order of the study.
    failures : tuple of Failure
        What could not be done.
    n_items, n_finished : int
        How much work there is, and how much of it is done.
    data_notes : dict of str to str
        Where each dataset was read from, and which folds it has.
    versions : dict of str to str
        Of setwise and of what it rests on.
    machine : str
        On which the times were taken, and with how many jobs.
    warnings : dict of str to int
        How often which warning was heard: answers that stand, but are weaker than usual.
    """

    study: Study
    sections: tuple[Section, ...]
    failures: tuple[Failure, ...]
    n_items: int
    n_finished: int
    data_notes: Mapping[str, str]
    versions: Mapping[str, str]
    machine: str
    warnings: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to do."""
        return self.n_finished == self.n_items
