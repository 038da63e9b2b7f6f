"""Compare clusterers of sets: B-cubed precision and recall, mutual information, time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.metrics import normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix

from setwise._support.parameters import check_known, refuse
from setwise._support.progress import Progress, duration, reported
from setwise._support.types import IntArray
from setwise.baselines import MeanClusters
from setwise.baselines.mean_clusters import alone_where_left_out
from setwise.errors import reject
from setwise.evaluation.table import aligned
from setwise.sets import SetBatch, check_labels, check_sets
from setwise.together import SetClusters

# name -> what makes the clusterer, told the number of classes, which only the last one uses
GROUPERS: dict[str, Callable[[int], Any]] = {
    "SetClusters": lambda n: SetClusters(),
    "DBSCAN": lambda n: MeanClusters("dbscan"),
    "HDBSCAN": lambda n: MeanClusters("hdbscan"),
    "FINCH": lambda n: MeanClusters("finch"),
    "average linkage": lambda n: MeanClusters("average"),
    "Chinese whispers": lambda n: MeanClusters("whispers"),
    "average linkage, told K": lambda n: MeanClusters("average", n_clusters=n),
}


@dataclass(frozen=True)
class GroupScores:
    """How far groups agree with classes, each from 0 to 1.

    Examples
    --------
    >>> from setwise.evaluation import GroupScores
    >>> GroupScores.of([0, 0, 1, 1], [0, 0, 0, 0])
    GroupScores(precision=0.5, recall=1.0, nmi=0.0)
    """

    #: B-cubed (Bagga and Baldwin 1998): of a set's group, the share that is of its class; of
    #: its class, the share that is in its group; means over the sets. A set that is left out is
    #: a group of its own.
    precision: float
    recall: float
    nmi: float  # normalised mutual information

    @property
    def f(self) -> float:
        """Harmonic mean of precision and recall."""
        return 2 * self.precision * self.recall / (self.precision + self.recall)

    @classmethod
    def of(cls, classes: npt.ArrayLike, groups: npt.ArrayLike) -> GroupScores:
        """Scores of groups, numbers of which -1 means left out, for sets of known classes."""
        truth, found = np.asarray(classes), alone_where_left_out(groups)
        table = contingency_matrix(truth, found).astype(np.float64)
        squares = table**2
        precision = (squares / table.sum(axis=0)).sum() / len(found)
        recall = (squares / table.sum(axis=1, keepdims=True)).sum() / len(found)
        nmi = normalized_mutual_info_score(truth, found)
        return cls(float(precision), float(recall), float(nmi))


@dataclass(frozen=True)
class GroupResult:
    """Groups that one method found.

    Examples
    --------
    >>> from setwise.evaluation import GroupResult, GroupScores
    >>> labels = np.array([0, 0, -1])
    >>> GroupResult("mine", labels, GroupScores.of([0, 0, 1], labels)).n_groups
    1
    """

    name: str
    labels: IntArray  # -1 for what is left out
    scores: GroupScores | None  # None where the method failed
    seconds: float = 0.0
    error: str | None = None

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(np.unique(self.labels[self.labels >= 0]))

    @property
    def n_left_out(self) -> int:
        """Number of sets in no group."""
        return int((self.labels < 0).sum())

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and strings."""
        if self.scores is None:
            return {"method": self.name, "error": self.error}
        return {
            "method": self.name,
            "n_groups": self.n_groups,
            "n_left_out": self.n_left_out,
            "precision": self.scores.precision,
            "recall": self.scores.recall,
            "f": self.scores.f,
            "nmi": self.scores.nmi,
            "seconds": self.seconds,
        }


@dataclass(frozen=True)
class GroupComparison:
    """Clusterers on the same sets, the best B-cubed F first. Print it, or read it.

    Examples
    --------
    >>> from setwise.evaluation import compare_groups
    >>> from setwise.evaluation.testing import separable_sets
    >>> found = compare_groups(*separable_sets(), methods=["FINCH"])
    >>> found["FINCH"].scores.f
    1.0
    """

    results: tuple[GroupResult, ...]
    n_classes: int

    def __getitem__(self, name: str) -> GroupResult:
        return {result.name: result for result in self.results}[name]

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and strings; one row per method in ``["methods"]``."""
        return {
            "n_classes": self.n_classes,
            "methods": [result.to_dict() for result in self.results],
        }

    def __str__(self) -> str:
        header = ("method", "groups", "left out", "precision", "recall", "F", "NMI", "time")
        rows: list[tuple[str, ...]] = [header]
        failed = []
        for one in self.results:
            if one.scores is None:
                failed.append(f"{one.name}: failed, {one.error}")
                continue
            s = one.scores
            numbers = (f"{x:.3f}" for x in (s.precision, s.recall, s.f, s.nmi))
            counts = str(one.n_groups), str(one.n_left_out)
            rows.append((one.name, *counts, *numbers, duration(one.seconds)))
        return "\n".join([aligned(rows, str.rjust), *failed, "", f"Classes: {self.n_classes}."])


def compare_groups(
    sets: Any,
    labels: Any,
    *,
    methods: Sequence[str] | Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> GroupComparison:
    """Compare clusterers of sets: how well each finds classes that it is not shown.

    Parameters
    ----------
    sets, labels
        Sets and their classes, as for :meth:`setwise.CVC.fit`. The classes only rate the
        groups; *average linkage, told K* also knows their number.
    methods : sequence of str or mapping of str to clusterers, optional
        Names of ``setwise.evaluation.GROUPERS``, or clusterers with ``fit_predict(sets)``; all
        by default.
    progress : callable, optional
        Called with a description, the number of finished methods, and their total.

    Examples
    --------
    >>> from setwise.evaluation import compare_groups
    >>> from setwise.evaluation.testing import separable_sets
    >>> found = compare_groups(*separable_sets(), methods=["DBSCAN", "FINCH"])
    >>> [result.n_groups for result in found.results]
    [3, 3]
    """
    batch = check_sets(sets, caller="compare_groups")
    classes, codes = check_labels(labels, len(batch), caller="compare_groups")
    chosen = _chosen(methods, len(classes))
    work = (_grouped(name, one, batch, codes) for name, one in chosen.items())
    results = list(reported(work, len(chosen), "comparing clusterers", progress))
    results.sort(key=lambda one: -one.scores.f if one.scores else 1.0)
    return GroupComparison(tuple(results), len(classes))


def _chosen(methods: Any, n_classes: int) -> dict[str, Any]:
    if isinstance(methods, Mapping):
        for name, one in methods.items():
            if not hasattr(one, "fit_predict"):
                expected = "clusterers with fit_predict(sets)"
                refuse("compare_groups", f"methods[{name!r}]", expected, one)
        return dict(methods)
    names = list(GROUPERS if methods is None else methods)
    for name in names:
        check_known("compare_groups", "method", name, GROUPERS)
    if not names:
        reject("compare_groups: methods is empty. Expected at least one; None compares all.")
    return {name: GROUPERS[name](n_classes) for name in names}


def _grouped(name: str, clusterer: Any, sets: SetBatch, codes: IntArray) -> GroupResult:
    started = time.perf_counter()
    try:
        labels = np.asarray(clone(clusterer).fit_predict(sets))
    except Exception as error:  # the other methods go on
        nothing = np.full(len(codes), -1)
        return GroupResult(name, nothing, None, error=f"{type(error).__name__}: {error}")
    seconds = time.perf_counter() - started
    return GroupResult(name, labels, GroupScores.of(codes, labels), seconds)
