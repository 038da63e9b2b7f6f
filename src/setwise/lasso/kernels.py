"""Exact lasso by an active-set method on the Gram matrix, compiled with Numba.

``min_a  1/2 ||x - D a||^2 + penalty ||a||_1`` needs ``D`` only through ``H = D'D`` and
``q = D'x``. The optimality conditions, with ``g = q - H a``, are ``g_j = penalty sign(a_j)``
where ``a_j != 0`` and ``|g_j| <= penalty`` elsewhere. An active-set method ends where they
hold to rounding, which no first-order method does on columns as correlated as images are.

All arrays are C-contiguous float64 or int64, so that each kernel is compiled once.
"""

from __future__ import annotations

import numpy as np

from setwise._support.compiled import kernel

__all__ = [
    "code_columns",
    "code_in_l1_ball",
    "collect",
    "grown",
    "lasso_on_gram",
    "settle",
    "subtract",
    "worst_violators",
]

# A violator is an atom whose correlation with the residual exceeds the penalty by more.
TOLERANCE = 1e-11
# An atom is linearly dependent on the active ones when its squared distance to their span,
# relative to its own squared norm, is below this.
DEPENDENT = 1e-11
# The same for an atom that takes the place of another: only rounding is refused, because
# leaving a violator out costs more than an ill-conditioned factor, whose residuals are small.
SINGULAR = 1e-13
# A violation that rounding alone may leave behind where columns are nearly dependent.
ACCEPTED = 1e-9
# How many violators enter the working set in one pass over all atoms.
ENTER_AT_ONCE = 16
# Working sets larger than this begin with coordinate sweeps: with many atoms to let in, one
# after the other takes longer.
SWEEP_ABOVE, SWEEPS = 40, 5


@kernel
def subtract(g, scale, row, count):
    """``g[:count] -= scale * row[:count]``."""
    # From zero: an index that Numba cannot see to be positive keeps the loop from vectorising.
    for j in range(count):
        g[j] -= scale * row[j]


@kernel
def _copy(target, source, count):
    # A loop compiles in a fraction of the time that a slice takes.
    for j in range(count):
        target[j] = source[j]


@kernel
def _l1_norm(a):
    total = 0.0
    for j in range(a.shape[0]):
        total += abs(a[j])
    return total


@kernel
def _append(factor, H, active, k, j, least):
    """Grow the Cholesky factor of ``H[active, active]`` by atom ``j``; False if dependent."""
    rest = H[j, j]
    for r in range(k):
        total = H[j, active[r]]
        for c in range(r):
            total -= factor[r, c] * factor[k, c]
        factor[k, r] = total / factor[r, r]
        rest -= factor[k, r] * factor[k, r]
    if rest <= least * H[j, j]:
        return False
    factor[k, k] = np.sqrt(rest)
    active[k] = j
    return True


@kernel
def _delete(factor, active, k, gone):
    """Shrink the Cholesky factor by its row ``gone``, with Givens rotations."""
    for r in range(gone, k - 1):
        active[r] = active[r + 1]
        for c in range(r + 2):
            factor[r, c] = factor[r + 1, c]
        a, b = factor[r, r], factor[r, r + 1]
        size = np.sqrt(a * a + b * b)
        cosine, sine = a / size, b / size
        factor[r, r] = size
        for below in range(r + 2, k):
            left, right = factor[below, r], factor[below, r + 1]
            factor[below, r] = cosine * left + sine * right
            factor[below, r + 1] = cosine * right - sine * left
    return k - 1


@kernel
def _solve(factor, k, z):
    """Solve ``H[active, active] z = rhs`` in place, by the factor's two triangles."""
    for r in range(k):
        total = z[r]
        for c in range(r):
            total -= factor[r, c] * z[c]
        z[r] = total / factor[r, r]
    for r in range(k - 1, -1, -1):
        z[r] /= factor[r, r]
        for c in range(r):
            z[c] -= factor[r, c] * z[r]


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
def _open(is_shut):
    for j in range(is_shut.shape[0]):
        is_shut[j] = False


@kernel
def _align(H, a, factor, active, sign, k, m):
    """Make the active atoms the non-zero coefficients; dependent ones become zero."""
    for r in range(k - 1, -1, -1):
        if a[active[r]] == 0.0:
            k = _delete(factor, active, k, r)
    for j in range(m):
        sign[j] = 0.0
    for r in range(k):
        sign[active[r]] = np.sign(a[active[r]])
    for j in range(m):
        if a[j] != 0.0 and sign[j] == 0.0:
            if _append(factor, H, active, k, j, DEPENDENT):
                sign[j] = np.sign(a[j])
                k += 1
            else:
                a[j] = 0.0
    return k


