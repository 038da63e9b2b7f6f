"""Many voices, one answer: how the members of an ensemble are fused.

Each voice gives an overlap with, and a distance to, every *row* (a class, or a gallery set of
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

__all__ = ["Ballot", "Fused", "Fusion", "fuse", "is_decided", "standardised", "votes"]

# Directions that have nothing in common still have cosines of this order.
_ROUNDING = 1e-9
# What the summed distances add to the votes: enough to break a tie, never to make one.
_TIE_BREAK = 1e-6


@dataclass(frozen=True)
class Ballot:
    """What the voices say of one probe.

    Attributes
    ----------
    distances : array of shape (n_voices, n_rows)
        Finite: a row that shares no cluster with the probe gets the stand-in described in
        :func:`setwise.classify.member.finite`.
    overlaps : array of shape (n_voices, n_rows)
        Between 0 and 1; a voice whose overlaps are all zero knows nothing.
    weights : array of shape (n_voices,)
        How much each voice counts.
    dims : array of int, shape (n_voices,)
        Number of columns that a set has for each voice; the largest stands for "no fusion".
    row_classes : array of int, shape (n_rows,)
        Class code of each row.
    n_classes : int
        Number of classes.
    steepness : array of shape (n_voices,)
        How sure each voice is of a class that stands out by one standard deviation.
    """

    distances: FloatArray
    overlaps: FloatArray
    weights: FloatArray
    dims: IntArray
    row_classes: IntArray
    n_classes: int
    steepness: FloatArray

    @property
    def is_informed(self) -> BoolArray:
        """Which voices have anything in common with any row at all."""
        return self.overlaps.max(axis=1) > _ROUNDING

    @property
    def is_counted(self) -> BoolArray:
        """Which voices know something and have a weight."""
        return self.is_informed & (self.weights > 0)

    def of_voices(self, chosen: BoolArray) -> Ballot:
        """The ballot of some of the voices."""
        return replace(
            self,
            distances=self.distances[chosen],
            overlaps=self.overlaps[chosen],
            weights=self.weights[chosen],
            dims=self.dims[chosen],
            steepness=self.steepness[chosen],
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
        Whether any voice knew anything. Where none did, every class is equally probable and
        ``code`` means nothing.
    """

    code: int
    scores: FloatArray
    probabilities: FloatArray
    is_informed: bool


def votes(ballot: Ballot) -> FloatArray:
    """Weighted votes of each voice for each class, shape (n_voices, n_classes).

    A voice votes for the class of its nearest row. Classes exactly as near share its vote:
    giving it to the first in alphabetical order would favour that class everywhere. A voice
    that knows nothing abstains.
    """
    nearness = ballot.by_class(-ballot.distances)
    is_nearest = nearness == nearness.max(axis=1, keepdims=True)
    share = is_nearest / is_nearest.sum(axis=1, keepdims=True)
    return share * (ballot.weights * ballot.is_informed)[:, None]


def is_decided(totals: FloatArray, remaining: float) -> bool:
    """Whether votes worth ``remaining`` can no longer change or tie the majority."""
    if len(totals) < 2:
        return True
    second, first = np.partition(totals, -2)[-2:]
    # A hair more than zero, so that the rounding of sums never decides.
    return bool(first - second > remaining + 1e-9)


class Fusion(Part, ABC):
    """How the voices become one score per class, and one probability.

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
    #: Whether members may stay unasked once the rest cannot change the label.
    can_stop_early: ClassVar[bool] = False

    @abstractmethod
    def scores(self, ballot: Ballot) -> tuple[FloatArray, FloatArray]:
        """Scores, largest for the answer, and probabilities, of each class."""

    def is_needed(self, dims: IntArray) -> BoolArray:
        """Which voices have to be asked, by their dimensionalities."""
        return np.ones(len(dims), dtype=bool)


@dataclass(frozen=True)
class Mode(Fusion):
    """Majority of the voices' labels; ties by the smaller summed distance, then order."""

    name: ClassVar[str] = "mode"
    can_stop_early: ClassVar[bool] = True

    def scores(self, ballot: Ballot) -> tuple[FloatArray, FloatArray]:
        """Votes, each voice's shared by the classes nearest to the probe."""
        total = votes(ballot).sum(axis=0).round(9)
        scores = total + _TIE_BREAK * Sum().scores(ballot)[1]
        return scores, scores / scores.sum()


