"""The loops of Algorithm 3 around LAPACK's QR, whose factors stay as it leaves them.

``columns[i]`` is column ``i``: of ``R`` up to its entry ``i``, of the ``i``-th Householder
vector behind that.
"""

from __future__ import annotations

import numpy as np

from setwise._support.compiled import inner, kernel

__all__ = ["over_deflated", "rayleigh_quotient", "settle_signs"]


@kernel
def over_deflated(indptr, indices, data, degree):
    """The columns of ``L - u 1' - eta I`` with ``u = sqrt(degree)``, ``eta = 1 / vol^2``."""
    n, volume = degree.shape[0], 0.0
    root, columns = np.empty(n), np.empty((n, n))
    for i in range(n):
        root[i] = np.sqrt(degree[i])
        volume += degree[i]
    for i in range(n):
        for j in range(n):
            columns[i, j] = -root[j]
        columns[i, i] += 1.0 - (1.0 / volume) / volume
        for e in range(indptr[i], indptr[i + 1]):
            columns[i, indices[e]] -= data[e] / root[i] / root[indices[e]]
    return columns


@inner
def _reflect(columns, taus, i, vector):
    """Apply the ``i``-th Householder reflection."""
    # Unsigned: an index that Numba cannot see to be positive keeps a loop from vectorising.
    first, end = np.uint64(i + 1), np.uint64(vector.shape[0])
    share = vector[i]
    for r in range(first, end):
        share += columns[i, r] * vector[r]
    share *= taus[i]
    vector[i] -= share
    for r in range(first, end):
        vector[r] -= share * columns[i, r]


@inner
def _normalise(vector):
    total = 0.0
    for i in range(vector.shape[0]):
        total += vector[i] ** 2
    length = np.sqrt(total)
    for i in range(vector.shape[0]):
        vector[i] /= length


@kernel
def settle_signs(columns, taus, root, max_changes, max_iter):
    """Inverse iteration until at most the share ``max_changes`` of the signs changes.

    It begins at the sum of all columns of ``Q`` but the last, less ``root``. Returns vector,
    how often each sign changed, number of iterations, whether they came to an end.
    """
    n = root.shape[0]
    vector, moved, switches = np.ones(n), np.empty(n), np.zeros(n, np.int64)
    vector[n - 1] = 0.0
    for i in range(n - 1, -1, -1):
        _reflect(columns, taus, i, vector)
    for i in range(n):
        vector[i] -= root[i]
    _normalise(vector)
    n_iterations, has_converged = 0, False
    while not has_converged and n_iterations < max_iter:
        n_iterations += 1
        for i in range(n):
            moved[i] = vector[i]
        for i in range(n):
            _reflect(columns, taus, i, moved)
        for i in range(n - 1, -1, -1):
            moved[i] /= columns[i, i]
            for r in range(i):
                moved[r] -= moved[i] * columns[i, r]
        _normalise(moved)
        n_changed = 0
        for i in range(n):
            n_changed += (moved[i] > 0.0) != (vector[i] > 0.0)
        # The sign of the whole is arbitrary and does not count.
        is_flipped = 2 * n_changed > n
        n_changed = n - n_changed if is_flipped else n_changed
        for i in range(n):
            switches[i] += ((moved[i] > 0.0) != (vector[i] > 0.0)) != is_flipped
            vector[i] = -moved[i] if is_flipped else moved[i]
        has_converged = n_changed <= max_changes * n
    return vector, switches, n_iterations, has_converged


@kernel
def rayleigh_quotient(indptr, indices, data, degree, vector):
    """``v' L v`` of a unit vector."""
    total = 1.0
    for i in range(vector.shape[0]):
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            total -= (
                data[e] * (vector[i] / np.sqrt(degree[i])) * (vector[j] / np.sqrt(degree[j]))
            )
    return max(total, 0.0)
