"""The search for eigenvalues of a tridiagonal matrix, against a scalar one and SciPy."""

import numpy as np
import pytest
from scipy.linalg import eigvalsh_tridiagonal

from setwise.cut import lanczos_kernels


def scalar_largest_but(diagonal, beside, skipped, end):
    """The same bisection with one shift at a time: the algorithm to read."""
    low, high = -1.5, end
    while low < (middle := 0.5 * (low + high)) < high:
        n_above, pivot = 0, np.inf
        for k in range(len(diagonal)):
            square = beside[k - 1] ** 2 if k > 0 else 0.0
            pivot = diagonal[k] - middle - square / pivot
            pivot = pivot if abs(pivot) >= 1e-300 else 1e-300
            n_above += pivot > 0
        low, high = (middle, high) if n_above > skipped else (low, middle)
    return high


@pytest.mark.parametrize("size", [1, 2, 5, 24])
@pytest.mark.parametrize("skipped", [0, 1])
def test_eight_shifts_at_once_find_what_one_at_a_time_does(size, skipped, seed):
    rng = np.random.default_rng(seed)
    if skipped >= size:
        return
    for _ in range(5):
        diagonal, beside = rng.uniform(-0.4, 0.4, size), rng.uniform(0.01, 0.3, size)
        values = eigvalsh_tridiagonal(diagonal, beside[: size - 1])[::-1]
        end = 1.5 if skipped == 0 else values[0] + 1e-12
        scalar = scalar_largest_but(diagonal, beside, skipped, end)
        found = lanczos_kernels._largest_but.py_func(
            diagonal, beside**2, size, skipped, end, 0.0, np.empty(lanczos_kernels.LANES)
        )
        assert scalar == pytest.approx(values[skipped], abs=1e-14)
        assert found == pytest.approx(scalar, abs=1e-14)
