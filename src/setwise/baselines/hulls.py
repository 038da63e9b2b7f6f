"""Hulls of sets, and how far two of them are apart (Cevikalp and Triggs, CVPR 2010)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from setwise.baselines.subspaces import set_subspace
from setwise.errors import ConvergenceWarning
from setwise.types import FloatArray

__all__ = [
    "AffineHull",
    "ClosestPoints",
    "affine_hull",
    "affine_hull_distance",
    "convex_hull_distance",
    "gram_hull_distance",
]

# Two affine hulls share a direction when the sine of the angle between them is below this:
# the bases themselves are rounded, and a direction of pure rounding must not count.
SHARED = 1e-10
# Interior-point steps stop when the duality gap is below the first times the squared
# distance, or the second times the squared size of the sets: there, rounding begins.
_GAP, _ROUNDING = 1e-11, 1e-15
# What is left of the gap is worth a warning above this.
_DOUBTFUL = 1e-6
# Fifteen are usual; far more than any problem has taken.
_MAX_STEPS = 100
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


def convex_hull_distance(
    vectors_a: FloatArray, vectors_b: FloatArray, tau: float = 1.0
) -> ClosestPoints:
    """Least distance between two convex hulls, exactly, and where it is attained.

    ``min ||A'alpha - B'beta||`` subject to ``sum alpha = sum beta = 1`` and weights in
    ``[0, tau]``. With ``tau`` below 1 the hulls are reduced: no vector may weigh more.

    Parameters
    ----------
    vectors_a, vectors_b : arrays of shape (n_vectors, n_features)
        The two sets, one vector a row; ``tau`` must be at least 1 / n_vectors of either.
    tau : float, default=1.0
        Largest weight of a vector.
    """
    # Distances do not change when both sets move; inner products round less near the origin.
    centre = (vectors_a.mean(axis=0) + vectors_b.mean(axis=0)) / 2
    both = np.vstack([vectors_a - centre, centre - vectors_b])
    size = float(np.abs(both).max()) or 1.0
    both /= size
    found = gram_hull_distance(both @ both.T, len(vectors_a), tau, is_signed=True)
    between = np.append(found.alpha, found.beta) @ both
    # By the vectors themselves: the squares of the Gram matrix hide what is small.
    sides = (slice(0, len(vectors_a)), slice(len(vectors_a), len(both)))
    gap = _duality_gap(both @ between, float(between @ between), sides, tau)
    distance = float(np.linalg.norm(between)) * size
    return replace(found, distance=distance, gap=gap * size * size)


def gram_hull_distance(
    gram: FloatArray, n_a: int, tau: float = 1.0, *, is_signed: bool = False
) -> ClosestPoints:
    """Least distance between two convex hulls of which only inner products are known.

    As :func:`convex_hull_distance`, by a primal-dual interior-point method (Mehrotra's
    predictor and corrector) that keeps both sides feasible, then one equality-constrained
    solve on the vectors that have weight. Distances below 1e-8 times the size of the sets
    are lost in the rounding of inner products, and come out as about that or 0.

    Parameters
    ----------
    gram : array of shape (n_a + n_b, n_a + n_b)
        Inner products (or kernel values) of all vectors, those of the first set first.
    n_a : int
        How many belong to the first set.
    tau : float, default=1.0
        Largest weight of a vector, at least ``1 / n`` for either set.
    is_signed : bool, default=False
        Whether the second set's vectors have been negated already, and both been centred.
    """
    signed = gram if is_signed else _signed(gram, n_a)
    scale = float(np.diag(signed).max(initial=0.0)) or 1.0
    sides = (slice(0, n_a), slice(n_a, len(signed)))
    weights = _weights(signed / scale, sides, tau)
    gradient = signed @ weights
    squared = max(float(weights @ gradient), 0.0)
    gap = _duality_gap(gradient, squared, sides, tau)
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
        gap = _duality_gap(gradient, squared, sides, tau)
        if is_inside.all() or gap <= max(_GAP * squared, _ROUNDING):
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
        problem = _Problem(spread.T @ signed @ spread, free_sides, tau)
        weights[is_free] = _polished(problem, _interior_point(problem))
    return weights


def _signed(gram: FloatArray, n_a: int) -> FloatArray:
    """Inner products about the mean, of the first set's vectors and minus the second's."""
    means = gram.mean(axis=0)
    centred = gram - means[:, None] - means[None, :] + means.mean()
    signs = np.where(np.arange(len(gram)) < n_a, 1.0, -1.0)
    return centred * signs[:, None] * signs


def _duality_gap(
    gradient: FloatArray, squared: float, sides: Sequence[slice], tau: float
) -> float:
    """Squared distance less its lower bound along the present direction.

    The bound is the width of the slab between the two hulls: for ``tau`` 1 ``min_i <a_i, z> -
    max_j <b_j, z>``, below it means over as many vectors as must share the weight; 0 at least.
    """
    reach = 0.0
    for side in sides:
        towards = np.sort(gradient[side])
        reach += float(towards @ np.clip(1.0 - tau * np.arange(len(towards)), 0.0, tau))
    return max(squared - max(reach, 0.0), 0.0)


class _Problem:
    """``min 1/2 x'Qx`` over weights in ``[0, tau]`` that sum to 1 on every side."""

    def __init__(self, products: FloatArray, sides: Sequence[slice], tau: float) -> None:
        self.products, self.sides, self.tau = products, sides, tau
        self.sums = np.zeros((len(products), len(sides)))
        for i, side in enumerate(sides):
            self.sums[side, i] = 1.0
        # A price on the squared sums, which are given, costs nothing and keeps the steps well
        # determined where vectors are dependent.
        self.curved = products + self.sums @ self.sums.T
        self.start = 1.0 / (self.sums @ self.sums.sum(axis=0))
        # The sums imply a bound of 1.
        self.is_bounded = tau < 1

    def room(self, x: FloatArray) -> FloatArray:
        """What each weight lacks of its upper bound; 1 if there is none."""
        return self.tau - x if self.is_bounded else np.ones(len(x))

    def gap(self, x: FloatArray, gradient: FloatArray) -> float:
        """See :func:`_duality_gap`."""
        return _duality_gap(gradient, float(x @ gradient), self.sides, self.tau)


