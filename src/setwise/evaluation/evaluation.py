"""Result of a cross-validation: accuracy, errors, and confusion of classes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.parallel import lazy
from setwise._support.text import printable
from setwise._support.types import BoolArray, IntArray
from setwise.classify import Answer
from setwise.evaluation.significance import accuracy_interval
from setwise.evaluation.table import aligned
from setwise.sets.labels import json_label

CONFIDENCE = 0.95


@dataclass(frozen=True, kw_only=True, eq=False)
class JudgedSet:
    """Answer for one set by a classifier that was not fitted to it.

    Examples
    --------
    >>> from setwise import cross_validate
    >>> from setwise.baselines import MeanCosine
    >>> from setwise.evaluation.testing import separable_sets
    >>> cross_validate(MeanCosine(), *separable_sets(), folds=3).results[0].name
    'set 0'
    """

    index: int  # its place among the given sets
    name: str
    truth: Any
    label: Any  # predicted class, or the classifier's ``unknown_label``
    fold: int
    probability: float | None = None  # of the most probable class
    margin: float | None = None  # its lead over the next probable class
    runner_up: Any = None  # the next probable class
    is_known: bool | None = None  # None where ``unknown`` is not used
    n_out_of_place: int | None = None  # outliers in the set
    answer: Answer | None = field(default=None, repr=False)  # of CVC

    @property
    def is_right(self) -> bool:
        """Whether the label is the true class."""
        return bool(self.label == self.truth)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, without ``answer``."""
        names = ["index", "fold", "truth", "label", "is_right", "probability", "margin"]
        names += ["runner_up", "is_known", "n_out_of_place"]
        return {"set": self.name, **{name: json_label(getattr(self, name)) for name in names}}


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """Labelled sets, each judged by a gallery without it. Print it, or read its attributes.

    Examples
    --------
    >>> from setwise import cross_validate
    >>> from setwise.baselines import MeanCosine
    >>> from setwise.evaluation.testing import separable_sets
    >>> cross_validate(MeanCosine(), *separable_sets(), folds=3)
    Evaluation: 9 of 9 sets right: 100.0 % (95 % interval 66.4 to 100.0)
    """

    classes: npt.NDArray[Any]
    results: tuple[JudgedSet, ...]  # in the order of the sets that were judged
    fold_of_set: IntArray  # -1 for sets that were not judged
    n_folds: int
    notes: tuple[str, ...] = ()  # limits of the result
    fitted: tuple[Any, ...] = ()  # a classifier of each fold, with ``keep_fitted``

    @lazy
    def is_right(self) -> BoolArray:
        """Which of the results are right."""
        return np.array([result.is_right for result in self.results], dtype=np.bool_)

    @property
    def accuracy(self) -> float:
        """Share of the judged sets that are right."""
        return float(self.is_right.mean())

    @property
    def interval(self) -> tuple[float, float]:
        """Exact binomial interval of the accuracy, at 95 %."""
        return accuracy_interval(self.is_right, CONFIDENCE)

    @property
    def per_class(self) -> dict[Any, tuple[int, int]]:
        """Number of right sets and of judged sets of each class."""
        n_right, n_all = self.confusion.diagonal(), self.confusion.sum(axis=1)
        counts = zip(n_right.tolist(), n_all.tolist(), strict=True)
        return dict(zip(self.classes.tolist(), counts, strict=True))

    @property
    def wrong(self) -> tuple[JudgedSet, ...]:
        """The sets with a wrong label."""
        return tuple(result for result in self.results if not result.is_right)

    @property
    def answers(self) -> tuple[Answer | None, ...]:
        """CVC's answer for each given set; None for sets that were not judged."""
        by_index = {result.index: result.answer for result in self.results}
        return tuple(by_index.get(i) for i in range(len(self.fold_of_set)))

    @lazy
    def columns(self) -> tuple[Any, ...]:
        """Columns of :attr:`confusion`: the classes, then the unknown label."""
        known = self.classes.tolist()
        unknown = {_plain(r.label): None for r in self.results if r.is_known is False}
        return (*known, *unknown)

    @lazy
    def confusion(self) -> IntArray:
        """Number of sets of each class (row) with each predicted label (column)."""
        place = {label: i for i, label in enumerate(self.columns)}
        counts = np.zeros((len(self.classes), len(place)), dtype=np.int64)
        for result in self.results:
            counts[place[_plain(result.truth)], place[_plain(result.label)]] += 1
        return counts

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and strings; one row per judged set in ``["sets"]``."""
        low, high = self.interval
        columns = [json_label(label) for label in self.columns]
        n_classes = len(self.classes)
        return {
            "n_sets": len(self.fold_of_set),
            "n_judged": len(self.results),
            "n_right": int(self.is_right.sum()),
            "n_folds": self.n_folds,
            "accuracy": self.accuracy,
            "confidence": CONFIDENCE,
            "low": low,
            "high": high,
            "per_class": [
                {"class": json_label(label), "n_right": n_right, "n_judged": n_judged}
                for label, (n_right, n_judged) in self.per_class.items()
            ],
            "confusion": {
                "rows": columns[:n_classes],
                "columns": columns,
                "counts": self.confusion.tolist(),
            },
            "sets": [result.to_dict() for result in self.results],
            "wrong": [result.name for result in self.wrong],
            "notes": list(self.notes),
        }

    def summary(self) -> str:
        """One line: number of right sets, accuracy and its interval."""
        low, high = (100 * bound for bound in self.interval)
        return (
            f"{int(self.is_right.sum())} of {len(self.results)} sets right: "
            f"{100 * self.accuracy:.1f} % ({100 * CONFIDENCE:g} % interval {low:.1f} to "
            f"{high:.1f})"
        )

    def __repr__(self) -> str:
        return f"Evaluation: {self.summary()}"

    def __str__(self) -> str:
        blocks = [self.summary(), aligned(self._class_rows())]
        if self.wrong:
            blocks.append(f"Wrong:\n{aligned(self._wrong_rows())}")
        return "\n\n".join([*blocks, *(f"Note: {printable(note)}" for note in self.notes)])

    def _class_rows(self) -> list[tuple[str, ...]]:
        """A row per class: number of right sets, and labels of the others."""
        rows: list[tuple[str, ...]] = [("class", "right", "of", "taken for")]
        for label, counts in zip(self.classes.tolist(), self.confusion, strict=True):
            n_right, n_judged = self.per_class[label]
            found = zip(self.columns, counts.tolist(), strict=True)
            others = [f"{name} {n}" for name, n in found if n and name != label]
            rows.append((str(label), str(n_right), str(n_judged), ", ".join(others)))
        return rows

    def _wrong_rows(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = [("set", "is", "taken for", "probability")]
        for result in self.wrong:
            is_told = result.probability is not None and result.is_known is not False
            sure = f"{result.probability:.2f}" if is_told else ""
            rows.append((result.name, str(result.truth), str(result.label), sure))
        return rows


def _plain(label: Any) -> Any:
    """A label as a Python object."""
    return label.item() if isinstance(label, np.generic) else label
