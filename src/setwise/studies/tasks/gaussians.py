"""One cut of two clouds of normal points: connectivity, errors and sign switches (Fig. 4)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from setwise._support.types import BoolArray, IntArray
from setwise.cut import dfvc, exact_fiedler
from setwise.graph import GaussianGraph
from setwise.io.datasets import make_gaussian_pair
from setwise.studies.items import GaussiansItem, seed_for

__all__ = ["gaussians"]

MOST_SWITCHES = 2  # points that switched more often are counted with these


def gaussians(item: GaussiansItem, folder: Path | None = None) -> dict[str, Any]:
    """Draw two clouds, cut their graph by Algorithm 3 and exactly, and count mistakes.

    The graph is Gaussian (eq. 5) with the clouds' own variance, which the paper leaves open.

    Parameters
    ----------
    item : GaussiansItem
        What to do.
    folder : Path, optional
        Not looked at.

    Returns
    -------
    dict
        ``connectivity``; ``error`` and ``exact_error``, shares between 0 and 1 of the points
        on the wrong side of Algorithm 3's cut and of the exact Fiedler vector's; ``switches``,
        sign switches a point after the first iterate. Then for points that switched 0, 1, and
        2 or more times ``counts`` (how many) and ``errors`` (share of them on the wrong side,
        0 where there are none), and ``counts_from_start`` and ``errors_from_start``, the
        switches away from the start vector counted too. The first draw has ``points``
        (x and y), ``is_second`` (cloud) and ``is_wrong`` as well.
    """
    points = _points(item)
    adjacency = GaussianGraph(sigma=item.variance).adjacency(points).toarray()
    is_second = np.arange(2 * item.size) >= item.size
    found = dfvc(adjacency)
    is_wrong = _aligned(found.vector >= 0, is_second) != is_second
    exact = _aligned(exact_fiedler(adjacency).vector >= 0, is_second) != is_second
    # The start vector knows nothing of the clouds: half of the points leave its sign at once.
    at_first = dfvc(adjacency, max_changes=-1.0, max_iter=1).sign_switches
    later = found.sign_switches - at_first
    counts, errors = _by_switches(later, is_wrong)
    all_counts, all_errors = _by_switches(found.sign_switches, is_wrong)
    result = {
        "connectivity": float(found.connectivity),
        "error": float(is_wrong.mean()),
        "exact_error": float(exact.mean()),
        "switches": float(later.mean()),
        "counts": counts,
        "errors": errors,
        "counts_from_start": all_counts,
        "errors_from_start": all_errors,
    }
    if item.draw > 0:
        return result
    return result | {
        "points": points[:2].T.round(3).tolist(),
        "is_second": is_second.tolist(),
        "is_wrong": is_wrong.tolist(),
    }


def _points(item: GaussiansItem) -> Any:
    """All points as columns, the first cloud first."""
    seed = seed_for(
        item.seed,
        "gaussians",
        f"{item.distance:g}",
        item.size,
        f"{item.variance:g}",
        item.draw,
    )
    pair = make_gaussian_pair(
        item.size, item.distance, variance=item.variance, random_state=seed
    )
    return pair.vectors.T


def _aligned(side: BoolArray, is_second: BoolArray) -> BoolArray:
    """Sides named after the cloud they hold most of."""
    return side if np.mean(side == is_second) >= 0.5 else ~side


def _by_switches(switches: IntArray, is_wrong: BoolArray) -> tuple[list[int], list[float]]:
    """How many points switched 0, 1, and 2 or more times, and which share of them is wrong."""
    times = np.minimum(switches, MOST_SWITCHES)
    counts = np.bincount(times, minlength=MOST_SWITCHES + 1)
    n_wrong = np.bincount(times, weights=is_wrong, minlength=MOST_SWITCHES + 1)
    return counts.tolist(), (n_wrong / np.maximum(counts, 1)).tolist()
