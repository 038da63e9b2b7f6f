"""What a cross-validation found: how many sets are right, which are not, and for whom."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.lazy import lazy
from setwise._support.text import printable
from setwise._support.types import BoolArray, IntArray
from setwise.classify import Answer
from setwise.evaluation.statistics import accuracy_interval

__all__ = ["Evaluation", "JudgedSet"]

CONFIDENCE = 0.95


@dataclass(frozen=True, kw_only=True, eq=False)
class JudgedSet:
    """What a classifier that had not seen a set said of it.

    Attributes
    ----------
    index : int
        Its place among the sets that were given.
    name : str
        What it is called.
    truth, label : object
        Its class, and what it was taken for: a class, or the classifier's ``unknown_label``.
    fold : int
        With which others it was judged.
    probability, margin : float or None
        Of the likeliest class, and by how much it exceeds the next; None where the classifier
        gives no probabilities.
    runner_up : object or None
        The next probable class.
    is_known : bool or None
        Whether it is near enough to any class; None where the classifier was not asked.
    n_out_of_place : int or None
        Vectors that do not belong to the set; None where the classifier does not tell.
    answer : Answer or None
        Everything CVC said; None of other classifiers.

    Examples
    --------
    >>> from setwise import cross_validate
    >>> from setwise.baselines import MeanCosine
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets()
    >>> judged = cross_validate(MeanCosine(), sets, labels, folds=3).results[0]
    >>> judged.name, int(judged.truth), int(judged.label)
    ('set 0', 0, 0)
    """

    index: int
    name: str
    truth: Any
    label: Any
    fold: int
    probability: float | None = None
    margin: float | None = None
    runner_up: Any = None
    is_known: bool | None = None
    n_out_of_place: int | None = None
    answer: Answer | None = field(default=None, repr=False)

    @property
    def is_right(self) -> bool:
        """Whether it was taken for what it is."""
        return bool(self.label == self.truth)

    def to_dict(self) -> dict[str, Any]:
        """As plain values; without ``answer``."""
        return {
            "set": self.name,
            "index": self.index,
            "fold": self.fold,
            "truth": _as_json(self.truth),
            "label": _as_json(self.label),
            "is_right": self.is_right,
            "probability": self.probability,
            "margin": self.margin,
            "runner_up": _as_json(self.runner_up),
            "is_known": self.is_known,
            "n_out_of_place": self.n_out_of_place,
        }


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """Labelled sets, each judged by a gallery without it. Print it, or look into it.

    Attributes
    ----------
    classes : array of shape (n_classes,)
        The labels, sorted.
    results : tuple of JudgedSet
        In the order of the sets; those of classes with a single set are not among them.
    fold_of_set : array of int, shape (n_sets,)
        In which fold each set was judged; -1 for those that were not.
    n_folds : int
        How many there are.
    notes : tuple of str
        What weakens the result: classes not judged, equal vectors, warnings of the classifier.
    fitted : tuple of classifiers
        That of each fold, where they were to be kept.

    Examples
    --------
    >>> from setwise import cross_validate
    >>> from setwise.baselines import MeanCosine
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets()
    >>> evaluation = cross_validate(MeanCosine(), sets, labels, folds=3)
    >>> print(evaluation)
    9 of 9 sets right: 100.0 % (95 % interval 66.4 to 100.0)
    <BLANKLINE>
    class  right  of  taken for
    0      3      3
    1      3      3
    2      3      3
    """

    classes: npt.NDArray[Any]
    results: tuple[JudgedSet, ...]
    fold_of_set: IntArray
    n_folds: int
    notes: tuple[str, ...] = ()
    fitted: tuple[Any, ...] = ()

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
        """How many sets of each class are right, and of how many."""
        n_right, n_all = self.confusion.diagonal(), self.confusion.sum(axis=1)
        counts = zip(n_right.tolist(), n_all.tolist(), strict=True)
        return dict(zip(self.classes.tolist(), counts, strict=True))

    @property
    def wrong(self) -> tuple[JudgedSet, ...]:
        """The sets taken for something else."""
        return tuple(result for result in self.results if not result.is_right)

    @property
    def answers(self) -> tuple[Answer | None, ...]:
        """What CVC said of each of the sets given; None of those that were not judged."""
        by_index = {result.index: result.answer for result in self.results}
        return tuple(by_index.get(i) for i in range(len(self.fold_of_set)))

    @lazy
    def columns(self) -> tuple[Any, ...]:
        """What sets were taken for, as :attr:`confusion` has it: classes, then "unknown"."""
        known = self.classes.tolist()
        strangers = {_plain(r.label): None for r in self.results if r.is_known is False}
        return (*known, *strangers)

    @lazy
    def confusion(self) -> IntArray:
        """How many sets of each class (row) were taken for which (column)."""
        place = {label: i for i, label in enumerate(self.columns)}
        counts = np.zeros((len(self.classes), len(place)), dtype=np.int64)
        for result in self.results:
            counts[place[_plain(result.truth)], place[_plain(result.label)]] += 1
        return counts

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers and strings; one row per judged set in ``["sets"]``."""
        low, high = self.interval
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
                {"class": _as_json(label), "n_right": n_right, "n_judged": n_judged}
                for label, (n_right, n_judged) in self.per_class.items()
            ],
            "confusion": {
                "rows": [_as_json(label) for label in self.classes],
                "columns": [_as_json(label) for label in self.columns],
                "counts": self.confusion.tolist(),
            },
            "sets": [result.to_dict() for result in self.results],
            "wrong": [result.name for result in self.wrong],
            "notes": list(self.notes),
        }

    def summary(self) -> str:
        """One line: how many sets are right, and how sure that is."""
        low, high = (100 * bound for bound in self.interval)
        return (
            f"{int(self.is_right.sum())} of {len(self.results)} sets right: "
            f"{100 * self.accuracy:.1f} % ({100 * CONFIDENCE:g} % interval {low:.1f} to "
            f"{high:.1f})"
        )

    def __repr__(self) -> str:
        return f"Evaluation: {self.summary()}"

    def __str__(self) -> str:
        blocks = [self.summary(), _aligned(self._class_rows())]
        if self.wrong:
            blocks.append(f"Wrong:\n{_aligned(self._wrong_rows())}")
        return "\n\n".join([*blocks, *(f"Note: {printable(note)}" for note in self.notes)])

    def _class_rows(self) -> list[tuple[str, ...]]:
        """A row per class: how many are right, and what the others were taken for."""
        rows: list[tuple[str, ...]] = [("class", "right", "of", "taken for")]
        for label, counts in zip(self.classes.tolist(), self.confusion, strict=True):
            n_right, n_judged = self.per_class[label]
            others = [
                f"{column} {count}"
                for column, count in zip(self.columns, counts.tolist(), strict=True)
                if count and column != label
            ]
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
    """A label as Python has it."""
    return label.item() if isinstance(label, np.generic) else label


def _as_json(label: Any) -> Any:
    """A label as JSON has it: what is neither text nor a number, such as a date, as text."""
    plain = _plain(label)
    return plain if plain is None or isinstance(plain, str | int | float) else str(plain)


def _aligned(rows: list[tuple[str, ...]]) -> str:
    """Rows as lines of columns."""
    shown = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in shown
    )
