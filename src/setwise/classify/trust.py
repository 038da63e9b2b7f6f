"""Whether a gallery knows its own sets, so that answers by it mean anything."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from setwise._support.types import BoolArray, IntArray
from setwise.classify.gallery import Gallery
from setwise.errors import GuessingWarning

__all__ = ["alternate_sets", "guessing", "has_learnt_by_heart", "trust_in"]

LEVEL = 0.05
# Sets that are judged by the others where views have learnt by heart: dearer than trying sets
# inside one graph, and enough to tell knowing from guessing.
MOST_JUDGED = 24


def guessing(n_right: int, truth: IntArray) -> tuple[float, str | None]:
    """How far above guessing left-out sets are recognised, and what to say if hardly at all.

    All is well where an exact one-sided binomial test says so, or nearer to perfect than to
    guessing (in a gallery of four sets no test is ever sure).

    Parameters
    ----------
    n_right : int
        Left-out sets that were recognised.
    truth : array of int, shape (n_sets,)
        Their classes.

    Returns
    -------
    above : float
        0 for guessing, 1 for perfect.
    warning : str or None
        The warning, if there is any.
    """
    from scipy.stats import binomtest

    n = len(truth)
    chance = float(np.bincount(truth).max() / n)
    above = (n_right / n - chance) / (1.0 - chance)
    test = binomtest(n_right, n, chance, alternative="greater")
    if test.pvalue < LEVEL or above >= 0.5:
        return above, None
    return above, (
        "the gallery's own sets, left out in turn, are recognised hardly better than by "
        f"guessing ({n_right} of {n} right, {chance * n:.1f} by guessing): the answers mean "
        "little. Give other features or representations, more sets per class, or larger sets."
    )


def trust_in(gallery: Gallery, is_right: BoolArray, truth: IntArray) -> Gallery:
    """The gallery with how far its probabilities are to be believed.

    All the way where its own sets, left out, are recognised clearly better than by guessing;
    else as far as they are above it, with a warning.
    """
    above, warning = guessing(int(is_right.sum()), truth)
    if warning is None:
        return gallery
    warnings.warn(warning, GuessingWarning, stacklevel=5)  # whoever called fit
    return replace(gallery, trust=max(above, 0.01))  # a ranking is left of the probabilities


def has_learnt_by_heart(gallery: Gallery) -> bool:
    """Whether a view has learnt from too few vectors to show others as it shows these.

    A set that is left out of the graph was not left out of what the view learnt. With more
    vectors than features that makes no difference; with fewer, it may make all of it.
    """
    learns = any(view.learns for view in gallery.views.values())
    return learns and len(gallery.sets.vectors) <= gallery.sets.n_features


def alternate_sets(codes: IntArray) -> tuple[IntArray, IntArray]:
    """Every second set of each class, and some of the others, evenly chosen."""
    place = np.zeros(len(codes), dtype=np.int64)
    for code in np.unique(codes):
        place[codes == code] = np.arange(int((codes == code).sum()))
    others = np.flatnonzero(place % 2 == 1)
    return np.flatnonzero(place % 2 == 0), others[:: -(-len(others) // MOST_JUDGED)]
