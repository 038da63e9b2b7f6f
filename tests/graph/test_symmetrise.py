"""From codes to a graph, compiled and as plain Python, against dense arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.lasso.problems import as_codes

from setwise.graph.base import symmetrised
from setwise.graph.kernels import symmetrise
from setwise.lasso import Codes

WAYS = {"compiled": symmetrise, "plain": symmetrise.py_func}


def square_matrices():
    numbers = st.one_of(st.just(0.0), st.floats(-1, 1, width=16))
    return st.integers(0, 8).flatmap(lambda n: hnp.arrays(np.float64, (n, n), elements=numbers))


def assert_symmetrised(codes, matrix):
    """Both ways give ``|S| + |S'|`` in sorted rows without stored zeros, and as SciPy does."""
    expected = np.abs(matrix) + np.abs(matrix).T
    for run in WAYS.values():
        indptr, indices, data = run(codes.pointers, codes.atoms, codes.values)
        assert indptr.dtype == indices.dtype == np.int32
        assert indptr[-1] == len(indices) == len(data)
        adjacency = sp.csr_array((data, indices, indptr), shape=matrix.shape)
        np.testing.assert_array_equal(adjacency.toarray(), expected)
        assert data.all()
        for i in range(len(matrix)):
            assert (np.diff(indices[indptr[i] : indptr[i + 1]]) > 0).all()
    by_scipy = symmetrised(sp.csc_array(matrix))
    np.testing.assert_array_equal(by_scipy.toarray(), expected)


@given(square_matrices())
def test_a_graph_is_the_codes_and_their_transpose_in_size(matrix):
    assert_symmetrised(as_codes(matrix), matrix)


@given(square_matrices())
def test_zeros_that_a_code_holds_are_no_edges(matrix):
    # Every entry is stored, whatever it is.
    n = len(matrix)
    codes = Codes(np.full(n, n), np.tile(np.arange(n), n), matrix.T.ravel().copy())
    assert_symmetrised(codes, matrix)


@pytest.mark.parametrize("n", [0, 1, 5])
def test_empty_codes_make_a_graph_without_edges(n):
    assert_symmetrised(Codes.none(n), np.zeros((n, n)))


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ({(0, 1): 0.5}, 0.5),  # 1 is coded by 0
        ({(1, 0): -0.5}, 0.5),  # 0 is coded by 1
        ({(0, 1): 0.5, (1, 0): -0.25}, 0.75),  # both, and their sizes add
        ({(0, 1): 1.0, (1, 0): 1.0}, 2.0),  # copies of each other
        ({(0, 1): -1.0, (1, 0): 1.0}, 2.0),
    ],
)
def test_copies_in_one_direction_or_both_make_one_edge(entries, expected):
    matrix = np.zeros((3, 3))
    for place, value in entries.items():
        matrix[place] = value
    assert_symmetrised(as_codes(matrix), matrix)
    codes = as_codes(matrix)
    _, indices, data = symmetrise(codes.pointers, codes.atoms, codes.values)
    np.testing.assert_array_equal(indices, [1, 0])
    np.testing.assert_array_equal(data, [expected, expected])


def test_a_column_that_all_others_use_is_joined_to_all():
    matrix = np.zeros((6, 6))
    matrix[2] = [0.1, -0.2, 0.0, 0.3, -0.4, 0.5]
    assert_symmetrised(as_codes(matrix), matrix)
