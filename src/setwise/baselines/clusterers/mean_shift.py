"""Mean shift with a bandwidth of its own for every point.

As in Anand, Mittal, Tuzel and Meer, "Semi-supervised kernel mean shift clustering" (PAMI
2014): every point climbs to a mode of ``sum_j h_j^-d exp(-||z - g_j||^2 / (2 h_j^2))``, and
points that end at one mode are one cluster.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.baselines.clusterers.kernel_learning import squared_distances

__all__ = ["Modes", "bandwidths", "mean_shift", "merge_modes"]

LEAST_BANDWIDTH = 1e-8
# Neighbours that set the bandwidth where no must-link says how many, as a share of the points.
NEIGHBOURS = 0.05
# Modes nearer than this are one, in units of the median squared bandwidth.
SAME_MODE = 1e-6


@dataclass(frozen=True)
class Modes:
    """Where the points climbed to.

    Attributes
    ----------
    positions : array of shape (n_points, n_dims)
        The mode of each point.
    n_iter : int
        Iterations made.
    n_moving : int
        Points that still moved at the limit.
    """

    positions: FloatArray
    n_iter: int
    n_moving: int


def bandwidths(points: FloatArray, constraints: IntArray, near: float) -> FloatArray:
    """Squared bandwidth of each point: squared distance of its k-th neighbour, itself first.

    ``k`` is the median place of must-linked points among each other's neighbours, of those
    nearer than ``near``; without any, 5 % of the points.

    Parameters
    ----------
    points : array of shape (n_points, n_dims)
        Coordinates.
    constraints : array of int, shape (n_constraints, 3)
        See :mod:`setwise.baselines.clusterers.kernel_learning`.
    near : float
        Squared distance that must-links should not exceed.
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
    """Let every point climb to its mode.

    ``z <- sum_j w_j g_j / sum_j w_j`` with ``w_j = h_j^-(d + 2) exp(-||z - g_j||^2 /
    (2 h_j^2))``, each point until it moves by less than ``tol``.

    Parameters
    ----------
    points : array of shape (n_points, n_dims)
        Coordinates ``g``.
    squared : array of shape (n_points,)
        Squared bandwidths ``h^2``.
    tol : float, default=1e-10
        Length of the last step.
    max_iter : int, default=10_000
        Most steps.
    """
    positions = points.copy()
    moving = np.arange(len(points))
    n_iter = 0
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
    """Cluster of each point: those whose modes are hardly apart, or linked by such."""
    is_same: BoolArray = squared_distances(positions) <= SAME_MODE * np.median(squared)
    labels = sp.csgraph.connected_components(sp.csr_array(is_same), directed=False)[1]
    return labels.astype(np.int64)
