"""Trials of the ensemble on the gallery's own sets, and what weights follow from them.

Gallery sets are left out in turn and classified by the others. A gallery with a single set of
some class has none to leave out: its sets are cut into halves along the direction in which they
vary most, so that the halves differ as sets of a class do, and one half judges the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import log_softmax

from setwise._support.parallel import lazy
from setwise._support.types import FloatArray, IntArray
from setwise.basis import centred_svd_bases
from setwise.features import unit_rows
from setwise.gallery.bases import tried_sets
from setwise.gallery.candidates import Candidates
from setwise.gallery.description import Ensemble, Member
from setwise.gallery.fusion import Fusion, ScoreMatrix, fuse, standardised
from setwise.gallery.gallery import Calibration
from setwise.gallery.outliers import OutlierScale

# Of the log-odds that weigh members.
POWER = 6
# Inverse temperature of a member without trials, and the largest.
INVERSE_TEMPERATURE, LARGEST_INVERSE_TEMPERATURE = 2.0, 6.0
# Of the logarithm of a fusion's power about that of the usual one.
DEVIATION = 0.25
# Weight of all members that compare single vectors to that of all others, if equally good.
VECTORS_TO_OTHERS = 0.25
# Vectors of a set whose halves say anything, and directions along which it is cut.
FEWEST_TO_HALVE, N_HALVINGS = 6, 3
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

    @lazy
    def standardised(self) -> FloatArray:
        """Standardised overlaps, of shape (n_members, n_sets, n_classes)."""
        overlaps = [scores.by_class(scores.overlaps) for scores in self.score_matrices]
        return standardised(np.array(overlaps)).swapaxes(0, 1)

    def inverse_temperatures(self) -> FloatArray:
        """Fitted to each member, see :class:`setwise.gallery.fusion.Pool`."""
        most = LARGEST_INVERSE_TEMPERATURE
        fitted = [
            fitted_inverse_temperature(one, self.codes, most=most) for one in self.standardised
        ]
        return np.array(fitted)

    def log_likelihoods(self, inverse_temperatures: FloatArray) -> FloatArray:
        """Mean logarithm of the probability that each member gives to the true class.

        Members that are not informed, and sets that were missed, have even probabilities.
        """
        logits = inverse_temperatures[:, None, None] * self.standardised
        of_truth = log_softmax(logits, axis=2)[:, np.arange(len(self.codes)), self.codes]
        chance = -np.log(self.n_classes)
        is_informed = np.array([scores.is_informed for scores in self.score_matrices]).T
        total = np.where(is_informed, of_truth, chance).sum(axis=1)
        n_missed = len(self.missed)
        return (total + n_missed * chance) / (len(self.codes) + n_missed)

    def counted(self, weights: FloatArray, inverse_temperatures: FloatArray) -> Trials:
        """The same trials with other weights and temperatures."""
        made = [
            replace(scores, weights=weights, inverse_temperatures=inverse_temperatures)
            for scores in self.score_matrices
        ]
        return replace(self, score_matrices=made)

    def pool_inverse_temperature(self, fusion: Fusion, *, of_halves: bool = False) -> float:
        """Fitted to the fused probabilities.

        Halves of sets are easier than new sets: they may show that the fusion's usual power is
        too large, never that it is too small.
        """
        logs, usual = self._log_probabilities(fusion), fusion.usual_power
        if usual is None:
            return fitted_inverse_temperature(logs, self.codes)
        most = usual if of_halves else 4.0 * usual
        return fitted_inverse_temperature(logs, self.codes, most=most, usual=usual)

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
    ensemble: Ensemble, set_sizes: IntArray, scale: OutlierScale
) -> Calibration:
    """The calibration of a gallery without trials."""
    members = ensemble.members
    # A member whose columns mean nothing for sets of these sizes is inactive.
    fewest = np.array([member.layer.representation.basis.fewest for member in members])
    is_enough = fewest <= np.median(set_sizes)
    weights = is_enough.astype(np.float64) if is_enough.any() else np.ones(len(members))
    temperatures = np.full(len(members), INVERSE_TEMPERATURE)
    return Calibration(weights, temperatures, outliers=scale)


def weights_of(log_likelihoods: FloatArray, n_trials: int, n_classes: int) -> FloatArray:
    """Weights of members: a power of the log-odds against guessing, none negative.

    Of the geometric mean of the probabilities that a member gives to the true classes, with one
    more trial that it guesses half wrong, so that no weight is infinite. Log-odds are the best
    weights of independent members. These depend on each other, and powers favour the best.
    """
    likely = n_trials * np.exp(log_likelihoods)
    mean = (likely + 0.5 / n_classes) / (n_trials + 1)
    odds = np.log(mean / (1.0 - mean)) + np.log(max(n_classes - 1, 1))
    return np.maximum(odds, 0.0) ** POWER if (odds > 0).any() else np.ones(len(odds))


def balanced(weights: FloatArray, members: Sequence[Member]) -> FloatArray:
    """Weights in which members that compare single vectors count more often than once.

    So often that all of them have a quarter of the weight of all others, if equally good.
    They are few and the others alike: without this they would be outvoted where the nearest
    vector is right and what a set spans is not.
    """
    is_single = np.array([m.layer.representation.basis.holds_vectors for m in members])
    if not is_single.any() or is_single.all():
        return weights
    times = VECTORS_TO_OTHERS * (~is_single).sum() / is_single.sum()
    return np.where(is_single, times * weights, weights)


def halves(vectors: FloatArray, k: int = 0) -> tuple[IntArray, IntArray]:
    """Two halves of a set, cut at the median of its main direction number ``k``."""
    units = unit_rows(vectors)
    directions = centred_svd_bases(units, [k + 1])[0]
    order = np.argsort(units @ directions[:, -1], kind="stable")
    return order[: len(units) // 2], order[len(units) // 2 :]


def fitted_inverse_temperature(
    logits: FloatArray, codes: IntArray, *, most: float = 50.0, usual: float | None = None
) -> float:
    """The factor of logits whose softmax fits the true classes best.

    By likelihood, with one more trial that went wrong, shared out evenly over all: right
    answers have probabilities of about ``n / (n + 1)``, however good the logits are on ``n``
    trials. Where the ``usual`` factor is known, the most probable one instead, its logarithm
    being normal with the deviation :data:`DEVIATION`. Of logarithms of probabilities, the
    factor is a power.
    """
    from scipy.optimize import minimize_scalar

    rows = np.arange(len(logits))

    def loss(log_factor: float) -> float:
        right = log_softmax(np.exp(log_factor) * logits, axis=1)[rows, codes]
        if usual is not None:
            apart = (log_factor - np.log(usual)) / DEVIATION
            return float(-right.sum() + apart**2 / 2.0)
        wrong = np.maximum(-np.expm1(right), 1e-300)
        return float(-right.sum() - np.log(wrong).mean())

    found = minimize_scalar(loss, bounds=(np.log(0.02), np.log(most)), method="bounded")
    return float(np.exp(found.x))
