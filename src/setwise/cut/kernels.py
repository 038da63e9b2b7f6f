"""The loops under every cut, for callers from Python: with arrays for their results.

Algorithm 3 (``over_deflated``, ``settle_signs``) is around LAPACK's QR: ``columns[i]`` is
column ``i`` of ``R`` up to its entry ``i``, and of the ``i``-th Householder vector behind that.
"""

from __future__ import annotations

import numpy as np

from setwise._support.compiled import inner, kernel
from setwise.cut.graph_kernels import (
    N_ROWS,
    across_by_volumes,
    join_components,
    part_by_sign,
    part_somehow,
    sum_rows,
    sweep_values,
    take_subgraph,
)
from setwise.cut.lanczos_kernels import LANES, N_LANCZOS_ROWS, find_fiedler, make_sign_canonical


@kernel
def degrees(indptr, data):
    """Sum of the weights at each vertex."""
    n = indptr.shape[0] - 1
    degree = np.empty(n)
    sum_rows(indptr, data, n, degree)
    return degree


@kernel
def components(indptr, indices):
    """Connected component of each vertex, numbered in the order of first vertices."""
    n = indptr.shape[0] - 1
    component, queue = np.empty(n, np.int64), np.empty(n, np.int64)
    join_components(indptr, indices, n, component, queue)
    return component


@kernel
def induced(indptr, indices, data, members):
    """The sub-graph of some vertices."""
    n, size = members.shape[0], 0
    for m in range(n):
        size += indptr[members[m] + 1] - indptr[members[m]]
    number = np.full(indptr.shape[0] - 1, -1, np.int32)
    new_indptr, new_indices = np.empty(n + 1, np.int32), np.empty(size, np.int32)
    new_data = np.empty(size)
    size = take_subgraph(
        indptr, indices, data, members, 0, n, number, new_indptr, new_indices, new_data
    )
    return new_indptr, new_indices[:size], new_data[:size]


@kernel
def ncut(indptr, indices, data, degree, side):
    """Weight across the cut times the sum of the inverse volumes of both sides."""
    return across_by_volumes(indptr, indices, data, side.shape[0], degree, side)


@kernel
def with_canonical_sign(vector):
    """The vector, or its negative: the first of its largest entries is positive."""
    flipped = vector.copy()
    make_sign_canonical(flipped, vector.shape[0])
    return flipped


@kernel
def fiedler(indptr, indices, data, degree, start, enough, is_full, vectors):
    """Fiedler vector, connectivity, number of steps, whether they have converged."""
    n = degree.shape[0]
    rows = np.empty((N_LANCZOS_ROWS, n + 1))
    lanes, vector = np.empty(LANES), np.empty(n)
    connectivity, n_steps, has_converged = find_fiedler(
        indptr, indices, data, n, degree, start, enough, is_full, vectors.shape[0] - 1,
        rows, lanes, vectors, vector,
    )  # fmt: skip
    return vector, connectivity, n_steps, has_converged


@kernel
def sweep(indptr, indices, data, degree, values):
    """The halves at the best threshold, and whether there is one."""
    n = values.shape[0]
    rows, numbers = np.empty((N_ROWS, n + 1)), np.empty((3, n), np.int64)
    side = np.empty(n, np.bool_)
    is_proper = sweep_values(indptr, indices, data, n, degree, values, rows, numbers, side)
    return side, is_proper


@kernel
def halves_by_sign(indptr, indices, data, degree, vector, accuracy):
    """The halves at zero, and whether both hold a vertex."""
    n = vector.shape[0]
    side = np.empty(n, np.bool_)
    is_proper = part_by_sign(indptr, indices, data, n, degree, vector, accuracy, side)
    return side, is_proper


@kernel
def repaired_halves(indptr, indices, data, degree, vector):
    """Halves where another rule left one empty: by the sweep (1), or at the median (2)."""
    n = vector.shape[0]
    rows, numbers = np.empty((N_ROWS, n + 1)), np.empty((3, n), np.int64)
    side = np.empty(n, np.bool_)
    repair = part_somehow(indptr, indices, data, n, degree, vector, rows, numbers, side)
    return side, repair


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

    Starts at the sum of all columns of ``Q`` but the last, less ``root``. Returns vector, sign
    changes by entry, number of iterations, and whether it has converged.
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
            j, scaled = indices[e], vector[i] / np.sqrt(degree[i])
            total -= data[e] * scaled * (vector[j] / np.sqrt(degree[j]))
    return max(total, 0.0)
