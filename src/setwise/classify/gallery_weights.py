"""How much each member should count, asked of the gallery itself.

No view, no basis and no kind of evidence is best for all data. But each member can be tried on
the gallery: take labelled sets out in turn, classify them by the others, and see how often the
member is right. Graph and cuts do not depend on which set is called the probe, so this costs
about as much as judging one probe (:class:`setwise.classify.tried_set.TriedSets`).

A gallery with a single set of some class has none to take out. Its sets are cut into halves
along the direction in which they vary most, so that the halves differ as sets of a class do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import log_softmax

from setwise._support.parallel import in_threads
from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.basis import centred_svd_bases
from setwise.classify.description import Layer, Member
from setwise.classify.evidence import Evidence
from setwise.classify.fusion import Fusion, ScoreMatrix, fuse, standardised
from setwise.classify.gallery import Gallery, SolvedLayer
from setwise.classify.tried_set import TriedSets
from setwise.features import unit_rows

__all__ = [
    "Trials",
    "chosen_features",
    "even_weights",
    "fitted_power",
    "halves",
    "log_odds",
    "survivors",
    "tried_sets",
    "with_weights",
]

# Gallery sets that members are tried on: enough to find out whether one knows anything.
MOST_OWN_SETS = 500
# Sets that are cut into halves instead, which doubles the columns to be solved.
MOST_HALVED = 250
# Of the test whether a member does worse on halves than the best. Halves differ otherwise than
# sets do, and there are many members: only what is beyond doubt is dropped.
LEVEL = 0.01
# How sure a member is of a class that stands out by one standard deviation: where no trial can
# tell, and at most.
INVERSE_TEMPERATURE, LARGEST_INVERSE_TEMPERATURE = 2.0, 6.0
# Vectors of which a set can be cut into halves that say anything.
FEWEST_TO_HALVE = 6


def tried_sets(n_sets: int, most: int = MOST_OWN_SETS) -> IntArray:
    """Which of so many gallery sets the members are tried on, evenly chosen."""
    return np.arange(0, n_sets, -(-n_sets // most))


@dataclass(frozen=True)
class Trials:
    """Gallery sets that were judged by the others.

    Attributes
    ----------
    score_matrices : list of ScoreMatrix
        What all members say of each set.
    codes : array of int, shape (n_sets,)
        The class it is of.
    """

    score_matrices: list[ScoreMatrix]
    codes: IntArray

    @classmethod
    def of(cls, gallery: Gallery, chosen: IntArray, n_jobs: int | None) -> Trials:
        """Let all members judge each chosen set, left out of the gallery."""
        how = gallery.comparison
        kinds: dict[Layer, list[Evidence]] = {solved.layer: [] for solved in gallery.layers}
        for member in gallery.members:
            kinds[member.layer].append(member.evidence)

        def judged(solved: SolvedLayer) -> tuple[FloatArray, FloatArray]:
            # Of what is seen, which would fill the memory, only what is fused.
            basis = solved.layer.representation.basis
            columns, evidence = gallery.columns(solved), kinds[solved.layer]
            pairs = [
                ([e.distances(seen) for e in evidence], [e.overlaps(seen) for e in evidence])
                for seen in TriedSets(solved.graph, columns, chosen, basis, how)
            ]
            distances, overlaps = zip(*pairs, strict=True)
            return np.array(distances), np.array(overlaps)

        tables = list(in_threads(judged, gallery.layers, n_jobs))
        distances = np.concatenate([table for table, _ in tables], axis=1)
        overlaps = np.concatenate([table for _, table in tables], axis=1)
        dims = np.array([member.layer.n_columns for member in gallery.members])
        even = np.ones(len(dims))
        rows, n_classes = gallery.row_classes, gallery.n_classes
        score_matrices = [
            ScoreMatrix(d, o, even, dims, rows, n_classes, INVERSE_TEMPERATURE * even)
            for d, o in zip(distances, overlaps, strict=True)
        ]
        return cls(score_matrices, gallery.codes[chosen])

    def is_right(self) -> FloatArray:
        """How far each member recognised each set, shape (n_members, n_sets); ties are shared."""
        table = np.zeros((len(self.score_matrices[0].weights), len(self.codes)))
        for i, (score_matrix, code) in enumerate(
            zip(self.score_matrices, self.codes, strict=True)
        ):
            by_class = score_matrix.by_class(score_matrix.overlaps)
            top = by_class >= by_class.max(axis=1, keepdims=True) - 1e-12
            table[:, i] = score_matrix.is_informed * top[:, code] / top.sum(axis=1)
        return table

    def inverse_temperatures(self) -> FloatArray:
        """How sure each member may be, see :class:`setwise.classify.fusion.Pool`."""
        overlaps = np.array(
            [
                score_matrix.by_class(score_matrix.overlaps)
                for score_matrix in self.score_matrices
            ]
        )
        logits = standardised(overlaps)
        return np.array(
            [
                fitted_power(logits[:, i], self.codes, most=LARGEST_INVERSE_TEMPERATURE)
                for i in range(logits.shape[1])
            ]
        )

    def counted(self, weights: FloatArray, inverse_temperatures: FloatArray) -> Trials:
        """The same, with members that count so much and are so sure."""
        made = [
            replace(b, weights=weights, inverse_temperatures=inverse_temperatures)
            for b in self.score_matrices
        ]
        return Trials(made, self.codes)

    def power(self, fusion: Fusion) -> float:
        """To which power the fused probabilities have to be raised to come true."""
        fused = [
            fuse(score_matrix, fusion).probabilities for score_matrix in self.score_matrices
        ]
        logs = np.log(np.maximum(fused, np.finfo(np.float64).tiny))
        return fitted_power(logs, self.codes)

    def fused_right(self, fusion: Fusion) -> BoolArray:
        """Whether all members together recognised each set."""
        answers = [fuse(score_matrix, fusion) for score_matrix in self.score_matrices]
        codes = np.array([a.code if a.is_informed else -1 for a in answers])
        return np.asarray(codes == self.codes)


def with_weights(
    gallery: Gallery, trials: Trials, weights: FloatArray, *, can_choose: bool = False
) -> tuple[Gallery, Trials]:
    """The gallery with weights, and how sure members may be, by trials; and these with them.

    Features that the trials speak against are dropped, where these ``can_choose``: halves of
    sets are too alike for that.
    """
    shares = trials.is_right().mean(axis=1)
    names = map(str, gallery.members)
    inverse_temperatures = trials.inverse_temperatures()
    trials = trials.counted(weights, inverse_temperatures)
    if can_choose:
        features = [member.layer.representation.view.feature for member in gallery.members]
        weights = chosen_features(trials, weights, features, gallery.description.fusion)
        trials = trials.counted(weights, inverse_temperatures)
    weighed = replace(
        gallery,
        weights=weights,
        accuracy=dict(zip(names, map(float, shares), strict=True)),
        inverse_temperatures=inverse_temperatures,
        power=trials.power(gallery.description.fusion),
    )
    return weighed, trials


def chosen_features(
    trials: Trials, weights: FloatArray, features: Sequence[Any], fusion: Fusion
) -> FloatArray:
    """Weights without the features that the gallery is better off without.

    Where members look at several features, such as pixels and a network's, the one without
    which the true classes of the left-out sets are most probable is dropped, again and again,
    as long as they become more probable. One feature is left at least; and where every
    left-out set is recognised by all features together, there is nothing to choose by.

    Parameters
    ----------
    trials : Trials
        With members that are as sure as they may be.
    weights : array of shape (n_members,)
        How much each member counts.
    features : sequence
        What each member looks at.
    fusion : Fusion
        How members become one answer.
    """
    kinds = list(dict.fromkeys(features))
    if len(kinds) < 2 or trials.fused_right(fusion).all():
        return weights
    best = _surprise(trials, weights, fusion)
    while len(kinds) > 1:
        losses = {}
        for kind in kinds:
            left = np.where([feature == kind for feature in features], 0.0, weights)
            if left.any():
                losses[kind] = _surprise(trials, left, fusion), left
        if not losses:
            break
        kind = min(losses, key=lambda one: losses[one][0])
        if losses[kind][0] >= best:
            break
        best, weights = losses[kind]
        kinds.remove(kind)
    return weights


def _surprise(trials: Trials, weights: FloatArray, fusion: Fusion) -> float:
    """How improbable the true classes are, once probabilities come true: minus a logarithm."""
    counted = trials.counted(weights, trials.score_matrices[0].inverse_temperatures)
    fused = [
        fuse(score_matrix, fusion).probabilities for score_matrix in counted.score_matrices
    ]
    logs = np.log(np.maximum(fused, np.finfo(np.float64).tiny))
    factor = fitted_power(logs, trials.codes)
    right = log_softmax(factor * logs, axis=1)[np.arange(len(logs)), trials.codes]
    return float(-right.sum())


def even_weights(members: Sequence[Member], set_sizes: Sequence[int]) -> FloatArray:
    """Weights where nothing is known: 1, or 0 for what sets so small cannot say.

    Parameters
    ----------
    members : sequence of Member
        Who speaks.
    set_sizes : sequence of int
        Vectors of each set.
    """
    fewest = np.array([member.layer.representation.basis.fewest for member in members])
    can_say = fewest <= np.median(set_sizes)
    return can_say.astype(np.float64) if can_say.any() else np.ones(len(fewest))


def log_odds(is_right: FloatArray, n_classes: int) -> FloatArray:
    """Weights by left-out sets: log odds of being right, against guessing; at least 0.

    What independent members would have to count by if errors were spread evenly over the
    classes. Half a set is added on either side, so that nobody counts without bound.

    Parameters
    ----------
    is_right : array of shape (n_members, n_sets)
        How far each member recognised each set.
    n_classes : int
        Number of classes.
    """
    hits, n = is_right.sum(axis=1), is_right.shape[1]
    odds = np.log((hits + 0.5) / (n - hits + 0.5)) + np.log(max(n_classes - 1, 1))
    return np.maximum(odds, 0.0) if (odds > 0).any() else np.ones(len(odds))


def survivors(is_right: FloatArray, *, level: float = LEVEL) -> FloatArray:
    """Weights by halves: 1, or 0 for a member that is worse than the best beyond doubt.

    On the trials where exactly one of the two is right, an exact one-sided sign test. The best
    one is chosen on the same trials, so that a good one is dropped more often than ``level``
    says. What survives counts evenly.

    Parameters
    ----------
    is_right : array of shape (n_members, n_trials)
        How far each member recognised each half.
    level : float
        Of the test.
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
    """Which vectors are in either half of a set.

    It is cut at the median of the direction in which it varies most.
    """
    units = unit_rows(vectors)
    directions = centred_svd_bases(units, [1])[0]
    order = np.argsort(units @ directions[:, 0], kind="stable")
    return order[: len(units) // 2], order[len(units) // 2 :]


def fitted_power(logits: FloatArray, codes: IntArray, *, most: float = 50.0) -> float:
    """The factor of logits whose softmax fits what came true best.

    By likelihood, with one more trial that went wrong, shared out evenly over all: however
    good the logits are on ``n`` trials, right answers are about ``n / (n + 1)`` sure, the
    surest among them too. (Logits may be logarithms of probabilities, which are raised to a
    power then.)

    Parameters
    ----------
    logits : array of shape (n_trials, n_classes)
        Larger is more probable.
    codes : array of int, shape (n_trials,)
        What came true.
    most : float
        The largest factor.
    """
    from scipy.optimize import minimize_scalar

    rows = np.arange(len(logits))

    def loss(log_factor: float) -> float:
        right = log_softmax(np.exp(log_factor) * logits, axis=1)[rows, codes]
        wrong = np.maximum(-np.expm1(right), 1e-300)
        return float(-right.sum() - np.log(wrong).mean())

    found = minimize_scalar(loss, bounds=(np.log(0.02), np.log(most)), method="bounded")
    return float(np.exp(found.x))
