"""Exact lasso by an active-set method on the Gram matrix; docs/theory.md draws its moves.

``min_a  1/2 ||x - D a||^2 + penalty ||a||_1`` needs ``H = D'D`` and ``q = D'x`` only. At the
optimum, ``g = q - H a`` has ``g_j = penalty sign(a_j)`` where ``a_j != 0`` and ``|g_j| <=
penalty`` elsewhere, here to rounding. The kernels share:

==========  ====================================================================
``a``       the coefficients of the first ``m`` atoms
``active``  the first ``k`` entries number the atoms that may differ from zero
``sign``    their signs, zero for all other atoms
``factor``  the Cholesky factor of ``H[active, active]``
``spare``   ``N_SPARE`` rows of scratch
==========  ====================================================================

All arrays are C-contiguous float64 or int64, so that each function is compiled once.
"""

from __future__ import annotations

from math import copysign

import numpy as np

from setwise._support.compiled import inner, kernel

# Absolute tolerances: atoms are unit vectors, or nearly. A gradient this far above the penalty
# is a violation, and rounding adds to that for every unit of ``||a||_1``.
TOLERANCE, ROUNDING = 1e-11, 1e-15
# A violation that rounding alone may leave behind where columns are nearly dependent.
ACCEPTED = 1e-9
# Squared distance to the span of the active atoms, as a share of an atom's squared norm. Below
# the first, the atom enters only by exchange; below the second, not at all.
DEPENDENT, SINGULAR = 1e-11, 1e-13
N_SPARE = 4


@inner
def subtract(g, scale, row, count):
    """``g[:count] -= scale * row[:count]``."""
    # From zero: an index that Numba cannot see to be positive keeps the loop from vectorising.
    for j in range(count):
        g[j] -= scale * row[j]


@inner
def dot(left, right, count):
    """``left[:count] @ right[:count]``."""
    total = 0.0
    for j in range(count):
        total += left[j] * right[j]
    return total


@inner
def copy(target, source, count):
    """``target[:count] = source[:count]``; compiles in a fraction of the time of a slice."""
    for j in range(count):
        target[j] = source[j]


@inner
def clear(target, count):
    """``target[:count] = 0``."""
    for j in range(count):
        target[j] = 0.0


@inner
def append(factor, H, active, k, j, least):
    """Grow the Cholesky factor of ``H[active, active]`` by atom ``j``.

    False if the atom's squared distance to the span of the others is at most the share
    ``least`` of its squared norm; then only row ``k`` is written, with the solved lower
    triangle.
    """
    row = factor[k]
    for r in range(k):
        row[r] = H[j, active[r]]
    forward(factor, k, row)
    rest = H[j, j] - dot(row, row, k)
    if rest <= least * H[j, j]:
        return False
    row[k] = np.sqrt(rest)
    active[k] = j
    return True


@inner
def delete(factor, active, y, k, gone):
    """Shrink the factor by its row ``gone``, rotating a solution ``y`` of its triangle."""
    for r in range(gone, k - 1):
        active[r] = active[r + 1]
        copy(factor[r], factor[r + 1], r + 2)
        a, b = factor[r, r], factor[r, r + 1]
        size = np.sqrt(a * a + b * b)
        cosine, sine = a / size, b / size
        factor[r, r] = size
        y[r], y[r + 1] = cosine * y[r] + sine * y[r + 1], cosine * y[r + 1] - sine * y[r]
        for below in range(r + 2, k):
            left, right = factor[below, r], factor[below, r + 1]
            factor[below, r] = cosine * left + sine * right
            factor[below, r + 1] = cosine * right - sine * left
    return k - 1


@inner
def forward(factor, k, z):
    """Solve with the lower triangle, in place."""
    for r in range(k):
        z[r] = (z[r] - dot(factor[r], z, r)) / factor[r, r]


@inner
def backward(factor, k, z):
    """Solve with the transposed triangle, in place."""
    for r in range(k - 1, -1, -1):
        z[r] /= factor[r, r]
        subtract(z, z[r], factor[r], r)


@kernel
def lasso_on_gram(H, q, penalty, a, max_steps):
    """Move ``a`` (in place, any start) to the lasso optimum; False if ``max_steps`` is hit."""
    m = q.shape[0]
    factor, active = np.empty((m, m)), np.empty(m, np.int64)
    sign, spare = np.empty(m), np.empty((N_SPARE, m))
    k = align(H, a, factor, active, sign, m)
    return settle(H, q, penalty, a, factor, active, sign, spare, k, m, max_steps) >= 0


@inner
def align(H, a, factor, active, sign, m):
    """Make the non-zero coefficients active, dependent ones zero; how many are active."""
    k = np.int64(0)  # a plain 0 is a type of its own
    clear(sign, m)
    for j in range(m):
        if a[j] != 0.0:
            if append(factor, H, active, k, j, DEPENDENT):
                sign[j] = copysign(1.0, a[j])
                k += 1
            else:
                a[j] = 0.0
    return k


