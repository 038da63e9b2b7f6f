"""The loops under every cut: components, sub-graphs, the Fiedler vector and its halves.

A graph is ``indptr, indices, data`` as in SciPy's sparse rows, without stored zeros.
"""

from __future__ import annotations

import numpy as np

from setwise._support.compiled import kernel

__all__ = [
    "components",
    "cut_connected",
    "degrees",
    "fiedler",
    "halves_by_sign",
    "induced",
    "ncut",
    "repaired_halves",
    "sweep",
    "top_of_tridiagonal",
    "with_canonical_sign",
]

# Values closer than this (relative to their root mean square, weighted by degree, which no
# nearly isolated vertex can spoil) are one value: no threshold between them, or the order of
# the rows would decide.
_SAME = 1e-9
# Entries whose sizes differ by less than this share of them are of one size.
_SAME_SIZE = 1e-6
# NCut values and volumes closer than this, relative to their sum, are a tie.
_TIE = 1e-9
# Once an eigenvalue is known this well, the next one may be its copy.
_COPIES_BELOW = 1e-7
# A gap between eigenvalues is known well enough with an error of this share of it.
_OF_GAP = 1e-3
# How many shifts are tried at once: they share the time that one would wait for a division.
_SHIFTS = 8


# --------------------------------------------------------------------------------- the graph


@kernel
def degrees(indptr, data):
    """Sum of the weights at each vertex."""
    degree = np.zeros(indptr.shape[0] - 1)
    for i in range(degree.shape[0]):
        for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            degree[i] += data[e]
    return degree


@kernel
def components(indptr, indices):
    """Connected component of each vertex, in the order of first vertices, and their number."""
    n = indptr.shape[0] - 1
    component = np.full(n, -1, np.int64)
    queue = np.empty(n, np.int64)
    count = 0
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
    return component, count


@kernel
def induced(indptr, indices, data, members, number):
    """The sub-graph of ``members``; ``number`` has a place for each vertex, all negative."""
    size = 0
    for m in range(members.shape[0]):
        number[members[m]] = m
        size += indptr[members[m] + 1] - indptr[members[m]]
    new_indptr = np.zeros(members.shape[0] + 1, np.int32)
    new_indices = np.empty(size, np.int32)
    new_data = np.empty(size)
    size = 0
    for m in range(members.shape[0]):
        i = members[m]
        for e in range(indptr[i], indptr[i + 1]):
            j = number[indices[e]]
            if j >= 0:
                new_indices[size] = j
                new_data[size] = data[e]
                size += 1
        new_indptr[m + 1] = size
    for m in range(members.shape[0]):
        number[members[m]] = -1
    return new_indptr, new_indices[:size], new_data[:size]


@kernel
def ncut(indptr, indices, data, degree, side):
    """Weight across the cut times the sum of the inverse volumes of both sides."""
    across, inside, outside = 0.0, 0.0, 0.0
    for i in range(side.shape[0]):
        if not side[i]:
            outside += degree[i]
            continue
        inside += degree[i]
        for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            if not side[indices[e]]:
                across += data[e]
    return across / inside + across / outside if across > 0.0 else 0.0


# ---------------------------------------------------------------------- the Fiedler vector


@kernel
def _dot(x, y):
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * y[i]
    return total


@kernel
def _subtract(x, scale, y):
    for i in range(x.shape[0]):
        x[i] -= scale * y[i]


