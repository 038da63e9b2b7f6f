"""Learn a kernel from constraints on pairs, then let points climb to its modes.

Step by step as in Anand, Mittal, Tuzel and Meer, "Semi-supervised kernel mean shift
clustering" (PAMI 2014): a Gaussian kernel, its low-rank factor ``G``, the nearest kernel
``G M G'`` in log-det divergence that keeps must-links near and cannot-links far, and mean shift
with one bandwidth per point. Points with the same mode are one cluster.

Constraints are rows ``(i, j, delta)``: +1 for a must-link of points i and j, -1 for a
cannot-link. Distances are squared, and those of a Gaussian kernel lie in [0, 2].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy import linalg

from setwise._support.types import BoolArray, FloatArray, IntArray

# Target distances of must-linked and of cannot-linked points.
NEAR, FAR = 0.1, 1.9
LEAST_NEAR = 1e-3  # smallest target of must-links: only duplicates could be nearer
KEPT = 0.99  # share of the square root of the trace that a low-rank kernel keeps
_TINY = 1e-12


def squared_distances(points: FloatArray) -> FloatArray:
    """Squared distances of all pairs of rows, of shape (n_points, n_points)."""
    centred = points - points.mean(axis=0)  # far from the origin, products would cancel
    products = centred @ centred.T
    squares = np.diag(products)
    distances: FloatArray = np.maximum(squares[:, None] + squares - 2.0 * products, 0.0)
    np.fill_diagonal(distances, 0.0)
    return distances


def select_sigma(
    distances: FloatArray, constraints: IntArray, sigmas: Sequence[float] | None = None
) -> float:
    """The width of a Gaussian kernel that agrees best with the constraints.

    Minimises the log-det divergence of the constrained distances from the nearest permitted
    ones, by default of ten widths from 0.1 to 10 times the median distance.
    """
    apart = np.sqrt(distances[np.triu_indices(len(distances), 1)])
    median = float(np.median(apart[apart > 0])) if apart.any() else 1.0
    widths = median * np.logspace(-1, 1, 10) if sigmas is None else np.array(sigmas, float)
    if not len(constraints):
        return float(widths[np.argmin(np.abs(np.log(widths / median)))])
    first, second, delta = constraints.T
    wanted = np.where(delta > 0, NEAR, FAR)
    found = 2.0 - 2.0 * np.exp(-distances[first, second] / (2.0 * widths[:, None] ** 2))
    nearest = np.where(delta > 0, np.maximum(wanted, found), np.minimum(wanted, found))
    # Two copies of a point cannot be parted by any width.
    ratio = wanted / np.maximum(nearest, _TINY)
    return float(widths[np.argmin((ratio - np.log(ratio) - 1.0).sum(axis=1))])


def low_rank_factor(kernel: FloatArray, most: int | None = None) -> FloatArray:
    """``G`` with few columns, ``most`` at most, such that ``G G'`` is nearly the kernel."""
    values, vectors = linalg.eigh(kernel)
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    shares = np.sqrt(np.cumsum(values) / max(values.sum(), _TINY))
    rank = min(int(np.searchsorted(shares, KEPT)) + 1, len(values))
    rank = rank if most is None else min(rank, most)
    return vectors[:, :rank] * np.sqrt(values[:rank])


def distance_targets(factor: FloatArray) -> tuple[float, float]:
    """Largest squared distance of must-links and smallest of cannot-links.

    0.1 and 1.9, or the 5th and the 95th percentile of all pairs where these are more extreme.
    """
    distances = squared_distances(factor)[np.triu_indices(len(factor), 1)]
    if not len(distances):
        return NEAR, FAR
    low, high = np.percentile(distances, [5, 95])
    return max(min(NEAR, float(low)), LEAST_NEAR), max(FAR, float(high))


@dataclass(frozen=True)
class LearnedKernel:
    """The learned kernel ``factor @ factor.T`` and how it was reached."""

    factor: FloatArray
    multipliers: FloatArray  # of each constraint; 0 where it already holds
    n_updates: int  # projections
    has_converged: bool


def learn_kernel(
    factor: FloatArray,
    constraints: IntArray,
    targets: FloatArray,
    *,
    gamma: float = 100.0,
    tol: float = 1e-3,
    max_updates: int = 100_000,
) -> LearnedKernel:
    """The nearest kernel in log-det divergence that keeps the constraints, with some slack.

    Cyclic Bregman projections (Davis et al., "Information-theoretic metric learning", 2007). A
    projection turns ``M`` into ``M + beta M v v' M`` and ``M^-1`` into ``M^-1 - delta a v v'``,
    with ``v`` the difference of a constraint's rows of ``G``. So ``M`` follows from the
    multipliers at the end, and until then only the products ``V M V'`` are needed. A larger
    ``gamma`` leaves less slack.
    """
    first, second, delta = constraints.T
    differences = factor[first] - factor[second]
    products = np.asfortranarray(differences @ differences.T)
    multipliers, slack = np.zeros(len(delta)), np.array(targets, dtype=np.float64)
    n_updates, has_converged = 0, len(delta) == 0
    while not has_converged and n_updates < max_updates:
        before = multipliers.copy()
        _sweep(products, delta, multipliers, slack, gamma)
        n_updates += len(delta)
        scale = float(np.linalg.norm(multipliers) + np.linalg.norm(before))
        has_converged = float(np.abs(multipliers - before).sum()) <= tol * scale
    inverse = np.eye(factor.shape[1])
    inverse += differences.T @ ((delta * multipliers)[:, None] * differences)
    root = linalg.cholesky(inverse, lower=True)
    learned = linalg.solve_triangular(root, factor.T, lower=True).T
    return LearnedKernel(learned, multipliers, n_updates, has_converged)


