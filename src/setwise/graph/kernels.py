"""From sparse codes to a graph, or to the edges of a probe, in one pass over the codes."""

from __future__ import annotations

from setwise._support.compiled import kernel


@kernel
def symmetrise(begins, ends, atoms, values, row_ends, users, weights, indptr, indices, data):
    """``A = |S| + |S'|`` of codes, one per column, as the arrays of a sparse matrix by rows.

    Code ``i`` is ``values[begins[i]:ends[i]]`` on ascending ``atoms``. ``row_ends``, one longer
    than the codes, and ``indptr`` come as zeros. Returns the used length of ``indices`` and
    ``data``.
    """
    n, size, other = begins.shape[0], 0, 0
    # S', by rows: filled column after column, so that its indices ascend too.
    for i in range(n):
        for e in range(begins[i], ends[i]):
            row_ends[atoms[e] + 1] += 1
    for i in range(n):
        row_ends[i + 1] += row_ends[i]
    for i in range(n):  # where rows begin becomes where they end
        for e in range(begins[i], ends[i]):
            slot = row_ends[atoms[e]]
            row_ends[atoms[e]] += 1
            users[slot] = i
            weights[slot] = abs(values[e])
    # Each row of A merges a code with a row of S'.
    for i in range(n):
        own, last_own, last_other = begins[i], ends[i], row_ends[i]
        while own < last_own or other < last_other:
            take_own = other == last_other or (own < last_own and atoms[own] <= users[other])
            take_other = own == last_own or (other < last_other and users[other] <= atoms[own])
            total = 0.0
            if take_own:
                indices[size] = atoms[own]
                total += abs(values[own])
            if take_other:
                indices[size] = users[other]
                total += weights[other]
            own += take_own
            other += take_other
            data[size] = total
            size += total != 0.0
        indptr[i + 1] = size
    return size


@kernel
def join_probe(targets, pointers, atoms, values, n_old, edges):
    """Add ``|S| + |S'|`` between new columns (rows) and the ``n_old`` columns to ``edges``.

    The codes of ``targets`` are all that have changed: no other has an atom of a new column.
    """
    for t in range(targets.shape[0]):
        own = targets[t]
        for e in range(pointers[t], pointers[t + 1]):
            atom = atoms[e]
            if own >= n_old and atom < n_old:
                edges[own - n_old, atom] += abs(values[e])
            elif own < n_old and atom >= n_old:
                edges[atom - n_old, own] += abs(values[e])
