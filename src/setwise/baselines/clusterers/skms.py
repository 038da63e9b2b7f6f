"""SKMS, semi-supervised kernel mean shift: labels shape the kernel, modes are clusters."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import validate_data

from setwise._support.parameters import as_tuple, check_count, check_not_negative, check_number
from setwise._support.seeds import seed_from
from setwise._support.types import FloatArray, IntArray
from setwise.baselines.clusterers.kernel_mean_shift import (
    bandwidths,
    distance_targets,
    learn_kernel,
    low_rank_factor,
    mean_shift,
    merge_modes,
    select_sigma,
    squared_distances,
)
from setwise.cluster.shc import PROBE, SemiSupervised, check_row_labels
from setwise.errors import ConvergenceWarning

# Most dimensions that the points are shifted in.
MOST_DIMS = 25


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
