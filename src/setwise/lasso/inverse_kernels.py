"""Lasso codes of columns by the inverse of the Gram matrix of their active atoms.

With ``K = H[active, active]^-1`` at hand, the minimum for given signs is a product, and an atom
that enters or leaves changes ``K`` by one outer product: loops over whole rows, which
vectorise, where a triangular factor (``descent_kernels``) has short ones. Rounding grows with
the condition of the active atoms, though. A column of which an atom is nearly a combination of
the others is left to ``kernels.code_columns``, as is one whose gradients do not come out.

The first ``k`` places of ``active`` number the active atoms, in any order; ``a`` has their
coefficients, ``z`` those of the minimum for the present signs, and ``sign`` the signs. Inner
products come from ``gram`` of the old columns; ``strip`` borders it with one row for each new
column, and ``tail`` has the same products with one row for each old one.
"""

from __future__ import annotations

from math import copysign
from typing import NamedTuple

import numpy as np

from setwise._support.compiled import inner, kernel
from setwise._support.types import FloatArray, IntArray
from setwise.lasso.descent_kernels import ROUNDING, TOLERANCE, copy, dot, subtract

ENTER_AT_ONCE = 12  # violators that may enter after one pass over all atoms
# Squared distance of an atom to the span of the active ones, as a share of its squared norm,
# from which the inverse is exact enough.
INDEPENDENT = 1e-6
# By how much gradients of active atoms may differ from the penalty before they are mended.
MENDABLE = 1e-8
# Instead of a number of active atoms: leave the column to the other kernel; make more room.
_CAREFULLY, _NO_ROOM = -1, -2


class Bordered(NamedTuple):
    """Inner products of old columns, and of new ones with all."""

    gram: FloatArray
    tail: FloatArray
    strip: FloatArray


class Room(NamedTuple):
    """Arrays to work in: the inverse, and as long as its rows all others but ``g``."""

    K: FloatArray
    active: IntArray
    a: FloatArray
    z: FloatArray
    sign: FloatArray
    h: FloatArray  # products of one atom with the active ones
    u: FloatArray
    g: FloatArray  # gradients of all atoms
    worst: IntArray


@kernel
def code_by_inverse(products, targets, penalty, start, room, done, cap, most_steps, found):
    """Write the codes of the columns ``targets``, from number ``done`` on, to ``found``.

    An old column whose start no new atom violates keeps its code, which is not written again.
    Returns how many are done: all, or those before one that needs more room. Those that have
    not converged are to be coded carefully.
    """
    gram, tail, strip = products
    K, active, a, z, sign, h, u, g, worst = room
    for t in range(done, targets.shape[0]):
        own, n_steps = targets[t], 0
        first = start.n_known if own < start.n_known else 0  # no atom before it is a violator
        if first > 0 and not _is_violated(tail, penalty, own, t, start, g):
            found.is_same[t] = found.converged[t] = True
            found.pointers[t + 1] = found.pointers[t]
            continue
        k = _begin(gram, tail, strip, t, start, K, active, a, sign, h, u)
        _aim(gram, tail, strip, own, penalty, K, active, z, sign, u, k)
        is_open = k >= 0
        while is_open:
            k = _settle(K, active, a, z, sign, u, k)
            _find_gradients(gram, tail, strip, own, active, a, k, first, g)
            off = _set_aside(own, active, sign, penalty, k, g, u)
            bound = penalty + TOLERANCE + ROUNDING * k
            n_worst = _find_worst(g, first, bound, worst)
            if n_worst == 0 and first == 0:
                is_open = False
                _add_product(K, u, k, z)
                k = _settle(K, active, a, z, sign, u, k) if off <= MENDABLE else _CAREFULLY
            first = 0
            for c in range(n_worst):
                n_steps += 1
                k = _enter(
                    gram, tail, strip, own, worst[c], bound, penalty,
                    K, active, a, z, sign, h, u, k,
                )  # fmt: skip
                k = (
                    _settle(K, active, a, z, sign, u, k)
                    if n_steps <= most_steps
                    else _CAREFULLY
                )
                if k < 0:
                    is_open = False
                    break
        if k == _NO_ROOM:
            return t
        last = found.pointers[t]
        if 0 <= k <= cap:
            last = _collect(active, a, k, last, found.atoms, found.values)
            found.converged[t] = True
        found.pointers[t + 1] = last
    return targets.shape[0]


