"""Steps of the working-set loop: solve on a few atoms, let in the worst violators, repeat.

``code_columns``, which reads inner products off a Gram matrix, and ``code_on_pools``, which
computes them, run the same loop of these steps. It is written out in both: Numba does not
cache a kernel that is given functions, and takes twice as long to compile one that is given
all arrays as a record.
"""

from __future__ import annotations

from setwise._support.compiled import inner
from setwise.lasso.descent_kernels import ACCEPTED, TOLERANCE

__all__ = [
    "ENTER_AT_ONCE",
    "FAILED",
    "NO_ROOM",
    "OPEN",
    "OPTIMAL",
    "collect",
    "let_in",
    "start_from",
    "verdict",
]

# How many violators enter the working set in one pass over all atoms.
ENTER_AT_ONCE = 12
# What is known of a code: nothing yet, that no violator is left, that one cannot be let in, or
# that the matrices hold too few atoms.
OPEN, OPTIMAL, FAILED, NO_ROOM = 0, 1, 2, 3


@inner
def start_from(first, last, start_atoms, start_values, work, a, is_in):
    """Begin the working set with a code; returns how many atoms it has."""
    for s in range(first, last):
        work[s - first] = start_atoms[s]
        a[s - first] = start_values[s]
        is_in[start_atoms[s]] = True
    return last - first


@inner
def verdict(a, first, last, k, violation, is_partial):
    """What is known after solving with new atoms, ``first`` to ``last``; ``k`` are active.

    ``violation`` is by how much their gradients exceeded the penalty at most, over all atoms
    or, ``is_partial``, over some.
    """
    if k < 0:
        return FAILED
    for r in range(first, last):
        if a[r] != 0.0:
            return OPEN
    # None of the new atoms got in: only rounding calls them violators.
    if violation > ACCEPTED:
        return FAILED
    return OPEN if is_partial else OPTIMAL


@inner
def let_in(g, first, n, penalty, candidates, is_in, work, a, sign, size):
    """Put the worst violators at the end of the working set, the worst first.

    Those of largest ``|g|`` above the penalty among candidates ``first`` to ``n`` that are
    not in yet. ``work`` holds places of candidates until the end. Returns how many there are,
    and the largest ``|g|``.
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
def collect(work, a, size, first, cap, atoms, values):
    """Write the non-zero coefficients, at most ``cap``, in the order of their atoms.

    From ``first`` on; returns where they end.
    """
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
