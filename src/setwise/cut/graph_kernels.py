"""The loops over a graph: degrees, components, sub-graphs, the weight across a cut.

A graph is ``indptr, indices, data`` as in SciPy's sparse rows, without stored zeros. Nothing
here makes an array: results are written into arrays that are given, which may be longer.
"""

from __future__ import annotations

import numpy as np

from setwise._support.compiled import inner

__all__ = ["across_by_volumes", "join_components", "sum_rows", "take_subgraph"]


@inner
def sum_rows(indptr, data, n, degree):
    """Sum of the weights at each vertex."""
    for i in range(n):
        degree[i] = 0.0
        for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            degree[i] += data[e]


@inner
def join_components(indptr, indices, n, component, queue):
    """Number the connected components in the order of first vertices; how many there are."""
    count = 0
    for i in range(n):
        component[i] = -1
    for seed in range(n):
        if component[seed] >= 0:
            continue
        component[seed] = count
        queue[0] = seed
        head, tail = 0, 1
        while head < tail:
            i = queue[head]
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                if component[j] < 0:
                    component[j] = count
                    queue[tail] = j
                    tail += 1
            head += 1
        count += 1
    return count


@inner
def take_subgraph(
    indptr, indices, data, members, start, end, number, new_indptr, new_indices, new_data
):
    """The graph of ``members[start:end]``; ``number`` is -1 for every vertex, and stays so."""
    for m in range(start, end):
        number[members[m]] = m - start
    size = 0
    new_indptr[0] = 0
    for m in range(start, end):
        i = members[m]
        for e in range(indptr[i], indptr[i + 1]):
            j = number[indices[e]]
            if j >= 0:
                new_indices[size] = j
                new_data[size] = data[e]
                size += 1
        new_indptr[m - start + 1] = size
    for m in range(start, end):
        number[members[m]] = -1
    return size


@inner
def across_by_volumes(indptr, indices, data, n, degree, side):
    """NCut: weight across the cut times the sum of the inverse volumes of both sides."""
    across, inside, outside = 0.0, 0.0, 0.0
    for i in range(n):
        if not side[i]:
            outside += degree[i]
            continue
        inside += degree[i]
        for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            if not side[indices[e]]:
                across += data[e]
    return across / inside + across / outside if across > 0.0 else 0.0
