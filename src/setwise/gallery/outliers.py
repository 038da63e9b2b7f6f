"""Vectors of another set within a probe, which must not count.

:func:`setwise.features.is_typical` finds single outliers. A second set within a probe is found
by the gallery: it has how far apart the parts of one set, and two classes, are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.cluster.hierarchy import fcluster, linkage

from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.features import is_typical, unit_rows
from setwise.features.typical import FEWEST, canonical_order, cosines_of_pairs
from setwise.sets import SetBatch

# Ward's tree of more vectors takes longer than it is worth.
_MOST_VECTORS = 1000
# Gallery sets that are compared.
MOST_COMPARED = 200
# A range that holds no cosine.
NO_COSINES = (np.inf, -np.inf)


def two_parts(vectors: npt.NDArray[Any]) -> tuple[float, BoolArray]:
    """The two parts into which Ward's tree divides a set, whatever the order of its vectors."""
    n = len(vectors)
    if not FEWEST <= n <= _MOST_VECTORS:
        return 1.0, np.ones(n, dtype=np.bool_)
    order = canonical_order(vectors)
    cosines = cosines_of_pairs(vectors[order])
    rows, columns = np.triu_indices(n, 1)
    distances = np.sqrt(np.maximum(2.0 - 2.0 * cosines[rows, columns], 0.0))
    is_first = fcluster(linkage(distances, "ward"), 2, "maxclust") == 1
    if is_first.all():
        return 1.0, is_first
    larger = is_first if 2 * is_first.sum() >= n else ~is_first
    sides = np.array([larger, ~larger], dtype=np.float64)
    products = sides @ cosines @ sides.T  # of the sums of the unit vectors of both parts
    lengths = np.sqrt(np.maximum(products.diagonal(), 1e-300))
    is_larger = np.empty(n, dtype=np.bool_)
    is_larger[order] = larger
    return float(products[0, 1] / lengths.prod()), is_larger


def outlier_range(inliers: Sequence[FloatArray], codes: IntArray) -> tuple[float, float]:
    """Cosines of the means of a probe's two parts that show a second set in it.

    The parts are as far apart as sets of different classes are (between the 5th and the 95th
    percentile), and farther than the two parts of any gallery set. In light that no gallery
    set shows, parts of one set may be farther apart than any classes: nothing is dropped then.
    """
    inside = [two_parts(v)[0] for v in inliers if FEWEST <= len(v) <= _MOST_VECTORS]
    means = unit_rows(np.array([unit_rows(v).mean(axis=0) for v in inliers]))
    is_other = codes[:, None] != codes
    if not inside or not is_other.any():
        return NO_COSINES
    lowest, highest = np.quantile((means @ means.T)[is_other], [0.05, 0.95])
    return float(lowest), float(min(highest, *inside))


def without_second_part(
    cosines: tuple[float, float], vectors: npt.NDArray[Any], inliers: BoolArray
) -> BoolArray:
    """The inliers of a probe, without the smaller of two parts of different sets."""
    lowest, highest = cosines
    if lowest >= highest:
        return inliers
    cosine, is_larger = two_parts(vectors[inliers])
    if not lowest <= cosine < highest:
        return inliers
    counts = inliers.copy()
    counts[inliers] = is_larger
    return counts


def without_outliers(sets: SetBatch, cosines: tuple[float, float] = NO_COSINES) -> SetBatch:
    """The sets without their outliers; of probes, without a second set within them."""
    inliers = [without_second_part(cosines, one, is_typical(one)) for one in sets]
    ends = np.cumsum([0, *(int(is_kept.sum()) for is_kept in inliers)])
    return SetBatch(
        sets.vectors[np.concatenate(inliers)], ends, sets.names, image_shape=sets.image_shape
    )
