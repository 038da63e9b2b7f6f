"""Lasso codes without a Gram matrix: pools of likely atoms, and products of columns.

Columns are rows of float32 arrays, rounded once before anything is computed; all arithmetic is
float64. The inner loops are functions of their own: in a long one, LLVM does not vectorise
them. Where ``rows`` or ``W`` is None, there is a Gram matrix, and nothing is done here.
"""

from __future__ import annotations

import numpy as np

from setwise._support.compiled import inner, kernel
from setwise.lasso.descent_kernels import copy, subtract


@kernel
def choose_pools(gradients, owns, most):
    """For each row, atoms, counts and cutoffs: at most ``most`` atoms of largest gradient.

    Atoms outside have a gradient of at most the cutoff, which is found by bisection.
    """
    n = gradients.shape[1]
    atoms = np.zeros((gradients.shape[0], most), np.int32)
    counts = np.zeros(gradients.shape[0], np.int64)
    cutoffs = np.zeros(gradients.shape[0])
    for t in range(gradients.shape[0]):
        g = gradients[t]
        if owns[t] < n:
            g[owns[t]] = 0.0
        low, high = 0.0, -1.0 if n <= most else 0.0
        for j in range(n if n > most else 0):
            high = max(high, abs(g[j]))
        for _ in range(40 if n > most else 0):
            middle = 0.5 * (low + high)
            count = 0
            for j in range(n):
                count += abs(g[j]) > middle
            if count > most:
                low = middle
            else:
                high = middle
                if 4 * count >= 3 * most:
                    break
        cutoffs[t] = high
        for j in range(n):
            if abs(g[j]) > high:
                atoms[t, counts[t]] = j
                counts[t] += 1
    return atoms, counts, cutoffs


@kernel
def largest_outside(gradients, owns, pools, pool_counts):
    """For each row, the largest gradient of an atom outside its pool."""
    n = gradients.shape[1]
    is_known = np.zeros(n, np.bool_)
    largest = np.zeros(gradients.shape[0])
    for t in range(gradients.shape[0]):
        for mark in (True, False):
            for p in range(pool_counts[t]):
                is_known[pools[t, p]] = mark
            if owns[t] < n:
                is_known[owns[t]] = mark
            if mark:
                for j in range(n):
                    if not is_known[j]:
                        largest[t] = max(largest[t], abs(gradients[t, j]))
    return largest


@inner
def offer(rows, extra, pools, counts, t, own, work, size, W, candidates, is_in, is_start):
    """Load a column; list its pool and the extra columns, but the start, as candidates."""
    n_candidates = is_in.shape[0]
    if rows is not None:
        _load_row(rows, extra, own, W[1])
        n_candidates = 0
        for r in range(size):
            is_start[work[r]] = True
        is_start[own] = True
        for p in range(counts[t] + extra.shape[0]):
            j = pools[t, p] if p < counts[t] else rows.shape[0] + p - counts[t]
            if not is_start[j]:
                candidates[n_candidates], is_in[n_candidates] = j, False
                n_candidates += 1
        is_start[own] = False
        for r in range(size):
            is_start[work[r]] = False
    return n_candidates


@inner
def compute_products(rows, extra, work, first, last, W, q, H):
    """Products of the new atoms, ``first`` to ``last``, from the columns, which are loaded."""
    if rows is not None:
        x, atoms = W[1], W[2:]
        for w in range(first, last):
            _load_row(rows, extra, work[w], atoms[w])
            total = 0.0
            for j in range(x.shape[0]):
                total += atoms[w, j] * x[j]
            q[w] = total
        _fill_products(atoms, first, last, H)


@inner
def find_residual(a, size, W):
    """``r = x - W' a``, where columns are at hand."""
    if W is not None:
        r = W[0]
        copy(r, W[1], r.shape[0])
        for s in range(size):
            if a[s] != 0.0:
                subtract(r, a[s], W[2 + s], r.shape[0])


@inner
def write_residual(W, residuals, t):
    """Keep what a code leaves of its column."""
    if W is not None:
        copy(residuals[t], W[0], W.shape[1])


@inner
def compute_gradients(rows, extra, candidates, count, W, g):
    """Inner products of the candidates with the residual."""
    if rows is not None:
        n, r = rows.shape[0], W[0]
        for p in range(count):
            i = candidates[p]
            total = 0.0
            if i < n:
                for j in range(r.shape[0]):
                    total += rows[i, j] * r[j]
            else:
                for j in range(r.shape[0]):
                    total += extra[i - n, j] * r[j]
            g[p] = total


@inner
def _load_row(rows, extra, i, target):
    row = rows[i] if i < rows.shape[0] else extra[i - rows.shape[0]]
    copy(target, row, target.shape[0])


@inner
def _fill_products(W, first, last, H):
    """Products of rows ``first`` to ``last`` with all before, two by four to save reads."""
    m = W.shape[1]
    for w in range(first, last, 2):
        v = min(w + 1, last - 1)
        for c in range(0, v + 1, 4):
            c1, c2, c3 = min(c + 1, v), min(c + 2, v), min(c + 3, v)
            a0, a1, a2, a3 = 0.0, 0.0, 0.0, 0.0
            b0, b1, b2, b3 = 0.0, 0.0, 0.0, 0.0
            for j in range(m):
                x, y = W[w, j], W[v, j]
                p, q, r, s = W[c, j], W[c1, j], W[c2, j], W[c3, j]
                a0 += x * p
                a1 += x * q
                a2 += x * r
                a3 += x * s
                b0 += y * p
                b1 += y * q
                b2 += y * r
                b3 += y * s
            H[w, c] = H[c, w] = a0
            H[w, c1] = H[c1, w] = a1
            H[w, c2] = H[c2, w] = a2
            H[w, c3] = H[c3, w] = a3
            H[v, c] = H[c, v] = b0
            H[v, c1] = H[c1, v] = b1
            H[v, c2] = H[c2, v] = b2
            H[v, c3] = H[c3, v] = b3