@kernel
def _steps(
    indptr, indices, data, scale, null,
    vectors, current, previous, diagonal, beside, first, last, is_full,
):  # fmt: skip
    """Lanczos steps ``first`` to ``last`` with ``D^-1/2 A D^-1/2``, away from ``null``.

    ``scale`` is ``D^-1/2``. Rows of ``vectors`` are the Lanczos vectors; ``current`` and
    ``previous`` are the last two, ``diagonal`` and ``beside`` the tridiagonal matrix. Each new
    vector is made orthogonal to ``null``, which rounding would bring back otherwise, and where
    ``is_full`` to all before it, twice. Returns how many steps are done, fewer than ``last``
    when an invariant space is spanned.
    """
    n = null.shape[0]
    scaled, product = np.empty(n), np.empty(n)
    for k in range(first, last):
        for i in range(n):
            scaled[i] = scale[i] * current[i]
        for i in range(n):
            total = 0.0
            # Unsigned, and twice as fast: no index has to be asked if it is negative.
            for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
                total += data[e] * scaled[np.uint32(indices[e])]
            product[i] = total * scale[i]
        diagonal[k] = _dot(product, current)
        _subtract(product, diagonal[k], current)
        if k > 0:
            _subtract(product, beside[k - 1], previous)
        for _ in range(2 if is_full else 1):
            _subtract(product, _dot(product, null), null)
            for j in range(k if is_full else -1, -1, -1):
                _subtract(product, _dot(product, vectors[j]), vectors[j])
        beside[k] = np.sqrt(_dot(product, product))
        if beside[k] < 1e-13:
            return k + 1
        for i in range(n):
            previous[i] = current[i]
            current[i] = product[i] / beside[k]
            vectors[k + 1, i] = current[i]
    return last


@kernel
def _largest_but(diagonal, squares, size, skipped, high, share):
    """Largest eigenvalue after ``skipped`` others, none above ``high``; from above.

    Found by counting those above some shifts (Sturm), to rounding, or to a ``share`` of its
    distance from ``high``.
    """
    low = -1.5  # the spectrum of D^-1/2 A D^-1/2 begins at -1
    end = high
    shifts, pivots = np.empty(_SHIFTS), np.empty(_SHIFTS)
    counts = np.empty(_SHIFTS, np.int64)
    while high - low > share * (end - high):
        step = (high - low) / (_SHIFTS + 1)
        if not low < low + step < high:
            break
        for s in range(_SHIFTS):
            shifts[s] = low + (s + 1) * step
            pivots[s] = diagonal[0] - shifts[s]
            counts[s] = pivots[s] > 0.0
        for k in range(1, size):
            for s in range(_SHIFTS):
                pivot = pivots[s] if abs(pivots[s]) >= 1e-300 else 1e-300
                pivots[s] = diagonal[k] - shifts[s] - squares[k - 1] / pivot
                counts[s] += pivots[s] > 0.0
        n_below = 0
        for s in range(_SHIFTS):
            n_below += counts[s] > skipped
        if n_below < _SHIFTS:
            high = shifts[n_below]
        if n_below > 0:
            low = shifts[n_below - 1]
    return high


@kernel
def top_of_tridiagonal(diagonal, beside, size):
    """Largest eigenvalue of the first ``size`` rows, the next one, and the vector.

    Searching from above leaves a shift that is not below the eigenvalue, so that the shifted
    matrix is definite, needs no pivoting, and inverse iteration with it converges at once.
    """
    squares = np.empty(size)
    for k in range(size):
        squares[k] = beside[k] ** 2
    top = _largest_but(diagonal, squares, size, 0, 1.5, 0.0)
    second = _largest_but(diagonal, squares, size, 1, top, _OF_GAP) if size > 1 else top
    shift = top + 4e-16
    pivots = np.empty(size)
    for k in range(size):
        off = squares[k - 1] / pivots[k - 1] if k > 0 else 0.0
        pivots[k] = max(shift - diagonal[k] - off, 1e-17)
    vector = np.ones(size)
    for _ in range(3):
        for k in range(1, size):
            vector[k] += beside[k - 1] / pivots[k - 1] * vector[k - 1]
        for k in range(size - 1, -1, -1):
            vector[k] /= pivots[k]
            if k + 1 < size:
                vector[k] += beside[k] / pivots[k] * vector[k + 1]
        length = np.sqrt(_dot(vector, vector))
        for k in range(size):
            vector[k] /= length
    return top, second, vector


@kernel
def with_canonical_sign(vector):
    """Flip the vector so that its entry of largest size, the first of equals, is positive."""
    largest = 0.0
    for i in range(vector.shape[0]):
        largest = max(largest, abs(vector[i]))
    for i in range(vector.shape[0]):
        if abs(vector[i]) >= (1.0 - _SAME_SIZE) * largest:
            return vector if vector[i] > 0.0 else -vector
    return vector


