"""The loops under every cut: components and sweep of small graphs, Lanczos on large ones."""

from __future__ import annotations

import numpy as np

from setwise.compiled import kernel

__all__ = ["dense_components", "lanczos_steps", "weight_to_earlier"]


@kernel
def dense_components(adjacency):
    """Connected component of each vertex, numbered in the order of their first vertices."""
    n = adjacency.shape[0]
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
            row = adjacency[queue[head]]
            for j in range(n):
                if row[j] != 0.0 and component[j] < 0:
                    component[j] = count
                    queue[tail] = j
                    tail += 1
            head += 1
        count += 1
    return component


@kernel
def weight_to_earlier(adjacency, order):
    """For each vertex in ``order``, the weight of its edges to those before it."""
    weight = np.zeros(order.shape[0])
    for i in range(order.shape[0]):
        row = adjacency[order[i]]
        for j in range(i):
            weight[i] += row[order[j]]
    return weight


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
def lanczos_steps(indptr, indices, weights, null, vectors, diagonal, beside, first, last):
    """Lanczos steps ``first`` to ``last`` with a sparse symmetric matrix, away from ``null``.

    Rows of ``vectors`` are the Lanczos vectors (row ``first`` given), ``diagonal`` and
    ``beside`` the tridiagonal matrix. Every new vector is made orthogonal to ``null`` and to
    all before it, twice: without that, rounding brings ``null`` back. Returns how many steps
    are done, fewer than asked when the vectors span an invariant space.
    """
    n = null.shape[0]
    product = np.empty(n)
    for k in range(first, last):
        for i in range(n):
            total = 0.0
            for e in range(indptr[i], indptr[i + 1]):
                total += weights[e] * vectors[k, indices[e]]
            product[i] = total
        diagonal[k] = _dot(product, vectors[k])
        for _ in range(2):
            _subtract(product, _dot(product, null), null)
            for j in range(k, -1, -1):
                _subtract(product, _dot(product, vectors[j]), vectors[j])
        beside[k] = np.sqrt(_dot(product, product))
        if beside[k] < 1e-13:
            return k + 1
        for i in range(n):
            vectors[k + 1, i] = product[i] / beside[k]
    return last
