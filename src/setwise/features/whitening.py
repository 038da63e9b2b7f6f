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
        Factor of each direction, relative to the directions without variance.
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
        is_kept = variances > 0
        self.directions_: FloatArray = directions[is_kept]
        # The directions without variance would all get the same factor; a common factor
        # means nothing to unit vectors, so theirs is taken as 1.
        relative = floor / (variances[is_kept] + floor)
        self.gains_: FloatArray = relative ** (self.strength / 2)
        return self

    def transform(self, X: Any) -> FloatArray:
        """Whiten the rows of ``X`` and scale them to unit norm."""
        check_is_fitted(self)
        units = unit_rows(validate_data(self, X, dtype=np.float64, reset=False))
        centred = units - self.mean_
        inside = centred @ self.directions_.T
        return unit_rows(centred + (inside * (self.gains_ - 1.0)) @ self.directions_)
