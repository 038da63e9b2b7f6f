"""Vectors of another set within a probe, which must not count.

:func:`setwise.features.is_typical` finds single outliers. A second set within a probe is found
by the gallery: it has how far apart the parts of one set, and two classes, are. Both also find
vectors that are merely rare, such as the last pose of a head that turns. The gallery tells them
from strangers, which are nearer to another class than to the set and its own class.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.cluster.hierarchy import fcluster, linkage

from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.features import unit_rows
from setwise.features.typical import FEWEST, canonical_order, cosines_of_pairs
from setwise.gallery.bases import tried_sets
from setwise.sets.classifier import largest_by_class

# Ward's tree of more vectors takes longer than it is worth.
_MOST_VECTORS = 1000
# Gallery sets that are compared, and bytes of their vectors.
MOST_COMPARED, MOST_BYTES = 200, 2**25
# Of vectors and sets of other classes, how many are farther apart than a rare vector may be
# from the rest of its set.
SHARE_FARTHER = 0.99
# Vectors of each set that tell this.
_FEW_VECTORS = 5


def compared_sets(codes: IntArray, set_bytes: float) -> IntArray:
    """Gallery sets with which probes are compared, spread over the classes."""
    return tried_sets(codes, min(MOST_COMPARED, max(2, int(MOST_BYTES / set_bytes))))


@dataclass(frozen=True)
class KnownVectors:
    """Inliers of some gallery sets, with which the vectors of probes are compared.

    Examples
    --------
    >>> known = KnownVectors.of([np.eye(3)[:2], np.eye(3)[2:]], np.array([0, 1]))
    >>> known.nearest(np.array([[0.6, 0.8, 0.0]])).round(2)
    array([[0.8, 0. ]])
    """

    units: npt.NDArray[np.float32]
    first: IntArray  # first vector of each set
    codes: IntArray  # class of each set

    @classmethod
    def of(cls, inliers: Sequence[npt.NDArray[Any]], codes: IntArray) -> Self:
        """Of sets and their classes."""
        units = unit_rows(np.concatenate(inliers)).astype(np.float32)
        sizes = [len(vectors) for vectors in inliers]
        return cls(units, np.cumsum([0, *sizes[:-1]]), codes)

    def __iter__(self) -> Iterator[npt.NDArray[np.float32]]:
        return iter(np.split(self.units, self.first[1:]))

    def nearest(self, units: npt.NDArray[np.floating]) -> FloatArray:
        """Cosine of each vector and the nearest of each set."""
        cosines = units.astype(np.float32) @ self.units.T
        return np.maximum.reduceat(cosines, self.first, axis=1).astype(np.float64)

    def of_classes(
        self, units: FloatArray, inliers: BoolArray
    ) -> tuple[FloatArray, FloatArray]:
        """Cosine of each vector of a set with the nearest of its class, and of all others.

        Its class is the one that its inliers are nearest to.
        """
        n_classes = int(self.codes.max()) + 1
        by_class = largest_by_class(self.nearest(units), self.codes, n_classes)
        own = by_class[inliers].mean(axis=0).argmax()
        is_other = np.arange(n_classes) != own
        return by_class[:, own], by_class[:, is_other].max(axis=1, initial=-1.0)


@dataclass(frozen=True)
class OutlierScale:
    """How far apart sets of a gallery, and parts of them, are; by default, nothing is known.

    Examples
    --------
    >>> known = KnownVectors.of([np.eye(3)[:2], np.eye(3)[2:]], np.array([0, 1]))
    >>> scale = OutlierScale.of(known)
    >>> probe = np.array([[1.0, 0.1, 0.0], [0.8, 1.0, 0.0], [0.0, 0.1, 1.0]])
    >>> scale.with_rare(probe, np.array([True, False, False]), known)
    array([ True,  True, False])
    """

    #: Cosines of the means of a probe's two parts that show a second set in it.
    parts: tuple[float, float] = (np.inf, -np.inf)
    #: Cosine of a vector with the nearest of a set of another class, seldom exceeded.
    strangers: float = np.inf

    @classmethod
    def of(cls, known: KnownVectors) -> Self:
        """Of a gallery's sets.

        A second set is as far from the first as sets of different classes are (between the 5th
        and the 95th percentile), and farther than the two parts of any gallery set. In light
        that no gallery set shows, parts of one set may be farther apart than any classes:
        nothing is dropped then.
        """
        is_other = known.codes[:, None] != known.codes
        if not is_other.any():
            return cls()
        sets = [vectors.astype(np.float64) for vectors in known]
        inside = [two_parts(v)[0] for v in sets if FEWEST <= len(v) <= _MOST_VECTORS]
        means = unit_rows(np.array([vectors.mean(axis=0) for vectors in sets]))
        lowest, highest = np.quantile((means @ means.T)[is_other], [0.05, 0.95])
        parts = (float(lowest), float(min(highest, *inside))) if inside else cls.parts
        few = [v[canonical_order(v)[:: -(-len(v) // _FEW_VECTORS)]] for v in sets]
        cosines = known.nearest(np.concatenate(few))
        apart = np.repeat(is_other, [len(vectors) for vectors in few], axis=0)
        return cls(parts, float(np.quantile(cosines[apart], SHARE_FARTHER)))

    def without_second_part(self, vectors: npt.NDArray[Any], inliers: BoolArray) -> BoolArray:
        """The inliers of a probe, without the smaller of two parts of different sets."""
        lowest, highest = self.parts
        if lowest >= highest:
            return inliers
        cosine, is_larger = two_parts(vectors[inliers])
        if not lowest <= cosine < highest:
            return inliers
        counts = inliers.copy()
        counts[inliers] = is_larger
        return counts

    def with_rare(
        self, vectors: npt.NDArray[Any], inliers: BoolArray, known: KnownVectors | None = None
    ) -> BoolArray:
        """The inliers of a probe, and outliers that are merely rare.

        These are nearer to the inliers, or to their class, than to any other class, and than
        vectors of different classes are to each other. Without known vectors, only the latter.
        """
        if inliers.all() or self.strangers >= 1.0:
            return inliers
        units = unit_rows(vectors)
        nearest, farthest = (units @ units[inliers].T).max(axis=1), self.strangers
        if known is None:
            return np.asarray(inliers | (nearest > farthest), dtype=np.bool_)
        own, others = known.of_classes(units, inliers)
        is_rare = np.maximum(nearest, own) > np.maximum(others, farthest)
        return np.asarray(inliers | is_rare, dtype=np.bool_)


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
