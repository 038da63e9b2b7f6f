"""The loops over a graph: degrees, components, sub-graphs, and a vector into two halves.

A graph is ``indptr, indices, data`` as in SciPy's sparse rows, without stored zeros. Results go
into given arrays, which may be longer; ``rows`` and ``numbers`` are :data:`N_ROWS` rows of
scratch, and halves are written into ``side``.
"""

from __future__ import annotations

import numpy as np

from setwise._support.compiled import inner

N_ROWS = 4
# Values this close, relative to their root mean square by degree, have no threshold between
# them, or the order of the rows would decide.
_SAME = 1e-9
_TIE = 1e-9  # of NCut values and volumes, relative to their sum


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


@inner
def _sort(values, n, numbers):
    """Which of two rows has the indices that sort the values; equal ones keep their order."""
    here = 0
    for i in range(n):
        numbers[0, i] = i
    width = 1
    while width < n:
        order, spare = numbers[here], numbers[1 - here]
        for low in range(0, n, 2 * width):
            middle, high = min(low + width, n), min(low + 2 * width, n)
            i, j = low, middle
            for k in range(low, high):
                if i < middle and (j >= high or values[order[i]] <= values[order[j]]):
                    spare[k] = order[i]
                    i += 1
                else:
                    spare[k] = order[j]
                    j += 1
        here = 1 - here
        width *= 2
    return here


@inner
def _best_threshold(order, values, n, degree, surplus, gap, high, from_high):
    """How many of the vertices in ``order`` come before the cut of smallest NCut; 0 for none.

    ``surplus`` is the change of the weight across as a vertex changes sides. Both sides are
    summed from their own end and the lighter one decides: its volume would be lost in the
    rounding of a sum from the other end.
    """
    high[n], from_high[n] = 0.0, 0.0
    for i in range(n - 1, -1, -1):
        high[i] = high[i + 1] + degree[order[i]]
        from_high[i] = from_high[i + 1] - surplus[i]
    low, from_low = 0.0, 0.0
    best, where = np.inf, 0
    for i in range(n - 1):
        low += degree[order[i]]
        from_low += surplus[i]
        if values[order[i + 1]] - values[order[i]] <= gap:
            continue
        across = max(from_low if low <= high[i + 1] else from_high[i + 1], 0.0)
        ncut = across / low + across / high[i + 1] if across > 0.0 else 0.0
        if ncut < best:
            best, where = ncut, i + 1
    return where


@inner
def sweep_values(indptr, indices, data, n, degree, values, rows, numbers, side):
    """Cut where the sorted values give the smallest NCut, True above; False if all equal."""
    order, rank, surplus = numbers[_sort(values, n, numbers)], numbers[2], rows[0]
    size, volume = 0.0, 0.0
    for i in range(n):
        rank[order[i]] = i
        part = np.sqrt(degree[i]) * values[i]
        size += part * part
        volume += degree[i]
    for i in range(n):
        to_earlier = 0.0
        for e in range(indptr[order[i]], indptr[order[i] + 1]):
            if rank[indices[e]] < i:
                to_earlier += data[e]
        surplus[i] = degree[order[i]] - 2.0 * to_earlier
    gap = _SAME * (np.sqrt(size) / np.sqrt(volume))
    n_low = _best_threshold(order, values, n, degree, surplus, gap, rows[1], rows[2])
    for i in range(n):
        side[order[i]] = i >= n_low
    return n_low > 0


@inner
def part_by_sweep(indptr, indices, data, n, degree, vector, rows, numbers, side):
    """The best threshold of ``D^-1/2 v``, the relaxed NCut indicator (paper eq. 10)."""
    for i in range(n):
        rows[3, i] = vector[i] / np.sqrt(degree[i])
    return sweep_values(indptr, indices, data, n, degree, rows[3], rows, numbers, side)


@inner
def _smaller(x, y):
    """1 where ``x`` is smaller, -1 where ``y`` is, 0 where they are as good as equal."""
    if abs(x - y) <= _TIE * (x + y):
        return 0
    return 1 if x < y else -1


@inner
def part_by_sign(indptr, indices, data, n, degree, vector, accuracy, side):
    """Positive entries against negative ones; False if one side would be empty.

    Entries below the accuracy go together to the side of smaller NCut; in a tie, of less
    volume; in another tie, of the first vertex that has a sign (the graph may be its own mirror
    image).
    """
    n_above, n_below, first_sign = 0, 0, 0
    above, below = 0.0, 0.0
    for i in range(n):
        if vector[i] > accuracy:
            n_above += 1
            above += degree[i]
            first_sign = 1 if first_sign == 0 else first_sign
        elif vector[i] < -accuracy:
            n_below += 1
            below += degree[i]
            first_sign = -1 if first_sign == 0 else first_sign
    n_clear = n_above + n_below
    # Whether entries that may be zero go to the high side.
    choice = 1 if n_above == 0 else -1 if n_below == 0 else 0
    if choice == 0 and n_clear < n:
        for i in range(n):
            side[i] = vector[i] >= -accuracy
        with_above = across_by_volumes(indptr, indices, data, n, degree, side)
        for i in range(n):
            side[i] = vector[i] > accuracy
        with_below = across_by_volumes(indptr, indices, data, n, degree, side)
        choice = _smaller(with_above, with_below)
        choice = _smaller(above, below) if choice == 0 else choice
        choice = first_sign if choice == 0 else choice
    for i in range(n):
        side[i] = vector[i] > accuracy or (choice > 0 and vector[i] >= -accuracy)
    return n_clear > 0 and (n_clear < n or (n_above > 0 and n_below > 0))


@inner
def part_somehow(indptr, indices, data, n, degree, vector, rows, numbers, side):
    """Halves where another rule left one empty: by the sweep (1), or at the median (2)."""
    if part_by_sweep(indptr, indices, data, n, degree, vector, rows, numbers, side):
        return 1
    order = numbers[_sort(vector, n, numbers)]
    for i in range(n):
        side[order[i]] = i >= n // 2
    return 2