@dataclass(frozen=True)
class Sum(Fusion):
    """Sum of distances (the paper's sum rule): the class of the row with the smallest."""

    name: ClassVar[str] = "sum"

    def scores(self, ballot: Ballot) -> tuple[FloatArray, FloatArray]:
        """Minus the sums, and their softmax."""
        summed = ballot.by_class(-_weighted_sum(ballot, ballot.distances))
        return summed, softmax(summed / ballot.weights.sum())


@dataclass(frozen=True)
class Coefficient(Fusion):
    """Sum of overlaps, each voice's scaled to sum to one (bounded)."""

    name: ClassVar[str] = "coefficient"

    def scores(self, ballot: Ballot) -> tuple[FloatArray, FloatArray]:
        """The sums, and their shares."""
        total = ballot.overlaps.sum(axis=1, keepdims=True)
        shares = ballot.overlaps / np.where(total > 0, total, 1.0)
        scores = ballot.by_class(_weighted_sum(ballot, shares))
        return scores, scores / scores.sum()


@dataclass(frozen=True)
class Largest(Fusion):
    """No fusion: the informed voice of largest dimensionality alone."""

    name: ClassVar[str] = "none"

    def scores(self, ballot: Ballot) -> tuple[FloatArray, FloatArray]:
        """Minus its distances, and their softmax; the heaviest of several, then the last."""
        counted = ballot.is_counted
        largest = ballot.dims[counted].max()
        weight = np.where(counted & (ballot.dims == largest), ballot.weights, -1.0)
        alone = len(weight) - 1 - int(weight[::-1].argmax())
        scores = ballot.by_class(-ballot.distances[alone])
        return scores, softmax(scores)

    def is_needed(self, dims: IntArray) -> BoolArray:
        """The voices of the largest dimensionality."""
        return dims == dims.max(initial=0)


@dataclass(frozen=True)
class Pool(Fusion):
    """Weighted mean of what each voice thinks probable (a linear opinion pool).

    A voice's overlaps are taken in standard deviations over the classes, so that kinds of
    evidence of any scale can be compared; their softmax, as steep as left-out gallery sets
    have shown to come true, are its probabilities. A voice that singles out one class says
    more than one to which many are alike, but none can say more than "certainly": a few good
    ones outweigh many noisy ones, and one that errs wildly is outvoted.
    """

    name: ClassVar[str] = "pool"

    def scores(self, ballot: Ballot) -> tuple[FloatArray, FloatArray]:
        """The means, which are probabilities."""
        overlaps = standardised(ballot.by_class(ballot.overlaps))
        thought = softmax(ballot.steepness[:, None] * overlaps, axis=1)
        pooled = _weighted_sum(ballot, thought) / (ballot.weights @ ballot.is_informed)
        return pooled, pooled / pooled.sum()


def standardised(values: FloatArray) -> FloatArray:
    """Mean 0 and deviation 1 along the last axis; 0 where all are equal."""
    centred = values - values.mean(axis=-1, keepdims=True)
    deviation = centred.std(axis=-1, keepdims=True)
    is_flat = deviation <= 1e-9
    return np.where(is_flat, 0.0, centred / np.where(is_flat, 1.0, deviation))


def _weighted_sum(ballot: Ballot, values: FloatArray) -> FloatArray:
    """Sum over the voices that know something, by their weights."""
    return (ballot.weights * ballot.is_informed) @ values


def fuse(ballot: Ballot, fusion: Fusion) -> Fused:
    """Fuse the voices into one answer; an uninformed one if nobody knows."""
    if not ballot.is_counted.any():
        even = np.full(ballot.n_classes, 1.0 / ballot.n_classes)
        return Fused(0, np.zeros(ballot.n_classes), even, is_informed=False)
    scores, probabilities = fusion.scores(ballot)
    return Fused(int(scores.argmax()), scores, probabilities, is_informed=True)
