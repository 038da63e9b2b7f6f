"""Steps of the working-set loop: solve on a few atoms, let in the worst violators, repeat.

``code_columns``, which reads inner products off a Gram matrix, and ``code_on_pools``, which
computes them, run the same loop of these steps. It is written out in both: Numba does not
cache a kernel that is given functions, and takes twice as long to compile one that is given
all arrays as a record.
"""

from __future__ import annotations

import numpy as np

from setwise._support.compiled import kernel
from setwise.lasso.descent_kernels import ACCEPTED, TOLERANCE, settle
from setwise.lasso.factor_kernels import inlined

__all__ = [
    "ENTER_AT_ONCE",
    "FAILED",
    "OPEN",
    "OPTIMAL",
    "ROOM",
    "collect",
    "let_in",
    "resettle",
    "start_from",
    "worst_violators",
]

# How many violators enter the working set in one pass over all atoms.
ENTER_AT_ONCE = 16
# How many atoms the matrices hold at first.
ROOM = 64 + ENTER_AT_ONCE
# What is known of a code: nothing yet, that no violator is left, or that one cannot be let in.
OPEN, OPTIMAL, FAILED = 0, 1, 2


@kernel
def start_from(first, last, start_atoms, start_values, work, a, is_in):
    """Begin the working set with a code; returns how many atoms it has."""
    for s in range(first, last):
        work[s - first] = start_atoms[s]
        a[s - first] = start_values[s]
        is_in[start_atoms[s]] = True
    return last - first


@inlined
def resettle(
    H, q, penalty, a, factor, active, sign, scratch, k, size, n_new, violation, max_steps
):
    """Solve on the working set again, whose last ``n_new`` atoms are new.

    ``violation`` is how large their gradients were at most, infinite if they are the start.
    Returns how many atoms are active, and what is known of the code.
    """
    if n_new == 0:
        return k, OPEN
    k = settle(H, q, penalty, a, factor, active, sign, scratch, k, size, max_steps)
    if k < 0:
        return k, FAILED
    for r in range(size - n_new, size):
        if a[r] != 0.0 or violation == np.inf:
            return k, OPEN
    # None of the new atoms got in: only rounding calls them violators.
    return k, OPTIMAL if violation <= penalty + ACCEPTED else FAILED


@inlined
def let_in(g, n, penalty, candidates, is_in, picked, work, a, size):
    """Put the worst violators at the end of the working set; returns how many there are."""
    n_new = worst_violators(g, n, penalty, is_in, picked)
    for r in range(n_new):
        is_in[picked[r]] = True
        work[size + r] = candidates[picked[r]]
        a[size + r] = 0.0
    return n_new


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
