"""The nearest points of regularised hulls: RNP and SANP."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np
from scipy import linalg

from setwise._support.parameters import check_number
from setwise._support.types import FloatArray, IntArray
from setwise.baselines.base import NearestSet
from setwise.baselines.hulls import AffineHull, affine_hull
from setwise.features import unit_rows
from setwise.lasso import gram_lasso
from setwise.sets import SetBatch


@dataclass(frozen=True)
class RegularisedSet:
    """Unit vectors of a set, with everything a pair with it needs."""

    vectors: FloatArray
    system: FloatArray  # X X' + 1 1' + penalty I
    factor: FloatArray  # its lower Cholesky factor
    nuclear_norm: float

    @classmethod
    def of(cls, vectors: FloatArray, penalty: float) -> RegularisedSet:
        """Scale the vectors to unit norm; factor their system."""
        units = unit_rows(vectors)
        system = units @ units.T + 1.0
        system.flat[:: len(units) + 1] += penalty
        factor = linalg.cholesky(system, lower=True, check_finite=False)
        norm = float(linalg.svdvals(units, check_finite=False).sum())
        return cls(units, system, factor, norm)


def nearest_points(a: RegularisedSet, b: RegularisedSet) -> tuple[FloatArray, FloatArray]:
    """Weights of the two nearest points, by the linear system of :class:`RNP`'s objective."""
    cross = a.vectors @ b.vectors.T
    columns = np.column_stack([cross, np.ones(len(cross))])
    halves = linalg.solve_triangular(a.factor, columns, lower=True, check_finite=False)
    coupling, ones = halves[:, :-1], halves[:, -1]
    system = b.system - coupling.T @ coupling
    beta = linalg.solve(system, 1.0 + coupling.T @ ones, assume_a="pos", check_finite=False)
    alpha = linalg.cho_solve((a.factor, True), 1.0 + cross @ beta, check_finite=False)
    return alpha, beta


@dataclass(eq=False, repr=False)
class RNP(NearestSet):
    """The nearest regularised hull: points that need no large weights.

    Regularised nearest points of Yang, Zhu, Van Gool and Zhang (FG 2013). Vectors are scaled to
    unit norm. The nearest points of a gallery set ``A`` and a probe ``B`` have the weights::

        min  ||A'alpha - B'beta||^2 + lambda_gallery ||alpha||^2 + lambda_probe ||beta||^2
             + (sum alpha - 1)^2 + (sum beta - 1)^2

    and the distance is ``||A'alpha - B'beta||^2`` times the sum of both nuclear norms, since
    large sets come closer by chance. In closed form; the authors alternate between the sides.

    Parameters
    ----------
    lambda_gallery, lambda_probe : float, default=0.001, 0.1
        Weights of the squared norms, in the order of the authors' objective.
    n_jobs : int, optional

    Examples
    --------
    >>> from setwise.baselines import RNP
    >>> from setwise.evaluation.testing import separable_sets
    >>> RNP().fit(*separable_sets()).score(*separable_sets())
    1.0
    """

    lambda_gallery: float = 0.001
    lambda_probe: float = 0.1

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


# With a (nearly) zero mean, samples would have no penalty.
_LEAST_PENALTY = 1e-6


@dataclass(frozen=True)
class SampledHull:
    """A set, its affine hull, and the products between them, computed once."""

    vectors: FloatArray
    hull: AffineHull
    gram: FloatArray
    coordinates: FloatArray  # of the vectors, along the hull's directions
    by_mean: FloatArray  # inner products with the mean
    mean_coordinates: FloatArray
    largest_product: float  # of a vector with the mean, never nearly zero

    @classmethod
    def of(cls, vectors: FloatArray, energy: float) -> SampledHull:
        """The hull that holds a share ``energy`` of the variance of a set."""
        hull = affine_hull(vectors, energy)
        gram, by_mean = vectors @ vectors.T, vectors @ hull.mean
        least = _LEAST_PENALTY * float(np.diag(gram).max()) or 1.0
        coordinates, of_mean = vectors @ hull.basis, hull.mean @ hull.basis
        largest = max(float(np.abs(by_mean).max()), least)
        return cls(vectors, hull, gram, coordinates, by_mean, of_mean, largest)

    def point(self, v: FloatArray, weights: FloatArray) -> tuple[FloatArray, float]:
        """A point of the hull, and its squared distance to a combination of samples."""
        point = self.hull.mean + self.hull.basis @ v
        off = point - weights @ self.vectors
        return point, float(off @ off)


@dataclass(frozen=True)
class NearestPoints:
    """The solution for two sets, and its value."""

    v_a: FloatArray  # coordinates of the nearest points in their hulls
    v_b: FloatArray
    alpha: FloatArray  # sparse weights of the samples that approximate them
    beta: FloatArray
    value: float  # the three weighted squared distances, without the l1 penalties


