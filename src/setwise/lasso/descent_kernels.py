"""Exact lasso by an active-set method on the Gram matrix, compiled with Numba.

``min_a  1/2 ||x - D a||^2 + penalty ||a||_1`` needs ``D`` only through ``H = D'D`` and
``q = D'x``. The optimality conditions, with ``g = q - H a``, are ``g_j = penalty sign(a_j)``
where ``a_j != 0`` and ``|g_j| <= penalty`` elsewhere. An active-set method ends where they
hold to rounding, which no first-order method does on columns as correlated as images are.

What every kernel here is given (``docs/theory.md`` has a picture of the moves between):

==========  ====================================================================
``a``       the coefficients of the first ``m`` atoms
``active``  the first ``k`` entries number the atoms that may differ from zero
``sign``    their signs, zero for all other atoms
``factor``  the Cholesky factor of ``H[active, active]``
==========  ====================================================================
"""

from __future__ import annotations

import numpy as np

from setwise._support.compiled import kernel
from setwise.lasso.factor_kernels import append, copy, delete, inlined, solve, subtract

__all__ = ["ACCEPTED", "DEPENDENT", "TOLERANCE", "lasso_on_gram", "settle"]

# All tolerances of the solver. Atoms are unit vectors, or nearly, so absolute numbers will do.
#
# How far a gradient must exceed the penalty for its atom to be a violator, which may enter;
# and what rounding adds to that for every unit of ``||a||_1``.
TOLERANCE, ROUNDING = 1e-11, 1e-15
# A violation that rounding alone may leave behind where columns are nearly dependent.
ACCEPTED = 1e-9
# An atom depends on the active ones when its squared distance to their span, relative to its
# own squared norm, is below this: it can only take the place of one of them.
DEPENDENT = 1e-11
# The same for an atom that does: only rounding is refused, because leaving a violator out
# costs more than an ill-conditioned factor, whose residuals are small.
SINGULAR = 1e-13
# Problems of more atoms than this begin with coordinate sweeps: with many atoms to let in,
# one after the other takes longer.
SWEEP_ABOVE, SWEEPS = 40, 5

# What became of an atom that was to enter.
REFUSED, ADDED, EXCHANGED = 0, 1, 2


@kernel
def lasso_on_gram(H, q, penalty, a, max_steps):
    """Move ``a`` (in place, any start) to the lasso optimum; False if ``max_steps`` is hit."""
    m = q.shape[0]
    factor = np.empty((m, m))
    active = np.empty(m, np.int64)
    sign = np.zeros(m)
    k = _align(H, a, factor, active, sign, np.int64(0), m)
    return _descend(H, q, penalty, a, factor, active, sign, k, m, max_steps) >= 0


@kernel
def settle(H, q, penalty, a, factor, active, sign, g, k, m, max_steps):
    """Move ``a`` to the optimum over the first ``m`` atoms, ``k`` of them active before.

    Returns how many are active then, -1 if ``max_steps`` is hit.
    """
    if m > SWEEP_ABOVE:
        _coordinate_sweeps(H, q, penalty, a, g, m)
    k = _align(H, a, factor, active, sign, k, m)
    return _descend(H, q, penalty, a, factor, active, sign, k, m, max_steps)


@kernel
def _coordinate_sweeps(H, q, penalty, a, g, m):
    """A few sweeps of coordinate descent, to find most of the support in one go."""
    copy(g, q, m)
    for j in range(m):
        if a[j] != 0.0:
            subtract(g, a[j], H[j], m)
    for _ in range(SWEEPS):
        for j in range(m):
            target = g[j] + H[j, j] * a[j]
            size = max(abs(target) - penalty, 0.0) / H[j, j]
            change = (size if target > 0.0 else -size) - a[j]
            if change != 0.0:
                a[j] = size if target > 0.0 else -size
                subtract(g, change, H[j], m)


@kernel
def _align(H, a, factor, active, sign, k, m):
    """Make the active atoms the non-zero coefficients; dependent ones become zero."""
    for r in range(k - 1, -1, -1):
        if a[active[r]] == 0.0:
            k = delete(factor, active, k, r)
    for j in range(m):
        sign[j] = 0.0
    for r in range(k):
        sign[active[r]] = np.sign(a[active[r]])
    for j in range(m):
        if a[j] != 0.0 and sign[j] == 0.0:
            if append(factor, H, active, k, j, DEPENDENT):
                sign[j] = np.sign(a[j])
                k += 1
            else:
                a[j] = 0.0
    return k


