"""The nearest hull: AHISD and CHISD (Cevikalp and Triggs, CVPR 2010)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from setwise._support.parameters import check_choice, check_number, refuse
from setwise._support.types import FloatArray, IntArray
from setwise.baselines.base import NearestSet
from setwise.baselines.simplex_qp import duality_gap, is_closed, least_weights
from setwise.baselines.subspaces import set_subspace
from setwise.errors import ConvergenceWarning, DegenerateHullWarning
from setwise.sets import SetBatch

# Two affine hulls share a direction when the sine of the angle between them is below this.
SHARED = 1e-10
_DOUBTFUL = 1e-6  # a larger relative gap causes a warning
_POOL = 60  # vectors of a set that are added to the pool at once


@dataclass(frozen=True)
class AffineHull:
    """A mean and the orthonormal directions (columns) in which a set varies."""

    mean: FloatArray
    basis: FloatArray

    @property
    def n_dims(self) -> int:
        """Number of directions; 0 for one vector."""
        return self.basis.shape[1]


@dataclass(frozen=True)
class ClosestPoints:
    """Closest points of two convex hulls, with a bound on the error."""

    distance: float
    alpha: FloatArray  # weights of the first set's vectors: within bounds, sum 1
    beta: FloatArray
    gap: float  # the squared distance is at most twice this above the smallest


def affine_hull(vectors: FloatArray, energy: float) -> AffineHull:
    """Mean and fewest principal directions that hold a share of the variance."""
    return AffineHull(vectors.mean(axis=0), set_subspace(vectors, energy=energy, centred=True))


def affine_hull_distance(
    mean_a: FloatArray, basis_a: FloatArray, mean_b: FloatArray, basis_b: FloatArray
) -> float:
    """Smallest distance between two affine hulls, each a mean and an orthonormal basis."""
    added = basis_b - basis_a @ (basis_a.T @ basis_b)
    directions, sines, _ = np.linalg.svd(added, full_matrices=False)
    directions = directions[:, sines > SHARED]
    if basis_a.shape[1] + directions.shape[1] >= len(mean_a):  # they span the whole space
        return 0.0
    rest = mean_a - mean_b
    # Twice, because the two bases are orthogonal to each other only up to rounding.
    for _ in range(2):
        rest = rest - basis_a @ (basis_a.T @ rest)
        rest = rest - directions @ (directions.T @ rest)
    return float(np.linalg.norm(rest))


def gram_hull_distance(gram: FloatArray, n_a: int, tau: float = 1.0) -> ClosestPoints:
    """Smallest distance between two convex hulls, from the Gram matrix of all vectors.

    Weights are in ``[0, tau]``; the ``n_a`` vectors of the first set come first. Distances
    below 1e-8 times the size of the sets are lost in the rounding of inner products.
    """
    signed = _signed(gram, n_a)
    scale = float(np.diag(signed).max(initial=0.0)) or 1.0
    sides = (slice(0, n_a), slice(n_a, len(signed)))
    weights = _weights(signed / scale, sides, tau)
    gradient = signed @ weights
    squared = max(float(weights @ gradient), 0.0)
    gap = duality_gap(gradient, squared, sides, tau)
    if gap > max(_DOUBTFUL * squared, 1e-4 * _DOUBTFUL * scale):
        msg = (
            f"convex hulls: the squared distance {squared:.6g} may be too large by "
            f"{2 * gap:.2g}; the interior-point method did not converge."
        )
        warnings.warn(msg, ConvergenceWarning, stacklevel=2)
    return ClosestPoints(float(np.sqrt(squared)), weights[:n_a], weights[n_a:], gap)


def _weights(signed: FloatArray, sides: Sequence[slice], tau: float) -> FloatArray:
    """Best weights of all vectors, from a pool grown by vectors that reduce the distance."""
    if len(signed) <= _POOL:
        return _pool_weights(signed, sides, tau)
    is_inside = np.zeros(len(signed), dtype=bool)
    gradient = signed.mean(axis=1)
    while True:
        for side in sides:
            order = side.start + np.argsort(gradient[side], kind="stable")
            n_new = _POOL if len(order) * tau > 2 else len(order)
            is_inside[order[~is_inside[order]][: max(n_new, int(2 / tau))]] = True
        pool = np.flatnonzero(is_inside)
        n_a = int(is_inside[sides[0]].sum())
        inner = (slice(0, n_a), slice(n_a, len(pool)))
        weights = np.zeros(len(signed))
        weights[pool] = _pool_weights(signed[np.ix_(pool, pool)], inner, tau)
        gradient = signed @ weights
        squared = float(weights @ gradient)
        gap = duality_gap(gradient, squared, sides, tau)
        if is_inside.all() or is_closed(gap, squared):
            return weights


def _pool_weights(signed: FloatArray, sides: Sequence[slice], tau: float) -> FloatArray:
    """Best weights of all vectors; a set is a point where ``tau`` forces equal weights."""
    weights = np.zeros(len(signed))
    is_free = np.zeros(len(signed), dtype=bool)
    free_sides = []
    for side in sides:
        n_vectors = side.stop - side.start
        if n_vectors * tau > 1 + 1e-9:
            first = int(is_free.sum())
            free_sides.append(slice(first, first + n_vectors))
            is_free[side] = True
        else:
            weights[side] = 1 / n_vectors
    if free_sides:
        spread = np.eye(len(signed))[:, is_free] + weights[:, None]
        weights[is_free] = least_weights(spread.T @ signed @ spread, free_sides, tau)
    return weights


def _signed(gram: FloatArray, n_a: int) -> FloatArray:
    """Centred inner products of the first set's vectors and the negated second's."""
    means = gram.mean(axis=0)
    centred = gram - means[:, None] - means[None, :] + means.mean()
    signs = np.where(np.arange(len(gram)) < n_a, 1.0, -1.0)
    return centred * signs[:, None] * signs


@dataclass(eq=False, repr=False)
class AHISD(NearestSet):
    """The nearest affine hull: a set is its mean and the span of its main directions.

    Cevikalp and Triggs ("Face recognition based on image sets", CVPR 2010). The distance of two
    sets is that of the nearest points of their hulls. Hulls whose dimensions sum to
    ``n_features`` or more always intersect; such pairs cause a warning.

    Parameters
    ----------
    energy : float, default=0.98
        Share of the variance that the directions of a hull hold, at most 1.
    n_jobs : int, optional

    Attributes
    ----------
    n_dims_ : array of int, shape (n_sets,)
        Dimensions of the gallery's hulls.
    n_degenerate_pairs_ : int
        Pairs of gallery sets whose hulls must intersect, by their dimensions alone.

    Examples
    --------
    >>> from setwise.baselines import AHISD
    >>> from setwise.evaluation.testing import separable_sets
    >>> AHISD(energy=0.5).fit(*separable_sets()).score(*separable_sets())
    1.0
    """

    energy: float = 0.98

    def _learn(self, gallery: SetBatch, codes: IntArray) -> None:
        check_number("AHISD", "energy", self.energy, at_most=1)

    def _stacked(self, models: list[AffineHull]) -> list[AffineHull]:
        self.n_dims_ = np.array([hull.n_dims for hull in models])
        n_features = len(models[0].mean)
        fills = self.n_dims_[:, None] + self.n_dims_ >= n_features
        self.n_degenerate_pairs_ = int(np.triu(fills, k=1).sum())
        if self.n_degenerate_pairs_ > 0:
            n_pairs = len(models) * (len(models) - 1) // 2
            msg = (
                f"AHISD: the hulls of {self.n_degenerate_pairs_} of {n_pairs} pairs of gallery "
                f"sets fill all {n_features} dimensions, so that their distance is 0. Lower "
                f"energy (now {self.energy:g})."
            )
            warnings.warn(msg, DegenerateHullWarning, stacklevel=5)  # of fit
        return models

    def _model(self, vectors: FloatArray) -> AffineHull:
        return affine_hull(vectors, self.energy)

    def _distances(self, model: AffineHull) -> list[float]:
        return [
            affine_hull_distance(hull.mean, hull.basis, model.mean, model.basis)
            for hull in self.gallery_models_
        ]

    def _scores(self, X: Any, caller: str) -> FloatArray:
        scores = super()._scores(X, caller)
        n_tied = int(((scores == 0).sum(axis=1) > 1).sum())
        if n_tied > 0:
            msg = (
                f"AHISD.{caller}: {n_tied} of {len(scores)} sets are at distance 0 from "
                f"several classes, of which the first is predicted. Lower energy (now "
                f"{self.energy:g})."
            )
            warnings.warn(msg, DegenerateHullWarning, stacklevel=3)
        return scores


@dataclass(eq=False, repr=False)
class CHISD(NearestSet):
    """The nearest convex hull: a set is all weighted means of its vectors.

    Cevikalp and Triggs ("Face recognition based on image sets", CVPR 2010). The authors solve
    the dual as a support vector machine; here interior points solve it to rounding.

    Parameters
    ----------
    tau : float, default=1.0
        Largest weight of a vector, at least 1 over the size of any set; below 1, hulls shrink.
    kernel : {"linear", "rbf"}, default="linear"
        With ``"rbf"``, hulls are those in the kernel's space.
    gamma : float, optional
        Of ``"rbf"``; by default 1 over the mean squared distance of vectors to their mean.
    n_jobs : int, optional

    Examples
    --------
    >>> from setwise.baselines import CHISD
    >>> from setwise.evaluation.testing import separable_sets
    >>> CHISD().fit(*separable_sets()).score(*separable_sets())
    1.0
    """

    tau: float = 1.0
    _: KW_ONLY
    kernel: str = "linear"
    gamma: float | None = None

    def _learn(self, gallery: SetBatch, codes: IntArray) -> None:
        check_number("CHISD", "tau", self.tau, at_most=1)
        check_choice("CHISD", "kernel", self.kernel, ("linear", "rbf"))
        if self.gamma is not None:
            check_number("CHISD", "gamma", self.gamma)
        self._check_probes(gallery, "CHISD.fit")
        is_linear = self.kernel == "linear"
        # Distances do not change when all sets move, and inner products round less near 0.
        self.centre_ = gallery.vectors.mean(axis=0)
        around = gallery.vectors - self.centre_
        self.unit_ = float(np.abs(around).max()) or 1.0 if is_linear else 1.0
        self.gamma_ = None if is_linear else self.gamma
        if not is_linear and self.gamma is None:
            self.gamma_ = 1.0 / (float((around**2).sum(axis=1).mean()) or 1.0)

    def _check_probes(self, probes: SetBatch, caller: str) -> None:
        """Refuse sets whose weights cannot sum to 1."""
        for i in np.flatnonzero(probes.sizes * self.tau < 1 - 1e-9):
            n = int(probes.sizes[i])
            expected = f"at least 1/{n} for the {n} vectors of {probes.names[i]!r}"
            refuse(caller, "tau", expected, self.tau)

    def _model(self, vectors: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Vectors in the kernel's units, and their inner products."""
        points = (vectors - self.centre_) / self.unit_
        return points, self._products(points, points)

    def _products(self, a: FloatArray, b: FloatArray) -> FloatArray:
        if self.gamma_ is None:
            return a @ b.T
        return np.exp(-self.gamma_ * cdist(a, b, "sqeuclidean"))

    def _distances(self, model: tuple[FloatArray, FloatArray]) -> list[float]:
        points, products = model
        distances = []
        for others, their_products in self.gallery_models_:
            cross = self._products(points, others)
            gram = np.block([[products, cross], [cross.T, their_products]])
            distance = gram_hull_distance(gram, len(points), self.tau).distance
            distances.append(distance * self.unit_)
        return distances
