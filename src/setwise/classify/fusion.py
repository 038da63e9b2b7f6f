"""Many members, one answer: how the layers of an ensemble are fused.

Each member gives an overlap with, and a distance to, every *row* (a class, or a gallery set of
a class). Fusion turns them into one score per class, largest best, and one probability.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.special import softmax

from setwise._support.parts import Part
from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.sets.classifier import largest_by_class

__all__ = ["Fused", "Fusion", "ScoreMatrix", "fuse", "is_decided", "standardised", "votes"]

# Directions that have nothing in common still have cosines of this order.
_ROUNDING = 1e-9
# What the summed distances add to the votes: enough to break a tie, never to make one.
_TIE_BREAK = 1e-6


@dataclass(frozen=True)
class ScoreMatrix:
    """What the members say of one probe.

    Attributes
    ----------
    distances : array of shape (n_members, n_rows)
        Finite: a row that shares no cluster with the probe gets the stand-in described in
        :func:`setwise.classify.layer.finite`.
    overlaps : array of shape (n_members, n_rows)
        Between 0 and 1; a member whose overlaps are all zero knows nothing.
    weights : array of shape (n_members,)
        How much each member counts.
    dims : array of int, shape (n_members,)
        Number of columns that a set has for each member; the largest stands for "no fusion".
    row_classes : array of int, shape (n_rows,)
        Class code of each row.
    n_classes : int
        Number of classes.
    inverse_temperatures : array of shape (n_members,)
        How sure each member is of a class that stands out by one standard deviation.
    """

    distances: FloatArray
    overlaps: FloatArray
    weights: FloatArray
    dims: IntArray
    row_classes: IntArray
    n_classes: int
    inverse_temperatures: FloatArray

    @property
    def is_informed(self) -> BoolArray:
        """Which members have anything in common with any row at all."""
        return self.overlaps.max(axis=1) > _ROUNDING

    @property
    def is_counted(self) -> BoolArray:
        """Which members know something and have a weight."""
        return self.is_informed & (self.weights > 0)

    def of_members(self, chosen: BoolArray) -> ScoreMatrix:
        """The score_matrix of some of the members."""
        return replace(
            self,
            distances=self.distances[chosen],
            overlaps=self.overlaps[chosen],
            weights=self.weights[chosen],
            dims=self.dims[chosen],
            inverse_temperatures=self.inverse_temperatures[chosen],
        )

    def by_class(self, row_values: FloatArray) -> FloatArray:
        """Best (largest) value among the rows of each class, along the last axis."""
        return largest_by_class(row_values, self.row_classes, self.n_classes)


@dataclass(frozen=True)
class Fused:
    """The answer of an ensemble.

    Attributes
    ----------
    code : int
        Class code of the answer.
    scores : array of shape (n_classes,)
        Largest for the answer.
    probabilities : array of shape (n_classes,)
        Finite, non-negative, sum to one; largest for the answer.
    is_informed : bool
        Whether any member knew anything. Where none did, every class is equally probable and
        ``code`` means nothing.
    """

    code: int
    scores: FloatArray
    probabilities: FloatArray
    is_informed: bool


def votes(score_matrix: ScoreMatrix) -> FloatArray:
    """Weighted votes of each member for each class, shape (n_members, n_classes).

    A member votes for the class of its nearest row. Classes exactly as near share its vote:
    giving it to the first in alphabetical order would favour that class everywhere. A member
    that knows nothing abstains.
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
    """How the members become one score per class, and one probability.

    Examples
    --------
    >>> from setwise import CVC
    >>> from setwise.classify import Fusion
    >>> Fusion.of("mode", "CVC")
    Mode()
    >>> CVC(fusion="sum").get_params()["fusion"]
    'sum'
    """

    family: ClassVar[str] = "fusion"
    #: Whether layers may stay unasked once the rest cannot change the label.
    can_stop_early: ClassVar[bool] = False

    @abstractmethod
    def scores(self, score_matrix: ScoreMatrix) -> tuple[FloatArray, FloatArray]:
        """Scores, largest for the answer, and probabilities, of each class."""

    def is_needed(self, dims: IntArray) -> BoolArray:
        """Which members have to be asked, by their dimensionalities."""
        return np.ones(len(dims), dtype=bool)


@dataclass(frozen=True)
class Mode(Fusion):
    """Majority of the members' labels; ties by the smaller summed distance, then order."""

    name: ClassVar[str] = "mode"
    can_stop_early: ClassVar[bool] = True

    def scores(self, score_matrix: ScoreMatrix) -> tuple[FloatArray, FloatArray]:
        """Votes, each member's shared by the classes nearest to the probe."""
        total = votes(score_matrix).sum(axis=0).round(9)
        scores = total + _TIE_BREAK * Sum().scores(score_matrix)[1]
        return scores, scores / scores.sum()


@dataclass(frozen=True)
class Sum(Fusion):
    """Sum of distances (the paper's sum rule): the class of the row with the smallest."""

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
    """Weighted mean of what each member thinks probable (a linear opinion pool).

    A member's overlaps are taken in standard deviations over the classes, so that kinds of
    evidence of any scale can be compared; their softmax, as steep as left-out gallery sets
    have shown to come true, are its probabilities. A member that singles out one class says
    more than one to which many are alike, but none can say more than "certainly": a few good
    ones outweigh many noisy ones, and one that errs wildly is outvoted.
    """

    name: ClassVar[str] = "pool"

    def scores(self, score_matrix: ScoreMatrix) -> tuple[FloatArray, FloatArray]:
        """The means, which are probabilities."""
        overlaps = standardised(score_matrix.by_class(score_matrix.overlaps))
        thought = softmax(score_matrix.inverse_temperatures[:, None] * overlaps, axis=1)
        pooled = _weighted_sum(score_matrix, thought) / (
            score_matrix.weights @ score_matrix.is_informed
        )
        return pooled, pooled / pooled.sum()


def standardised(values: FloatArray) -> FloatArray:
    """Mean 0 and deviation 1 along the last axis; 0 where all are equal."""
    centred = values - values.mean(axis=-1, keepdims=True)
    deviation = centred.std(axis=-1, keepdims=True)
    is_flat = deviation <= 1e-9
    return np.where(is_flat, 0.0, centred / np.where(is_flat, 1.0, deviation))


def _weighted_sum(score_matrix: ScoreMatrix, values: FloatArray) -> FloatArray:
    """Sum over the members that know something, by their weights."""
    return (score_matrix.weights * score_matrix.is_informed) @ values


def fuse(score_matrix: ScoreMatrix, fusion: Fusion) -> Fused:
    """Fuse the scores of the members into one answer.

    Examples
    --------
    >>> from setwise import CVC
    >>> from setwise.classify import Fusion, fuse
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets()
    >>> (answer,) = CVC(random_state=0).fit(sets, labels).judge(sets[:1])
    >>> fuse(answer.score_matrix, Fusion.of("sum", "mine")).is_informed
    True
    """
    if not score_matrix.is_counted.any():
        even = np.full(score_matrix.n_classes, 1.0 / score_matrix.n_classes)
        return Fused(0, np.zeros(score_matrix.n_classes), even, is_informed=False)
    scores, probabilities = fusion.scores(score_matrix)
    return Fused(int(scores.argmax()), scores, probabilities, is_informed=True)