@dataclass(frozen=True)
class _Iterate:
    """Weights, and the prices of their lower and upper bounds (0 where there is none)."""

    x: FloatArray
    lower: FloatArray
    upper: FloatArray


def _interior_point(problem: _Problem) -> _Iterate:
    """Follow the central path until the gap closes, or rounding ends it."""
    x = problem.start
    gradient = problem.products @ x
    upper = np.full(len(x), 1.0 if problem.is_bounded else 0.0)
    lower = gradient + upper
    for side in problem.sides:
        lower[side] += 1.0 - lower[side].min()
    here = best = _Iterate(x, lower, upper)
    least = np.inf
    for _ in range(_MAX_STEPS):
        gradient = problem.products @ here.x
        gap = problem.gap(here.x, gradient)
        if gap < least:
            best, least = here, gap
        if gap <= max(_GAP * float(here.x @ gradient), _ROUNDING):
            break
        following = _next(problem, here, gradient)
        if following is None:
            break
        here = following
    return best


def _next(problem: _Problem, here: _Iterate, gradient: FloatArray) -> _Iterate | None:
    """One predictor and corrector step; None where rounding leaves no step to take."""
    x, room = here.x, problem.room(here.x)
    n_bounds = len(x) * (1 + problem.is_bounded)
    mean = float(here.lower @ x + here.upper @ room) / n_bounds
    curved = problem.curved.copy()
    curved.flat[:: len(x) + 1] += here.lower / x + here.upper / room
    factor, info = lapack.dpotrf(curved, lower=1, overwrite_a=1)
    if info != 0 or mean <= 0:
        return None
    step = _Step(problem, here, gradient, factor)
    x_1, lower_1, upper_1 = step.towards(0.0)
    reach = step.reach(x_1, lower_1, upper_1)
    # Prices of upper bounds stay 0 where there are none.
    after = (here.lower + reach * lower_1) @ (x + reach * x_1)
    after += (here.upper + reach * upper_1) @ (room - reach * x_1)
    # Mehrotra: aim at the mean that the predictor promises, cubed.
    aim = mean * (float(after) / n_bounds / mean) ** 3
    x_2, lower_2, upper_2 = step.towards(aim, x_1 * lower_1, -x_1 * upper_1)
    stride = 0.995 * step.reach(x_2, lower_2, upper_2)
    lower, upper = here.lower + stride * lower_2, here.upper + stride * upper_2
    moved = _Iterate(x + stride * x_2, lower, upper)
    is_inside = moved.x.min() > 0 and problem.room(moved.x).min() > 0
    return moved if is_inside and stride > 1e-8 else None


