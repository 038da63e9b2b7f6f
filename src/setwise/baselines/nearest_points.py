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

__all__ = ["RNP", "SANP"]


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
    """Weights of the two nearest points, in closed form.

    ``min ||A'alpha - B'beta||^2 + (sum alpha - 1)^2 + (sum beta - 1)^2 + penalty_a ||alpha||^2
    + penalty_b ||beta||^2``: a linear system of two blocks, of which the first is eliminated by
    its factor.
    """
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

    Regularised nearest points of Yang, Zhu, Van Gool and Zhang (FG 2013). Every vector is
    scaled to unit norm. The nearest points of two sets have the weights::

        min  ||A'alpha - B'beta||^2 + lambda_gallery ||alpha||^2 + lambda_probe ||beta||^2
             + (sum alpha - 1)^2 + (sum beta - 1)^2

    (``A`` the gallery set, ``B`` the probe; the sums are penalised, not constrained, as in the
    authors' code), and the distance is ``||A'alpha - B'beta||^2`` times the sum of both nuclear
    norms, since large sets come closer by chance. In closed form; the factor of each set is
    computed once. The authors alternate between the two sides up to four times.

    Parameters
    ----------
    lambda_gallery, lambda_probe : float, default=0.001, 0.1
        Weights of the squared norms, in the order of the authors' objective.
    n_jobs : int, optional

    Examples
    --------
    >>> from setwise.baselines import RNP
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets()
    >>> RNP().fit(sets[::2], labels[::2]).predict(sets[1::2])
    array([0, 1, 1, 2])
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
        return cls(
            vectors=vectors,
            hull=hull,
            gram=gram,
            coordinates=vectors @ hull.basis,
            by_mean=by_mean,
            mean_coordinates=hull.mean @ hull.basis,
            largest_product=max(float(np.abs(by_mean).max()), least),
        )


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

    The objective of :class:`SANP`. For given sample weights the points solve a linear system,
    the same for all weights; substituting them leaves a lasso in the weights alone.
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
    value = _value(a, b, v_a, v_b, alpha, beta, (w_hull, w_samples))
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


def _value(
    a: SampledHull,
    b: SampledHull,
    v_a: FloatArray,
    v_b: FloatArray,
    alpha: FloatArray,
    beta: FloatArray,
    weights: tuple[float, float],
) -> float:
    """The three weighted squared distances."""
    point_a = a.hull.mean + a.hull.basis @ v_a
    point_b = b.hull.mean + b.hull.basis @ v_b
    between = point_a - point_b
    off_a, off_b = point_a - alpha @ a.vectors, point_b - beta @ b.vectors
    w_hull, w_samples = weights
    return float(w_hull * between @ between + w_samples * (off_a @ off_a + off_b @ off_b))


@dataclass(eq=False, repr=False)
class SANP(NearestSet):
    """The nearest points of affine hulls that a few samples of either set approximate well.

    Sparse approximated nearest points of Hu, Mian and Owens (CVPR 2011, PAMI 2012). An affine
    hull reaches far from its samples; here the nearest points must stay near sparse
    combinations of them::

        min  w_hull ||p_a - p_b||^2 + w_samples (||p_a - A'alpha||^2 + ||p_b - B'beta||^2)
             + l_a ||alpha||_1 + l_b ||beta||_1,     p = mean + U v

    with ``l = penalty max_i |2 w_samples <x_i, mean>|`` for either set. The distance is the
    value of the three squares times the number of dimensions of both hulls (at least 1), since
    larger hulls come closer by chance; it is computed on vectors divided by ``unit_``.

    The authors stop an accelerated gradient method after 100 iterations. Here the points are
    eliminated and the remaining lasso is solved exactly, so there is no tolerance to choose and
    the answer does not depend on the scale of the data. A set whose mean is nearly zero has the
    penalty of a mean a millionth as long as its samples.

    Parameters
    ----------
    w_hull : float, default=1.0
        Weight of the distance between the hulls' points.
    w_samples : float, default=0.01
        Weight of their distances to the combinations of samples.
    penalty : float, default=0.1
        Weight of the l1 norms, as a share of the weight that makes all sample weights zero for
        a point at the mean.
    energy : float, default=0.98
        Share of the variance that the directions of a hull hold, at most 1.
    n_jobs : int, optional

    Attributes
    ----------
    unit_ : float
        Largest absolute value of the gallery's vectors.
    n_dims_ : array of int, shape (n_sets,)
        Dimensions of the gallery's hulls.

    Examples
    --------
    >>> from setwise.baselines import SANP
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets()
    >>> SANP(energy=0.5).fit(sets[::2], labels[::2]).predict(sets[1::2])
    array([0, 1, 1, 2])
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

    def _gallery_models(self, gallery: SetBatch) -> list[SampledHull]:
        models = [self._model(vectors) for vectors in gallery]
        self.n_dims_ = np.array([model.hull.n_dims for model in models])
        return models

    def _model(self, vectors: FloatArray) -> SampledHull:
        return SampledHull.of(vectors / self.unit_, self.energy)

    def _distances(self, model: SampledHull) -> list[float]:
        distances = []
        for other in self.gallery_models_:
            points = sanp_points(
                model, other, w_hull=self.w_hull, w_samples=self.w_samples, penalty=self.penalty
            )
            n_dims = max(model.hull.n_dims + other.hull.n_dims, 1)
            distances.append(points.value * n_dims)
        return distances
