"""From codes to a graph, compiled and as plain Python, against dense arithmetic."""

from __future__ import annotations

from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.lasso.problems import as_codes

from setwise.graph import base, kernels
from setwise.graph.base import graph_of_codes, symmetrised
from setwise.lasso import Codes

PLAIN = SimpleNamespace(symmetrise=kernels.symmetrise.py_func)


def square_matrices():
    numbers = st.one_of(st.just(0.0), st.floats(-1, 1, width=16))
    return st.integers(0, 8).flatmap(lambda n: hnp.arrays(np.float64, (n, n), elements=numbers))


def assert_symmetrised(codes, matrix):
    """Both ways give ``|S| + |S'|`` in sorted rows without stored zeros, and as SciPy does."""
    expected = np.abs(matrix) + np.abs(matrix).T
    for way in (kernels, PLAIN):
        with patch.object(base, "kernels_of", lambda _, way=way: way):
            adjacency = graph_of_codes(codes)
        indptr, indices, data = adjacency.indptr, adjacency.indices, adjacency.data
        assert indptr.dtype == indices.dtype == np.int32
        assert indptr[-1] == len(indices) == len(data)
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
    adjacency = graph_of_codes(as_codes(matrix))
    np.testing.assert_array_equal(adjacency.indices, [1, 0])
    np.testing.assert_array_equal(adjacency.data, [expected, expected])


@pytest.mark.parametrize("targets", [[], [0], [2, 4], [5, 6], [1, 5], [0, 1, 2, 3, 4, 5, 6]])
def test_codes_that_are_replaced_or_added_make_the_graph_of_all_in_order(targets):
    rng = np.random.default_rng(3)
    n = max([4, *targets]) + 1
    old = as_codes(
        np.pad(rng.standard_normal((4, 5)) * (rng.random((4, 5)) < 0.6), ((0, 1), (0, 0)))
    )
    new = as_codes(
        rng.standard_normal((n, len(targets))) * (rng.random((n, len(targets))) < 0.5)
    )
    targets = np.array(targets, dtype=np.int64)
    graph, in_order = (
        graph_of_codes(old, targets, new),
        graph_of_codes(old.replaced(targets, new)),
    )
    assert graph.shape == (n, n)
    np.testing.assert_array_equal(graph.toarray(), in_order.toarray())


def test_a_column_that_all_others_use_is_joined_to_all():
    matrix = np.zeros((6, 6))
    matrix[2] = [0.1, -0.2, 0.0, 0.3, -0.4, 0.5]
    assert_symmetrised(as_codes(matrix), matrix)
