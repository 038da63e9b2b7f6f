"""Lanczos on ``D^-1/2 A D^-1/2``, away from its known eigenvector ``D^1/2 1``.

Nothing here makes an array: ``rows`` are :data:`N_LANCZOS_ROWS` rows of scratch, ``lanes`` has
the shape :data:`LANES`, ``vectors`` is room for Lanczos vectors.
"""

from __future__ import annotations

import numpy as np

from setwise._support.compiled import inlined, inner

# How many shifts are tried at once: they share the time that one waits for a division.
_N_SHIFTS = 8
N_LANCZOS_ROWS, LANES = 11, (3, _N_SHIFTS)
# Which row is what: D^-1/2, the known eigenvector, the last two Lanczos vectors, two products
# with the matrix, the tridiagonal matrix and what solves it.
_SCALE, _NULL, _CURRENT, _PREVIOUS, _PRODUCT, _SCALED = range(6)
_DIAGONAL, _BESIDE, _SQUARES, _PIVOTS, _WEIGHTS = range(6, 11)
# A gap between eigenvalues is known well enough with an error of this share of it.
_SHARE_OF_GAP = 1e-3
# Once an eigenvalue is known this well, the next one may be its copy.
_COPIES_BELOW = 1e-7
# Where more than this is left of a unit vector's product, it needs no second orthogonalisation.
_ENOUGH_LEFT = 0.1
# Entries whose sizes differ by less than this share of them are of one size.
_SAME_SIZE = 1e-6


@inner
def _remove(y, x, n):
    """Take out of ``x`` what it holds of the unit vector ``y``."""
    share = 0.0
    for i in range(n):
        share += x[i] * y[i]
    for i in range(n):
        x[i] -= share * y[i]


@inner
def _length(x, n):
    total = 0.0
    for i in range(n):
        total += x[i] * x[i]
    return np.sqrt(total)


@inner
def _start(degree, start, n, rows, vectors):
    """The known eigenvector, and the first Lanczos vector, which holds nothing of it."""
    scale, null, current = rows[_SCALE], rows[_NULL], rows[_CURRENT]
    volume = 0.0
    for i in range(n):
        volume += degree[i]
    for i in range(n):
        scale[i], null[i] = 1.0 / np.sqrt(degree[i]), np.sqrt(degree[i]) / np.sqrt(volume)
        current[i], rows[_PREVIOUS, i] = start[i], 0.0
    _remove(null, current, n)
    length = _length(current, n)
    for i in range(n):
        current[i] /= length
        vectors[0, i] = current[i]


@inner
def _step(indptr, indices, data, n, rows, vectors, k, is_full):
    """Row ``k`` of the tridiagonal matrix, and the next Lanczos vector; False if there is none.

    It is made orthogonal to the known eigenvector and, if ``is_full``, to all vectors before.
    """
    scale, scaled, product = rows[_SCALE], rows[_SCALED], rows[_PRODUCT]
    current, previous, beside = rows[_CURRENT], rows[_PREVIOUS], rows[_BESIDE]
    for i in range(n):
        scaled[i] = scale[i] * current[i]
    diagonal = 0.0
    for i in range(n):
        total = 0.0
        # Unsigned, and twice as fast: no index has to be asked if it is negative.
        for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            total += data[e] * scaled[np.uint32(indices[e])]
        product[i] = total * scale[i]
        diagonal += total * scaled[i]
    before = beside[k - 1] if k > 0 else 0.0
    for i in range(n):
        product[i] -= diagonal * current[i] + before * previous[i]
    length = 0.0
    for _ in range(2):
        _remove(rows[_NULL], product, n)
        for j in range(k if is_full else -1, -1, -1):
            _remove(vectors[j], product, n)
        length = _length(product, n)
        if not is_full or length > _ENOUGH_LEFT:
            break
    rows[_DIAGONAL, k], beside[k] = diagonal, length
    for i in range(n):
        previous[i] = current[i]
        current[i] = product[i] / length
        vectors[k + 1, i] = current[i]
    return length >= 1e-13


