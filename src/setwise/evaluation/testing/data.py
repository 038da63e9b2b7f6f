"""Sets that any classifier should tell apart, and the small problems made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from setwise._support.types import FloatArray, IntArray

__all__ = ["Problem", "easy_problem", "hard_problem", "separable_sets"]


def separable_sets(
    seed: int = 0,
    *,
    n_classes: int = 3,
    n_sets: int = 3,
    n_vectors: tuple[int, int] = (6, 11),
    n_features: int = 20,
    n_dims: int = 3,
    noise: float = 0.1,
) -> tuple[list[FloatArray], IntArray]:
    """Make sets whose classes differ in mean and in subspace, with their labels.

    With the default noise every sensible method labels them all rightly; with more, say 1.5,
    classes overlap.

    Parameters
    ----------
    seed : int
        Everything random follows from it.
    n_classes, n_sets : int
        Number of classes, and of sets of each.
    n_vectors : tuple of int
        Fewest and most vectors of a set.
    n_features : int
        Length of the vectors.
    n_dims : int
        Dimensionality of the subspace that the vectors of a class vary in.
    noise : float
        Standard deviation of what is added to each feature; the signal's is about 2.

    Returns
    -------
    sets : list of arrays of shape (n_vectors_i, n_features)
        The sets, class after class.
    labels : array of shape (n_classes * n_sets,)
        0 to ``n_classes - 1``.

    Examples
    --------
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets(0, n_classes=2, n_sets=2)
    >>> labels.tolist(), sets[0].shape[1]
    ([0, 0, 1, 1], 20)
    """
    rng = np.random.default_rng(seed)
    subspaces = rng.standard_normal((n_classes, n_dims, n_features))
    means = 2 * rng.standard_normal((n_classes, n_features))
    labels = np.repeat(np.arange(n_classes), n_sets)
    sets = []
    for label in labels:
        n = rng.integers(*n_vectors, endpoint=True)
        inside = rng.standard_normal((n, n_dims)) @ subspaces[label] + means[label]
        sets.append(inside + noise * rng.standard_normal((n, n_features)))
    return sets, labels


@dataclass(frozen=True)
class Problem:
    """Gallery sets with their labels, and probes with theirs."""

    gallery: list[FloatArray]
    labels: IntArray
    probes: list[FloatArray]
    truth: IntArray

    def in_order(self, order: Sequence[int] | IntArray) -> tuple[list[FloatArray], IntArray]:
        """The gallery and its labels in another order."""
        return [self.gallery[i] for i in order], self.labels[order]


def easy_problem(*, seed: int = 0, n_sets: int = 3, **options: Any) -> Problem:
    """``n_sets`` gallery sets and two probes of each class, easily told apart."""
    sets, labels = separable_sets(seed, n_sets=n_sets + 2, **options)
    is_probe = np.arange(len(sets)) % (n_sets + 2) >= n_sets
    return Problem(
        gallery=[sets[i] for i in np.flatnonzero(~is_probe)],
        labels=labels[~is_probe],
        probes=[sets[i] for i in np.flatnonzero(is_probe)],
        truth=labels[is_probe],
    )


def hard_problem() -> Problem:
    """Classes that overlap: where answers are close, small causes show."""
    return easy_problem(seed=1, noise=1.5)