@kernel
def invert(gram, pointers, atoms, room, kept, kept_at):
    """Inverses of the Gram matrices of codes' atoms, their rows up to the diagonal in ``kept``.

    ``kept_at[t]`` becomes -1 where an atom of code ``t`` is nearly a combination of others.
    """
    K, active, h, u = room.K, room.active, room.h, room.u
    for t in range(pointers.shape[0] - 1):
        first, slot = pointers[t], kept_at[t]
        n_atoms = pointers[t + 1] - first
        for r in range(n_atoms):
            active[r] = atoms[first + r]
            if not _grow(gram, gram, gram, K, active, h, u, r):
                kept_at[t] = -1
                break
        for r in range(n_atoms if kept_at[t] >= 0 else 0):
            for c in range(r + 1):
                kept[slot + c] = K[r, c]
            slot += r + 1


@inner
def _product(gram, tail, strip, i, j):
    """Inner product of two columns."""
    n_old = gram.shape[0]
    if i >= n_old:
        return strip[i - n_old, j]
    return gram[i, j] if j < n_old else tail[i, j - n_old]


@inner
def _is_violated(tail, penalty, own, t, start, g):
    """Whether a new atom could enter a start."""
    n_new = tail.shape[1]
    copy(g, tail[own], n_new)
    for e in range(start.begins[t], start.ends[t]):
        subtract(g, start.values[e], tail[start.atoms[e]], n_new)
    worst = 0.0
    for j in range(n_new):
        worst = max(worst, abs(g[j]))
    return worst > penalty


@inner
def _begin(gram, tail, strip, t, start, K, active, a, sign, h, u):
    """Make the atoms of a start active; how many there are, or why not."""
    first, slot = start.begins[t], start.kept_at[t]
    n_atoms = start.ends[t] - first
    if n_atoms > K.shape[0]:
        return _NO_ROOM
    for r in range(n_atoms):
        active[r], a[r] = start.atoms[first + r], start.values[first + r]
        sign[r] = copysign(1.0, a[r])
        if slot < 0:
            if not _grow(gram, tail, strip, K, active, h, u, r):
                return _CAREFULLY
        else:
            for c in range(r + 1):
                K[r, c] = K[c, r] = start.kept[slot + c]
            slot += r + 1
    return n_atoms


@inner
def _grow(gram, tail, strip, K, active, h, u, k):
    """The inverse with one more atom, ``active[k]``; False if it depends on the others.

    Leaves its products with the active atoms in ``h``, and what it is a combination of in
    ``u``.
    """
    for r in range(k + 1):
        h[r] = _product(gram, tail, strip, active[k], active[r])
        u[r] = 0.0
    _add_product(K, h, k, u)
    rest = h[k] - dot(h, u, k)
    if rest <= INDEPENDENT * h[k]:
        return False
    u[k] = -1.0
    for c in range(k + 1):
        K[k, c] = K[c, k] = 0.0
    _add_outer(K, 1.0 / rest, u, k + 1)
    return True


@inner
def _aim(gram, tail, strip, own, penalty, K, active, z, sign, u, k):
    """The minimum for the present signs."""
    for r in range(k):
        u[r] = _product(gram, tail, strip, own, active[r]) - penalty * sign[r]
        z[r] = 0.0
    _add_product(K, u, k, z)


@inner
def _enter(
    gram, tail, strip, own, j, bound, penalty, K, active, a, z, sign, h, u, k
):  # fmt: skip
    """Make a violator active, if it still is one; how many atoms are active, or why not."""
    if k == K.shape[0]:
        return _NO_ROOM
    gradient = _product(gram, tail, strip, own, j)
    for r in range(k):
        gradient -= _product(gram, tail, strip, j, active[r]) * a[r]
    if abs(gradient) <= bound:
        return k
    active[k] = j
    if not _grow(gram, tail, strip, K, active, h, u, k):
        return _CAREFULLY
    a[k], z[k], sign[k] = 0.0, 0.0, copysign(1.0, gradient)
    subtract(z, (gradient - penalty * sign[k]) * K[k, k], u, k + 1)
    return k + 1


@inner
def _settle(K, active, a, z, sign, u, k):
    """Move the coefficients to the minimum for their signs; how many atoms are active then.

    The first coefficient to reach zero on the way leaves, which makes it another minimum.
    """
    leaving = np.int64(0)  # a plain 0 is a type of its own
    while leaving >= 0 and k > 0:
        stride, leaving = 1.0, np.int64(-1)
        for r in range(k):
            if z[r] * sign[r] <= 0.0:
                reach = a[r] / (a[r] - z[r]) if a[r] != 0.0 else 0.0
                if reach < stride:
                    stride, leaving = reach, r
        for r in range(k):
            a[r] += stride * (z[r] - a[r])
        if leaving >= 0:
            k = _leave(K, active, a, z, sign, u, k, leaving)
    return k


