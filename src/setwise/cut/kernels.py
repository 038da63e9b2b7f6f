"""The loops under every cut, for callers from Python: with arrays for their results."""

from __future__ import annotations

import numpy as np

from setwise._support.compiled import kernel
from setwise.cut.graph_kernels import (
    across_by_volumes,
    join_components,
    sum_rows,
    take_subgraph,
)
from setwise.cut.halves_kernels import N_ROWS as _N_ROWS_OF_HALVES
from setwise.cut.halves_kernels import part_by_sign, part_somehow, sweep_values
from setwise.cut.lanczos_kernels import LANES, find_fiedler, make_sign_canonical
from setwise.cut.lanczos_kernels import N_ROWS as _N_ROWS_OF_LANCZOS

__all__ = [
    "components",
    "degrees",
    "fiedler",
    "halves_by_sign",
    "induced",
    "ncut",
    "repaired_halves",
    "sweep",
    "with_canonical_sign",
]


@kernel
def degrees(indptr, data):
    """Sum of the weights at each vertex."""
    degree = np.empty(indptr.shape[0] - 1)
    sum_rows(indptr, data, degree.shape[0], degree)
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
    rows = np.empty((_N_ROWS_OF_LANCZOS, n + 1))
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
    rows, numbers = np.empty((_N_ROWS_OF_HALVES, n + 1)), np.empty((3, n), np.int64)
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
    rows, numbers = np.empty((_N_ROWS_OF_HALVES, n + 1)), np.empty((3, n), np.int64)
    side = np.empty(n, np.bool_)
    repair = part_somehow(indptr, indices, data, n, degree, vector, rows, numbers, side)
    return side, repair