@inner
def settle(H, q, penalty, a, factor, active, sign, spare, k, m, max_steps):
    """Continue from ``k`` active atoms to the optimum over the first ``m``; -1 if not reached.

    Each step goes to the minimum for the present signs, or as far as the first coefficient to
    reach zero, whose atom leaves. When the signs hold, the worst violator enters. An atom that
    only rounding makes a violator is shut out until another has moved. Returns how many are
    active.
    """
    y, z, is_shut = spare[0], spare[1], spare[2]
    clear(is_shut, m)
    for r in range(k):
        y[r] = q[active[r]] - penalty * sign[active[r]]
    forward(factor, k, y)
    has_entered = False
    for _ in range(max_steps):
        stride, leaving = _step(a, factor, active, sign, y, z, k)
        if stride > 0.0 and (leaving >= 0 or has_entered):
            clear(is_shut, m)
        has_entered = leaving < 0
        if leaving >= 0:
            j = active[leaving]
            is_shut[j] = stride == 0.0  # it came in on rounding alone: do not let it cycle
            a[j] = sign[j] = 0.0
            k = delete(factor, active, y, k, leaving)
            continue
        entering, gradient = _worst_violator(H, q, penalty, a, sign, is_shut, m)
        if entering < 0:
            return k
        place = k
        if not append(factor, H, active, k, entering, DEPENDENT):
            place = _place_of_dependent(
                H, q, penalty, a, factor, active, sign, spare, k, m, entering, gradient
            )
        if place < 0:
            is_shut[entering], has_entered = 1.0, False
            continue
        if place < k:
            clear(is_shut, m)
        sign[entering] = copysign(1.0, gradient)
        _extend(q, penalty, factor, active, sign, y, place)
        k = place + 1
    return -1


@inner
def _extend(q, penalty, factor, active, sign, y, k):
    """Solve the lower triangle for the entry of the atom in place ``k``."""
    j = active[k]
    y[k] = (q[j] - penalty * sign[j] - dot(factor[k], y, k)) / factor[k, k]


@inner
def _step(a, factor, active, sign, y, z, k):
    """Go to the minimum for the present signs, or until a first coefficient is zero.

    Returns the share of the way, and that coefficient's place in ``active``, or -1.
    """
    copy(z, y, k)
    backward(factor, k, z)
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


@inner
def _worst_violator(H, q, penalty, a, sign, is_shut, m):
    """The atom of largest gradient above the penalty, or -1, and that gradient."""
    rounding = 0.0
    for j in range(m):
        rounding += ROUNDING * abs(a[j])
    worst, entering, gradient = penalty + TOLERANCE + rounding, -1, 0.0
    for j in range(m):
        if sign[j] == 0.0 and is_shut[j] == 0.0:
            g = q[j] - dot(H[j], a, m)
            if abs(g) > worst:
                worst, entering, gradient = abs(g), j, g
    return entering, gradient


@inner
def _place_of_dependent(
    H, q, penalty, a, factor, active, sign, spare, k, m, entering, gradient
):
    """Make a violator active that depends on active atoms; its place, -1 if impossible.

    It moves along the null direction, which keeps the fit and lowers the l1 norm, until an
    active coefficient reaches zero, whose atom leaves. Where the objective has its minimum
    before that, it enters like an independent atom, if its distance is more than rounding. Row
    ``k`` of the factor is as ``append`` left it.
    """
    y, z, before = spare[0], spare[1], spare[3]
    copy(z, factor[k], k)
    backward(factor, k, z)  # what the active coefficients lose for each unit of the new one
    stride, leaving, direction = np.inf, np.int64(-1), copysign(1.0, gradient)
    for r in range(k):
        slope = z[r] * direction
        if a[active[r]] * slope > 0.0 and a[active[r]] / slope < stride:
            stride, leaving = a[active[r]] / slope, r
    minimum_first = (abs(gradient) - penalty) / (stride * H[entering, entering])
    if append(factor, H, active, k, entering, minimum_first):
        return k if factor[k, k] ** 2 > SINGULAR * H[entering, entering] else -1
    if leaving < 0:
        return -1
    copy(before, a, m)
    for r in range(k):
        a[active[r]] -= stride * z[r] * direction
    a[entering], gone = stride * direction, active[leaving]
    a[gone] = 0.0
    k = delete(factor, active, y, k, leaving)
    if append(factor, H, active, k, entering, SINGULAR):
        sign[gone] = 0.0
        return k
    append(factor, H, active, k, gone, 0.0)
    _extend(q, penalty, factor, active, sign, y, k)
    copy(a, before, m)
    return -1
