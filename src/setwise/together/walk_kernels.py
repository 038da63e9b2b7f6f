"""The loops over a graph of sets: vertices move between modules, to shorten the description.

A graph is ``indptr, indices, data`` as in SciPy's sparse rows: flows, which sum to 1 together
with ``stay``, the flow that stays at each vertex. ``apart`` has the vertices that no module may
hold together with each vertex, in the same layout.
"""

from __future__ import annotations

import numpy as np

from setwise._support.compiled import inner, kernel

# Flows below this are rounding.
_NONE = 1e-15
# Bits by which a move has to shorten the description.
_GAIN = 1e-12


@inner
def plogp(x):
    """``x log2 x``; 0 of nothing."""
    if x > _NONE:
        return x * np.log2(x)
    return 0.0


@inner
def joined_bits(leaves, visits):
    """What a module adds to the description, but for the part that all share."""
    return plogp(leaves + visits) - 2.0 * plogp(leaves)


@kernel
def move_vertices(
    indptr, indices, data, stay, apart_indptr, apart_indices, modules, visits, leaves, rounds
):
    """Move vertices between modules, one after the other, until no move shortens anything.

    ``modules`` holds the module of each vertex, and is changed. ``visits`` has the flow through
    each module, ``leaves`` the flow out of it; there are as many as vertices, of which some may
    be empty. Returns whether any vertex has moved.
    """
    n = len(modules)
    flow, banned = np.zeros(n), np.full(n, -1)
    touched, empty = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    n_empty, total, has_moved = 0, 0.0, False
    for module in range(n):
        total += leaves[module]
        if visits[module] <= _NONE:
            empty[n_empty] = module
            n_empty += 1
    for _ in range(rounds):
        is_settled = True
        for i in range(n):
            old, n_touched, out = modules[i], 0, 0.0
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                if j == i:
                    continue
                out += data[e]
                if flow[modules[j]] == 0.0:
                    touched[n_touched] = modules[j]
                    n_touched += 1
                flow[modules[j]] += data[e]
            for e in range(apart_indptr[i], apart_indptr[i + 1]):
                banned[modules[apart_indices[e]]] = i
            own = stay[i] + out
            rest_leaves = max(leaves[old] - out + 2.0 * flow[old], 0.0)
            rest_visits = visits[old] - own
            before = joined_bits(leaves[old], visits[old])
            rest = joined_bits(rest_leaves, rest_visits)
            best, best_gain, best_leaves, best_total = -1, _GAIN, 0.0, 0.0
            for t in range(n_touched):
                new = touched[t]
                if new == old or banned[new] == i:
                    continue
                new_leaves = max(leaves[new] + out - 2.0 * flow[new], 0.0)
                new_total = total - leaves[old] - leaves[new] + rest_leaves + new_leaves
                gain = (
                    plogp(total)
                    - plogp(new_total)
                    + before
                    + joined_bits(leaves[new], visits[new])
                    - rest
                    - joined_bits(new_leaves, visits[new] + own)
                )
                if gain > best_gain:
                    best, best_gain = new, gain
                    best_leaves, best_total = new_leaves, new_total
            if rest_visits > _NONE and n_empty > 0:
                new_total = total - leaves[old] + rest_leaves + out
                gain = plogp(total) - plogp(new_total) + before - rest - joined_bits(out, own)
                if gain > best_gain:
                    best, best_gain = empty[n_empty - 1], gain
                    best_leaves, best_total = out, new_total
            for t in range(n_touched):
                flow[touched[t]] = 0.0
            if best < 0:
                continue
            is_settled, has_moved, total = False, True, best_total
            if visits[best] <= _NONE:
                n_empty -= 1
            if rest_visits <= _NONE:
                rest_visits = 0.0
                empty[n_empty] = old
                n_empty += 1
            leaves[old], visits[old] = rest_leaves, rest_visits
            leaves[best], visits[best] = best_leaves, visits[best] + own
            modules[i] = best
        if is_settled:
            break
    return has_moved
