"""Lasso codes of columns: solve on a few atoms, let in the worst violators, repeat.

Inner products come from a Gram matrix (for the columns that ``inverse_kernels`` leaves), or
from the columns where it would not fit in memory. Functions that reach for data take the arrays
of both kinds; those of the absent kind are None, and Numba leaves out their branches. Kernels
take named tuples; inner functions take arrays, which compile faster.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from setwise._support.compiled import inner, kernel
from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.lasso.descent_kernels import (
    ACCEPTED,
    TOLERANCE,
    align,
    clear,
    settle,
    subtract,
)
from setwise.lasso.descent_kernels import lasso_on_gram as lasso_on_gram
from setwise.lasso.pool_kernels import (
    compute_gradients,
    compute_products,
    find_residual,
    offer,
    write_residual,
)

ENTER_AT_ONCE = 12  # violators that enter the working set in one pass over all atoms
# States of a code; NO_ROOM: the matrices hold too few atoms.
_OPEN, _OPTIMAL, _FAILED, _NO_ROOM = 0, 1, 2, 3


class Products(NamedTuple):
    """Sources of inner products: the first three arrays or the last four; the others are None.

    ``gram`` is of the old columns. ``strip`` borders it with one row for each new column;
    ``tail`` has the same products with one row for each old one. ``rows`` are the old columns,
    ``extra`` the new ones; each target may use its pool and all extra columns.
    """

    gram: FloatArray | None = None
    tail: FloatArray | None = None
    strip: FloatArray | None = None
    rows: FloatArray | None = None
    extra: FloatArray | None = None
    pools: IntArray | None = None
    pool_counts: IntArray | None = None


class Workspace(NamedTuple):
    """Arrays to work in; ``room`` atoms fit into H, factor and W.

    ``W`` holds residual, target and atoms; ``is_start`` marks atoms of a start. Both are None
    with a Gram matrix.
    """

    H: FloatArray
    factor: FloatArray
    W: FloatArray | None
    floats: FloatArray
    ints: IntArray
    is_in: BoolArray
    is_start: BoolArray | None


@kernel
def code_columns(products, n_old, targets, penalty, start, space, done, cap, max_steps, found):
    """Write the codes of the columns ``targets``, from number ``done`` on, to ``found``.

    Returns how many codes are done: all, or those before one that needs more room.
    """
    gram, tail, strip, rows, extra, pools, pool_counts = products
    H, factor, W, floats, ints, is_in, is_start = space
    q, a, sign, g, spare = floats[0], floats[1], floats[2], floats[3], floats[4:]
    work, active, candidates = ints[0], ints[1], ints[2]
    for t in range(done, targets.shape[0]):
        own, state, k = targets[t], _OPEN, np.int64(0)  # a plain 0 is a type of its own
        size = _start_from(start.begins[t], start.ends[t], start, work, a)
        _mark(gram, own, work, size, is_in, True)
        n_candidates = offer(
            rows, extra, pools, pool_counts, t, own, work, size, W, candidates, is_in, is_start
        )
        first = start.n_known if own < n_old else 0  # no atom before it is a violator
        n_loaded, worst, is_partial = 0, 0.0, True
        while state == _OPEN:
            if size > H.shape[0]:
                state = _NO_ROOM
            elif size > n_loaded:
                _read_products(gram, tail, strip, own, work, n_loaded, size, q, H)
                compute_products(rows, extra, work, n_loaded, size, W, q, H)
                if n_loaded == 0:
                    k = align(H, a, factor, active, sign, size)
                k = settle(H, q, penalty, a, factor, active, sign, spare, k, size, max_steps)
                state = _verdict(a, n_loaded, size, k, worst - penalty, is_partial)
                n_loaded = size
            if state == _OPEN:
                _combine_products(gram, tail, strip, own, work, a, active, k, first, g)
                find_residual(a, size, W)
                compute_gradients(rows, extra, candidates, n_candidates, W, g)
                n_new, worst = let_in(
                    g, first, n_candidates, penalty, candidates, is_in, work, a, sign, size
                )
                size += n_new
                is_partial, first = first > 0, 0
                if n_new == 0 and not is_partial:
                    state = _OPTIMAL
        _mark(gram, own, work, size, is_in, False)
        if state == _NO_ROOM:
            return t
        find_residual(a, size, W)
        write_residual(W, found.residuals, t)
        found.pointers[t + 1] = _collect(
            work, a, size, found.pointers[t], cap, found.atoms, found.values
        )
        found.converged[t] = state == _OPTIMAL and k <= cap
    return targets.shape[0]


@inner
def _start_from(first, last, start, work, a):
    """Begin the working set with a code; returns how many atoms it has."""
    for s in range(first, last):
        work[s - first] = start.atoms[s]
        a[s - first] = start.values[s]
    return last - first


@inner
def _mark(gram, own, work, size, is_in, is_out):
    """Set or clear the marks of atoms that cannot enter: the column and its start."""
    if gram is not None:
        is_in[own] = is_out
        for r in range(size):
            is_in[work[r]] = is_out


@inner
def _read_products(gram, tail, strip, own, atoms, first, last, q, H):
    """Products of the new atoms, ``first`` to ``last``, with the target and with all."""
    if gram is not None:
        n_old = gram.shape[0]
        for r in range(first, last):
            i = atoms[r]
            if i >= n_old:
                q[r] = strip[i - n_old, own]
                for c in range(r + 1):
                    H[r, c] = H[c, r] = strip[i - n_old, atoms[c]]
            else:
                q[r] = gram[own, i] if own < n_old else strip[own - n_old, i]
                for c in range(r + 1):
                    j = atoms[c]
                    H[r, c] = H[c, r] = gram[i, j] if j < n_old else tail[i, j - n_old]


@inner
def _combine_products(gram, tail, strip, own, atoms, a, active, k, first, g):
    """Gradients ``q - H a`` of all atoms from ``first`` on, by the rows of active ones."""
    if gram is not None:
        n_old = gram.shape[0]
        clear(g, g.shape[0])
        for r in range(-1, k):
            i = own if r < 0 else atoms[active[r]]
            scale = -1.0 if r < 0 else a[active[r]]
            if i >= n_old:
                subtract(g, scale, strip[i - n_old], g.shape[0])
            else:
                if first == 0:
                    subtract(g, scale, gram[i], n_old)
                for j in range(tail.shape[1]):
                    g[n_old + j] -= scale * tail[i, j]


@inner
def _verdict(a, first, last, k, violation, is_partial):
    """State after solving with new atoms, ``first`` to ``last``; ``k`` are active.

    Their gradients exceeded the penalty by ``violation`` at most, over all atoms or, if
    ``is_partial``, over some.
    """
    if k < 0:
        return _FAILED
    for r in range(first, last):
        if a[r] != 0.0:
            return _OPEN
    # None of the new atoms got in: only rounding calls them violators.
    if violation > ACCEPTED:
        return _FAILED
    return _OPEN if is_partial else _OPTIMAL


@inner
def let_in(g, first, n, penalty, candidates, is_in, work, a, sign, size):
    """Append the worst violators among candidates ``first`` to ``n``, the worst first.

    ``work`` holds places of candidates until the end. Returns their number and largest ``|g|``.
    """
    n_above, count, worst = 0, 0, 0.0
    for j in range(n):  # counting vectorises, and most passes find none
        n_above += abs(g[j]) > penalty + TOLERANCE
    for j in range(first, n if n_above > 0 else first):
        above = abs(g[j])
        if above <= penalty + TOLERANCE or is_in[j]:
            continue
        if count == ENTER_AT_ONCE and above <= abs(g[work[size + count - 1]]):
            continue
        slot = size + min(count, ENTER_AT_ONCE - 1)
        while slot > size and abs(g[work[slot - 1]]) < above:
            work[slot] = work[slot - 1]
            slot -= 1
        work[slot] = j
        count = min(count + 1, ENTER_AT_ONCE)
    if count > 0:
        worst = abs(g[work[size]])
    for r in range(size, size + count):
        is_in[work[r]] = True
        work[r] = candidates[work[r]]
        a[r] = sign[r] = 0.0
    return count, worst


@inner
def _collect(work, a, size, first, cap, atoms, values):
    """Write at most ``cap`` non-zeros from ``first`` on, by atom; where they end."""
    last = first
    for r in range(size):
        if a[r] == 0.0 or last == first + cap:
            continue
        slot = last
        while slot > first and atoms[slot - 1] > work[r]:
            atoms[slot] = atoms[slot - 1]
            values[slot] = values[slot - 1]
            slot -= 1
        atoms[slot] = work[r]
        values[slot] = a[r]
        last += 1
    return last
