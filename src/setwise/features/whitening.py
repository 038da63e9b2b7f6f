"""Whitening, and the moments of rows that it is learnt from."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from scipy import linalg
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from setwise._support.parallel import lazy
from setwise._support.parameters import check_not_negative, check_number
from setwise._support.types import FloatArray, IntArray
from setwise.features.vectors import unit_rows

# Smallest of the eigenvalues of products of rows (or columns), relative to the largest, by
# which whitened vectors are within 1e-8 of those by singular values.
LEAST_OF_ROWS, LEAST_OF_COLUMNS = 1e-9, 1e-12
# Features up to which a matrix that whitens takes little memory.
MOST_MAPPED = 512


class Principal(NamedTuple):
    """Mean of some rows, and the principal directions of their departures from it."""

    mean: FloatArray
    strengths: FloatArray  # singular values, the largest first
    directions: FloatArray
    n_rows: int


class Moments:
    """Unit rows and the smaller of their products, by which any of them are decomposed.

    Examples
    --------
    >>> import numpy as np
    >>> moments = Moments(np.eye(3))
    >>> np.abs(moments.principal(np.array([0, 1])).directions).round(3)
    array([[0.707, 0.707, 0.   ]])
    """

    def __init__(self, units: FloatArray) -> None:
        # About the mean of all rows, because means of some are near it: little is lost when
        # they are taken out of the products.
        self._mean = units.mean(axis=0)
        self._centred = units - self._mean

    def __len__(self) -> int:
        return len(self._centred)

    @property
    def _is_wide(self) -> bool:
        return len(self._centred) <= self._centred.shape[1]

    @lazy
    def _products(self) -> FloatArray:
        """Inner products of all rows, or of all columns if these are fewer."""
        rows = self._centred
        return rows @ rows.T if self._is_wide else rows.T @ rows

    def principal(self, chosen: IntArray) -> Principal:
        """The principal directions of some rows, given in ascending order.

        By eigenvectors of the products, several times as fast as by the singular value
        decomposition, unless rounding could be taken for a direction: eigenvalues are squares.
        """
        rows = self._centred[chosen]
        mean = rows.mean(axis=0)
        rows -= mean
        is_wide = len(rows) <= rows.shape[1]
        found = self._of_rows(rows, chosen) if is_wide else self._of_columns(rows, mean, chosen)
        strengths, directions = found or linalg.svd(rows, full_matrices=False)[1:]
        return Principal(self._mean + mean, strengths, directions, len(rows))

    def _of_rows(
        self, rows: FloatArray, chosen: IntArray
    ) -> tuple[FloatArray, FloatArray] | None:
        """By the products of the rows. They sum to zero: one eigenvalue is of no direction."""
        products = self._products[np.ix_(chosen, chosen)] if self._is_wide else rows @ rows.T
        means = products.mean(axis=0)
        products += means.mean() - means - means[:, None]
        values, vectors = linalg.eigh(products, driver="evd", check_finite=False)
        if len(values) < 2 or values[1] <= LEAST_OF_ROWS * values[-1]:
            return None
        strengths = np.sqrt(values[:0:-1])
        return strengths, (vectors[:, :0:-1].T @ rows) / strengths[:, None]

    def _of_columns(
        self, rows: FloatArray, mean: FloatArray, chosen: IntArray
    ) -> tuple[FloatArray, FloatArray] | None:
        """By the products of the columns that vary."""
        varies = (rows != rows[0]).any(axis=0)
        products, is_left = self._products, np.ones(len(self), dtype=np.bool_)
        is_left[chosen] = False
        if is_left.any():
            left = self._centred[is_left]
            products = products - left.T @ left - len(rows) * np.outer(mean, mean)
        products = products[np.ix_(varies, varies)]
        values, vectors = linalg.eigh(products, driver="evd", check_finite=False)
        if not len(values) or values[0] <= LEAST_OF_COLUMNS * values[-1]:
            return None
        directions = np.zeros((len(values), rows.shape[1]))
        directions[:, varies] = vectors[:, ::-1].T
        return np.sqrt(values[::-1]), directions


class Whitener(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Whiten vectors in part, so that shared directions hide differences less.

    Vectors are scaled to unit norm, the mean is subtracted, and every principal direction of
    variance ``v`` is multiplied by ``(v + shrinkage * mean variance) ** (-strength / 2)``.
    Directions without variance in the gallery are dropped: with few vectors of many features
    they would make up most of a new vector.

    Parameters
    ----------
    strength : float, default=0.5
        1 gives all directions equal variance, 0 changes none.
    shrinkage : float, default=0.1
        Share of the mean variance added to every direction; larger is gentler.

    Attributes
    ----------
    mean_ : array of shape (n_features,)
        Mean of the unit vectors.
    directions_ : array of shape (n_directions, n_features)
        Principal directions with any variance.
    gains_ : array of shape (n_directions,)
        Factor of each direction, relative to one without variance.

    Examples
    --------
    >>> import numpy as np
    >>> vectors = np.random.default_rng(0).normal(size=(200, 3)) * [9.0, 1.0, 1.0]
    >>> int(Whitener().fit(vectors).gains_.argmin())
    0
    """

    def __init__(self, strength: float = 0.5, shrinkage: float = 0.1) -> None:
        self.strength = strength
        self.shrinkage = shrinkage

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn mean and principal directions of the rows of ``X``."""
        moments = Moments(unit_rows(validate_data(self, X, dtype=np.float64)))
        return self.fit_to(moments.principal(np.arange(len(moments))))

    def fit_to(self, found: Principal) -> Self:
        """Learn from the principal directions of some rows."""
        check_not_negative("Whitener", "strength", self.strength)
        check_number("Whitener", "shrinkage", self.shrinkage)
        n_features = found.directions.shape[1]
        variances = found.strengths**2 / found.n_rows
        floor = self.shrinkage * variances.sum() / n_features
        widest = max(found.n_rows, n_features) * np.finfo(np.float64).eps
        is_kept = found.strengths > found.strengths[0] * widest
        # A common factor means nothing to unit vectors.
        relative = floor / (variances[is_kept] + floor)
        return self.take_over(
            found.mean, found.directions[is_kept], relative ** (self.strength / 2)
        )

    def take_over(self, mean: FloatArray, directions: FloatArray, gains: FloatArray) -> Self:
        """Take what another whitener has learnt for its own."""
        self.n_features_in_ = len(mean)
        self.mean_, self.directions_, self.gains_ = mean, directions, gains
        # Of few features, one matrix whitens in half the time of two.
        is_small = len(mean) <= MOST_MAPPED
        self._whitens = (directions.T * gains) @ directions if is_small else None
        return self

    def coordinates(self, units: FloatArray) -> FloatArray:
        """Whitened unit rows, of unit norm, as coordinates along the directions.

        Inner products are those of :meth:`transform`, which takes twice as long.
        """
        centred = units - self.mean_
        return self._without_rounding(centred @ self.directions_.T * self.gains_, centred)

    def transform(self, X: Any) -> FloatArray:
        """Whiten the rows of ``X`` and scale them to unit norm."""
        check_is_fitted(self)
        units = unit_rows(validate_data(self, X, dtype=np.float64, reset=False))
        centred = units - self.mean_
        if self._whitens is not None:
            whitened = centred @ self._whitens
        else:
            whitened = (centred @ self.directions_.T * self.gains_) @ self.directions_
        return self._without_rounding(whitened, centred)

    def _without_rounding(self, whitened: FloatArray, centred: FloatArray) -> FloatArray:
        """Unit rows; what lies outside, or at the mean, leaves rounding: no direction."""
        rounding = max(centred.shape[1], len(self.gains_)) * np.finfo(np.float64).eps
        whitened[np.einsum("ij,ij->i", whitened, whitened) <= rounding**2] = 0.0
        return unit_rows(whitened)
