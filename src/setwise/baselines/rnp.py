"""Regularised nearest points: hulls kept small by the norm of their weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from setwise._support.parameters import check_number
from setwise._support.types import FloatArray, IntArray
from setwise.baselines.base import NearestSet
from setwise.features import unit_rows
from setwise.sets import SetBatch

__all__ = ["RNP", "RegularisedSet", "nearest_points"]


@dataclass(frozen=True)
class RegularisedSet:
    """Unit vectors of a set, and what every pair with it needs.

    Attributes
    ----------
    vectors : array of shape (n_vectors, n_features)
        Unit rows.
    system : array of shape (n_vectors, n_vectors)
        ``X X' + 1 1' + penalty I``.
    factor : array of shape (n_vectors, n_vectors)
        Its lower Cholesky factor.
    nuclear_norm : float
        Sum of the singular values of the vectors.
    """

    vectors: FloatArray
    system: FloatArray
    factor: FloatArray
    nuclear_norm: float

    @classmethod
    def of(cls, vectors: FloatArray, penalty: float) -> RegularisedSet:
        """Scale the vectors to unit norm, then factor and sum."""
        units = unit_rows(vectors)
        system = units @ units.T + 1.0
        system.flat[:: len(units) + 1] += penalty
        factor = linalg.cholesky(system, lower=True, check_finite=False)
        norm = float(linalg.svdvals(units, check_finite=False).sum())
        return cls(units, system, factor, norm)


def nearest_points(a: RegularisedSet, b: RegularisedSet) -> tuple[FloatArray, FloatArray]:
    """Weights of the two points, in closed form.

    ``min ||A'alpha - B'beta||^2 + (sum alpha - 1)^2 + (sum beta - 1)^2 + penalty_a ||alpha||^2
    + penalty_b ||beta||^2``: a linear system of two blocks, of which the first is eliminated
    by its factor.
    """
    cross = a.vectors @ b.vectors.T
    columns = np.column_stack([cross, np.ones(len(cross))])
    halves = linalg.solve_triangular(a.factor, columns, lower=True, check_finite=False)
    coupling, ones = halves[:, :-1], halves[:, -1]
    system = b.system - coupling.T @ coupling
    beta = linalg.solve(system, 1.0 + coupling.T @ ones, assume_a="pos", check_finite=False)
    alpha = linalg.cho_solve((a.factor, True), 1.0 + cross @ beta, check_finite=False)
    return alpha, beta


class RNP(NearestSet):
    """The nearest regularised hull: points that need no large weights.

    Regularised nearest points of Yang, Zhu, Van Gool and Zhang (FG 2013). Every vector is
    scaled to unit norm. The nearest points of two sets have the weights::

        min  ||A'alpha - B'beta||^2 + lambda_gallery ||alpha||^2 + lambda_probe ||beta||^2
             + (sum alpha - 1)^2 + (sum beta - 1)^2

    (``A`` the gallery set, ``B`` the probe; the sums are asked for, not enforced, as in the
    authors' code), and the distance is ``||A'alpha - B'beta||^2`` times the sum of both
    nuclear norms, since large sets come closer by chance. In closed form; the factor of each
    set is computed once. The authors alternate between the two sides up to four times.

    Parameters
    ----------
    lambda_gallery, lambda_probe : float, default=0.001, 0.1
        Weights of the squared norms; the authors' two, in the order of their objective.
    n_jobs : int, optional
        Threads.

    Examples
    --------
    >>> from setwise.baselines import RNP
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets()
    >>> clf = RNP().fit(sets[::2], labels[::2])
    >>> clf.predict(sets[1::2])
    array([0, 1, 1, 2])
    """

    def __init__(
        self,
        lambda_gallery: float = 0.001,
        lambda_probe: float = 0.1,
        *,
        n_jobs: int | None = None,
    ) -> None:
        self.lambda_gallery = lambda_gallery
        self.lambda_probe = lambda_probe
        self.n_jobs = n_jobs

    def _learn(self, gallery: SetBatch, codes: IntArray) -> None:
        check_number("RNP", "lambda_gallery", self.lambda_gallery)
        check_number("RNP", "lambda_probe", self.lambda_probe)

    def _gallery_models(self, gallery: SetBatch) -> list[RegularisedSet]:
        return [RegularisedSet.of(vectors, self.lambda_gallery) for vectors in gallery]

    def _model(self, vectors: FloatArray) -> RegularisedSet:
        return RegularisedSet.of(vectors, self.lambda_probe)

    def _distances(self, model: RegularisedSet) -> list[float]:
        distances = []
        for known in self.gallery_models_:
            alpha, beta = nearest_points(known, model)
            between = alpha @ known.vectors - beta @ model.vectors
            norms = known.nuclear_norm + model.nuclear_norm
            distances.append(float(between @ between) * norms)
        return distances
