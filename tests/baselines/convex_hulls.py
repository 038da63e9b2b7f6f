"""Distances of convex hulls from the vectors themselves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from setwise.baselines.hulls import ClosestPoints, gram_hull_distance
from setwise.baselines.simplex_qp import duality_gap


def convex_hull_distance(a: np.ndarray, b: np.ndarray, tau: float = 1.0) -> ClosestPoints:
    """What `gram_hull_distance` finds; distance and gap by the vectors, which round less."""
    centre = (a.mean(axis=0) + b.mean(axis=0)) / 2
    both = np.vstack([a - centre, b - centre])
    size = float(np.abs(both).max()) or 1.0
    both /= size
    found = gram_hull_distance(both @ both.T, len(a), tau)
    both[len(a) :] *= -1
    between = np.append(found.alpha, found.beta) @ both
    sides = (slice(0, len(a)), slice(len(a), len(both)))
    gap = duality_gap(both @ between, float(between @ between), sides, tau)
    distance = float(np.linalg.norm(between)) * size
    return replace(found, distance=distance, gap=gap * size * size)
