"""Singular-vector bases: NumPy's SVD as oracle, ranks, signs and invariances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import subspace_angles
from scipy.stats import ortho_group
from tests.helpers import fingerprint

from setwise.basis import centred_svd_bases, svd_bases

BOTH = pytest.mark.parametrize("bases", [svd_bases, centred_svd_bases])
DIMS = [1, 3, 10]


def some_set(n_vectors=12, n_features=20, seed=0):
    return np.random.default_rng(seed).standard_normal((n_vectors, n_features)) + 1.0


def assert_orthonormal(basis):
    np.testing.assert_allclose(basis.T @ basis, np.eye(basis.shape[1]), atol=1e-12)


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("shape", [(12, 20), (40, 6)])
def test_bases_span_what_numpy_says_strongest_direction_first(centred, shape):
    vectors = some_set(*shape)
    bases = (centred_svd_bases if centred else svd_bases)(vectors, DIMS)
    described = vectors - vectors.mean(axis=0) if centred else vectors
    left, strengths, _ = np.linalg.svd(described.T, full_matrices=False)
    for d, basis in zip(DIMS, bases, strict=True):
        kept = min(d, *shape)
        assert basis.shape == (shape[1], kept)
        assert_orthonormal(basis)
        assert subspace_angles(basis, left[:, :kept]).max() < 1e-7
        np.testing.assert_allclose(
            np.linalg.norm(described @ basis, axis=0), strengths[:kept], rtol=1e-10
        )


@BOTH
def test_bases_nest_in_the_order_asked_for(bases):
    five, two, one = bases(some_set(), [5, 2, 1])
    np.testing.assert_array_equal(five[:, :2], two)
    np.testing.assert_array_equal(two[:, :1], one)


@BOTH
def test_every_column_points_where_the_set_leans(bases):
    vectors = some_set()
    (basis,) = bases(vectors, [10])
    described = vectors - vectors.mean(axis=0) if bases is centred_svd_bases else vectors
    assert (((described @ basis) ** 3).sum(axis=0) > 0).all()
    np.testing.assert_allclose(bases(-vectors, [10])[0], -basis, atol=1e-12)


@BOTH
def test_where_a_set_leans_nowhere_the_largest_entry_is_positive(bases):
    balanced = np.vstack([some_set(4), -some_set(4)])
    for vectors in (balanced, -balanced, balanced[::-1]):
        (basis,) = bases(vectors, [4])
        assert (basis[np.abs(basis).argmax(axis=0), np.arange(4)] > 0).all()


@BOTH
def test_the_columns_turn_with_the_features(bases):
    rotation = ortho_group.rvs(20, random_state=1)
    for turned, basis in zip(
        bases(some_set() @ rotation.T, DIMS), bases(some_set(), DIMS), strict=True
    ):
        np.testing.assert_allclose(turned, rotation @ basis, atol=1e-9)


RANKS = {
    "fewer vectors than asked": (some_set(4), 4, 3),
    "fewer features than asked": (some_set(30, 5), 5, 5),
    "one vector": (some_set(1), 1, 1),
    "copies of one vector": (np.repeat(some_set(1), 7, axis=0), 1, 1),
    "every vector twice": (np.repeat(some_set(3), 2, axis=0), 3, 2),
    "multiples of one vector": (np.outer([1.0, 2.0, -3.0], np.arange(1.0, 9)), 1, 1),
    "zero vectors inside": (np.vstack([some_set(3), np.zeros((2, 20))]), 3, 3),
    "one vector and zeros": (np.vstack([some_set(1), np.zeros((4, 20))]), 1, 1),
    "one feature": (some_set(6, 1), 1, 1),
    "far from the origin": (some_set(6) / 1000 + 100, 6, 5),
    "on a line far from the origin": (np.outer(np.arange(6.0), np.ones(20)) + 1e3, 1, 1),
    "very far from the origin": (some_set(6) + 1e6, 6, 5),
    "tiny": (some_set(4) * 1e-140, 4, 3),
    "huge": (some_set(4) * 1e140, 4, 3),
}


@pytest.mark.parametrize("case", RANKS)
def test_columns_never_outnumber_the_rank(case):
    vectors, rank, centred_rank = RANKS[case]
    for bases, expected in ((svd_bases, rank), (centred_svd_bases, centred_rank)):
        for d, basis in zip(DIMS, bases(vectors, DIMS), strict=True):
            assert basis.shape == (vectors.shape[1], min(d, expected))
            assert_orthonormal(basis)


@pytest.mark.parametrize("n_vectors", [1, 2, 7, 1000])
@pytest.mark.parametrize("scale", [1e-6, 0.1, 1e6])
def test_a_set_that_does_not_vary_is_represented_by_its_mean_direction(n_vectors, scale):
    vectors = np.repeat(some_set(1) * scale, n_vectors, axis=0)
    (basis,) = centred_svd_bases(vectors, [3])
    assert basis.shape == (20, 1)
    direction = vectors[0] / np.linalg.norm(vectors[0])
    assert abs(basis[:, 0] @ direction) == pytest.approx(1, abs=1e-12)


def test_a_set_that_varies_little_is_represented_by_how_it_varies():
    change = np.random.default_rng(1).standard_normal(20)
    vectors = some_set(1) + 1e-9 * np.outer([-1.0, 0.0, 1.0], change)
    (basis,) = centred_svd_bases(vectors, [1])
    assert abs(basis[:, 0] @ change) / np.linalg.norm(change) == pytest.approx(1, abs=1e-6)


@BOTH
@given(order=st.permutations(range(12)))
def test_the_order_of_the_vectors_does_not_matter(bases, order):
    vectors = some_set()
    for shuffled, plain in zip(
        bases(vectors[list(order)], DIMS), bases(vectors, DIMS), strict=True
    ):
        np.testing.assert_allclose(shuffled, plain, atol=1e-10)


@given(st.lists(st.floats(-100, 100), min_size=20, max_size=20))
def test_the_centred_basis_does_not_see_where_the_set_is(shift):
    (moved,), (still,) = (
        centred_svd_bases(some_set() + offset, [4]) for offset in (np.array(shift), 0.0)
    )
    np.testing.assert_allclose(moved, still, atol=1e-9)


@BOTH
def test_the_set_stays_as_it_was(bases):
    vectors = some_set()
    before = fingerprint(vectors)
    bases(vectors, DIMS)
    assert fingerprint(vectors) == before
