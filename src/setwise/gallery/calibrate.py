"""Calibration: weights, temperatures, shrinkage and threshold, learnt from a gallery."""

from __future__ import annotations

import numpy as np

from setwise._support.types import FloatArray, IntArray
from setwise._support.warned import warn_user
from setwise.errors import CalibrationWarning, GuessingWarning
from setwise.gallery.bases import InlierSets
from setwise.gallery.gallery import Gallery
from setwise.gallery.trials import Trials, balanced, chosen_features, log_odds, survivors

# Of the test whether left-out sets are recognised better than by guessing.
LEVEL = 0.05
# Shrinkage that leaves a ranking of the probabilities.
LEAST_SHRINKAGE = 0.01


def calibrated(gallery: Gallery, inliers: InlierSets | None, n_jobs: int | None) -> Gallery:
    """The gallery with everything that its own sets say about its ensemble."""
    if gallery.description.weights is not None:
        gallery = _weighed(gallery, inliers, n_jobs)
    rate = gallery.description.unknown
    if rate is None:
        return gallery
    nearness = gallery.solution.unknown_nearness(gallery, inliers, n_jobs)
    return gallery.calibrated(threshold=_threshold(nearness, rate, gallery.n_classes))


def _weighed(gallery: Gallery, inliers: InlierSets | None, n_jobs: int | None) -> Gallery:
    """The gallery with weights, temperatures and shrinkage."""
    solution, even = gallery.solution, gallery.calibration.weights
    gallery = gallery.calibrated(weights=balanced(even, gallery.members))
    by_sets, chosen = solution.tried(gallery.codes)
    if not by_sets:
        trials = solution.halved(gallery, chosen, inliers, n_jobs)
        if trials is None:
            return gallery
        return _learnt(gallery, trials, survivors(trials.is_right()), can_choose=False)[0]
    trials = solution.left_out(gallery, chosen, n_jobs)
    if not trials.score_matrices:
        return gallery
    # Log odds are best for independent members. These depend on each other, and squares favour
    # the best of them.
    weights = log_odds(trials.is_right(), trials.n_classes) ** 2
    gallery, trials = _learnt(gallery, trials, weights, can_choose=True)
    judged = solution.recognised_by_others(gallery, inliers, n_jobs)
    if judged is None:
        n_right, truth = trials.n_fused_right(gallery.description.fusion), gallery.codes[chosen]
    else:
        n_right, truth = int(judged[0].sum()), judged[1]
    above, warning = guessing(n_right, truth)
    if warning is None:
        return gallery
    warn_user(warning, GuessingWarning)
    return gallery.calibrated(shrinkage=max(above, LEAST_SHRINKAGE))


def _learnt(
    gallery: Gallery, trials: Trials, weights: FloatArray, *, can_choose: bool
) -> tuple[Gallery, Trials]:
    """The gallery with weights and temperatures, and the trials with these.

    Features that the trials speak against are dropped, where these ``can_choose``: halves of
    sets are too alike for that.
    """
    fusion, weights = gallery.description.fusion, balanced(weights, gallery.members)
    is_right = trials.is_right()[:, : len(trials.codes)]
    temperatures = trials.inverse_temperatures()
    trials = trials.counted(weights, temperatures)
    if can_choose:
        features = [member.layer.representation.view.feature for member in gallery.members]
        weights = chosen_features(trials, weights, features, fusion)
        trials = trials.counted(weights, temperatures)
    rates = is_right.mean(axis=1).tolist()
    gallery = gallery.calibrated(
        weights=weights,
        inverse_temperatures=temperatures,
        accuracy=dict(zip(map(str, gallery.members), rates, strict=True)),
        pool_inverse_temperature=trials.pool_inverse_temperature(fusion),
    )
    return gallery, trials


def guessing(n_right: int, truth: IntArray) -> tuple[float, str | None]:
    """How far above guessing left-out sets are recognised, and a warning if hardly at all.

    There is no warning where an exact one-sided binomial test says so, or nearer to perfect
    than to guessing (of a gallery of four sets no test is ever sure).
    """
    from scipy.stats import binomtest

    n = len(truth)
    chance = float(np.bincount(truth).max() / n)
    if chance == 1.0:  # one class alone cannot be guessed wrong
        return n_right / n, None
    above = (n_right / n - chance) / (1.0 - chance)
    test = binomtest(n_right, n, chance, alternative="greater")
    if test.pvalue < LEVEL or above >= 0.5:
        return above, None
    return above, (
        "the gallery's own sets, left out in turn, are recognised hardly better than by "
        f"guessing ({n_right} of {n} right, {chance * n:.1f} by guessing): the answers mean "
        "little. Give other features or representations, more sets per class, or larger sets."
    )


def _threshold(nearness: FloatArray, rate: float, n_classes: int) -> float:
    """The threshold that lets in sets of unknown classes at a rate.

    Of ``n`` such sets' nearness it is the ``ceil((n + 1) (1 - rate))``-th smallest: another
    set like these exceeds it with a probability of at most the rate.
    """
    ordered = np.sort(nearness)
    place = int(np.ceil((len(ordered) + 1) * (1.0 - rate)))
    # Sets of one class are alike: there have to be many classes.
    if n_classes < 1.0 / rate:
        warn_user(
            f"unknown={rate:g}: {n_classes} classes are too few to find out how near the "
            f"nearest {100 * rate:g} % of sets of unknown classes are, and far more of them "
            f"may be accepted. Give at least {int(np.ceil(1.0 / rate))} classes, or a larger "
            "rate, or look at the nearness of answers yourself.",
            CalibrationWarning,
        )
    # The next larger number: a set as near as that one is not let in.
    return float(np.nextafter(ordered[min(place, len(ordered)) - 1], np.inf))
