"""Linear algebra of a few atoms: a Cholesky factor that atoms join and leave.

All arrays are C-contiguous float64 or int64, so that each function is compiled once.
"""

from __future__ import annotations

import numpy as np

from setwise._support.compiled import inner

__all__ = ["append", "backward", "clear", "copy", "delete", "dot", "forward", "subtract"]


@inner
def subtract(g, scale, row, count):
    """``g[:count] -= scale * row[:count]``."""
    # From zero: an index that Numba cannot see to be positive keeps the loop from vectorising.
    for j in range(count):
        g[j] -= scale * row[j]


@inner
def dot(left, right, count):
    """``left[:count] @ right[:count]``."""
    total = 0.0
    for j in range(count):
        total += left[j] * right[j]
    return total


@inner
def copy(target, source, count):
    """``target[:count] = source[:count]``; compiles in a fraction of the time of a slice."""
    for j in range(count):
        target[j] = source[j]


@inner
def clear(target, count):
    """``target[:count] = 0``."""
    for j in range(count):
        target[j] = 0.0


@inner
def append(factor, H, active, k, j, least):
    """Grow the Cholesky factor of ``H[active, active]`` by atom ``j``.

    False if the atom's squared distance to the span of the others is at most the share
    ``least`` of its squared norm; nothing is done then but that row ``k`` holds what the
    factor's lower triangle makes of the atom's products with them.
    """
    row = factor[k]
    for r in range(k):
        row[r] = H[j, active[r]]
    forward(factor, k, row)
    rest = H[j, j] - dot(row, row, k)
    if rest <= least * H[j, j]:
        return False
    row[k] = np.sqrt(rest)
    active[k] = j
    return True


@inner
def delete(factor, active, y, k, gone):
    """Shrink the Cholesky factor by its row ``gone``, with Givens rotations.

    ``y``, the solution of the lower triangle for some right side, is rotated along: it then
    solves the smaller triangle.
    """
    for r in range(gone, k - 1):
        active[r] = active[r + 1]
        copy(factor[r], factor[r + 1], r + 2)
        a, b = factor[r, r], factor[r, r + 1]
        size = np.sqrt(a * a + b * b)
        cosine, sine = a / size, b / size
        factor[r, r] = size
        y[r], y[r + 1] = cosine * y[r] + sine * y[r + 1], cosine * y[r + 1] - sine * y[r]
        for below in range(r + 2, k):
            left, right = factor[below, r], factor[below, r + 1]
            factor[below, r] = cosine * left + sine * right
            factor[below, r + 1] = cosine * right - sine * left
    return k - 1


@inner
def forward(factor, k, z):
    """Solve with the lower triangle, in place."""
    for r in range(k):
        z[r] = (z[r] - dot(factor[r], z, r)) / factor[r, r]


@inner
def backward(factor, k, z):
    """Solve with the transposed triangle, in place."""
    for r in range(k - 1, -1, -1):
        z[r] /= factor[r, r]
        subtract(z, z[r], factor[r], r)
