"""Vectors of unit norm."""

from __future__ import annotations

import numpy as np

from setwise._support.types import FloatArray

__all__ = ["unit_rows"]


def unit_rows(vectors: FloatArray) -> FloatArray:
    """Scale every row to unit norm, whatever its size; zero rows stay zero.

    Unlike scikit-learn's ``normalize``, which takes rows shorter than 2e-15 for zero.

    Examples
    --------
    >>> import numpy as np
    >>> unit_rows(np.array([[3e-200, 4e-200], [0, 0]]))
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    scaled = vectors / np.where(largest > 0, largest, 1.0)
    with np.errstate(under="ignore"):
        norms = np.linalg.norm(scaled, axis=1, keepdims=True)
    return scaled / np.where(norms > 0, norms, 1.0)