@kernel
def _coordinate_sweeps(H, q, penalty, a, g, m):
    """A few sweeps of coordinate descent, to find most of the support in one go."""
    _copy(g, q, m)
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
def settle(H, q, penalty, a, factor, active, sign, g, k, m, max_steps):
    """Move ``a`` to the optimum over the first ``m`` atoms, ``k`` of them active before.

    Returns how many are active then, -1 if ``max_steps`` is hit.
    """
    if m > SWEEP_ABOVE:
        _coordinate_sweeps(H, q, penalty, a, g, m)
    k = _align(H, a, factor, active, sign, k, m)
    return _descend(H, q, penalty, a, factor, active, sign, k, m, max_steps)


@kernel
def _descend(H, q, penalty, a, factor, active, sign, k, m, max_steps):
    """Go on from ``k`` active atoms to the optimum over the first ``m``; -1 if not reached.

    Each step either goes to the minimum for the present signs, or as far as the first
    coefficient to reach zero, which then leaves; when the signs hold, the worst violator
    enters. The objective falls at every step, so the number of sign patterns bounds them.
    An atom dependent on the active ones enters by exchange: moving along the null direction
    leaves the fit alone and lowers the l1 norm until an active coefficient reaches zero.
    An atom that only rounding calls a violator is shut out until something else has moved.

    Returns how many atoms are active then; ``factor``, ``active`` and ``sign`` describe them,
    so that more atoms can be offered and the descent go on.
    """
    is_shut = np.zeros(m, np.bool_)
    z = np.empty(m)
    g = np.empty(m)
    before = np.empty(m)
    has_entered = False
    for _ in range(max_steps):
        for r in range(k):
            z[r] = q[active[r]] - penalty * sign[active[r]]
        _solve(factor, k, z)
        stride, gone = 1.0, -1
        for r in range(k):
            j = active[r]
            if z[r] * sign[j] <= 0.0:
                reach = a[j] / (a[j] - z[r]) if a[j] != 0.0 else 0.0
                if reach < stride:
                    stride, gone = reach, r
        for r in range(k):
            a[active[r]] += stride * (z[r] - a[active[r]])
        if stride > 0.0 and (gone >= 0 or has_entered):
            _open(is_shut)
        has_entered = False
        if gone >= 0:
            j = active[gone]
            is_shut[j] = stride == 0.0  # it came in on rounding alone: do not let it cycle
            a[j] = 0.0
            sign[j] = 0.0
            k = _delete(factor, active, k, gone)
            continue
        _copy(g, q, m)
        for r in range(k):
            subtract(g, a[active[r]], H[active[r]], m)
        rounding = 0.0
        for r in range(k):
            rounding += 1e-15 * abs(a[active[r]])
        worst, entering, entering_sign = penalty + TOLERANCE + rounding, -1, 0.0
        for j in range(m):
            if abs(g[j]) > worst and sign[j] == 0.0 and not is_shut[j]:
                worst, entering, entering_sign = abs(g[j]), j, np.sign(g[j])
        if entering < 0:
            return k
        if not _append(factor, H, active, k, entering, DEPENDENT):
            for r in range(k):
                z[r] = H[entering, active[r]]
            _solve(factor, k, z)
            stride, gone = np.inf, -1
            for r in range(k):
                slope = z[r] * entering_sign
                if a[active[r]] * slope > 0.0 and a[active[r]] / slope < stride:
                    stride, gone = a[active[r]] / slope, r
            # Where the objective has its minimum before that point, the atom is hardly
            # dependent: it enters like any other, if its distance is more than rounding.
            minimum_first = (worst - penalty) / (stride * H[entering, entering])
            is_first = _append(factor, H, active, k, entering, minimum_first)
            is_rounding = is_first and factor[k, k] ** 2 <= SINGULAR * H[entering, entering]
            if is_rounding or (gone < 0 and not is_first):
                is_shut[entering] = True
                continue
            if not is_first:
                _copy(before, a, m)
                leaving = active[gone]
                for r in range(k):
                    a[active[r]] -= stride * z[r] * entering_sign
                a[entering] = stride * entering_sign
                a[leaving] = 0.0
                k = _delete(factor, active, k, gone)
                if not _append(factor, H, active, k, entering, SINGULAR):
                    _copy(a, before, m)
                    _append(factor, H, active, k, leaving, 0.0)
                    k += 1
                    is_shut[entering] = True
                    continue
                sign[leaving] = 0.0
                _open(is_shut)
        has_entered = True
        sign[entering] = entering_sign
        k += 1
    return -1