class _Step:
    """Newton steps from one iterate, all by one factor."""

    def __init__(
        self, problem: _Problem, here: _Iterate, gradient: FloatArray, factor: FloatArray
    ) -> None:
        self.problem, self.here, self.factor = problem, here, factor
        self.room = problem.room(here.x)
        # What the prices of the bounds leave to those of the sums.
        self.unpaid = gradient - here.lower + here.upper
        self.by_sums = lapack.dpotrs(factor, problem.sums, lower=1)[0]
        self.short = 1.0 - problem.sums.T @ here.x

    def towards(
        self, mean: float, below: FloatArray | float = 0.0, above: FloatArray | float = 0.0
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Change of the weights and of both prices that makes every product ``mean``.

        ``below`` and ``above`` are the second-order terms of the products.
        """
        here, sums = self.here, self.problem.sums
        low = mean - here.x * here.lower - below
        high = (mean - self.room * here.upper - above) * self.problem.is_bounded
        pull = low / here.x - high / self.room - self.unpaid
        free = lapack.dpotrs(self.factor, pull, lower=1)[0]
        prices = np.linalg.solve(sums.T @ self.by_sums, self.short - sums.T @ free)
        change = free + self.by_sums @ prices
        lower = (low - here.lower * change) / here.x
        return change, lower, (high + here.upper * change) / self.room

    def reach(self, x: FloatArray, lower: FloatArray, upper: FloatArray) -> float:
        """Longest stride, up to 1, that keeps weights and prices inside."""
        falls = [-x / self.here.x, -lower / self.here.lower]
        if self.problem.is_bounded:
            falls += [x / self.room, -upper / self.here.upper]
        return 1.0 / max(1.0, *(float(fall.max()) for fall in falls))


def _polished(problem: _Problem, found: _Iterate) -> FloatArray:
    """Solve once more where weights are neither 0 nor at their bound, if that helps.

    A weight is taken for 0 when it is below the price of being so, and likewise at ``tau``.
    """
    x = found.x / (problem.sums @ (problem.sums.T @ found.x))
    is_full = problem.room(x) < found.upper
    is_free = (x > found.lower) & ~is_full
    trial = np.where(is_full, problem.tau, np.where(is_free, x, 0.0))
    sums = problem.sums[is_free]
    n = len(sums)
    system = np.zeros((sum(sums.shape), sum(sums.shape)))
    system[:n, :n] = problem.products[np.ix_(is_free, is_free)]
    system[:n, n:], system[n:, :n] = sums, sums.T
    wanted = np.append(-(problem.products @ trial)[is_free], 1 - problem.sums.T @ trial)
    # Least squares: where the hulls meet, or vectors are copies, there are many solutions.
    trial[is_free] += linalg.lstsq(system, wanted, check_finite=False)[0][:n]
    trial = np.clip(trial, 0.0, problem.tau if problem.is_bounded else None)
    totals = problem.sums @ (problem.sums.T @ trial)
    if (totals <= 0).any():
        return x
    trial = trial / totals
    gaps = [problem.gap(w, problem.products @ w) for w in (trial, x)]
    # Scaling may push a weight above its bound, by rounding only.
    is_within = not problem.is_bounded or trial.max() <= problem.tau * (1 + 1e-14)
    return trial if is_within and gaps[0] <= gaps[1] else x
