"""Means of the parts of a set, against scikit-learn's Ward clustering and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import AgglomerativeClustering

from setwise.basis import Mean, means_bases
from setwise.basis.base import MOST_VECTORS
from setwise.features import unit_rows


def as_a_set(columns):
    return sorted(tuple(np.round(column, 9)) for column in columns.T)


@given(st.integers(0, 1000), st.integers(2, 12))
def test_columns_are_the_means_of_wards_clusters(seed, d):
    vectors = np.random.default_rng(seed).normal(size=(15, 6))
    (found,) = means_bases(vectors, [d])
    parts = AgglomerativeClustering(d, linkage="ward").fit_predict(vectors)
    means = np.array([vectors[parts == k].mean(axis=0) for k in range(d)])
    assert as_a_set(found) == as_a_set(unit_rows(means).T)


def test_two_heaps_by_hand():
    vectors = np.array([[1.0, 0.1], [1.0, -0.1], [0.1, 1.0], [-0.1, 1.0]])
    one, two = means_bases(vectors, [1, 2])
    np.testing.assert_allclose(one[:, 0], [np.sqrt(0.5)] * 2)
    assert as_a_set(two) == [(0.0, 1.0), (1.0, 0.0)]


def test_one_dimension_is_the_direction_of_the_mean(seed):
    vectors = np.random.default_rng(seed).normal(size=(9, 5)) + 1
    (found,) = means_bases(vectors, [1])
    mean = vectors.mean(axis=0)
    np.testing.assert_allclose(found[:, 0], mean / np.linalg.norm(mean))


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e100])
def test_sets_that_are_small_copied_or_cancel_keep_a_column(scale):
    single = np.array([[3.0, 4.0]]) * scale
    for vectors in (single, np.tile(single, (5, 1))):
        for columns in means_bases(vectors, [1, 3]):
            np.testing.assert_allclose(columns[:, 0], [0.6, 0.8])
            assert columns.shape == (2, 1)
    opposite = np.array([[3.0, 4.0], [-3.0, -4.0]]) * scale
    one, two = means_bases(opposite, [1, 2])
    np.testing.assert_allclose(np.abs(one[:, 0]), [0.6, 0.8])
    assert two.shape == (2, 2)


def test_the_order_of_vectors_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    for n in (20, MOST_VECTORS + 60):
        vectors = rng.normal(size=(n, 4))
        plain = means_bases(vectors, [5])[0]
        mixed = means_bases(vectors[rng.permutation(n)], [5])[0]
        assert as_a_set(plain) == as_a_set(mixed)


def test_a_zero_vector_is_a_part_without_direction():
    vectors = np.array([[1.0, 0.0], [1.0, 0.01], [0.0, 0.0]])
    assert means_bases(vectors, [2])[0].shape == (2, 1)


def test_the_column_is_the_direction_of_the_mean():
    rng = np.random.default_rng(0)
    units = unit_rows(rng.normal(size=(9, 6)) + 1)
    (column,) = Mean().columns(units, (1,), rng)
    np.testing.assert_allclose(column[:, 0], unit_rows(units.mean(axis=0, keepdims=True))[0])


def test_it_offers_one_column_whatever_is_asked():
    assert Mean().offered((3, 5, 8)) == (1,)


def test_vectors_that_cancel_have_a_main_direction_all_the_same():
    (column,) = Mean().columns(np.array([[1.0, 0], [-1.0, 0]]), (1,), np.random.default_rng(0))
    np.testing.assert_allclose(np.abs(column[:, 0]), [1, 0])