@inner
def _leave(K, active, a, z, sign, u, k, gone):
    """Take an active atom out; the last one takes its place."""
    for c in range(k):
        u[c] = K[gone, c]
    share = 1.0 / u[gone]
    subtract(z, z[gone] * share, u, k)
    _add_outer(K, -share, u, k)
    last = k - 1
    active[gone], a[gone], z[gone], sign[gone] = active[last], a[last], z[last], sign[last]
    for c in range(last):
        K[gone, c] = K[c, gone] = K[last, c]
    K[gone, gone] = K[last, last]
    return last


@inner
def _add_product(K, x, k, y):
    """``y += K x``."""
    for r in range(k):
        y[r] += dot(K[r], x, k)


@inner
def _add_outer(K, scale, u, k):
    """``K += scale u u'``."""
    for r in range(k):
        subtract(K[r], -scale * u[r], u, k)


@inner
def _find_gradients(gram, tail, strip, own, active, a, k, first, g):
    """Gradients of all atoms, if ``first`` is zero, or else of the new ones alone."""
    n_old, n_new = gram.shape[0], tail.shape[1]
    if first == 0:
        row = gram[own] if own < n_old else strip[own - n_old]
        for j in range(n_old):
            g[j] = row[j]
        for r in range(0, k, 4):
            _subtract_four(gram, strip, active, a, r, k, g)
    new = g[n_old:]
    row = tail[own] if own < n_old else strip[own - n_old][n_old:]
    for j in range(n_new):
        new[j] = row[j]
    for r in range(k if n_new > 0 else 0):
        i = active[r]
        row = tail[i] if i < n_old else strip[i - n_old][n_old:]
        for j in range(n_new):
            new[j] -= a[r] * row[j]


@inner
def _subtract_four(gram, strip, active, a, r, k, g):
    """Take out what four active atoms explain, so that ``g`` is read and written less often."""
    n_old = gram.shape[0]
    i0, i1 = active[r], active[min(r + 1, k - 1)]
    i2, i3 = active[min(r + 2, k - 1)], active[min(r + 3, k - 1)]
    a0, a1 = a[r], a[r + 1] if r + 1 < k else 0.0
    a2, a3 = a[r + 2] if r + 2 < k else 0.0, a[r + 3] if r + 3 < k else 0.0
    row0 = gram[i0] if i0 < n_old else strip[i0 - n_old]
    row1 = gram[i1] if i1 < n_old else strip[i1 - n_old]
    row2 = gram[i2] if i2 < n_old else strip[i2 - n_old]
    row3 = gram[i3] if i3 < n_old else strip[i3 - n_old]
    for j in range(n_old):
        g[j] -= a0 * row0[j] + a1 * row1[j] + a2 * row2[j] + a3 * row3[j]


@inner
def _set_aside(own, active, sign, penalty, k, g, u):
    """Clear the gradients of what cannot enter: the column, and active atoms.

    How far these were from the penalty is left in ``u``; returns how far at most.
    """
    off = 0.0
    for r in range(k):
        u[r] = g[active[r]] - penalty * sign[r]
        g[active[r]] = 0.0
        off = max(off, abs(u[r]))
    g[own] = 0.0
    return off


@inner
def _find_worst(g, first, bound, worst):
    """Number the atoms of largest gradient above the bound, the largest first; how many."""
    n_above, count = 0, 0
    for j in range(g.shape[0]):  # counting vectorises, and most passes find none
        n_above += abs(g[j]) > bound
    for j in range(first, g.shape[0] if n_above > 0 else first):
        above = abs(g[j])
        if above <= bound or (count == ENTER_AT_ONCE and above <= abs(g[worst[count - 1]])):
            continue
        slot = min(count, ENTER_AT_ONCE - 1)
        while slot > 0 and abs(g[worst[slot - 1]]) < above:
            worst[slot] = worst[slot - 1]
            slot -= 1
        worst[slot] = j
        count = min(count + 1, ENTER_AT_ONCE)
    return count


@inner
def _collect(active, a, k, first, atoms, values):
    """Write the non-zeros from ``first`` on, by atom; where they end."""
    last = first
    for r in range(k):
        if a[r] == 0.0:
            continue
        slot = last
        while slot > first and atoms[slot - 1] > active[r]:
            atoms[slot], values[slot] = atoms[slot - 1], values[slot - 1]
            slot -= 1
        atoms[slot], values[slot] = active[r], a[r]
        last += 1
    return last
