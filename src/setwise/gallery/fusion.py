"""Fusion of the members' scores into one score and one probability per class."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.special import softmax

from setwise._support.parts import Part
from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.sets.classifier import largest_by_class

# Directions that have nothing in common still have cosines of this order.
_ROUNDING = 1e-9
# Factor of the summed distances beside votes: enough to break a tie, never to make one.
_TIE_BREAK = 1e-6


@dataclass(frozen=True)
class ScoreMatrix:
    """Scores of all members (rows) for all targets (columns), for one probe."""

    distances: FloatArray  # finite
    overlaps: FloatArray  # between 0 and 1; a member whose overlaps are all 0 abstains
    weights: FloatArray
    dims: IntArray  # columns of a set in the layer of each member
    target_classes: IntArray
    n_classes: int
    inverse_temperatures: FloatArray

    @property
    def is_informed(self) -> BoolArray:
        """Which members have anything in common with any target."""
        return self.overlaps.max(axis=1) > _ROUNDING

    @property
    def is_counted(self) -> BoolArray:
        """Which members are informed and have a weight."""
        return self.is_informed & (self.weights > 0)

    def of_members(self, chosen: BoolArray) -> ScoreMatrix:
        """The rows of some members."""
        rows = ("distances", "overlaps", "weights", "dims", "inverse_temperatures")
        return replace(self, **{name: getattr(self, name)[chosen] for name in rows})

    def by_class(self, values: FloatArray) -> FloatArray:
        """Largest value among the targets of each class, along the last axis."""
        return largest_by_class(values, self.target_classes, self.n_classes)


@dataclass(frozen=True)
class Fused:
    """Answer of an ensemble; ``code`` means nothing where no member is informed."""

    code: int
    scores: FloatArray  # of each class, largest for the answer
    probabilities: FloatArray
    is_informed: bool


def votes(score_matrix: ScoreMatrix) -> FloatArray:
    """Weighted votes of each member for each class, shape (n_members, n_classes).

    A member votes for the class of its nearest target. Classes exactly as near share its vote:
    giving it to the first in alphabetical order would favour that class everywhere.
    """
    nearness = score_matrix.by_class(-score_matrix.distances)
    is_nearest = nearness == nearness.max(axis=1, keepdims=True)
    share = is_nearest / is_nearest.sum(axis=1, keepdims=True)
    return share * (score_matrix.weights * score_matrix.is_informed)[:, None]


def is_decided(totals: FloatArray, remaining: float) -> bool:
    """Whether votes worth ``remaining`` can no longer change or tie the majority."""
    if len(totals) < 2:
        return True
    second, first = np.partition(totals, -2)[-2:]
    # A hair more than zero, so that the rounding of sums never decides.
    return bool(first - second > remaining + 1e-9)


class Fusion(Part, ABC):
    """How members become one score and one probability per class.

    Examples
    --------
    >>> from setwise.gallery import Fusion
    >>> Fusion.of("mode", "CVC")
    Mode()
    """

    family: ClassVar[str] = "fusion"
    #: Whether layers may be skipped once the rest cannot change the label.
    can_stop_early: ClassVar[bool] = False
    #: Power of the probabilities without trials, and about which trials fit it; None: any.
    usual_power: ClassVar[float | None] = None

    @abstractmethod
    def scores(self, score_matrix: ScoreMatrix) -> tuple[FloatArray, FloatArray]:
        """Scores, largest for the answer, and probabilities, of each class."""

    def is_needed(self, dims: IntArray) -> BoolArray:
        """Which members are used, by their dimensionalities."""
        return np.ones(len(dims), dtype=bool)


@dataclass(frozen=True)
class Mode(Fusion):
    """Majority of the members' labels; ties by the smaller summed distance, then order."""

    name: ClassVar[str] = "mode"
    can_stop_early: ClassVar[bool] = True

    def scores(self, score_matrix: ScoreMatrix) -> tuple[FloatArray, FloatArray]:
        """Votes, and their shares."""
        total = votes(score_matrix).sum(axis=0).round(9)
        scores = total + _TIE_BREAK * Sum().scores(score_matrix)[1]
        return scores, scores / scores.sum()


