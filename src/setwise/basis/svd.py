"""Singular vectors of a set: the deterministic, fast basis.

The paper learns a dictionary (:mod:`setwise.basis.dictionary`); singular vectors span
nearly the same space, need no random start and nest, so one decomposition serves every
dimensionality. *Centred* singular vectors describe how the set varies instead of where it
is, and separate object categories far better (ETH-80).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import linalg

from setwise.types import FloatArray

__all__ = ["centred_svd_bases", "svd_bases"]


def svd_bases(vectors: FloatArray, dims: Sequence[int]) -> list[FloatArray]:
    """First ``d`` left singular vectors of the set, for each ``d`` in ``dims``.

    Parameters
    ----------
    vectors : array of shape (n_vectors, n_features)
        One set, one vector a row, not all zero.
    dims : sequence of int
        How many columns each basis should have. A set of rank ``r`` gives ``min(d, r)``.

    Returns
    -------
    list of arrays of shape (n_features, min(d, rank))
        Orthonormal columns, strongest direction first.
    """
    directions = _left_singular_vectors(vectors)
    return [directions[:, :d] for d in dims]


def centred_svd_bases(vectors: FloatArray, dims: Sequence[int]) -> list[FloatArray]:
    """First ``d`` left singular vectors of the set minus its mean.

    A set that does not vary (one vector, or copies of one) has no such direction and is
    represented by the direction of its mean instead, so that no set is left without column.
    """
    centred = vectors - vectors.mean(axis=0)
    # Subtracting the mean of equal rows leaves rounding noise, not a direction.
    noise = np.finfo(np.float64).eps * max(vectors.shape) * np.abs(vectors).max()
    if np.abs(centred).max() <= noise:
        return svd_bases(vectors, dims)
    return svd_bases(centred, dims)


def _left_singular_vectors(vectors: FloatArray) -> FloatArray:
    """Left singular vectors of ``vectors.T`` that stand above rounding."""
    _, strengths, directions = linalg.svd(vectors, full_matrices=False, check_finite=False)
    floor = strengths[0] * max(vectors.shape) * np.finfo(np.float64).eps
    kept = directions[strengths > floor].T
    # The sign of a singular vector is arbitrary: fix it, so that no result depends on it.
    largest = np.abs(kept).argmax(axis=0)
    signs = np.sign(kept[largest, np.arange(kept.shape[1])])
    return np.ascontiguousarray(kept * signs)