@inner
def _largest_but(diagonal, squares, size, skipped, end, share, lanes):
    """Largest eigenvalue after ``skipped`` others, none above ``end``; from above.

    Bisection with Sturm counts: as many eigenvalues lie above a shift as the shifted matrix has
    positive pivots. Each pass tries :data:`_N_SHIFTS` shifts (``lanes`` holds shifts, pivots
    and counts) and keeps the interval between two, to rounding or to a ``share`` of its
    distance from ``end``. ``tests/cut/test_tridiagonal.py`` has the same with one shift.
    """
    low, high = -1.5, end  # the spectrum of D^-1/2 A D^-1/2 begins at -1
    while high - low > share * (end - high):
        step = (high - low) / (_N_SHIFTS + 1)
        if not low < low + step < high:
            break
        for s in range(_N_SHIFTS):
            lanes[0, s] = low + (s + 1) * step
            lanes[1, s] = np.inf
            lanes[2, s] = 0.0
        for k in range(size):
            square = squares[k - 1] if k > 0 else 0.0
            for s in range(_N_SHIFTS):
                pivot = diagonal[k] - lanes[0, s] - square / lanes[1, s]
                lanes[1, s] = pivot if abs(pivot) >= 1e-300 else 1e-300
                lanes[2, s] += 1.0 if pivot > 0.0 else 0.0
        n_below = 0
        for s in range(_N_SHIFTS):
            n_below += lanes[2, s] > skipped
        if n_below < _N_SHIFTS:
            high = lanes[0, n_below]
        if n_below > 0:
            low = lanes[0, n_below - 1]
    return high


@inner
def top_of_tridiagonal(rows, size, lanes):
    """Largest eigenvalue of the first ``size`` rows, and the next one; the vector as weights.

    The shift is not below the eigenvalue: inverse iteration with it needs no pivoting.
    """
    diagonal, beside, squares = rows[_DIAGONAL], rows[_BESIDE], rows[_SQUARES]
    pivots, weights = rows[_PIVOTS], rows[_WEIGHTS]
    for k in range(size):
        squares[k] = beside[k] * beside[k]
    top, second = 1.5, 1.5
    for skipped in range(min(size, 2)):
        top = second
        share = skipped * _SHARE_OF_GAP
        second = _largest_but(diagonal, squares, size, skipped, top, share, lanes)
    top = second if size == 1 else top
    for k in range(size):
        off = squares[k - 1] / pivots[k - 1] if k > 0 else 0.0
        pivots[k] = max(top + 4e-16 - diagonal[k] - off, 1e-17)
        weights[k] = 1.0
    for _ in range(3):
        for k in range(1, size):
            weights[k] += beside[k - 1] / pivots[k - 1] * weights[k - 1]
        weights[size - 1] /= pivots[size - 1]
        for k in range(size - 2, -1, -1):
            weights[k] = (weights[k] + beside[k] * weights[k + 1]) / pivots[k]
        length = _length(weights, size)
        for k in range(size):
            weights[k] /= length
    return top, second


@inner
def make_sign_canonical(vector, n):
    """Flip the vector so that its entry of largest size, the first of equals, is positive."""
    largest, first = 0.0, 0
    for i in range(n):
        largest = max(largest, abs(vector[i]))
    while first < n - 1 and abs(vector[first]) < (1.0 - _SAME_SIZE) * largest:
        first += 1
    if vector[first] <= 0.0:
        for i in range(n):
            vector[i] = -vector[i]


@inlined
def find_fiedler(
    indptr, indices, data, n, degree, start, enough, is_full, most, rows, lanes, vectors, vector
):
    """Largest eigenpair away from the known one: the Fiedler vector and ``1 - lambda_2``.

    Stops where ``residual <= enough * gap`` (the distance to the run's next eigenvalue), where
    the space is invariant, or after ``most`` steps. Returns connectivity, steps, and
    convergence.
    """
    _start(degree, start, n, rows, vectors)
    gap, n_steps, checkpoint, value = 2.0, 0, 12, 0.0
    has_converged = False
    while not has_converged and n_steps < most:
        # Often enough to stop soon, and not more often, as looking takes time.
        checkpoint = min(checkpoint + max(12, checkpoint // 6), most)
        is_open = True
        for k in range(n_steps, checkpoint):
            is_open = _step(indptr, indices, data, n, rows, vectors, k, is_full)
            n_steps = k + 1
            if not is_open:
                break
        value, second = top_of_tridiagonal(rows, n_steps, lanes)
        residual = rows[_BESIDE, n_steps - 1] * abs(rows[_WEIGHTS, n_steps - 1])
        # Read off before copies of the first eigenvalue come, if they can.
        if n_steps > 1 and (is_full or residual > _COPIES_BELOW):
            gap = value - second
        has_converged = not is_open or residual <= enough * gap
    for i in range(n):
        vector[i] = 0.0
    for k in range(n_steps):
        for i in range(n):
            vector[i] += rows[_WEIGHTS, k] * vectors[k, i]
    length = _length(vector, n)
    for i in range(n):
        vector[i] /= length
    make_sign_canonical(vector, n)
    # All of the space is spanned, unless rounding has brought copies.
    is_exhausted = is_full and n_steps == n - 1
    return max(1.0 - value, 0.0), n_steps, has_converged or is_exhausted
