"""From clusters to distances: class-cluster distributions and how they are compared."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from setwise._support.parts import Part
from setwise._support.types import FloatArray, IntArray


def class_cluster_histogram(rows: IntArray, clusters: IntArray, n_rows: int) -> FloatArray:
    """How many vectors of each row (class or set) fell into each cluster (``H_cc``).

    Examples
    --------
    >>> import numpy as np
    >>> class_cluster_histogram(np.array([0, 0, 1]), np.array([0, 1, 1]), 2)
    array([[1., 1.],
           [0., 1.]])
    """
    histogram = np.zeros((n_rows, int(clusters.max(initial=-1)) + 1))
    np.add.at(histogram, (rows, clusters), 1.0)
    return histogram


def class_cluster_distributions(histogram: FloatArray) -> FloatArray:
    """Rows of the histogram scaled to sum to one (Algorithm 1); empty rows stay empty.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.classify import class_cluster_distributions
    >>> class_cluster_distributions(np.array([[3.0, 1.0], [0.0, 0.0]]))
    array([[0.75, 0.25],
           [0.  , 0.  ]])
    """
    total = histogram.sum(axis=-1, keepdims=True)
    return histogram / np.where(total > 0, total, 1.0)


def overlap(p: FloatArray, q: FloatArray) -> FloatArray:
    """Bhattacharyya coefficient ``sum_k sqrt(p_k q_k)``: 1 for equal, 0 for disjoint.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.classify import overlap
    >>> float(overlap(np.array([0.5, 0.5, 0.0]), np.array([0.0, 0.5, 0.5])).round(3))
    0.5
    """
    # Rounding may push the sum above 1.
    return np.minimum(np.sqrt(p * q).sum(axis=-1), 1.0)


def bhattacharyya(p: FloatArray, q: FloatArray) -> FloatArray:
    """Distance between two cluster distributions (paper eq. 1): ``-log overlap``.

    Disjoint supports give ``inf``: a legitimate "no shared cluster", not an error.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.classify import bhattacharyya
    >>> float(bhattacharyya(np.array([0.5, 0.5, 0.0]), np.array([0.0, 0.5, 0.5])).round(3))
    0.693
    """
    with np.errstate(divide="ignore"):
        return -np.log(overlap(p, q)) + 0.0  # no negative zero


def hellinger(p: FloatArray, q: FloatArray) -> FloatArray:
    """Distance between two cluster distributions (paper eq. 2), between 0 and 1.

    An empty distribution (no vectors at all) is as far as a disjoint one; the formula alone
    would put it nearer than those.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.classify import hellinger
    >>> float(hellinger(np.array([0.5, 0.5, 0.0]), np.array([0.0, 0.5, 0.5])).round(3))
    0.707
    """
    distance = np.sqrt(0.5 * ((np.sqrt(p) - np.sqrt(q)) ** 2).sum(axis=-1))
    is_empty = ~p.any(axis=-1) | ~q.any(axis=-1)
    return np.where(is_empty, 1.0, distance)


class Distance(Part, ABC):
    """How far two cluster distributions are apart.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.classify import Distance
    >>> hellinger = Distance.of("hellinger", "CVC")
    >>> float(hellinger.between(np.array([1.0, 0.0]), np.array([0.0, 1.0])))
    1.0
    """

    family: ClassVar[str] = "distance"

    @abstractmethod
    def between(self, p: FloatArray, q: FloatArray) -> FloatArray:
        """Distance between distributions, along the last axis."""


@dataclass(frozen=True)
class Bhattacharyya(Distance):
    """See :func:`bhattacharyya`."""

    name: ClassVar[str] = "bhattacharyya"

    def between(self, p: FloatArray, q: FloatArray) -> FloatArray:
        """Minus the logarithm of the overlap; ``inf`` where there is none."""
        return bhattacharyya(p, q)


@dataclass(frozen=True)
class Hellinger(Distance):
    """See :func:`hellinger`."""

    name: ClassVar[str] = "hellinger"

    def between(self, p: FloatArray, q: FloatArray) -> FloatArray:
        """Between 0 and 1, which is where there is no overlap."""
        return hellinger(p, q)


def conditional_orthogonality(classes: FloatArray, probe: FloatArray) -> float:
    """Largest conditional inner product of two classes with respect to the probe (eq. 3).

    ``max over i != j of <p_i and p_p, p_j and p_p>`` with "and" on the supports: 0 when no
    cluster holds the probe and two classes at once, which is where SHC stops. ``classes`` has
    the distribution of one class per row, ``probe`` is that of the probe.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.classify import conditional_orthogonality
    >>> classes = np.array([[1.0, 0.0], [0.5, 0.5]])
    >>> conditional_orthogonality(classes, np.array([0.0, 1.0]))
    0.0
    """
    shared = ((classes > 0) & (probe > 0)).astype(np.float64)
    products = shared @ shared.T
    np.fill_diagonal(products, 0.0)
    return float(products.max(initial=0.0))


def signal_to_noise(distances: FloatArray) -> float:
    """Second smallest distance over the smallest, the paper's SNR; at least 1.

    ``inf`` when the nearest class is at distance zero, or the only one within reach.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.classify import signal_to_noise
    >>> signal_to_noise(np.array([0.2, 0.1, 0.9]))
    2.0
    """
    if len(distances) < 2:
        return np.inf
    first, second = np.partition(distances, 1)[:2]
    if not np.isfinite(first) or first == second:
        return 1.0
    return float(second / first) if first > 0 else np.inf
