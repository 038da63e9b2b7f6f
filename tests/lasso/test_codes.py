"""Sparse codes as three arrays, against the dense matrices they stand for."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.helpers import fingerprint
from tests.lasso.problems import as_codes, dense

from setwise.lasso import Codes

A_FEW, SOME_ATOMS = st.integers(0, 6), st.integers(1, 7)


def matrices(n_targets=A_FEW, n_atoms=SOME_ATOMS):
    """Dense matrices with a code a column, many entries of them zero."""
    numbers = st.one_of(st.just(0.0), st.floats(-2, 2, width=16))
    return st.tuples(n_atoms, n_targets).flatmap(
        lambda shape: hnp.arrays(np.float64, shape, elements=numbers)
    )


def assert_well_formed(codes, n_atoms):
    assert codes.counts.dtype == codes.atoms.dtype == codes.pointers.dtype == np.int64
    assert codes.values.dtype == np.float64
    assert codes.counts.sum() == len(codes.atoms) == len(codes.values)
    np.testing.assert_array_equal(np.diff(codes.pointers), codes.counts)
    for first, last in zip(codes.pointers[:-1], codes.pointers[1:], strict=True):
        assert (np.diff(codes.atoms[first:last]) > 0).all()
    assert ((codes.atoms >= 0) & (codes.atoms < n_atoms)).all()


@given(matrices())
def test_codes_know_how_many_they_are_and_where_each_begins(matrix):
    codes = as_codes(matrix)
    assert_well_formed(codes, len(matrix))
    assert len(codes) == matrix.shape[1]
    assert codes.pointers[0] == 0
    np.testing.assert_array_equal(dense(codes, len(matrix)), matrix)


@given(matrices(), st.data())
def test_taking_is_indexing_columns(matrix, data):
    n = matrix.shape[1]
    some = st.lists(st.integers(0, n - 1), max_size=8) if n else st.just([])
    chosen = np.array(data.draw(some), dtype=np.int64)
    codes = as_codes(matrix)
    before = fingerprint(codes.counts, codes.atoms, codes.values, chosen)
    taken = codes.take(chosen)
    assert fingerprint(codes.counts, codes.atoms, codes.values, chosen) == before
    assert_well_formed(taken, len(matrix))
    np.testing.assert_array_equal(dense(taken, len(matrix)), matrix[:, chosen])


@given(matrices(), st.data())
def test_replacing_is_assigning_columns_and_adding_those_beyond(matrix, data):
    n_atoms, n = matrix.shape
    old = data.draw(st.sets(st.integers(0, n - 1)) if n else st.just(set()))
    n_added = data.draw(st.integers(0, 3))
    targets = np.array([*sorted(old), *range(n, n + n_added)], dtype=np.int64)
    new = data.draw(matrices(st.just(len(targets)), st.just(n_atoms)))
    expected = np.hstack([matrix, np.zeros((n_atoms, n_added))])
    expected[:, targets] = new
    codes = as_codes(matrix)
    before = fingerprint(codes.counts, codes.atoms, codes.values)
    replaced = codes.replaced(targets, as_codes(new))
    assert fingerprint(codes.counts, codes.atoms, codes.values) == before
    assert_well_formed(replaced, n_atoms)
    np.testing.assert_array_equal(dense(replaced, n_atoms), expected)


@given(st.data(), st.integers(1, 5), st.integers(1, 4))
def test_joining_is_stacking_columns(data, n_atoms, n_parts):
    parts = [data.draw(matrices(n_atoms=st.just(n_atoms))) for _ in range(n_parts)]
    joined = Codes.join([as_codes(part) for part in parts])
    assert_well_formed(joined, n_atoms)
    np.testing.assert_array_equal(dense(joined, n_atoms), np.hstack(parts))


@given(matrices(), st.data())
def test_without_atoms_is_deleting_rows(matrix, data):
    n_atoms = len(matrix)
    kept = data.draw(st.lists(st.booleans(), min_size=n_atoms, max_size=n_atoms))
    is_kept = np.array(kept)
    codes = as_codes(matrix)
    before = fingerprint(codes.counts, codes.atoms, codes.values, is_kept)
    rest, changed = codes.without_atoms(is_kept)
    assert fingerprint(codes.counts, codes.atoms, codes.values, is_kept) == before
    assert_well_formed(rest, is_kept.sum())
    np.testing.assert_array_equal(dense(rest, is_kept.sum()), matrix[is_kept])
    np.testing.assert_array_equal(changed, np.flatnonzero(matrix[~is_kept].any(axis=0)))


@given(matrices(), st.integers(0, 100))
def test_residuals_are_the_columns_less_what_the_codes_make_of_the_others(matrix, seed):
    n_atoms, n = matrix.shape
    rng = np.random.default_rng(seed)
    rows, targets = rng.standard_normal((n_atoms, 3)), rng.integers(0, n_atoms, n)
    codes = as_codes(matrix)
    expected = (rows[targets].T - rows.T @ matrix).T
    left = codes.residuals(rows, targets)
    assert left.dtype == np.float64
    np.testing.assert_allclose(left, expected, rtol=0, atol=1e-13)
    single = codes.residuals(rows.astype(np.float32), targets)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, expected, rtol=0, atol=1e-4)


@given(matrices())
def test_a_sparse_matrix_of_codes_has_one_a_column_and_indices_scikit_learn_takes(matrix):
    codes = as_codes(matrix)
    sparse = codes.to_csc(len(matrix))
    assert isinstance(sparse, sp.csc_array)
    assert sparse.indices.dtype == sparse.indptr.dtype == np.int32
    np.testing.assert_array_equal(sparse.toarray(), matrix)
    said = sparse.has_sorted_indices
    sparse.has_sorted_indices = False
    sparse.sort_indices()
    np.testing.assert_array_equal(sparse.indices, codes.atoms)
    assert said


@pytest.mark.parametrize("n_targets", [0, 1, 5])
def test_none_are_codes_without_any_atom(n_targets):
    codes = Codes.none(n_targets)
    assert_well_formed(codes, 0)
    assert len(codes) == n_targets
    assert codes.to_csc(3).nnz == 0
    rows = np.random.default_rng(0).standard_normal((5, 2))
    targets = np.arange(n_targets)
    np.testing.assert_array_equal(codes.residuals(rows, targets), rows[targets])
