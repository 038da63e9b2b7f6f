"""Whitening by the gallery's own vectors."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import linalg
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from setwise.errors import ParameterError
from setwise.features.units import unit_rows
from setwise.types import FloatArray

__all__ = ["Whitener"]


class Whitener(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Flatten what all vectors share, so that what tells them apart is heard.

    Vectors are scaled to unit norm, the mean is subtracted, and every principal direction
    of variance ``v`` is multiplied by ``(v + shrinkage * mean variance) ** -0.5``. Light, a
    common background or a loud feature dominate the largest directions of most galleries;
    after this they no longer do. A weak direction is lifted, but never without bound.

    Parameters
    ----------
    shrinkage : float, default=0.3
        Larger is gentler; at infinity only the mean is subtracted.

    Attributes
    ----------
    mean_ : array of shape (n_features,)
        Mean of the unit vectors.
    directions_ : array of shape (n_directions, n_features)
        Principal directions with any variance.
    gains_ : array of shape (n_directions,)
        Factor of each direction, relative to the directions without variance.
    """

    def __init__(self, shrinkage: float = 0.3) -> None:
        self.shrinkage = shrinkage

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn mean and principal directions of the rows of ``X``."""
        if not self.shrinkage > 0:
            msg = f"Whitener: shrinkage must be a positive number, got {self.shrinkage!r}."
            raise ParameterError(msg)
        units = unit_rows(validate_data(self, X, dtype=np.float64))
        self.mean_: FloatArray = units.mean(axis=0)
        _, strengths, directions = linalg.svd(units - self.mean_, full_matrices=False)
        variances = strengths**2 / len(units)
        floor = self.shrinkage * variances.sum() / units.shape[1]
        is_kept = variances > 0
        self.directions_: FloatArray = directions[is_kept]
        # The directions without variance would all be multiplied by floor ** -0.5; a common
        # factor means nothing to unit vectors, so theirs is taken as 1.
        self.gains_: FloatArray = np.sqrt(floor / (variances[is_kept] + floor))
        return self

    def transform(self, X: Any) -> FloatArray:
        """Whiten the rows of ``X`` and scale them to unit norm."""
        check_is_fitted(self)
        units = unit_rows(validate_data(self, X, dtype=np.float64, reset=False))
        centred = units - self.mean_
        inside = centred @ self.directions_.T
        return unit_rows(centred + (inside * (self.gains_ - 1.0)) @ self.directions_)
