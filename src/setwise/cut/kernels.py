"""The loops under every cut: components, sub-graphs, Lanczos steps and the sweep.

A graph is ``indptr, indices, data`` as in SciPy's sparse rows, or a dense array.
"""

from __future__ import annotations

import numpy as np

from setwise._support.compiled import kernel

__all__ = [
    "best_threshold",
    "induced",
    "lanczos_steps",
    "sparse_components",
    "sparse_degrees",
    "top_of_tridiagonal",
    "weight_across",
]


@kernel
def sparse_degrees(indptr, data):
    """Sum of the weights at each vertex."""
    degree = np.zeros(indptr.shape[0] - 1)
    for i in range(degree.shape[0]):
        for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            degree[i] += data[e]
    return degree


@kernel
def weight_across(indptr, indices, data, side):
    """Weight of the edges between the two sides."""
    across = 0.0
    for i in range(side.shape[0]):
        if side[i]:
            for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
                if not side[indices[e]]:
                    across += data[e]
    return across


@kernel
def sparse_components(indptr, indices, data):
    """Connected component of each vertex, numbered in the order of their first vertices.

    A stored zero is no edge.
    """
    n = indptr.shape[0] - 1
    component = np.full(n, -1, np.int64)
    queue = np.empty(n, np.int64)
    count = 0
    for seed in range(n):
        if component[seed] >= 0:
            continue
        component[seed] = count
        queue[0] = seed
        head, tail = 0, 1
        while head < tail:
            i = queue[head]
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                if data[e] != 0.0 and component[j] < 0:
                    component[j] = count
                    queue[tail] = j
                    tail += 1
            head += 1
        count += 1
    return component


@kernel
def induced(indptr, indices, data, members, number):
    """The sub-graph of ``members``; ``number`` is each vertex's number in it, or negative."""
    size = 0
    for m in range(members.shape[0]):
        size += indptr[members[m] + 1] - indptr[members[m]]
    new_indptr = np.zeros(members.shape[0] + 1, np.int32)
    new_indices = np.empty(size, np.int32)
    new_data = np.empty(size)
    size = 0
    for m in range(members.shape[0]):
        i = members[m]
        for e in range(indptr[i], indptr[i + 1]):
            j = number[indices[e]]
            if j >= 0:
                new_indices[size] = j
                new_data[size] = data[e]
                size += 1
        new_indptr[m + 1] = size
    return new_indptr, new_indices[:size].copy(), new_data[:size].copy()


@kernel
def best_threshold(indptr, indices, data, order, values, degree, gap):
    """Where to cut the vertices in ``order`` for the smallest NCut, and that NCut.

    ``values`` and ``degree`` are in that order; neighbours closer than ``gap`` are not parted.
    Returns how many vertices come before the cut, 0 if there is no place for one.

    Both sides are summed from their own end and the lighter one decides what is across: the
    volume of a light side would be lost in the rounding of a sum that began at the other.
    """
    n = order.shape[0]
    rank = np.empty(n, np.int64)
    for i in range(n):
        rank[order[i]] = i
    # Weight that stops being across as a vertex changes sides, less what begins to be.
    surplus = np.empty(n)
    for i in range(n):
        to_earlier = 0.0
        for e in range(indptr[order[i]], indptr[order[i] + 1]):
            if rank[indices[e]] < i:
                to_earlier += data[e]
        surplus[i] = degree[i] - 2.0 * to_earlier
    high, from_high = np.zeros(n + 1), np.zeros(n + 1)
    for i in range(n - 1, -1, -1):
        high[i] = high[i + 1] + degree[i]
        from_high[i] = from_high[i + 1] - surplus[i]
    low, from_low = 0.0, 0.0
    best, where = np.inf, 0
    for i in range(n - 1):
        low += degree[i]
        from_low += surplus[i]
        if values[i + 1] - values[i] <= gap:
            continue
        across = max(from_low if low <= high[i + 1] else from_high[i + 1], 0.0)
        ncut = across / low + across / high[i + 1] if across > 0.0 else 0.0
        if ncut < best:
            best, where = ncut, i + 1
    return where, best


@kernel
def _dot(x, y):
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * y[i]
    return total