@kernel
def fiedler(indptr, indices, data, degree, start, enough, is_full, vectors):
    """Largest eigenpair away from the null vector: the Fiedler vector and ``1 - lambda_2``.

    Lanczos from ``start``, less what it holds of the null vector. It stops where ``residual <=
    enough * gap``, the gap being the distance to the next eigenvalue of the same run, where
    the space spanned is invariant, and so exact, or where there is no more room in
    ``vectors``. Returns vector, connectivity, number of steps, whether it has converged.
    """
    n, most = degree.shape[0], vectors.shape[0] - 1
    scale, null, current, previous = np.empty(n), np.empty(n), np.empty(n), np.zeros(n)
    volume = 0.0
    for i in range(n):
        volume += degree[i]
    for i in range(n):
        scale[i], null[i] = 1.0 / np.sqrt(degree[i]), np.sqrt(degree[i]) / np.sqrt(volume)
        current[i] = start[i]
    _subtract(current, _dot(null, current), null)
    length = np.sqrt(_dot(current, current))
    for i in range(n):
        current[i] /= length
        vectors[0, i] = current[i]
    diagonal, beside = np.empty(most), np.empty(most)
    gap, n_steps, checkpoint = 2.0, 0, 12
    # Looked at often enough to stop soon, and not more often, as looking takes time.
    while True:
        checkpoint = min(checkpoint + max(12, checkpoint // 6), most)
        n_steps = _steps(
            indptr, indices, data, scale, null,
            vectors, current, previous, diagonal, beside, n_steps, checkpoint, is_full,
        )  # fmt: skip
        value, second, weights = top_of_tridiagonal(diagonal, beside, n_steps)
        residual = beside[n_steps - 1] * abs(weights[n_steps - 1])
        # Read off before copies of the first eigenvalue come, if they can.
        if n_steps > 1 and (is_full or residual > _COPIES_BELOW):
            gap = value - second
        has_converged = n_steps < checkpoint or residual <= enough * gap
        if has_converged or checkpoint == most:
            break
    vector = np.zeros(n)
    for k in range(n_steps):
        _subtract(vector, -weights[k], vectors[k])
    length = np.sqrt(_dot(vector, vector))
    for i in range(n):
        vector[i] /= length
    # All of the space is spanned, unless rounding has brought copies.
    is_exhausted = is_full and n_steps == n - 1
    connectivity = max(1.0 - value, 0.0)
    return with_canonical_sign(vector), connectivity, n_steps, has_converged or is_exhausted


# --------------------------------------------------------------------------------- two halves


@kernel
def sorted_order(values):
    """Indices that sort the values; equal ones stay in their order."""
    n = values.shape[0]
    order, spare = np.arange(n), np.empty(n, np.int64)
    width = 1
    while width < n:
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
        order, spare = spare, order
        width *= 2
    return order


@kernel
def _best_threshold(order, values, degree, surplus, gap):
    """How many of the vertices in ``order`` come before the cut of smallest NCut; 0 for none.

    ``surplus`` is the weight that begins to be across as a vertex changes sides, less what
    stops to be. Both sides are summed from their own end and the lighter one decides what is
    across: the volume of a light side would be lost in the rounding of a sum that began at
    the other.
    """
    n = order.shape[0]
    high, from_high = np.zeros(n + 1), np.zeros(n + 1)
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


@kernel
def sweep(indptr, indices, data, degree, values):
    """Cut where the sorted values give the smallest NCut; True on the high side.

    The second result is whether there is a place for a cut: equal values are not parted.
    """
    n = values.shape[0]
    order, rank, side = sorted_order(values), np.empty(n, np.int64), np.ones(n, np.bool_)
    size, volume = 0.0, 0.0
    for i in range(n):
        rank[order[i]] = i
        size += (np.sqrt(degree[i]) * values[i]) ** 2
        volume += degree[i]
    surplus = np.empty(n)
    for i in range(n):
        to_earlier = 0.0
        for e in range(indptr[order[i]], indptr[order[i] + 1]):
            if rank[indices[e]] < i:
                to_earlier += data[e]
        surplus[i] = degree[order[i]] - 2.0 * to_earlier
    gap = _SAME * (np.sqrt(size) / np.sqrt(volume)) if volume > 0.0 else 0.0
    n_low = _best_threshold(order, values, degree, surplus, gap)
    for i in range(n_low):
        side[order[i]] = False
    return side, n_low > 0


@kernel
def halves_by_sweep(indptr, indices, data, degree, vector):
    """The best threshold of ``D^-1/2 v``, the relaxed NCut indicator, as :func:`sweep`."""
    relaxed = np.empty(vector.shape[0])
    for i in range(vector.shape[0]):
        relaxed[i] = vector[i] / np.sqrt(degree[i])
    return sweep(indptr, indices, data, degree, relaxed)


@kernel
def _is_smaller(x, y):
    """1 where ``x`` is smaller, -1 where ``y`` is, 0 where they are as good as equal."""
    if abs(x - y) <= _TIE * (x + y):
        return 0
    return 1 if x < y else -1


@kernel
def halves_by_sign(indptr, indices, data, degree, vector, accuracy):
    """Positive entries against negative ones; those that may be zero stay together.

    The sign of an entry below the vector's accuracy is rounding. All such vertices go to the
    side that makes NCut smaller; where that is a tie, to the side of less volume; where that
    is one too, to the side of the first vertex that has a sign. Only the last rule looks at
    the order of the vertices: the graph may be its own mirror image. The second result is
    whether both sides hold a vertex.
    """
    n = vector.shape[0]
    above, not_below = np.empty(n, np.bool_), np.empty(n, np.bool_)
    n_above, n_not_below, first_sign = 0, 0, 0
    volume_above, volume_below = 0.0, 0.0
    for i in range(n):
        above[i], not_below[i] = vector[i] > accuracy, vector[i] >= -accuracy
        n_above += above[i]
        n_not_below += not_below[i]
        volume_above += degree[i] if above[i] else 0.0
        volume_below += 0.0 if not_below[i] else degree[i]
        if first_sign == 0 and above[i] == not_below[i]:
            first_sign = 1 if above[i] else -1
    if n_not_below == n or n_above == n_not_below:
        return above, 0 < n_above < n
    if n_above == 0:
        return not_below, n_not_below > 0
    joined = ncut(indptr, indices, data, degree, not_below)
    choice = _is_smaller(joined, ncut(indptr, indices, data, degree, above))
    if choice == 0:
        choice = _is_smaller(volume_above, volume_below)
    if choice == 0:
        choice = first_sign
    return (not_below if choice > 0 else above), True


@kernel
def repaired_halves(indptr, indices, data, degree, vector):
    """Halves where another rule left one empty: by the sweep (1), or at the median (2)."""
    side, is_proper = halves_by_sweep(indptr, indices, data, degree, vector)
    if is_proper:
        return side, 1
    order = sorted_order(vector)
    for i in range(order.shape[0]):
        side[order[i]] = i >= order.shape[0] // 2
    return side, 2


@kernel
def cut_connected(indptr, indices, data, start, by_sign, enough, is_full, vectors):
    """Cut a connected graph in two along its Fiedler vector, at zero or by the sweep.

    Returns the sides, the repair that was needed (0 for none), NCut, and what
    :func:`fiedler` says of the vector.
    """
    degree = degrees(indptr, data)
    vector, connectivity, n_steps, has_converged = fiedler(
        indptr, indices, data, degree, start, enough, is_full, vectors
    )
    if by_sign:
        accuracy = np.sqrt(2.0) * enough
        side, is_proper = halves_by_sign(indptr, indices, data, degree, vector, accuracy)
    else:
        side, is_proper = halves_by_sweep(indptr, indices, data, degree, vector)
    repair = 0
    if not is_proper:
        side, repair = repaired_halves(indptr, indices, data, degree, vector)
    value = ncut(indptr, indices, data, degree, side)
    return side, repair, value, connectivity, n_steps, has_converged