def _sweep(
    products: FloatArray,
    delta: IntArray,
    multipliers: FloatArray,
    slack: FloatArray,
    gamma: float,
) -> None:
    """Project on each constraint once, in place; products above their diagonal."""
    for c, sign in enumerate(delta.tolist()):
        length = products[c, c]
        if length < _TINY:  # copies of one point, which nothing can part
            continue
        step = sign * gamma / (gamma + 1.0) * (1.0 / length - 1.0 / slack[c])
        step = min(multipliers[c], step)
        if step == 0.0:
            continue
        beta = sign * step / max(1.0 - sign * step * length, _TINY)
        slack[c] *= gamma / (gamma + sign * step * slack[c])
        multipliers[c] -= step
        row = np.concatenate([products[:c, c], products[c, c:]])
        linalg.blas.dsyr(beta, row, a=products, overwrite_a=True)


LEAST_BANDWIDTH = 1e-8
# Rank of the neighbour that sets the bandwidth without must-links, as a share of the points.
NEIGHBOURS = 0.05
# Modes nearer than this are one, in units of the median squared bandwidth.
SAME_MODE = 1e-6


@dataclass(frozen=True)
class Modes:
    """Where the points climbed to."""

    positions: FloatArray
    n_iter: int
    n_moving: int  # points that still moved at the limit


def bandwidths(points: FloatArray, constraints: IntArray, near: float) -> FloatArray:
    """Squared bandwidth of each point: squared distance of its k-th neighbour, itself first.

    ``k`` is the median rank of must-linked points nearer than ``near`` among each other's
    neighbours; without any, 5 % of the points.
    """
    distances = squared_distances(points)
    linked = constraints[constraints[:, 2] > 0, :2]
    mates = np.vstack([linked, linked[:, ::-1]])
    lengths = distances[mates[:, 0], mates[:, 1]]
    mates, lengths = mates[lengths < near], lengths[lengths < near]
    np.fill_diagonal(distances, -1.0)  # a point is its own first neighbour, copies or not
    places = 1 + (distances[mates[:, 0]] < lengths[:, None]).sum(axis=1)
    wanted = np.median(places) if len(places) else NEIGHBOURS * len(points)
    k = min(max(int(np.ceil(wanted)), 2), len(points))
    return np.maximum(np.partition(distances, k - 1, axis=1)[:, k - 1], LEAST_BANDWIDTH)


def mean_shift(
    points: FloatArray, squared: FloatArray, *, tol: float = 1e-10, max_iter: int = 10_000
) -> Modes:
    """Let every point climb to its mode, until it moves by less than ``tol``.

    ``z <- sum_j w_j g_j / sum_j w_j`` with ``w_j = h_j^-(d + 2) exp(-||z - g_j||^2 / (2
    h_j^2))``.
    """
    positions, moving, n_iter = points.copy(), np.arange(len(points)), 0
    while len(moving) and n_iter < max_iter:
        old = positions[moving]
        new = _weights(old, points, squared) @ points
        positions[moving] = new
        moving = moving[np.linalg.norm(new - old, axis=1) >= tol]
        n_iter += 1
    return Modes(positions, n_iter, len(moving))


def _weights(positions: FloatArray, points: FloatArray, squared: FloatArray) -> FloatArray:
    """Share of each point (column) in the next step of each position (row)."""
    # In logs, and relative to the largest of a row: h^-(d + 2) alone would overflow.
    exponents = positions @ (points / squared[:, None]).T
    exponents -= 0.5 * (positions**2).sum(axis=1)[:, None] / squared
    constant = (points**2).sum(axis=1) / squared + (points.shape[1] + 2) * np.log(squared)
    exponents -= 0.5 * constant
    exponents -= exponents.max(axis=1, keepdims=True)
    weights: FloatArray = np.exp(exponents)
    return weights / weights.sum(axis=1, keepdims=True)


def merge_modes(positions: FloatArray, squared: FloatArray) -> IntArray:
    """Cluster of each point: chains of modes that nearly coincide are one."""
    is_same: BoolArray = squared_distances(positions) <= SAME_MODE * np.median(squared)
    labels = sp.csgraph.connected_components(sp.csr_array(is_same), directed=False)[1]
    return labels.astype(np.int64)
