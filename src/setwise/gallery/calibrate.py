"""Calibration: weights, temperatures, shrinkage and threshold, learnt from a gallery."""

from __future__ import annotations

import numpy as np

from setwise._support.types import FloatArray, IntArray
from setwise._support.warned import warn_user
from setwise.errors import CalibrationWarning, GuessingWarning
from setwise.gallery.bases import InlierSets
from setwise.gallery.candidates import largest_nearness
from setwise.gallery.gallery import Gallery
from setwise.gallery.memory import N_FOLDS
from setwise.gallery.trials import Trials, balanced, chosen_features, weights_of

# Of the test whether left-out sets are recognised better than by guessing.
LEVEL = 0.05
# Deviation of the distances of unknown sets: between 0.04 and 0.12 on pixels and embeddings of
# faces, objects and speakers. It counts as much as that of so many classes.
USUAL_DEVIATION, PRIOR_CLASSES = 0.065, 8
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
    threshold = _threshold(nearness, rate, gallery.n_classes, largest_nearness(gallery))
    return gallery.calibrated(threshold=threshold)


def _weighed(gallery: Gallery, inliers: InlierSets | None, n_jobs: int | None) -> Gallery:
    """The gallery with weights, temperatures and shrinkage."""
    solution, even = gallery.solution, gallery.calibration.weights
    # Of single vectors all members say much the same: their mean is as sure as they are.
    is_single = np.median(gallery.sets.sizes) <= 1
    power = None if is_single else gallery.description.fusion.usual_power
    gallery = gallery.calibrated(
        weights=balanced(even, gallery.members), pool_inverse_temperature=power or 1.0
    )
    by_sets, chosen = solution.tried(gallery.codes)
    if not by_sets:
        trials = solution.halved(gallery, chosen, inliers, n_jobs)
        if trials is None:
            return gallery
        return _learnt(gallery, trials, can_choose=False)[0]
    trials = solution.left_out(gallery, chosen, n_jobs)
    if not trials.score_matrices:
        return gallery
    gallery, trials = _learnt(gallery, trials, can_choose=True)
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


def _learnt(gallery: Gallery, trials: Trials, *, can_choose: bool) -> tuple[Gallery, Trials]:
    """The gallery with weights and temperatures, and the trials with these.

    Features that the trials speak against are dropped, where these ``can_choose``: halves of
    sets are too alike for that.
    """
    fusion, is_right = gallery.description.fusion, trials.is_right()
    temperatures = trials.inverse_temperatures()
    likely, n_trials = trials.log_likelihoods(temperatures), is_right.shape[1]
    weights = weights_of(likely, n_trials, trials.n_classes)
    weights = balanced(weights, gallery.members)
    trials = trials.counted(weights, temperatures)
    if can_choose:
        features = [member.layer.representation.view.feature for member in gallery.members]
        weights = chosen_features(trials, weights, features, fusion)
        trials = trials.counted(weights, temperatures)
    rates = is_right[:, : len(trials.codes)].mean(axis=1).tolist()
    gallery = gallery.calibrated(
        weights=weights,
        inverse_temperatures=temperatures,
        accuracy=dict(zip(map(str, gallery.members), rates, strict=True)),
        pool_inverse_temperature=trials.pool_inverse_temperature(
            fusion, of_halves=not can_choose
        ),
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


def _threshold(nearness: FloatArray, rate: float, n_classes: int, largest: float) -> float:
    """The threshold that lets in sets of unknown classes at a rate.

    Of ``n`` such sets' nearness it is the ``ceil((n + 1) (1 - rate))``-th smallest: another
    set like these exceeds it with a probability of at most the rate. Sets of one class are
    alike, so that this takes ``1 / rate`` classes; of fewer, see :func:`estimated_threshold`.
    """
    if n_classes >= 1.0 / rate:
        ordered = np.sort(nearness)
        place = int(np.ceil((len(ordered) + 1) * (1.0 - rate)))
        # The next larger number: a set as near as that one is not let in.
        return float(np.nextafter(ordered[min(place, len(ordered)) - 1], np.inf))
    threshold, (least, most) = estimated_threshold(nearness, rate, n_classes, largest)
    warn_user(
        f"unknown={rate:g}: {n_classes} classes are too few to find out how near the nearest "
        f"{100 * rate:g} % of sets of unknown classes are. The threshold is estimated, and "
        f"{100 * least:.2g} to {100 * most:.2g} % of them may be accepted. Give at least "
        f"{int(np.ceil(1.0 / rate))} classes, or a larger rate, or look at the nearness of "
        "answers yourself.",
        CalibrationWarning,
    )
    return threshold


def estimated_threshold(
    nearness: FloatArray, rate: float, n_classes: int, largest: float
) -> tuple[float, tuple[float, float]]:
    """A threshold from few classes, and a 90 % interval of the rate that it will have.

    Distances, the roots of what nearness lacks of the ``largest``, are taken for normal: their
    deviation is much the same where all sets are alike, as pixels are, and where they are not.
    Their mean is the sample's, and less by what a larger gallery takes away: a left-out set is
    compared with fewer classes than a probe. Their variance is that of the classes together
    with :data:`PRIOR_CLASSES` of the usual deviation. Student's t allows for how few they are,
    and the mean is uncertain itself.
    """
    from scipy.stats import norm, t

    distances = np.sqrt(np.maximum(largest - nearness, 0.0))
    freedom = PRIOR_CLASSES + n_classes
    total = PRIOR_CLASSES * USUAL_DEVIATION**2 + n_classes * distances.var()
    deviation = float(np.sqrt(total / freedom))
    n_compared = n_classes - -(-n_classes // N_FOLDS) if n_classes > N_FOLDS else n_classes - 1
    less = _largest_of(n_classes) - _largest_of(n_compared)
    below = float(t.ppf(1.0 - rate, freedom)) * np.sqrt(1.0 + 1.0 / n_classes)
    # Of a quantile: the mean is uncertain by 1 / n, the deviation by 1 / (2 n).
    error = norm.ppf(0.95) * np.sqrt(1.0 / n_classes + below**2 / (2.0 * freedom))
    interval = float(norm.sf(below + error)), float(norm.sf(below - error))
    distance = max(distances.mean() - (less + below) * deviation, 0.0)
    return float(largest - distance**2), interval


def _largest_of(n: int) -> float:
    """Mean of the largest of ``n`` standard normal numbers (Blom 1958)."""
    from scipy.stats import norm

    return float(norm.ppf((n - 0.375) / (n + 0.25)))
