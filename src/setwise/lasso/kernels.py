"""Lasso codes of columns given by their Gram matrix, and codes inside an l1 ball."""

from __future__ import annotations

from math import copysign

import numpy as np

from setwise._support.compiled import inner, kernel
from setwise.lasso.descent_kernels import (
    DEPENDENT,
    align,
    lasso_on_gram,
    settle,
)
from setwise.lasso.factor_kernels import append, backward, clear, copy, forward, subtract
from setwise.lasso.working_set_kernels import (
    FAILED,
    NO_ROOM,
    OPEN,
    OPTIMAL,
    collect,
    let_in,
    start_from,
    verdict,
)

__all__ = ["code_columns", "code_in_l1_ball", "factorise", "find_changed", "lasso_on_gram"]


@kernel
def code_columns(
    G, tail, strip, targets, penalty, starts, start_atoms, start_values, n_known, kept,
    kept_at, done, H, factor, floats, ints, is_in, cap, max_steps,
    pointers, atoms, values, converged,
):  # fmt: skip
    """Lasso codes of the columns ``targets``, from number ``done`` on, on all other columns.

    The Gram matrix is ``G`` for the old columns, bordered by ``strip`` with one row for each
    new one, and ``tail``, the same products again with one row for each old one. Column
    ``targets[t]`` starts from the code ``start_values[starts[t]:starts[t + 1]]`` on
    ``start_atoms``, which for an old one is optimal on the first ``n_known`` columns. The
    Cholesky factor of a start is in ``kept`` from ``kept_at[t]`` on, if not negative.

    Codes, of at most ``cap`` atoms, and whether each has converged, go to the last four
    arrays. Returns how many are done: all, or those before one that ``H`` and ``factor`` have
    no room for.
    """
    n, n_old = is_in.shape[0], G.shape[0]
    q, a, sign, g, spare = floats[0], floats[1], floats[2], floats[3], floats[4:]
    work, active, candidates = ints[0], ints[1], ints[2]
    for t in range(done, targets.shape[0]):
        own, state, k = targets[t], OPEN, np.int64(0)  # a plain 0 is a type of its own
        size = start_from(starts[t], starts[t + 1], start_atoms, start_values, work, a, is_in)
        is_in[own] = True
        first = n_known if own < n_old else 0  # no atom before it is a violator
        if size > H.shape[0]:
            state = NO_ROOM
        elif kept_at[t] >= 0:
            _read_products(G, tail, strip, own, work, k, size, q, H)
            k = _load(kept, kept_at[t], size, a, factor, active, sign)
        else:
            _read_products(G, tail, strip, own, work, k, size, q, H)
            k = align(H, a, factor, active, sign, size)
            k = settle(H, q, penalty, a, factor, active, sign, spare, k, size, max_steps)
            state = OPEN if k >= 0 else FAILED
        while state == OPEN:
            _combine_products(G, tail, strip, own, work, a, active, k, first, g)
            n_new, worst = let_in(g, first, n, penalty, candidates, is_in, work, a, sign, size)
            size += n_new
            if size > H.shape[0]:
                state = NO_ROOM
            elif n_new > 0:
                _read_products(G, tail, strip, own, work, size - n_new, size, q, H)
                k = settle(H, q, penalty, a, factor, active, sign, spare, k, size, max_steps)
                state = verdict(a, size - n_new, size, k, worst - penalty, first > 0)
            elif first == 0:
                state = OPTIMAL
            first = 0
        is_in[own] = False
        for r in range(size):
            is_in[work[r]] = False
        if state == NO_ROOM:
            return t
        pointers[t + 1] = collect(work, a, size, pointers[t], cap, atoms, values)
        converged[t] = state == OPTIMAL and k <= cap
    return targets.shape[0]


@inner
def _load(kept, first, k, a, factor, active, sign):
    """Begin with a factor that was kept, row after row; returns how many atoms are active."""
    for r in range(k):
        active[r], sign[r] = r, copysign(1.0, a[r])
        for c in range(r + 1):
            factor[r, c] = kept[first + c]
        first += r + 1
    return k


@inner
def _read_products(G, tail, strip, own, atoms, first, last, q, H):
    """Products of the new atoms, ``first`` to ``last``, with the target and with all."""
    n_old = G.shape[0]
    for r in range(first, last):
        i = atoms[r]
        if i >= n_old:
            q[r] = strip[i - n_old, own]
            for c in range(r + 1):
                H[r, c] = H[c, r] = strip[i - n_old, atoms[c]]
        else:
            q[r] = G[own, i] if own < n_old else strip[own - n_old, i]
            for c in range(r + 1):
                j = atoms[c]
                H[r, c] = H[c, r] = G[i, j] if j < n_old else tail[i, j - n_old]


