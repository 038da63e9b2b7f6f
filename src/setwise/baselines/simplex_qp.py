"""The shortest combination of vectors with weights that sum to one on each side.

``min 1/2 x'Qx`` over weights in ``[0, tau]`` that sum to 1 on every *side* (a slice of them):
the distance of two convex hulls. A primal-dual interior-point method (Mehrotra's predictor and
corrector) keeps both sides feasible; one equality-constrained solve on the weights strictly
inside their bounds follows. General solvers stop at tolerances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from setwise._support.types import FloatArray

# Steps stop when the duality gap is below the first times the squared distance, or the second
# times the squared size of the sets: there, rounding begins.
_GAP, _ROUNDING = 1e-11, 1e-15
_MAX_STEPS = 100  # fifteen are usual


def least_weights(products: FloatArray, sides: Sequence[slice], tau: float) -> FloatArray:
    """Weights of the shortest combination, from inner products of at most about 1."""
    problem = _Problem(products, sides, tau)
    return _polished(problem, _interior_point(problem))


def is_closed(gap: float, squared: float) -> bool:
    """Whether a gap is down to rounding."""
    return gap <= max(_GAP * squared, _ROUNDING)


def duality_gap(
    gradient: FloatArray, squared: float, sides: Sequence[slice], tau: float
) -> float:
    """Squared distance minus its lower bound along the current direction, at least 0.

    The bound is the width of the slab between the two hulls: for ``tau=1`` ``min_i <a_i, z> -
    max_j <b_j, z>``, below it means over as many vectors as must share the weight.
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
        self.is_bounded = tau < 1  # the sums imply a bound of 1

    def room(self, x: FloatArray) -> FloatArray:
        """Distance of each weight to its upper bound; 1 if there is none."""
        return self.tau - x if self.is_bounded else np.ones(len(x))

    def gap(self, x: FloatArray, gradient: FloatArray) -> float:
        """See :func:`duality_gap`."""
        return duality_gap(gradient, float(x @ gradient), self.sides, self.tau)


@dataclass(frozen=True)
class _Iterate:
    """Weights, and the dual variables of their lower and upper bounds (0 where none)."""

    x: FloatArray
    lower: FloatArray
    upper: FloatArray


def _interior_point(problem: _Problem) -> _Iterate:
    """Follow the central path until the gap closes or rounding stops it."""
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
        if is_closed(gap, float(here.x @ gradient)):
            break
        following = _next(problem, here, gradient)
        if following is None:
            break
        here = following
    return best


def _next(problem: _Problem, here: _Iterate, gradient: FloatArray) -> _Iterate | None:
    """One predictor and corrector step; None where rounding leaves no step."""
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
    """Newton steps from one iterate, all with one factorisation."""

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
        """Change of the weights and of both duals that makes every product ``mean``.

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
        """Longest stride, up to 1, that keeps weights and duals positive."""
        falls = [-x / self.here.x, -lower / self.here.lower]
        if self.problem.is_bounded:
            falls += [x / self.room, -upper / self.here.upper]
        return 1.0 / max(1.0, *(float(fall.max()) for fall in falls))


def _polished(problem: _Problem, found: _Iterate) -> FloatArray:
    """Solve once more where weights are strictly inside their bounds, if that helps.

    A weight counts as 0 when it is below the dual of its lower bound, and likewise at ``tau``.
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