@kernel
def _subtract(x, scale, y):
    for i in range(x.shape[0]):
        x[i] -= scale * y[i]


@kernel
def lanczos_steps(
    indptr, indices, data, dense, scale, null,
    vectors, current, previous, diagonal, beside, first, last, is_full,
):  # fmt: skip
    """Lanczos steps ``first`` to ``last`` with ``D^-1/2 A D^-1/2``, away from ``null``.

    ``A`` is the sparse graph, or ``dense`` where that is not empty, and ``scale`` its
    ``D^-1/2``. Rows of ``vectors`` are the Lanczos vectors; ``current`` and ``previous`` are
    the last two, ``diagonal`` and ``beside`` the tridiagonal matrix. Each new vector is made
    orthogonal to ``null``, which rounding would bring back otherwise, and where ``is_full`` to
    all before it, twice. Returns how many steps are done, fewer than ``last`` when an
    invariant space is spanned.
    """
    n = null.shape[0]
    scaled, product = np.empty(n), np.empty(n)
    for k in range(first, last):
        for i in range(n):
            scaled[i] = scale[i] * current[i]
        if dense.shape[0] > 0:
            np.dot(dense, scaled, product)
            for i in range(n):
                product[i] *= scale[i]
        else:
            for i in range(n):
                total = 0.0
                # Unsigned, and twice as fast: no index has to be asked if it is negative.
                for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
                    total += data[e] * scaled[indices[e]]
                product[i] = total * scale[i]
        diagonal[k] = _dot(product, current)
        _subtract(product, diagonal[k], current)
        if k > 0:
            _subtract(product, beside[k - 1], previous)
        for _ in range(2 if is_full else 1):
            _subtract(product, _dot(product, null), null)
            for j in range(k if is_full else -1, -1, -1):
                _subtract(product, _dot(product, vectors[j]), vectors[j])
        beside[k] = np.sqrt(_dot(product, product))
        if beside[k] < 1e-13:
            return k + 1
        for i in range(n):
            previous[i] = current[i]
            current[i] = product[i] / beside[k]
            vectors[k + 1, i] = current[i]
    return last


@kernel
def _n_above(diagonal, beside, size, x):
    """How many eigenvalues of the tridiagonal matrix exceed ``x`` (Sturm)."""
    count = 0
    pivot = 1.0
    for k in range(size):
        off = beside[k - 1] ** 2 if k > 0 else 0.0
        if abs(pivot) < 1e-300:
            pivot = 1e-300
        pivot = diagonal[k] - x - off / pivot
        count += pivot > 0.0
    return count


@kernel
def _largest_but(diagonal, beside, size, skipped, high):
    """Largest eigenvalue after ``skipped`` others, all at most ``high``, from above."""
    low = -1.5  # the spectrum of D^-1/2 A D^-1/2 begins at -1
    while True:
        middle = 0.5 * (low + high)
        if middle <= low or middle >= high:
            return high
        if _n_above(diagonal, beside, size, middle) > skipped:
            low = middle
        else:
            high = middle


@kernel
def top_of_tridiagonal(diagonal, beside, size):
    """Largest eigenvalue of the first ``size`` rows, the next one, and the vector.

    Bisection from above leaves a shift that is not below the eigenvalue, so that the shifted
    matrix is definite, needs no pivoting, and inverse iteration with it converges at once.
    """
    top = _largest_but(diagonal, beside, size, 0, 1.5)
    second = _largest_but(diagonal, beside, size, 1, top) if size > 1 else top
    shift = top + 4e-16
    pivots = np.empty(size)
    for k in range(size):
        off = beside[k - 1] ** 2 / pivots[k - 1] if k > 0 else 0.0
        pivots[k] = max(shift - diagonal[k] - off, 1e-17)
    vector = np.ones(size)
    for _ in range(3):
        for k in range(1, size):
            vector[k] += beside[k - 1] / pivots[k - 1] * vector[k - 1]
        for k in range(size - 1, -1, -1):
            vector[k] /= pivots[k]
            if k + 1 < size:
                vector[k] += beside[k] / pivots[k] * vector[k + 1]
        length = np.sqrt(_dot(vector, vector))
        for k in range(size):
            vector[k] /= length
    return top, second, vector
