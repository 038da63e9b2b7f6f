"""The lasso without a Gram matrix: each column is solved on a pool of likely atoms.

Columns are rows of float32 arrays here (half the memory, and as a gallery's columns are
rounded once, before anything is computed, nothing is lost); all arithmetic is float64. The
inner loops are small kernels of their own: in a long one, LLVM does not vectorise them.
"""

from __future__ import annotations

import numpy as np

from setwise._support.compiled import inner, kernel
from setwise.lasso.descent_kernels import align, settle
from setwise.lasso.factor_kernels import copy, subtract
from setwise.lasso.working_set_kernels import (
    FAILED,
    OPEN,
    OPTIMAL,
    collect,
    let_in,
    start_from,
    verdict,
)

__all__ = ["choose_pools", "code_on_pools", "largest_outside"]


@kernel
def choose_pools(gradients, owns, most):
    """For each row, the atoms of largest gradient: at most ``most``, all above a cutoff.

    Returns atoms (``(n_rows, most)``), counts and cutoffs; an atom that is not chosen has a
    gradient of at most the cutoff. The cutoff is found by bisection: counting is cheap.
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
def _load(rows, extra, i, target):
    n = rows.shape[0]
    row = rows[i] if i < n else extra[i - n]
    copy(target, row, target.shape[0])


@inner
def _gradients(rows, extra, candidates, count, r, g):
    """Inner products of the candidates with the residual."""
    n = rows.shape[0]
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
def _fill_products(W, first, last, H):
    """Inner products of rows ``first`` to ``last`` with all before them.

    Two rows with four at a time: every number that is read serves several sums.
    """
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


@inner
def _load_atoms(rows, extra, x, work, first, last, W, q, H):
    """Load the new atoms, ``first`` to ``last``, and their products with ``x`` and with all."""
    for w in range(first, last):
        _load(rows, extra, work[w], W[w])
        total = 0.0
        for j in range(x.shape[0]):
            total += W[w, j] * x[j]
        q[w] = total
    _fill_products(W, first, last, H)


@inner
def _offer(pool, pool_count, n_extra, is_start, candidates, is_in):
    """The pool and the extra columns without the start's atoms; returns how many."""
    n_old, count = is_start.shape[0] - n_extra, 0
    for p in range(pool_count + n_extra):
        j = pool[p] if p < pool_count else n_old + p - pool_count
        if not is_start[j]:
            candidates[count], is_in[count] = j, False
            count += 1
    return count


@kernel
def code_on_pools(
    rows, extra, targets, penalty, starts, start_atoms, start_values, pools, pool_counts, done,
    H, factor, W, floats, ints, is_in, is_start, cap, max_steps,
    pointers, atoms, values, converged, residuals,
):  # fmt: skip
    """Lasso codes of the columns ``targets``, each on its pool and on all ``extra`` columns.

    ``rows`` are the old columns, ``extra`` the new ones, numbered after them. The rest is as
    for :func:`setwise.lasso.kernels.code_columns`; ``W`` has room for the atoms themselves.
    Residuals are written too.
    """
    x, r = W[0], W[1]
    q, a, sign, g, spare = floats[0], floats[1], floats[2], floats[3], floats[4:]
    work, active, candidates = ints[0], ints[1], ints[2]
    for t in range(done, targets.shape[0]):
        state, k = OPEN, np.int64(0)  # a plain 0 is a type of its own
        _load(rows, extra, targets[t], x)
        size = start_from(
            starts[t], starts[t + 1], start_atoms, start_values, work, a, is_start
        )
        is_start[targets[t]] = True
        n_candidates = _offer(
            pools[t], pool_counts[t], extra.shape[0], is_start, candidates, is_in
        )
        is_start[targets[t]] = False
        for w in range(size):
            is_start[work[w]] = False
        if size > H.shape[0]:
            return t
        _load_atoms(rows, extra, x, work, k, size, W[2:], q, H)
        k = align(H, a, factor, active, sign, size)
        k = settle(H, q, penalty, a, factor, active, sign, spare, k, size, max_steps)
        state = OPEN if k >= 0 else FAILED
        while state == OPEN:
            _residual(x, a, W[2:], size, r)
            _gradients(rows, extra, candidates, n_candidates, r, g)
            n_new, worst = let_in(
                g, 0, n_candidates, penalty, candidates, is_in, work, a, sign, size
            )
            size += n_new
            if size > H.shape[0]:
                return t
            if n_new > 0:
                _load_atoms(rows, extra, x, work, size - n_new, size, W[2:], q, H)
                k = settle(H, q, penalty, a, factor, active, sign, spare, k, size, max_steps)
                state = verdict(a, size - n_new, size, k, worst - penalty, False)
            else:
                state = OPTIMAL
        _residual(x, a, W[2:], size, r)
        copy(residuals[t], r, r.shape[0])
        pointers[t + 1] = collect(work, a, size, pointers[t], cap, atoms, values)
        converged[t] = state == OPTIMAL and k <= cap
    return targets.shape[0]


@inner
def _residual(x, a, W, size, r):
    """``r = x - W' a``."""
    copy(r, x, x.shape[0])
    for s in range(size):
        if a[s] != 0.0:
            subtract(r, a[s], W[s], x.shape[0])
