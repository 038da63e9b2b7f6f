"""Subspaces of sets and the angles between them, against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg

from setwise.baselines.subspaces import Subspaces, orthonormalised, set_subspace, usable_dims
from setwise.basis.base import numerical_rank


def random_bases(seed: int, sizes=(3, 1, 4, 0, 3), n_features: int = 9):
    rng = np.random.default_rng(seed)
    return [linalg.orth(rng.normal(size=(n_features, q))) if q else np.empty((n_features, 0))
            for q in sizes]  # fmt: skip


@given(st.integers(0, 10_000), st.integers(1, 6))
def test_cosines_are_those_of_scipy(seed, q):
    bases = random_bases(seed)
    basis = random_bases(seed + 1, sizes=(q,))[0]
    gallery = Subspaces.of(bases)
    found = gallery.cosines(basis)
    squared = gallery.squared_cosines(basis)
    for other, cosines, total in zip(bases, found, squared, strict=True):
        if other.shape[1] == 0:
            assert len(cosines) == 0
            assert total == pytest.approx(0.0, abs=1e-12)
            continue
        expected = np.cos(linalg.subspace_angles(basis, other))[::-1]
        np.testing.assert_allclose(cosines, expected, atol=1e-12)
        assert total == pytest.approx((expected**2).sum(), abs=1e-12)


def test_the_subspace_of_a_set_is_that_of_its_strongest_directions(seed):
    rng = np.random.default_rng(seed)
    vectors = (
        rng.normal(size=(30, 3)) * [5.0, 2.0, 0.1] @ linalg.orth(rng.normal(size=(8, 3))).T
    )
    basis = set_subspace(vectors, n_dims=2)
    np.testing.assert_allclose(basis.T @ basis, np.eye(2), atol=1e-12)
    expected = np.linalg.svd(vectors)[2][:2].T
    assert linalg.subspace_angles(basis, expected).max() < 1e-7
    assert set_subspace(vectors).shape[1] == 3  # the rank, and no more


@given(st.integers(0, 1000), st.floats(0.05, 1.0))
def test_energy_is_reached_by_the_fewest_directions(seed, energy):
    vectors = np.random.default_rng(seed).normal(size=(12, 6)) * np.arange(1, 7)
    q = set_subspace(vectors, energy=energy, centred=True).shape[1]
    squares = np.linalg.svd(vectors - vectors.mean(axis=0), compute_uv=False) ** 2
    shares = np.cumsum(squares) / squares.sum()
    assert shares[q - 1] >= energy - 1e-9
    assert q == 1 or shares[q - 2] < energy


def test_a_set_that_does_not_vary_has_no_centred_direction():
    copies = np.tile([[1.0, 1 / 3, 0.1]], (5, 1))
    assert set_subspace(copies, centred=True).shape == (3, 0)
    assert set_subspace(copies).shape == (3, 1)


def test_columns_that_add_nothing_are_left_out(seed):
    a, b = np.random.default_rng(seed).normal(size=(2, 5))
    basis = orthonormalised(np.column_stack([a, b, a + b, 2 * a]))
    assert basis.shape == (5, 2)
    assert orthonormalised(np.empty((5, 0))).shape == (5, 0)
    assert numerical_rank(np.zeros(2), (2, 2), 0.0) == 0


@pytest.mark.parametrize(
    ("n_dims", "n_features", "expected"), [(10, 400, 10), (10, 12, 6), (3, 1, 1)]
)
def test_no_more_dimensions_than_half_of_the_features(n_dims, n_features, expected):
    assert usable_dims(n_dims, n_features) == expected