@dataclass(frozen=True)
class Sum(Fusion):
    """Sum of distances (the paper's sum rule): the class of the target with the smallest."""

    name: ClassVar[str] = "sum"

    def scores(self, score_matrix: ScoreMatrix) -> tuple[FloatArray, FloatArray]:
        """Minus the sums, and their softmax."""
        summed = score_matrix.by_class(-_weighted_sum(score_matrix, score_matrix.distances))
        return summed, softmax(summed / score_matrix.weights.sum())


@dataclass(frozen=True)
class Coefficient(Fusion):
    """Sum of overlaps, each member's scaled to sum to one (bounded)."""

    name: ClassVar[str] = "coefficient"

    def scores(self, score_matrix: ScoreMatrix) -> tuple[FloatArray, FloatArray]:
        """The sums, and their shares."""
        total = score_matrix.overlaps.sum(axis=1, keepdims=True)
        shares = score_matrix.overlaps / np.where(total > 0, total, 1.0)
        scores = score_matrix.by_class(_weighted_sum(score_matrix, shares))
        return scores, scores / scores.sum()


@dataclass(frozen=True)
class Largest(Fusion):
    """No fusion: the informed member of largest dimensionality alone."""

    name: ClassVar[str] = "none"

    def scores(self, score_matrix: ScoreMatrix) -> tuple[FloatArray, FloatArray]:
        """Minus its distances, and their softmax; the heaviest of several, then the last."""
        counted = score_matrix.is_counted
        largest = score_matrix.dims[counted].max()
        weight = np.where(counted & (score_matrix.dims == largest), score_matrix.weights, -1.0)
        alone = len(weight) - 1 - int(weight[::-1].argmax())
        scores = score_matrix.by_class(-score_matrix.distances[alone])
        return scores, softmax(scores)

    def is_needed(self, dims: IntArray) -> BoolArray:
        """The members of the largest dimensionality."""
        return dims == dims.max(initial=0)


@dataclass(frozen=True)
class Pool(Fusion):
    """Weighted mean of the members' probabilities (a linear opinion pool).

    A member's overlaps are standardised over the classes, so that kinds of evidence of any
    scale can be compared. Its probabilities are a softmax whose temperature is fitted on
    left-out gallery sets. No member counts for more than certainty: several good members
    outweigh many noisy ones.
    """

    name: ClassVar[str] = "pool"
    # Means of calibrated probabilities are too modest. On seven datasets the best powers are
    # between 1.2 and 20.
    usual_power: ClassVar[float | None] = 1.4

    def scores(self, score_matrix: ScoreMatrix) -> tuple[FloatArray, FloatArray]:
        """The means, which are probabilities."""
        overlaps = standardised(score_matrix.by_class(score_matrix.overlaps))
        by_member = softmax(score_matrix.inverse_temperatures[:, None] * overlaps, axis=1)
        total = score_matrix.weights @ score_matrix.is_informed
        pooled = _weighted_sum(score_matrix, by_member) / total
        return pooled, pooled / pooled.sum()


def standardised(values: FloatArray) -> FloatArray:
    """Values of mean 0 and deviation 1 along the last axis; 0 where all are equal."""
    centred = values - values.mean(axis=-1, keepdims=True)
    deviation = centred.std(axis=-1, keepdims=True)
    is_flat = deviation <= 1e-9
    return np.where(is_flat, 0.0, centred / np.where(is_flat, 1.0, deviation))


def _weighted_sum(score_matrix: ScoreMatrix, values: FloatArray) -> FloatArray:
    """Sum over the informed members, by their weights."""
    return (score_matrix.weights * score_matrix.is_informed) @ values


def fuse(score_matrix: ScoreMatrix, fusion: Fusion) -> Fused:
    """One answer of all members; uninformed, with even probabilities, where none is.

    Examples
    --------
    >>> from setwise import CVC
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets()
    >>> (answer,) = CVC().fit(sets, labels).judge(sets[:1])
    >>> fuse(answer.score_matrix, Fusion.of("sum", "fuse")).code
    0
    """
    if not score_matrix.is_counted.any():
        even = np.full(score_matrix.n_classes, 1.0 / score_matrix.n_classes)
        return Fused(0, np.zeros(score_matrix.n_classes), even, is_informed=False)
    scores, probabilities = fusion.scores(score_matrix)
    return Fused(int(scores.argmax()), scores, probabilities, is_informed=True)
