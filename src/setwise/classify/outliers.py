"""Which vectors of a probe count: strangers among them must not speak for it.

What stands out of its set is dropped from gallery and probes alike
(:func:`setwise.features.is_typical`). A stranger's whole album in a probe does not stand
out: there are two crowds. But the gallery knows how far the parts of one set are apart, and
how far two classes are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage

from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.features import unit_rows
from setwise.features.typical import FEWEST

__all__ = ["MOST_COMPARED", "NOTHING", "strange_cosines", "two_parts", "without_strangers"]

# The tree of more vectors takes longer than it tells.
_MOST_VECTORS = 1000
# Gallery sets that are compared.
MOST_COMPARED = 200
# A range that holds no cosine: nobody is strange.
NOTHING = (np.inf, -np.inf)


def two_parts(vectors: FloatArray) -> tuple[float, BoolArray]:
    """The larger of the two parts into which Ward's tree divides a set.

    Parameters
    ----------
    vectors : array of shape (n_vectors, n_features)
        One set.

    Returns
    -------
    cosine : float
        Of the means of the two parts; 1 where the set is too small, or too large, to divide.
    is_larger : array of bool, shape (n_vectors,)
        The larger part.
    """
    units = unit_rows(vectors)
    if not FEWEST <= len(units) <= _MOST_VECTORS:
        return 1.0, np.ones(len(units), dtype=np.bool_)
    is_first = fcluster(linkage(units, "ward"), 2, "maxclust") == 1
    if is_first.all():
        return 1.0, is_first
    is_larger = is_first if 2 * is_first.sum() >= len(units) else ~is_first
    means = unit_rows(np.array([units[is_larger].mean(axis=0), units[~is_larger].mean(axis=0)]))
    return float(means[0] @ means[1]), is_larger


def strange_cosines(kept: Sequence[FloatArray], codes: IntArray) -> tuple[float, float]:
    """Cosines of the means of a probe's two parts that give away a stranger.

    They are as far apart as sets of different classes are (between the 5th and the 95th
    percentile), and farther than the two parts of any gallery set. In light that no gallery
    set shows, parts of one set may be farther apart than any classes: that is no stranger.

    Parameters
    ----------
    kept : sequence of arrays of shape (n_vectors_i, n_features)
        Gallery sets, without what stands out of them.
    codes : array of int, shape (n_sets,)
        Class of each.
    """
    inside = [two_parts(v)[0] for v in kept if FEWEST <= len(v) <= _MOST_VECTORS]
    means = unit_rows(np.array([unit_rows(v).mean(axis=0) for v in kept]))
    is_other = codes[:, None] != codes
    if not inside or not is_other.any():
        return NOTHING
    lowest, highest = np.quantile((means @ means.T)[is_other], [0.05, 0.95])
    return float(lowest), float(min(highest, *inside))


def without_strangers(
    strange: tuple[float, float], vectors: FloatArray, is_kept: BoolArray
) -> BoolArray:
    """Which vectors of a probe count: of two parts that are strange to each other, the larger.

    Parameters
    ----------
    strange : (float, float)
        Cosines that give away a stranger.
    vectors : array of shape (n_vectors, n_features)
        The probe.
    is_kept : array of bool, shape (n_vectors,)
        Those that do not stand out of it.
    """
    lowest, highest = strange
    if lowest >= highest:
        return is_kept
    cosine, is_larger = two_parts(vectors[is_kept])
    if not lowest <= cosine < highest:
        return is_kept
    counts = is_kept.copy()
    counts[is_kept] = is_larger
    return counts
