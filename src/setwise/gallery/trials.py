"""Trials of the ensemble on the gallery's own sets, and what weights follow from them.

Gallery sets are left out in turn and classified by the others. A gallery with a single set of
some class has none to leave out: its sets are cut into halves along the direction in which they
vary most, so that the halves differ as sets of a class do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import log_softmax

from setwise._support.types import FloatArray, IntArray
from setwise.basis import centred_svd_bases
from setwise.features import unit_rows
from setwise.gallery.bases import tried_sets
from setwise.gallery.candidates import Candidates
from setwise.gallery.description import Ensemble, Member
from setwise.gallery.fusion import Fusion, ScoreMatrix, fuse, standardised
from setwise.gallery.gallery import Calibration

# Of the test whether a member does worse on halves than the best. Halves differ otherwise than
# sets do, and there are many members: only those beyond doubt are dropped.
LEVEL = 0.01
# Inverse temperature of a member without trials, and the largest.
INVERSE_TEMPERATURE, LARGEST_INVERSE_TEMPERATURE = 2.0, 6.0
# Weight of all members that compare single vectors to that of all others, if equally good.
VECTORS_TO_OTHERS = 0.5
# Vectors of a set whose halves say anything.
FEWEST_TO_HALVE = 6
# Sets that are judged by views that never saw them: dearer than trials inside one graph, and
# enough to tell knowing from guessing.
MOST_JUDGED = 24


@dataclass(frozen=True)
class Trials:
    """Scores of all members for gallery sets that were judged by the others."""

    score_matrices: list[ScoreMatrix]
    codes: IntArray  # class of each set, among its candidates
    missed: IntArray  # gallery classes of further sets, which were not among their candidates

    @classmethod
    def of(
        cls,
        candidates: Candidates,
        distances: FloatArray,
        overlaps: FloatArray,
        codes: IntArray,
    ) -> Trials:
        """Trials on all classes, of tables of shape (n_sets, n_members, n_targets)."""
        dims = candidates.gallery.ensemble.dims
        even = np.ones(len(dims))
        targets, n_classes = candidates.target_classes, candidates.n_classes
        score_matrices = [
            ScoreMatrix(d, o, even, dims, targets, n_classes, INVERSE_TEMPERATURE * even)
            for d, o in zip(distances, overlaps, strict=True)
        ]
        return cls(score_matrices, codes, np.zeros(0, dtype=np.int64))

    @property
    def n_classes(self) -> int:
        """Number of candidate classes."""
        return self.score_matrices[0].n_classes

    def is_right(self) -> FloatArray:
        """How far each member recognised each set; ties are shared, missed sets are wrong."""
        n_members, n_missed = len(self.score_matrices[0].weights), len(self.missed)
        table = np.zeros((n_members, len(self.codes) + n_missed))
        for i, (scores, code) in enumerate(zip(self.score_matrices, self.codes, strict=True)):
            by_class = scores.by_class(scores.overlaps)
            top = by_class >= by_class.max(axis=1, keepdims=True) - 1e-12
            table[:, i] = scores.is_informed * top[:, code] / top.sum(axis=1)
        return table

    def inverse_temperatures(self) -> FloatArray:
        """Fitted to each member, see :class:`setwise.gallery.fusion.Pool`."""
        overlaps = [scores.by_class(scores.overlaps) for scores in self.score_matrices]
        by_member = standardised(np.array(overlaps)).swapaxes(0, 1)
        most = LARGEST_INVERSE_TEMPERATURE
        fitted = [fitted_inverse_temperature(one, self.codes, most=most) for one in by_member]
        return np.array(fitted)

    def counted(self, weights: FloatArray, inverse_temperatures: FloatArray) -> Trials:
        """The same trials with other weights and temperatures."""
        made = [
            replace(scores, weights=weights, inverse_temperatures=inverse_temperatures)
            for scores in self.score_matrices
        ]
        return replace(self, score_matrices=made)

    def pool_inverse_temperature(self, fusion: Fusion) -> float:
        """Fitted to the fused probabilities."""
        return fitted_inverse_temperature(self._log_probabilities(fusion), self.codes)

    def surprise(self, fusion: Fusion) -> float:
        """Minus the log likelihood of the true classes, with calibrated probabilities."""
        logs = self._log_probabilities(fusion)
        factor = fitted_inverse_temperature(logs, self.codes)
        right = log_softmax(factor * logs, axis=1)[np.arange(len(logs)), self.codes]
        return float(-right.sum())

    def _log_probabilities(self, fusion: Fusion) -> FloatArray:
        fused = [fuse(scores, fusion).probabilities for scores in self.score_matrices]
        return np.log(np.maximum(fused, np.finfo(np.float64).tiny))

    def fused_codes(self, fusion: Fusion) -> IntArray:
        """Class that all members together give each set; -1 where none is informed."""
        answers = [fuse(scores, fusion) for scores in self.score_matrices]
        return np.array([a.code if a.is_informed else -1 for a in answers])

    def n_fused_right(self, fusion: Fusion) -> int:
        """Number of sets that all members together recognised."""
        return int((self.fused_codes(fusion) == self.codes).sum())


def alternate_sets(codes: IntArray) -> tuple[IntArray, IntArray]:
    """Every second set of each class, and some of the others, evenly chosen."""
    place = np.zeros(len(codes), dtype=np.int64)
    for code in np.unique(codes):
        place[codes == code] = np.arange(int((codes == code).sum()))
    others = np.flatnonzero(place % 2 == 1)
    return np.flatnonzero(place % 2 == 0), others[tried_sets(codes[others], MOST_JUDGED)]


def chosen_features(
    trials: Trials, weights: FloatArray, features: Sequence[Any], fusion: Fusion
) -> FloatArray:
    """Weights without the features that the gallery is better off without.

    The feature without which the true classes of the left-out sets are most probable is
    dropped, as long as they become more probable; one is left at least. Where all features
    together recognise every left-out set, there is nothing to choose by.
    """
    kinds = list(dict.fromkeys(features))
    if len(kinds) < 2 or trials.n_fused_right(fusion) == len(trials.codes):
        return weights
    temperatures = trials.score_matrices[0].inverse_temperatures
    best = trials.counted(weights, temperatures).surprise(fusion)
    while len(kinds) > 1:
        losses = {}
        for kind in kinds:
            left = np.where([feature == kind for feature in features], 0.0, weights)
            if left.any():
                losses[kind] = trials.counted(left, temperatures).surprise(fusion), left
        if not losses:
            break
        kind = min(losses, key=lambda one: losses[one][0])
        if losses[kind][0] >= best:
            break
        best, weights = losses[kind]
        kinds.remove(kind)
    return weights


def even_calibration(
    ensemble: Ensemble, set_sizes: IntArray, cosines: tuple[float, float]
) -> Calibration:
    """The calibration of a gallery without trials."""
    members = ensemble.members
    # A member whose columns mean nothing for sets of these sizes is inactive.
    fewest = np.array([member.layer.representation.basis.fewest for member in members])
    is_enough = fewest <= np.median(set_sizes)
    weights = is_enough.astype(np.float64) if is_enough.any() else np.ones(len(members))
    temperatures = np.full(len(members), INVERSE_TEMPERATURE)
    return Calibration(weights, temperatures, outlier_range=cosines)


def log_odds(is_right: FloatArray, n_classes: int) -> FloatArray:
    """Weights by left-out sets: log odds of being right, against guessing; at least 0.

    The best weights of independent members whose errors are spread evenly over the classes.
    Half a set is added on either side, so that no weight is infinite.
    """
    hits, n = is_right.sum(axis=1), is_right.shape[1]
    odds = np.log((hits + 0.5) / (n - hits + 0.5)) + np.log(max(n_classes - 1, 1))
    return np.maximum(odds, 0.0) if (odds > 0).any() else np.ones(len(odds))


def balanced(weights: FloatArray, members: Sequence[Member]) -> FloatArray:
    """Weights in which members that compare single vectors count more often than once.

    So often that all of them have half the weight of all others, were members equally good.
    They are few and the others alike: without this they would be outvoted where the nearest
    vector is right and what a set spans is not.
    """
    is_single = np.array([not m.layer.representation.basis.has_graph for m in members])
    if not is_single.any() or is_single.all():
        return weights
    times = VECTORS_TO_OTHERS * (~is_single).sum() / is_single.sum()
    return np.where(is_single, times * weights, weights)


def survivors(is_right: FloatArray, *, level: float = LEVEL) -> FloatArray:
    """Weights by halves: 1, or 0 for a member that is clearly worse than the best.

    By an exact one-sided sign test on the trials where exactly one of the two is right. The
    best one is chosen on the same trials, so that a good one is dropped more often than
    ``level`` says.
    """
    from scipy.stats import binomtest

    best = is_right[is_right.mean(axis=1).argmax()]
    weights = np.ones(len(is_right))
    for i, right in enumerate(is_right):
        losses = int((best > right).sum())
        decided = losses + int((right > best).sum())
        if decided and binomtest(losses, decided, alternative="greater").pvalue < level:
            weights[i] = 0.0
    return weights


def halves(vectors: FloatArray) -> tuple[IntArray, IntArray]:
    """Two halves of a set, cut at the median of the direction in which it varies most."""
    units = unit_rows(vectors)
    directions = centred_svd_bases(units, [1])[0]
    order = np.argsort(units @ directions[:, 0], kind="stable")
    return order[: len(units) // 2], order[len(units) // 2 :]


def fitted_inverse_temperature(
    logits: FloatArray, codes: IntArray, *, most: float = 50.0
) -> float:
    """The factor of logits whose softmax fits the true classes best.

    By likelihood, with one more trial that went wrong, shared out evenly over all: however
    good the logits are on ``n`` trials, right answers have probabilities of about
    ``n / (n + 1)``. Logits may be logarithms of probabilities, which the factor is a power of.
    """
    from scipy.optimize import minimize_scalar

    rows = np.arange(len(logits))

    def loss(log_factor: float) -> float:
        right = log_softmax(np.exp(log_factor) * logits, axis=1)[rows, codes]
        wrong = np.maximum(-np.expm1(right), 1e-300)
        return float(-right.sum() - np.log(wrong).mean())

    found = minimize_scalar(loss, bounds=(np.log(0.02), np.log(most)), method="bounded")
    return float(np.exp(found.x))