@inner
def _combine_products(G, tail, strip, own, atoms, a, active, k, first, g):
    """Gradients of all atoms from ``first`` on: ``g = q - H a``, by the rows of active ones."""
    n_old = G.shape[0]
    clear(g, g.shape[0])
    for r in range(-1, k):
        i = own if r < 0 else atoms[active[r]]
        scale = -1.0 if r < 0 else a[active[r]]
        if i >= n_old:
            subtract(g, scale, strip[i - n_old], g.shape[0])
        else:
            if first == 0:
                subtract(g, scale, G[i], n_old)
            for j in range(tail.shape[1]):
                g[n_old + j] -= scale * tail[i, j]


@kernel
def find_changed(tail, penalty, pointers, atoms, values, g, is_changed):
    """Whether any new atom, whose products with the old are in ``tail``, violates each code."""
    for i in range(is_changed.shape[0]):
        copy(g, tail[i], g.shape[0])
        for e in range(pointers[i], pointers[i + 1]):
            subtract(g, values[e], tail[atoms[e]], g.shape[0])
        is_changed[i] = False
        for j in range(g.shape[0]):
            is_changed[i] |= abs(g[j]) > penalty


@kernel
def factorise(G, pointers, atoms, factor, active, kept, kept_at):
    """Cholesky factors of the atoms of codes, packed row after row into ``kept``.

    Code ``t`` has the factor from ``kept_at[t]`` on, which becomes -1 where rounding calls an
    atom dependent on those before it.
    """
    for t in range(pointers.shape[0] - 1):
        first, slot = pointers[t], kept_at[t]
        for k in range(pointers[t + 1] - first):
            if not append(factor, G, active, k, atoms[first + k], DEPENDENT):
                kept_at[t] = -1
                break
            for c in range(k + 1):
                kept[slot + c] = factor[k, c]
            slot += k + 1


@inner
def _l1_norm(a):
    total = 0.0
    for j in range(a.shape[0]):
        total += abs(a[j])
    return total


@inner
def _implied_penalty(H, q, a):
    """The penalty at which ``a`` would be optimal: ``a'(q - H a) / ||a||_1`` there.

    Zero for a start of zeros. What the last alternation of a dictionary found is nearly right
    in the next, and the penalty is then one Newton step away.
    """
    total, norm = 0.0, 0.0
    for r in range(a.shape[0]):
        if a[r] != 0.0:
            rest = q[r]
            for c in range(a.shape[0]):
                rest -= H[r, c] * a[c]
            total += a[r] * rest
            norm += abs(a[r])
    return max(total / norm, 0.0) if norm > 0.0 else 0.0


@kernel
def code_in_l1_ball(H, Q, radius, codes, max_steps):
    """Code each row of ``Q`` (``q = B'x``) with ``||a||_1 <= radius``, exactly, in place.

    The bound is the lasso at some penalty; for fixed signs the code is linear in it, so
    Newton's method on the penalty, kept inside a bracket, ends after finitely many steps.
    Where atoms are so close that no double is the penalty, the two ends of the bracket are
    mixed. Returns whether each code converged; those that did not are inside the ball too.
    """
    k = H.shape[0]
    converged = np.ones(Q.shape[0], np.bool_)
    factor = np.empty((k, k))
    active = np.empty(k, np.int64)
    slope = np.empty(k)
    inside = np.empty(k)
    outside = np.empty(k)
    for i in range(Q.shape[0]):
        a = codes[i]
        top = 0.0
        for j in range(k):
            top = max(top, abs(Q[i, j]))
            inside[j] = 0.0
        # Below zero: no penalty is known to be too low yet.
        low, high, penalty = -1.0, top, _implied_penalty(H, Q[i], a)
        low_norm, high_norm = radius, 0.0
        for _ in range(max_steps):
            if not lasso_on_gram(H, Q[i], penalty, a, max_steps):
                converged[i] = False
                break
            norm = _l1_norm(a)
            if norm > radius:
                low, low_norm = penalty, norm
                copy(outside, a, k)
            else:
                high, high_norm = penalty, norm
                copy(inside, a, k)
            if abs(norm - radius) <= 1e-13 * radius or (penalty == 0.0 and norm <= radius):
                break
            if low >= 0.0 and high - low <= 1e-15 * top:
                share = (radius - high_norm) / (low_norm - high_norm)
                for j in range(k):
                    a[j] = inside[j] + (outside[j] - inside[j]) * share
                break
            m = 0
            for j in range(k):
                if a[j] != 0.0 and append(factor, H, active, m, j, DEPENDENT):
                    slope[m] = np.sign(a[j])
                    m += 1
            forward(factor, m, slope)
            backward(factor, m, slope)
            fall = 0.0
            for r in range(m):
                fall += slope[r] * np.sign(a[active[r]])
            step = penalty + (norm - radius) / fall if fall > 0.0 else 0.0
            if low < 0.0 and step <= 0.0:
                penalty = 0.0  # the bound may not bind
            else:
                penalty = step if low < step < high else 0.5 * (max(low, 0.0) + high)
        else:
            converged[i] = False
        if not converged[i]:
            shrink = radius / max(radius, _l1_norm(a))
            for j in range(k):
                a[j] *= shrink
    return converged
