"""Sets as covariance matrices, compared by their logarithms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from setwise._support.parameters import check_number
from setwise._support.types import FloatArray, IntArray
from setwise.baselines.base import NearestSet
from setwise.baselines.subspaces import Subspaces
from setwise.basis.base import numerical_rank
from setwise.sets import SetBatch


@dataclass(frozen=True)
class LogCovariance:
    """Logarithm of a regularised covariance, ``level * I + Q diag(gains) Q'``."""

    level: float  # log variance of every direction
    gains: FloatArray  # additional log variance along the set's own directions
    directions: FloatArray


def log_covariance(
    vectors: FloatArray, regularisation: float, origin: FloatArray
) -> LogCovariance:
    """``log(C + regularisation * tr(C) * I)`` of the covariance ``C`` of a set.

    Directions without variance share one logarithm, so no square matrix is formed. A set that
    does not vary is described by its scatter about ``origin``.
    """
    (strengths, directions), freedom = _axes(vectors, vectors.mean(axis=0)), len(vectors) - 1
    if not len(strengths):
        (strengths, directions), freedom = _axes(vectors, origin), len(vectors)
    if not len(strengths):  # at the very origin: no direction is different
        return LogCovariance(0.0, np.zeros(1), np.eye(len(origin), 1))
    variances = strengths**2 / freedom
    granted = regularisation * variances.sum()
    return LogCovariance(float(np.log(granted)), np.log1p(variances / granted), directions)


def _axes(vectors: FloatArray, about: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Singular values and directions of a set about a point, above rounding."""
    _, strengths, directions = linalg.svd(
        vectors - about, full_matrices=False, check_finite=False
    )
    rank = numerical_rank(strengths, vectors.shape, float(np.linalg.norm(vectors)))
    return strengths[:rank], directions[:rank].T


@dataclass(frozen=True)
class LogCovariances:
    """Logarithms of many covariances side by side."""

    levels: FloatArray
    gains: FloatArray
    directions: Subspaces

    @classmethod
    def of(cls, models: list[LogCovariance]) -> LogCovariances:
        """Stack them."""
        levels = np.array([model.level for model in models])
        gains = np.concatenate([model.gains for model in models])
        return cls(levels, gains, Subspaces.of([model.directions for model in models]))

    def products(self, model: LogCovariance) -> FloatArray:
        """Inner product ``tr(log C_a log C_b)`` of one with each of these, exactly."""
        squares = (model.directions.T @ self.directions.stacked) ** 2
        along_both = self.directions.summed((model.gains @ squares) * self.gains)
        return (
            len(model.directions) * model.level * self.levels
            + model.level * self.directions.summed(self.gains)
            + self.levels * model.gains.sum()
            + along_both
        )


def squared_norm(model: LogCovariance) -> float:
    """``tr(log C log C)``."""
    n_others = len(model.directions) - len(model.gains)
    return float(n_others * model.level**2 + ((model.level + model.gains) ** 2).sum())


@dataclass(eq=False, repr=False)
class LogEuclidean(NearestSet):
    """Nearest set by the log-Euclidean distance between covariances.

    ``|| log C_a - log C_b ||_F`` (Arsigny, Fillard, Pennec and Ayache, 2006). A set that does
    not vary, such as one vector, is described by its scatter about the gallery's mean.

    Parameters
    ----------
    regularisation : float, default=1e-3
        Added to the diagonal of each covariance, as a share of its trace.
    n_jobs : int, optional

    Examples
    --------
    >>> from setwise.baselines import LogEuclidean
    >>> from setwise.evaluation.testing import separable_sets
    >>> LogEuclidean().fit(*separable_sets()).score(*separable_sets())
    1.0
    """

    regularisation: float = 1e-3

    def _learn(self, gallery: SetBatch, codes: IntArray) -> None:
        check_number("LogEuclidean", "regularisation", self.regularisation)
        self.origin_: FloatArray = gallery.vectors.mean(axis=0)

    def _model(self, vectors: FloatArray) -> LogCovariance:
        return log_covariance(vectors, self.regularisation, self.origin_)

    def _stacked(self, models: list[LogCovariance]) -> tuple[LogCovariances, FloatArray]:
        return LogCovariances.of(models), np.array([squared_norm(model) for model in models])

    def _distances(self, model: Any) -> FloatArray:
        gallery, squared_norms = self.gallery_models_
        squares = squared_norms + squared_norm(model) - 2.0 * gallery.products(model)
        return np.sqrt(np.maximum(squares, 0.0))
