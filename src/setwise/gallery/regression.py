"""Ridge regression of the targets of sets on how alike the sets are.

A kernel method of the kind of Grassmann discriminant analysis and covariance discriminative
learning: what tells targets apart counts, what all sets have in common does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
from scipy import linalg

from setwise._support.types import FloatArray, IntArray

# Added to the kernel's diagonal, in units of its mean.
RIDGE = 0.1
# Sets that are learnt from, spread over the targets: work grows with the cube of their number.
MOST_LEARNT = 500
# Bytes of inner products that are computed together.
_BLOCK_BYTES = 2**24


@dataclass(frozen=True)
class KernelRidge:
    """Scores of targets as weighted sums of how alike a set is to the gallery's sets.

    Examples
    --------
    >>> fitted = KernelRidge.fit(np.eye(3), np.arange(3), np.array([0, 0, 1]), 2)
    >>> (np.array([0.0, 0.0, 1.0]) @ fitted.coefficients).round(2)
    array([0.  , 0.91])
    """

    coefficients: FloatArray  # (n_sets, n_targets)
    left_out: FloatArray  # scores of each set by all others, (n_sets, n_targets)

    @classmethod
    def of_columns(
        cls,
        columns: npt.NDArray[np.floating],
        first: IntArray,
        set_targets: IntArray,
        n_targets: int,
    ) -> Self:
        """Of sets whose columns have lengths, see :class:`setwise.basis.Spread`."""
        by_target = np.argsort(set_targets, kind="stable")
        learnt = np.sort(by_target[:: max(1, -(-len(first) // MOST_LEARNT))])
        kernel = set_products(columns, first, learnt)
        return cls.fit(kernel, learnt, set_targets, n_targets)

    @classmethod
    def fit(
        cls, kernel: FloatArray, learnt: IntArray, set_targets: IntArray, n_targets: int
    ) -> Self:
        """Least squares on indicators, each divided by the number of sets of its target.

        ``kernel`` has a row for each set, and a column for each of those that are learnt from.
        Without one of these the inverse differs by a matrix of rank one, so that the set's
        score by the others follows from its residual.
        """
        n, rows, own = len(learnt), np.arange(len(learnt)), set_targets[learnt]
        counts = np.bincount(own, minlength=n_targets)
        indicators = np.zeros((n, n_targets))
        indicators[rows, own] = 1.0 / counts[own]
        among = kernel[learnt]
        # Of columns without lengths, from a damaged file, any ridge makes zeros.
        ridge = RIDGE * (np.trace(among) / n or 1.0) * np.eye(n)
        inverse = linalg.inv((among + among.T) / 2 + ridge, check_finite=False)
        found = inverse @ indicators
        coefficients = np.zeros((len(kernel), n_targets))
        coefficients[learnt] = found
        left_out = kernel @ found
        left_out[learnt] = indicators - found / np.diag(inverse)[:, None]
        # Its target has one set less; one without any is as far as the farthest.
        of_own = left_out[learnt, own] * counts[own] / np.maximum(counts[own] - 1, 1)
        least = left_out[learnt].min(axis=1)
        left_out[learnt, own] = np.where(counts[own] > 1, of_own, least)
        return cls(coefficients, left_out)


def set_products(
    columns: npt.NDArray[np.floating], first: IntArray, chosen: IntArray
) -> FloatArray:
    """Sums of the squares of the inner products of each set's columns and some sets'.

    ``first`` has the first column of each set. Sets are taken in parts, to bound the memory.

    Examples
    --------
    >>> set_products(np.array([[1.0, 0.0, 2.0]]), np.array([0, 2]), np.array([1]))
    array([[ 4.],
           [16.]])
    """
    ends = np.append(first[1:], columns.shape[1])
    products = np.empty((len(first), len(chosen)))
    widest = max(1, int((ends - first).max(initial=1)))
    at_once = max(1, _BLOCK_BYTES // (8 * widest * columns.shape[1] + 1))
    for start in range(0, len(chosen), at_once):
        part = chosen[start : start + at_once]
        places = np.concatenate([np.arange(first[i], ends[i]) for i in part])
        squares = (columns[:, places].T @ columns) ** 2
        begins = np.cumsum([0, *(ends - first)[part[:-1]]])
        by_set = np.add.reduceat(np.add.reduceat(squares, first, axis=1), begins, axis=0)
        products[:, start : start + len(part)] = by_set.T
    return products
