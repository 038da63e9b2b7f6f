"""Hulls of sets, and how far two of them are apart (Cevikalp and Triggs, CVPR 2010)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from setwise._support.types import FloatArray
from setwise.baselines.simplex_qp import duality_gap, is_closed, least_weights
from setwise.baselines.subspaces import set_subspace
from setwise.errors import ConvergenceWarning

__all__ = [
    "AffineHull",
    "ClosestPoints",
    "affine_hull",
    "affine_hull_distance",
    "gram_hull_distance",
]

# Two affine hulls share a direction when the sine of the angle between them is below this:
# the bases themselves are rounded, and a direction of pure rounding must not count.
SHARED = 1e-10
# What is left of the gap is worth a warning above this.
_DOUBTFUL = 1e-6
# How many vectors of a set are let in at once.
_POOL = 60


@dataclass(frozen=True)
class AffineHull:
    """A mean and the orthonormal directions (columns) that a set varies in."""

    mean: FloatArray
    basis: FloatArray

    @property
    def n_dims(self) -> int:
        """How many directions there are; none for one vector."""
        return self.basis.shape[1]


@dataclass(frozen=True)
class ClosestPoints:
    """Where two convex hulls come closest, with a proof.

    Attributes
    ----------
    distance : float
        Between the two points.
    alpha, beta : arrays of shape (n_vectors_a,), (n_vectors_b,)
        Weights of the vectors in either point: within bounds, sum 1.
    gap : float
        The squared distance exceeds the least one by no more than twice this.
    """

    distance: float
    alpha: FloatArray
    beta: FloatArray
    gap: float


def affine_hull(vectors: FloatArray, energy: float) -> AffineHull:
    """Mean and fewest principal directions that hold a share ``energy`` of the variance."""
    basis = set_subspace(vectors, energy=energy, centred=True)
    return AffineHull(vectors.mean(axis=0), basis)


def affine_hull_distance(
    mean_a: FloatArray, basis_a: FloatArray, mean_b: FloatArray, basis_b: FloatArray
) -> float:
    """Least distance between two affine hulls, each a mean plus all that its basis spans.

    ``||(I - Q Q')(mean_a - mean_b)||`` with ``Q`` an orthonormal basis of the span of both
    bases: the first basis, and what the second adds to it beyond a sine of 1e-10. Exactly 0
    where that is the whole space.

    Parameters
    ----------
    mean_a, mean_b : arrays of shape (n_features,)
        One point of each hull.
    basis_a, basis_b : arrays of shape (n_features, n_dims)
        Orthonormal columns; none for a set of one vector.
    """
    added = basis_b - basis_a @ (basis_a.T @ basis_b)
    directions, sines, _ = np.linalg.svd(added, full_matrices=False)
    directions = directions[:, sines > SHARED]
    if basis_a.shape[1] + directions.shape[1] >= len(mean_a):
        return 0.0
    rest = mean_a - mean_b
    # Twice, because the two bases are orthogonal to each other only up to rounding.
    for _ in range(2):
        rest = rest - basis_a @ (basis_a.T @ rest)
        rest = rest - directions @ (directions.T @ rest)
    return float(np.linalg.norm(rest))


def gram_hull_distance(gram: FloatArray, n_a: int, tau: float = 1.0) -> ClosestPoints:
    """Least distance between two convex hulls by inner products, and where it is attained.

    ``min ||A'alpha - B'beta||`` subject to ``sum alpha = sum beta = 1`` and weights in
    ``[0, tau]``; with ``tau`` below 1 no vector may weigh more. By a primal-dual
    interior-point method (Mehrotra's predictor and corrector) that keeps both sides
    feasible, then one equality-constrained solve on the vectors that have weight. Distances
    below 1e-8 times the size of the sets are lost in the rounding of inner products, and come
    out as about that or 0.

    Parameters
    ----------
    gram : array of shape (n_a + n_b, n_a + n_b)
        Inner products (or kernel values) of all vectors, those of the first set first.
    n_a : int
        How many belong to the first set.
    tau : float, default=1.0
        Largest weight of a vector, at least ``1 / n`` for either set.
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
    """Best weights of all vectors, by those of a pool of vectors that grows as needed.

    Few vectors have weight where sets are large: the nearest to the other set are tried
    first, then those that would come nearer still are let in.
    """
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
    """Best weights where all vectors may have some.

    A bound that leaves a set no choice of weights makes it a point: its mean. It is then
    subtracted from the vectors of the other set, and only their weights are sought.
    """
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
    """Inner products about the mean, of the first set's vectors and minus the second's."""
    means = gram.mean(axis=0)
    centred = gram - means[:, None] - means[None, :] + means.mean()
    signs = np.where(np.arange(len(gram)) < n_a, 1.0, -1.0)
    return centred * signs[:, None] * signs
