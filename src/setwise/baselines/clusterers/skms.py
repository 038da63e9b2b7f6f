"""SKMS, semi-supervised kernel mean shift: labels shape the kernel, modes are clusters.

As in Anand, Mittal, Tuzel and Meer, "Semi-supervised kernel mean shift clustering" (PAMI 2014):
a Gaussian kernel, its low-rank factor ``G``, the nearest kernel ``G M G'`` in log-det
divergence that keeps must-links near and cannot-links far, and mean shift with one bandwidth
per point. Constraints are rows ``(i, j, delta)``: +1 for a must-link of points i and j, -1 for
a cannot-link. Distances are squared; those of a Gaussian kernel lie in [0, 2].
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from scipy import linalg
from sklearn.utils.validation import validate_data

from setwise._support.parameters import (
    as_tuple,
    check_count,
    check_not_negative,
    check_number,
    seed_from,
)
from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.cluster.clusterers import SemiSupervised, check_row_labels
from setwise.cluster.tree import PROBE
from setwise.errors import ConvergenceWarning

# Target distances of must-linked and of cannot-linked points.
NEAR, FAR = 0.1, 1.9
LEAST_NEAR = 1e-3  # smallest target of must-links: only duplicates could be nearer
KEPT = 0.99  # share of the square root of the trace that a low-rank kernel keeps
LEAST_BANDWIDTH = 1e-8
NEIGHBOURS = 0.05  # rank of the neighbour at one bandwidth, without must-links, as a share
SAME_MODE = 1e-6  # modes nearer than this are one, in units of the median squared bandwidth
MOST_DIMS = 25  # that the points are shifted in
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

    In log-det divergence; by default of ten from 0.1 to 10 times the median distance.
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

    Cyclic Bregman projections (Davis et al., "Information-theoretic metric learning", 2007).
    Each adds to ``M^-1`` the outer product of a difference of rows of ``G``. So ``M`` follows
    from the multipliers at the end, and until then only the products of the differences are
    needed. A larger ``gamma`` leaves less slack.
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
    """Let every point climb to its mode, until it moves by less than ``tol``."""
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


@dataclass(frozen=True)
class KernelClusters:
    """Clusters by mean shift, the kernel they were found in, and its costs."""

    labels: IntArray
    sigma: float  # width of the initial kernel
    kernel: FloatArray
    n_updates: int  # projections of the kernel
    n_iter: int  # steps of mean shift


def random_constraints(labels: Any, share: float, rng: np.random.Generator) -> IntArray:
    """Random pairs of labelled points: must-links within a class, else cannot-links.

    Rows ``(i, j, delta)``, as many as the ``share`` of the number of labelled points; -1 marks
    the unlabelled.
    """
    labels = np.asarray(labels)
    labelled = np.flatnonzero(labels != PROBE)
    n = len(labelled)
    n_pairs = round(share * n) if n > 1 else 0
    if n_pairs == 0:
        return np.empty((0, 3), dtype=np.int64)
    first = rng.integers(n, size=n_pairs)
    second = (first + rng.integers(1, n, size=n_pairs)) % n
    first, second = labelled[first], labelled[second]
    delta = np.where(labels[first] == labels[second], 1, -1)
    return np.column_stack([first, second, delta]).astype(np.int64)


def skms(
    points: FloatArray,
    constraints: IntArray,
    *,
    sigmas: Sequence[float] | None = None,
    gamma: float = 100.0,
    tol: float = 1e-3,
    max_updates: int = 100_000,
) -> KernelClusters:
    """Cluster points by mean shift in a kernel that keeps constraints, see :class:`SKMS`."""
    distances = squared_distances(points)
    sigma = select_sigma(distances, constraints, sigmas)
    factor = low_rank_factor(np.exp(-distances / (2.0 * sigma**2)))
    near, far = distance_targets(factor)
    targets = np.where(constraints[:, 2] > 0, near, far)
    how: Any = {"gamma": gamma, "tol": tol, "max_updates": max_updates}
    learned = learn_kernel(factor, constraints, targets, **how)
    if not learned.has_converged:
        _warn(f"the kernel still changed after max_updates={max_updates} projections")
    kernel = learned.factor @ learned.factor.T
    coordinates = low_rank_factor(kernel, MOST_DIMS)
    squared = bandwidths(coordinates, constraints, near)
    modes = mean_shift(coordinates, squared)
    if modes.n_moving:
        _warn(f"{modes.n_moving} points still moved after {modes.n_iter} mean shifts")
    labels = merge_modes(modes.positions, squared)
    return KernelClusters(labels, sigma, kernel, learned.n_updates, modes.n_iter)


def _warn(what: str) -> None:
    warnings.warn(f"SKMS: {what}; its clusters are approximate.", ConvergenceWarning, 3)


@dataclass(eq=False, repr=False)
class SKMS(SemiSupervised):
    """Semi-supervised kernel mean shift: labels shape the kernel, its modes are clusters.

    Random pairs of labelled rows become must-links and cannot-links; a Gaussian kernel is
    changed as little as possible so that they hold, and mean shift finds its modes (Anand,
    Mittal, Tuzel and Meer, PAMI 2014). The number of clusters is an outcome; with few
    constraints there are many. Rows are not scaled.

    Parameters
    ----------
    constraint_share : float, default=1.0
        Number of random pairs, as a share of the number of labelled rows.
    sigmas : sequence of float, optional
        Candidate widths of the kernel; by default ten around the median distance.
    gamma : float, default=100.0
        Larger values keep constraints more strictly.
    tol : float, default=1e-3
        Relative change of the kernel's multipliers at which learning stops.
    max_updates : int, default=100_000
        Most projections; more needed cause a :class:`setwise.errors.ConvergenceWarning`.
    random_state : int, RandomState or None, default=None
        Selects the pairs.

    Attributes
    ----------
    labels_ : array of int, shape (n_samples,)
    n_clusters_ : int
    sigma_ : float
        The chosen width.
    constraints_ : array of int, shape (n_constraints, 3)
        Rows ``(i, j, delta)``: ``delta`` is 1 for must-links, -1 for cannot-links.
    kernel_ : array of shape (n_samples, n_samples)
        The learned kernel.
    n_updates_ : int
        Projections.

    Examples
    --------
    >>> from setwise import SKMS
    >>> X = [[0.0, 0], [0, 0.1], [0.1, 0], [5, 5], [5, 5.1], [5.1, 5]]
    >>> SKMS(random_state=0).fit_predict(X, [0, 0, -1, 1, 1, -1])
    array([0, 0, 0, 1, 1, 1])
    """

    _: KW_ONLY
    constraint_share: float = 1.0
    sigmas: Sequence[float] | None = None
    gamma: float = 100.0
    tol: float = 1e-3
    max_updates: int = 100_000
    random_state: Any = None

    def fit(self, X: Any, y: Any) -> Self:
        """Cluster the rows of ``X``, of classes ``y``; -1 marks the unlabelled rows."""
        sigmas = self._check_parameters()
        points = validate_data(self, X, dtype=np.float64)
        labels = check_row_labels(y, len(points), "SKMS.fit")
        rng = np.random.default_rng(seed_from(self.random_state, "SKMS"))
        self.constraints_ = random_constraints(labels, self.constraint_share, rng)
        how: Any = {name: getattr(self, name) for name in ("gamma", "tol", "max_updates")}
        found = skms(points, self.constraints_, sigmas=sigmas, **how)
        self.labels_, self.n_clusters_ = found.labels, int(found.labels.max()) + 1
        self.sigma_, self.kernel_, self.n_updates_ = found.sigma, found.kernel, found.n_updates
        return self

    def _check_parameters(self) -> tuple[float, ...] | None:
        """Refuse wrong parameters; return the candidate widths, if any."""
        check_not_negative("SKMS", "constraint_share", self.constraint_share, at_most=1e6)
        check_number("SKMS", "gamma", self.gamma)
        check_number("SKMS", "tol", self.tol)
        check_count("SKMS", "max_updates", self.max_updates)
        if self.sigmas is None:
            return None
        sigmas = as_tuple("SKMS", "sigmas", self.sigmas, of="positive numbers")
        for sigma in sigmas:
            check_number("SKMS", "sigmas", sigma, at_most=1e100)
        return sigmas
