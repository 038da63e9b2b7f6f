"""From sparse codes to a graph, in one pass over the codes."""

from __future__ import annotations

import numpy as np

from setwise._support.compiled import kernel

__all__ = ["symmetrise"]


@kernel
def symmetrise(pointers, atoms, values):
    """``A = |S| + |S'|`` of codes, one per column, as the arrays of a sparse matrix by rows.

    Code ``i`` is ``values[pointers[i]:pointers[i + 1]]`` on ``atoms``, which ascend.
    """
    n = pointers.shape[0] - 1
    # S', by rows: filled column after column, so that its indices ascend too.
    row_pointers = np.zeros(n + 1, np.int64)
    for e in range(pointers[n]):
        row_pointers[atoms[e] + 1] += 1
    for i in range(n):
        row_pointers[i + 1] += row_pointers[i]
    users = np.empty(pointers[n], np.int32)
    weights = np.empty(pointers[n])
    filled = np.empty(n, np.int64)
    for i in range(n):
        filled[i] = row_pointers[i]
    for i in range(n):
        for e in range(pointers[i], pointers[i + 1]):
            slot = filled[atoms[e]]
            users[slot] = i
            weights[slot] = abs(values[e])
            filled[atoms[e]] += 1
    # Each row of A merges a code with a row of S'.
    indptr = np.zeros(n + 1, np.int32)
    indices = np.empty(2 * pointers[n], np.int32)
    data = np.empty(2 * pointers[n])
    size = 0
    for i in range(n):
        own, last_own = pointers[i], pointers[i + 1]
        other, last_other = row_pointers[i], row_pointers[i + 1]
        while own < last_own or other < last_other:
            take_own = other == last_other or (own < last_own and atoms[own] <= users[other])
            take_other = own == last_own or (other < last_other and users[other] <= atoms[own])
            total = 0.0
            if take_own:
                indices[size] = atoms[own]
                total += abs(values[own])
            if take_other:
                indices[size] = users[other]
                total += weights[other]
            own += take_own
            other += take_other
            data[size] = total
            size += total != 0.0
        indptr[i + 1] = size
    return indptr, indices[:size].copy(), data[:size].copy()