def sanp_points(
    a: SampledHull, b: SampledHull, *, w_hull: float, w_samples: float, penalty: float
) -> NearestPoints:
    """Nearest points of two hulls that few of their own samples approximate well.

    For given sample weights the points solve a linear system; substituting them leaves a
    lasso in the weights alone.
    """
    n_a, n = len(a.vectors), len(a.vectors) + len(b.vectors)
    hessian, pull = _hull_system(a, b, w_hull, w_samples)
    to_hull = -w_samples * _side_by_side(a.coordinates, b.coordinates)
    by_mean = w_samples * np.concatenate([a.by_mean, b.by_mean])
    # Least squares in the points: H v = -(pull + to_hull' x).
    solved = np.empty((len(pull), n + 1))
    solved[:, :n], solved[:, n] = to_hull.T, pull
    if len(pull) > 0:
        factor = linalg.cho_factor(hessian, check_finite=False)
        solved = linalg.cho_solve(factor, solved, check_finite=False)
    gram = w_samples * _side_by_side(a.gram, b.gram) - to_hull @ solved[:, :n]
    correlations = by_mean + to_hull @ solved[:, n]
    # Half of them, as the squares are not halved in the objective.
    penalties = np.full(n, w_samples * penalty * a.largest_product)
    penalties[n_a:] = w_samples * penalty * b.largest_product
    weights = gram_lasso((gram + gram.T) / 2, correlations, penalties)
    v = -(solved[:, n] + solved[:, :n] @ weights)
    v_a, v_b = np.split(v, [a.hull.n_dims])
    alpha, beta = np.split(weights, [n_a])
    (point_a, off_a), (point_b, off_b) = a.point(v_a, alpha), b.point(v_b, beta)
    between = point_a - point_b
    value = float(w_hull * between @ between + w_samples * (off_a + off_b))
    return NearestPoints(v_a, v_b, alpha, beta, value)


def _side_by_side(a: FloatArray, b: FloatArray) -> FloatArray:
    """Block-diagonal matrix of two; SciPy's takes longer than a small pair."""
    blocks = np.zeros((len(a) + len(b), a.shape[1] + b.shape[1]))
    blocks[: len(a), : a.shape[1]] = a
    blocks[len(a) :, a.shape[1] :] = b
    return blocks


def _hull_system(
    a: SampledHull, b: SampledHull, w_hull: float, w_samples: float
) -> tuple[FloatArray, FloatArray]:
    """Half the Hessian in the hulls' coordinates, and half the gradient where all is zero."""
    cosines = a.hull.basis.T @ b.hull.basis
    both = w_hull + w_samples
    n_a = len(cosines)
    hessian = both * np.eye(sum(cosines.shape))
    hessian[:n_a, n_a:], hessian[n_a:, :n_a] = -w_hull * cosines, -w_hull * cosines.T
    pull_a = both * a.mean_coordinates - w_hull * (b.hull.mean @ a.hull.basis)
    pull_b = both * b.mean_coordinates - w_hull * (a.hull.mean @ b.hull.basis)
    return hessian, np.concatenate([pull_a, pull_b])


@dataclass(eq=False, repr=False)
class SANP(NearestSet):
    """The nearest points of affine hulls that a few samples of either set approximate well.

    Sparse approximated nearest points of Hu, Mian and Owens (CVPR 2011, PAMI 2012)::

        min  w_hull ||p_a - p_b||^2 + w_samples (||p_a - A'alpha||^2 + ||p_b - B'beta||^2)
             + l_a ||alpha||_1 + l_b ||beta||_1,     p = mean + U v

    with ``l = penalty max_i |2 w_samples <x_i, mean>|`` for either set. The distance is the
    value of the three squares times the number of dimensions of both hulls (at least 1), since
    larger hulls come closer by chance; vectors are divided by the largest absolute value of the
    gallery. The authors stop a gradient method after 100 iterations; here the points are
    eliminated and the remaining lasso is solved exactly.

    Parameters
    ----------
    w_hull : float, default=1.0
        Weight of the distance between the hulls' points.
    w_samples : float, default=0.01
        Weight of their distances to the combinations of samples.
    penalty : float, default=0.1
        Weight of the l1 norms, as a share of that which makes all sample weights zero.
    energy : float, default=0.98
        Share of the variance that the directions of a hull hold, at most 1.
    n_jobs : int, optional

    Examples
    --------
    >>> from setwise.baselines import SANP
    >>> from setwise.evaluation.testing import separable_sets
    >>> SANP(energy=0.5).fit(*separable_sets()).score(*separable_sets())
    1.0
    """

    w_hull: float = 1.0
    w_samples: float = 0.01
    penalty: float = 0.1
    _: KW_ONLY
    energy: float = 0.98

    def _learn(self, gallery: SetBatch, codes: IntArray) -> None:
        check_number("SANP", "penalty", self.penalty)
        for name in ("w_hull", "w_samples"):  # their ratio makes the problem singular
            check_number("SANP", name, getattr(self, name), above=1e-7, at_most=1e6)
        check_number("SANP", "energy", self.energy, at_most=1)
        self.unit_ = float(np.abs(gallery.vectors).max()) or 1.0

    def _stacked(self, models: list[SampledHull]) -> list[SampledHull]:
        self.n_dims_ = np.array([model.hull.n_dims for model in models])
        return models

    def _model(self, vectors: FloatArray) -> SampledHull:
        return SampledHull.of(vectors / self.unit_, self.energy)

    def _distances(self, model: SampledHull) -> list[float]:
        how = {"w_hull": self.w_hull, "w_samples": self.w_samples, "penalty": self.penalty}
        distances = []
        for other in self.gallery_models_:
            n_dims = max(model.hull.n_dims + other.hull.n_dims, 1)
            distances.append(sanp_points(model, other, **how).value * n_dims)
        return distances
