"""Linear algebra of a few atoms: a Cholesky factor that atoms join and leave.

All arrays are C-contiguous float64 or int64, so that each kernel is compiled once.
"""

from __future__ import annotations

import numpy as np

from setwise._support.compiled import kernel

__all__ = ["append", "copy", "delete", "grown", "inlined", "solve", "subtract"]


def inlined(function):
    """Compile a step of a loop as part of the loop: handing on ten arrays takes longer."""
    compiled = kernel(function)
    if hasattr(compiled, "targetoptions"):  # not where Numba is told to compile nothing
        compiled.targetoptions["forceinline"] = True
    return compiled


@kernel
def subtract(g, scale, row, count):
    """``g[:count] -= scale * row[:count]``."""
    # From zero: an index that Numba cannot see to be positive keeps the loop from vectorising.
    for j in range(count):
        g[j] -= scale * row[j]


@kernel
def copy(target, source, count):
    """``target[:count] = source[:count]``; compiles in a fraction of the time of a slice."""
    for j in range(count):
        target[j] = source[j]


@kernel
def grown(matrix, n_rows, n_columns):
    """The same matrix in a larger one."""
    larger = np.empty((n_rows, n_columns))
    for r in range(matrix.shape[0]):
        copy(larger[r], matrix[r], matrix.shape[1])
    return larger


@kernel
def append(factor, H, active, k, j, least):
    """Grow the Cholesky factor of ``H[active, active]`` by atom ``j``.

    False, and nothing done, if the atom's squared distance to the span of the others is at
    most the share ``least`` of its squared norm.
    """
    rest = H[j, j]
    for r in range(k):
        total = H[j, active[r]]
        for c in range(r):
            total -= factor[r, c] * factor[k, c]
        factor[k, r] = total / factor[r, r]
        rest -= factor[k, r] * factor[k, r]
    if rest <= least * H[j, j]:
        return False
    factor[k, k] = np.sqrt(rest)
    active[k] = j
    return True


@kernel
def delete(factor, active, k, gone):
    """Shrink the Cholesky factor by its row ``gone``, with Givens rotations."""
    for r in range(gone, k - 1):
        active[r] = active[r + 1]
        for c in range(r + 2):
            factor[r, c] = factor[r + 1, c]
        a, b = factor[r, r], factor[r, r + 1]
        size = np.sqrt(a * a + b * b)
        cosine, sine = a / size, b / size
        factor[r, r] = size
        for below in range(r + 2, k):
            left, right = factor[below, r], factor[below, r + 1]
            factor[below, r] = cosine * left + sine * right
            factor[below, r + 1] = cosine * right - sine * left
    return k - 1


@kernel
def solve(factor, k, z):
    """Solve ``H[active, active] z = rhs`` in place, by the factor's two triangles."""
    for r in range(k):
        total = z[r]
        for c in range(r):
            total -= factor[r, c] * z[c]
        z[r] = total / factor[r, r]
    for r in range(k - 1, -1, -1):
        z[r] /= factor[r, r]
        for c in range(r):
            z[c] -= factor[r, c] * z[r]