@kernel
def worst_violators(g, n, penalty, is_offered, picked):
    """Fill ``picked`` with the atoms of largest ``|g|`` above the penalty not offered yet."""
    count = 0
    for j in range(n):
        size = abs(g[j])
        if size <= penalty + TOLERANCE or is_offered[j]:
            continue
        if count == picked.shape[0] and size <= abs(g[picked[count - 1]]):
            continue
        slot = count if count < picked.shape[0] else count - 1
        while slot > 0 and abs(g[picked[slot - 1]]) < size:
            picked[slot] = picked[slot - 1]
            slot -= 1
        picked[slot] = j
        count = min(count + 1, picked.shape[0])
    return count


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
    n_old = G.shape[0]
    n = n_old + strip.shape[0]
    atoms = np.empty((targets.shape[0], cap), np.int64)
    values = np.empty((targets.shape[0], cap))
    counts = np.zeros(targets.shape[0], np.int64)
    converged = np.ones(targets.shape[0], np.bool_)
    is_offered = np.zeros(n, np.bool_)
    g, scratch = np.empty(n), np.empty(n)
    picked = np.empty(ENTER_AT_ONCE, np.int64)
    # The working set: which atoms, their Gram matrix and coefficients, and which are active.
    room = min(n, 64) + ENTER_AT_ONCE
    work, active = np.empty(n, np.int64), np.empty(n, np.int64)
    q, a, sign = np.empty(n), np.empty(n), np.empty(n)
    H, factor = np.empty((room, room)), np.empty((room, room))
    for t in range(targets.shape[0]):
        own = targets[t]
        size, k = np.int64(0), np.int64(0)  # a plain 0 would be compiled for on its own
        is_offered[own] = True
        for s in range(starts[t], starts[t + 1]):
            work[size] = start_atoms[s]
            a[size] = start_values[s]
            size += 1
        is_stationary = size == 0
        entering = size
        for _ in range(max_steps):
            if size > room:
                room = min(n, 2 * size) + ENTER_AT_ONCE
                H, factor = grown(H, room), grown(factor, room)
            for r in range(size - entering, size):
                is_offered[work[r]] = True
                i = work[r]
                if i >= n_old:
                    q[r] = strip[i - n_old, own]
                    for c in range(r + 1):
                        H[r, c] = H[c, r] = strip[i - n_old, work[c]]
                else:
                    q[r] = G[own, i] if own < n_old else strip[own - n_old, i]
                    for c in range(r + 1):
                        j = work[c]
                        H[r, c] = H[c, r] = G[i, j] if j < n_old else tail[i, j - n_old]
            if entering > 0:
                k = settle(H, q, penalty, a, factor, active, sign, scratch, k, size, max_steps)
                converged[t] = k >= 0
                if k < 0:
                    break
                # None of the new atoms got in: only rounding calls them violators.
                is_final = is_stationary
                for r in range(size - entering, size):
                    is_final = is_final and a[r] == 0.0
                is_stationary = True
                if is_final:
                    converged[t] = abs(g[picked[0]]) <= penalty + ACCEPTED
                    break
            for j in range(n):
                g[j] = 0.0
            for r in range(-1, k):
                i = own if r < 0 else work[active[r]]
                scale = -1.0 if r < 0 else a[active[r]]
                if i >= n_old:
                    subtract(g, scale, strip[i - n_old], n)
                else:
                    subtract(g, scale, G[i], n_old)
                    for j in range(tail.shape[1]):
                        g[n_old + j] -= scale * tail[i, j]
            entering = worst_violators(g, n, penalty, is_offered, picked)
            if entering == 0:
                break
            for r in range(entering):
                work[size + r] = picked[r]
                a[size + r] = 0.0
            size += entering
        else:
            converged[t] = False
        counts[t] = collect(work, a, size, atoms[t], values[t])
        converged[t] = converged[t] and counts[t] <= cap
        counts[t] = min(counts[t], cap)
        for r in range(size):
            is_offered[work[r]] = False
        is_offered[own] = False
    return atoms, values, counts, converged


@kernel
def collect(work, a, size, atoms, values):
    """Write the non-zero coefficients, in the order of their atoms; returns how many."""
    count = 0
    for r in range(size):
        if a[r] == 0.0:
            continue
        if count < atoms.shape[0]:
            slot = count
            while slot > 0 and atoms[slot - 1] > work[r]:
                atoms[slot] = atoms[slot - 1]
                values[slot] = values[slot - 1]
                slot -= 1
            atoms[slot] = work[r]
            values[slot] = a[r]
        count += 1
    return count


@kernel
def grown(square, room):
    """The same matrix in a larger one."""
    larger = np.empty((room, room))
    for r in range(square.shape[0]):
        _copy(larger[r], square[r], square.shape[0])
    return larger


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
                _copy(outside, a, k)
            else:
                high, high_norm = penalty, norm
                _copy(inside, a, k)
            if abs(norm - radius) <= 1e-13 * radius or (penalty == 0.0 and norm <= radius):
                break
            if low >= 0.0 and high - low <= 1e-15 * top:
                share = (radius - high_norm) / (low_norm - high_norm)
                for j in range(k):
                    a[j] = inside[j] + (outside[j] - inside[j]) * share
                break
            m = 0
            for j in range(k):
                if a[j] != 0.0 and _append(factor, H, active, m, j, DEPENDENT):
                    slope[m] = np.sign(a[j])
                    m += 1
            _solve(factor, m, slope)
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
