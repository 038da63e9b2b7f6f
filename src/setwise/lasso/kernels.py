"""Lasso codes of columns given by their Gram matrix, and codes inside an l1 ball."""

from __future__ import annotations

import numpy as np

from setwise._support.compiled import kernel
from setwise.lasso.descent_kernels import DEPENDENT, lasso_on_gram
from setwise.lasso.factor_kernels import append, copy, grown, inlined, solve, subtract
from setwise.lasso.working_set_kernels import (
    ENTER_AT_ONCE,
    OPEN,
    OPTIMAL,
    ROOM,
    collect,
    let_in,
    resettle,
    start_from,
)

__all__ = ["code_columns", "code_in_l1_ball", "lasso_on_gram"]


@kernel
def code_columns(
    G, tail, strip, targets, penalty, starts, start_atoms, start_values, cap, max_steps
):
    """Lasso codes of the columns ``targets`` on all other columns, given the Gram matrix.

    The Gram matrix is ``G`` for the old columns, bordered by ``strip`` with one row for each
    new one, and ``tail``, the same products again with one row for each old one.

    Column ``targets[t]`` starts from the code ``start_values[starts[t]:starts[t + 1]]`` on
    ``start_atoms``. Returns atoms (ascending), values (``(n_targets, cap)``, ``cap`` at least
    the rank), counts, and whether each column converged, within ``cap`` atoms.
    """
    n, n_targets = G.shape[0] + strip.shape[0], targets.shape[0]
    atoms, values = np.empty((n_targets, cap), np.int64), np.empty((n_targets, cap))
    counts, converged = np.empty(n_targets, np.int64), np.empty(n_targets, np.bool_)
    candidates, is_in, g = np.arange(n), np.zeros(n, np.bool_), np.empty(n)
    picked = np.empty(ENTER_AT_ONCE, np.int64)
    # The working set: which atoms, their products and coefficients, and which are active.
    work, active = np.empty(n, np.int64), np.empty(n, np.int64)
    q, a, sign, scratch = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    H, factor = np.empty((ROOM, ROOM)), np.empty((ROOM, ROOM))
    for t in range(n_targets):
        own, k = targets[t], np.int64(0)  # a plain 0 would be compiled for on its own
        is_in[own] = True
        size = start_from(starts[t], starts[t + 1], start_atoms, start_values, work, a, is_in)
        n_new, violation, state = size, np.inf, OPEN
        for _ in range(max_steps):
            if size > H.shape[0]:
                H, factor = grown(H, 2 * size, 2 * size), grown(factor, 2 * size, 2 * size)
            _read_products(G, tail, strip, own, work, size - n_new, size, q, H)
            k, state = resettle(
                H, q, penalty, a, factor, active, sign, scratch, k, size, n_new, violation,
                max_steps,
            )  # fmt: skip
            if state != OPEN:
                break
            _combine_products(G, tail, strip, own, work, a, active, k, g)
            n_new = let_in(g, n, penalty, candidates, is_in, picked, work, a, size)
            if n_new == 0:
                state = OPTIMAL
                break
            violation = abs(g[picked[0]])
            size += n_new
        count = collect(work, a, size, atoms[t], values[t])
        counts[t], converged[t] = min(count, cap), state == OPTIMAL and count <= cap
        is_in[own] = False
        for r in range(size):
            is_in[work[r]] = False
    return atoms, values, counts, converged


@inlined
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


@inlined
def _combine_products(G, tail, strip, own, atoms, a, active, k, g):
    """Gradients of all atoms: ``g = q - H a``, by the rows of the active ones."""
    n_old = G.shape[0]
    for j in range(g.shape[0]):
        g[j] = 0.0
    for r in range(-1, k):
        i = own if r < 0 else atoms[active[r]]
        scale = -1.0 if r < 0 else a[active[r]]
        if i >= n_old:
            subtract(g, scale, strip[i - n_old], g.shape[0])
        else:
            subtract(g, scale, G[i], n_old)
            for j in range(tail.shape[1]):
                g[n_old + j] -= scale * tail[i, j]


@kernel
def _l1_norm(a):
    total = 0.0
    for j in range(a.shape[0]):
        total += abs(a[j])
    return total


@kernel
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
            solve(factor, m, slope)
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