@kernel
def _descend(H, q, penalty, a, factor, active, sign, k, m, max_steps):
    """Go on from ``k`` active atoms to the optimum over the first ``m``; -1 if not reached.

    Each step goes to the minimum for the present signs, or as far as the first coefficient
    to reach zero, whose atom then leaves; when the signs hold, the worst violator enters. The
    objective falls at every step, so the number of sign patterns bounds them. An atom that
    only rounding calls a violator is *shut out* until something else has moved.

    Returns how many atoms are active then; ``factor``, ``active`` and ``sign`` describe them,
    so that more atoms can be offered and the descent go on.
    """
    is_shut = np.zeros(m, np.bool_)
    z, g, before = np.empty(m), np.empty(m), np.empty(m)
    has_entered = False
    for _ in range(max_steps):
        stride, leaving = _step(q, penalty, a, factor, active, sign, k, z)
        if stride > 0.0 and (leaving >= 0 or has_entered):
            _let_all_in(is_shut)
        has_entered = False
        if leaving >= 0:
            j = active[leaving]
            is_shut[j] = stride == 0.0  # it came in on rounding alone: do not let it cycle
            a[j] = sign[j] = 0.0
            k = delete(factor, active, k, leaving)
            continue
        entering = _worst_violator(H, q, penalty, a, active, sign, is_shut, k, m, g)
        if entering < 0:
            return k
        outcome = _enter(H, penalty, a, factor, active, sign, k, m, g, entering, z, before)
        if outcome == REFUSED:
            is_shut[entering] = True
            continue
        if outcome == EXCHANGED:
            _let_all_in(is_shut)
        else:
            k += 1
        has_entered = True
    return -1


@kernel
def _let_all_in(is_shut):
    for j in range(is_shut.shape[0]):
        is_shut[j] = False


@inlined
def _step(q, penalty, a, factor, active, sign, k, z):
    """Go to the minimum for the present signs, or until a first coefficient is zero.

    Returns the share of the way gone, and the place in ``active`` of that coefficient, -1 if
    the minimum was reached.
    """
    for r in range(k):
        z[r] = q[active[r]] - penalty * sign[active[r]]
    solve(factor, k, z)
    stride, leaving = 1.0, -1
    for r in range(k):
        j = active[r]
        if z[r] * sign[j] <= 0.0:
            reach = a[j] / (a[j] - z[r]) if a[j] != 0.0 else 0.0
            if reach < stride:
                stride, leaving = reach, r
    for r in range(k):
        a[active[r]] += stride * (z[r] - a[active[r]])
    return stride, leaving


@inlined
def _worst_violator(H, q, penalty, a, active, sign, is_shut, k, m, g):
    """The atom of largest gradient above the penalty, -1 if none is; fills ``g``."""
    copy(g, q, m)
    rounding = 0.0
    for r in range(k):
        subtract(g, a[active[r]], H[active[r]], m)
        rounding += ROUNDING * abs(a[active[r]])
    worst, entering = penalty + TOLERANCE + rounding, -1
    for j in range(m):
        if abs(g[j]) > worst and sign[j] == 0.0 and not is_shut[j]:
            worst, entering = abs(g[j]), j
    return entering


@inlined
def _enter(H, penalty, a, factor, active, sign, k, m, g, entering, z, before):
    """Make a violator active: beside the others, or in the place of one it depends on.

    An atom dependent on the active ones enters by exchange: moving along the null direction
    leaves the fit alone and lowers the l1 norm until an active coefficient reaches zero.
    Where the objective has its minimum before that point, the atom is hardly dependent: it
    enters like any other, if its distance is more than rounding.
    """
    entering_sign = np.sign(g[entering])
    outcome = ADDED
    if not append(factor, H, active, k, entering, DEPENDENT):
        stride, leaving = _along_null_direction(H, a, factor, active, k, entering, g, z)
        minimum_first = (abs(g[entering]) - penalty) / (stride * H[entering, entering])
        if append(factor, H, active, k, entering, minimum_first):
            if factor[k, k] ** 2 <= SINGULAR * H[entering, entering]:
                return REFUSED
        elif leaving < 0:
            return REFUSED
        else:
            copy(before, a, m)
            for r in range(k):
                a[active[r]] -= stride * z[r] * entering_sign
            a[entering] = stride * entering_sign
            if not _exchange(H, a, factor, active, sign, k, entering, leaving):
                copy(a, before, m)
                return REFUSED
            outcome = EXCHANGED
    sign[entering] = entering_sign
    return outcome


@kernel
def _along_null_direction(H, a, factor, active, k, entering, g, z):
    """How far the entering coefficient may grow, and which place in ``active`` is zero then.

    ``z`` becomes what the active coefficients lose for each unit of it; infinitely far and -1
    if none of them shrinks.
    """
    for r in range(k):
        z[r] = H[entering, active[r]]
    solve(factor, k, z)
    stride, leaving = np.inf, -1
    for r in range(k):
        slope = z[r] * np.sign(g[entering])
        if a[active[r]] * slope > 0.0 and a[active[r]] / slope < stride:
            stride, leaving = a[active[r]] / slope, r
    return stride, leaving


@kernel
def _exchange(H, a, factor, active, sign, k, entering, leaving):
    """Put one atom in the place of another; False, and as it was, if it depends on the rest."""
    gone = active[leaving]
    a[gone] = 0.0
    k = delete(factor, active, k, leaving)
    if append(factor, H, active, k, entering, SINGULAR):
        sign[gone] = 0.0
        return True
    append(factor, H, active, k, gone, 0.0)
    return False
