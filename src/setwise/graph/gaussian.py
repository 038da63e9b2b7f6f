"""The Gaussian graph (paper eq. 5)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, NoReturn

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import pdist, squareform

from setwise._support.parameters import refuse
from setwise._support.types import FloatArray
from setwise.errors import reject
from setwise.graph.base import GalleryGraph, Graph

__all__ = ["GaussianGraph"]


@dataclass(frozen=True, eq=False)
class GaussianGraph(Graph):
    """``exp(-1/2 (x_i - x_j)' Sigma^-1 (x_i - x_j))`` between every two columns.

    Parameters
    ----------
    sigma : float, vector, matrix or None, default=None
        The paper's Sigma, a *covariance*: a scalar variance, one variance per feature, or a
        matrix. None takes the median squared distance between the gallery's columns, so
        that the weight of a median pair is ``exp(-1/2)``.

    Examples
    --------
    >>> import numpy as np
    >>> columns = np.array([[1.0, 0.8, 0.0], [0.0, 0.6, 1.0]])
    >>> from setwise import GaussianGraph
    >>> GaussianGraph(sigma=0.5).adjacency(columns).toarray().round(2)
    array([[0.  , 0.67, 0.14],
           [0.67, 0.  , 0.45],
           [0.14, 0.45, 0.  ]])
    """

    name: ClassVar[str] = "gaussian"
    sigma: float | FloatArray | None = None

    def adjacency(self, columns: FloatArray) -> sp.csr_array:
        """Weights between all pairs of columns; a dense graph in sparse clothes."""
        squared = pdist(self._whitened(columns), "sqeuclidean")
        if self.sigma is None:
            squared = squared / _median_scale(squared)
        weights = np.exp(-0.5 * squared)
        if len(weights) and not weights.any():
            advice = float(np.median(squared))
            reject(
                "GaussianGraph: every weight underflows to zero, so the graph has no edge. "
                f"sigma is too small for these columns; try sigma={advice:.3g} times it."
            )
        return sp.csr_array(squareform(weights))

    def solve(self, columns: FloatArray, *, n_jobs: int | None = None) -> GalleryGraph:
        """Fix the data-scaled Sigma on the gallery, so that no probe moves it."""
        if self.sigma is not None:
            return super().solve(columns)
        scale = _median_scale(pdist(columns.T, "sqeuclidean"))
        return replace(self, sigma=scale).solve(columns)

    def _whitened(self, columns: FloatArray) -> FloatArray:
        """Columns as rows, scaled so that squared distances are Mahalanobis ones."""
        if self.sigma is None:
            return columns.T
        n_features = len(columns)
        sigma = self._checked_sigma(n_features)
        if sigma.ndim < 2:
            return columns.T / np.sqrt(sigma)
        try:
            factor = np.linalg.cholesky(sigma)
        except np.linalg.LinAlgError:
            self._refuse_sigma(n_features)
        return np.linalg.solve(factor, columns).T

    def _checked_sigma(self, n_features: int) -> FloatArray:
        try:
            sigma = np.asarray(self.sigma)
        except ValueError:  # ragged
            self._refuse_sigma(n_features)
        shapes = ((), (n_features,), (n_features, n_features))
        if sigma.dtype.kind not in "iuf" or sigma.shape not in shapes:
            self._refuse_sigma(n_features)
        is_fine = np.allclose(sigma, sigma.T) if sigma.ndim == 2 else (sigma > 0).all()
        if not is_fine or not np.isfinite(sigma).all():
            self._refuse_sigma(n_features)
        return sigma.astype(np.float64)

    def _refuse_sigma(self, n_features: int) -> NoReturn:
        expected = (
            f"a positive number, a vector of {n_features} positive variances or a symmetric "
            f"positive definite {n_features} x {n_features} matrix"
        )
        refuse("GaussianGraph", "sigma", expected, self.sigma)


def _median_scale(squared: FloatArray) -> float:
    """Median squared distance, or 1 where all columns coincide."""
    positive = squared[squared > 0]
    return float(np.median(positive)) if len(positive) else 1.0
