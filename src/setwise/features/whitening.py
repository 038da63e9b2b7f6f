"""Whitening by the gallery's own vectors."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import linalg
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from setwise._support.parameters import check_number
from setwise._support.types import FloatArray
from setwise.features.units import unit_rows

__all__ = ["Whitener"]


class Whitener(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Soften what all vectors share, so that what tells them apart is heard.

    Vectors are scaled to unit norm, the mean is subtracted, and every principal direction
    of variance ``v`` is multiplied by ``(v + shrinkage * mean variance) ** (-strength / 2)``.
    Light, a common background or a loud feature dominate the largest directions of most
    galleries; after this they do so less. A weak direction is lifted, but not without bound.
    Directions that the gallery never showed are dropped: nothing is known of them, and of few
    vectors with many features they would hold most of what a new vector consists of.

    Parameters
    ----------
    strength : float, default=0.5
        1 makes all directions equally loud, 0 leaves them as they are.
    shrinkage : float, default=0.1
        How much variance every direction is granted; larger is gentler.

    Attributes
    ----------
    mean_ : array of shape (n_features,)
        Mean of the unit vectors.
    directions_ : array of shape (n_directions, n_features)
        Principal directions with any variance.
    gains_ : array of shape (n_directions,)
        Factor of each direction, relative to that of one without variance.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise import Whitener
    >>> vectors = np.random.default_rng(0).normal(size=(200, 3)) * [9.0, 1.0, 1.0]
    >>> whitener = Whitener().fit(vectors)
    >>> int(whitener.gains_.argmin()), whitener.transform(vectors).shape
    (0, (200, 3))
    """

    def __init__(self, strength: float = 0.5, shrinkage: float = 0.1) -> None:
        self.strength = strength
        self.shrinkage = shrinkage

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn mean and principal directions of the rows of ``X``."""
        for name in ("strength", "shrinkage"):
            check_number("Whitener", name, getattr(self, name))
        units = unit_rows(validate_data(self, X, dtype=np.float64))
        self.mean_: FloatArray = units.mean(axis=0)
        _, strengths, directions = linalg.svd(units - self.mean_, full_matrices=False)
        variances = strengths**2 / len(units)
        floor = self.shrinkage * variances.sum() / units.shape[1]
        is_kept = strengths > strengths[0] * max(units.shape) * np.finfo(np.float64).eps
        self.directions_: FloatArray = directions[is_kept]
        # A common factor means nothing to unit vectors.
        relative = floor / (variances[is_kept] + floor)
        self.gains_: FloatArray = relative ** (self.strength / 2)
        return self

    def transform(self, X: Any) -> FloatArray:
        """Whiten the rows of ``X`` and scale them to unit norm."""
        check_is_fitted(self)
        units = unit_rows(validate_data(self, X, dtype=np.float64, reset=False))
        centred = units - self.mean_
        inside = centred @ self.directions_.T
        # What lies outside, or at the mean, leaves rounding, which is no direction.
        rounding = max(centred.shape[1], len(self.gains_)) * np.finfo(np.float64).eps
        inside[np.linalg.norm(inside, axis=1) <= rounding] = 0.0
        return unit_rows((inside * self.gains_) @ self.directions_)
