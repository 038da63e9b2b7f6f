"""Lasso codes inside an l1 ball, for dictionaries."""

from __future__ import annotations

import numpy as np

from setwise._support.compiled import inner, kernel
from setwise.lasso.descent_kernels import (
    DEPENDENT,
    N_SPARE,
    align,
    append,
    backward,
    clear,
    copy,
    forward,
    settle,
)


@kernel
def code_in_l1_ball(H, Q, radius, codes, max_steps):
    """Code each row of ``Q`` (``q = B'x``) with ``||a||_1 <= radius``, exactly, in place.

    Returns whether each code converged; codes that did not are inside the ball too.
    """
    k = H.shape[0]
    converged = np.empty(Q.shape[0], np.bool_)
    factor, active = np.empty((k, k)), np.empty(k, np.int64)
    rows = np.empty((4 + N_SPARE, k))
    for i in range(Q.shape[0]):
        a = codes[i]
        converged[i] = _code(H, Q[i], radius, a, factor, active, rows, max_steps)
        if not converged[i]:
            shrink = radius / max(radius, _l1_norm(a))
            for j in range(k):
                a[j] *= shrink
    return converged


@inner
def _code(H, q, radius, a, factor, active, rows, max_steps):
    """Code one vector in place; whether that converged.

    The code is a lasso at some penalty, and linear in it for fixed signs: Newton's method on
    the penalty, kept inside a bracket, is finite. Where no double is the penalty, the two ends
    of the bracket are mixed.
    """
    k, spare = a.shape[0], rows[4:]
    slope, inside, outside, sign = rows[0], rows[1], rows[2], rows[3]
    clear(inside, k)
    top = 0.0
    for j in range(k):
        top = max(top, abs(q[j]))
    # Below zero: no penalty is known to be too low yet.
    low, high, penalty = -1.0, top, _implied_penalty(H, q, a)
    low_norm, high_norm = radius, 0.0
    for _ in range(max_steps):
        m = align(H, a, factor, active, sign, k)
        if settle(H, q, penalty, a, factor, active, sign, spare, m, k, max_steps) < 0:
            return False
        norm = _l1_norm(a)
        if norm > radius:
            low, low_norm = penalty, norm
            copy(outside, a, k)
        else:
            high, high_norm = penalty, norm
            copy(inside, a, k)
        if abs(norm - radius) <= 1e-13 * radius or (penalty == 0.0 and norm <= radius):
            return True
        if low >= 0.0 and high - low <= 1e-15 * top:
            _mix(inside, outside, (radius - high_norm) / (low_norm - high_norm), a)
            return True
        fall = _fall_of_norm(H, a, factor, active, slope)
        step = penalty + (norm - radius) / fall if fall > 0.0 else 0.0
        penalty = _kept_inside(step, low, high)
    return False


@inner
def _l1_norm(a):
    total = 0.0
    for j in range(a.shape[0]):
        total += abs(a[j])
    return total


@inner
def _implied_penalty(H, q, a):
    """The penalty at which ``a`` would be optimal: ``a'(q - H a) / ||a||_1``, or zero."""
    total, norm = 0.0, 0.0
    for r in range(a.shape[0]):
        if a[r] != 0.0:
            rest = q[r]
            for c in range(a.shape[0]):
                rest -= H[r, c] * a[c]
            total += a[r] * rest
            norm += abs(a[r])
    return max(total / norm, 0.0) if norm > 0.0 else 0.0


@inner
def _fall_of_norm(H, a, factor, active, slope):
    """Fall of the code's l1 norm per unit of penalty, for fixed signs."""
    m = np.int64(0)
    for j in range(a.shape[0]):
        if a[j] != 0.0 and append(factor, H, active, m, j, DEPENDENT):
            slope[m] = np.sign(a[j])
            m += 1
    forward(factor, m, slope)
    backward(factor, m, slope)
    fall = 0.0
    for r in range(m):
        fall += slope[r] * np.sign(a[active[r]])
    return fall


@inner
def _kept_inside(step, low, high):
    """The next penalty: a Newton step if it is inside the bracket, else its middle."""
    if low < 0.0 and step <= 0.0:
        return 0.0  # the bound may not bind
    return step if low < step < high else 0.5 * (max(low, 0.0) + high)


@inner
def _mix(inside, outside, share, a):
    """The code between two others that is on the ball."""
    for j in range(a.shape[0]):
        a[j] = inside[j] + (outside[j] - inside[j]) * share
