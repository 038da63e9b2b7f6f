"""Which vectors belong to a set."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setwise.features import is_typical, typical, unit_rows
from setwise.features.typical import cosines_of_pairs, is_out_of_place, majority_cosines


def crowd(rng, n, centre, spread=0.1):
    return centre + spread * rng.normal(size=(n, len(centre)))


@given(seed=st.integers(0, 200), n_own=st.integers(8, 30))
def test_outliers_are_parted_from_their_set(seed, n_own):
    rng = np.random.default_rng(seed)
    own, other = np.eye(30)[:2]
    n_outliers = max(1, int(0.4 * n_own))
    album = np.vstack([crowd(rng, n_own, own, 0.03), crowd(rng, n_outliers, other, 0.03)])
    typical = is_typical(album)
    assert not typical[n_own:].any()
    assert typical[:n_own].mean() > 0.7


def test_views_of_a_turning_object_are_kept_whole():
    angles = np.linspace(0, np.pi / 2, 18)
    views = np.column_stack([np.cos(angles), np.sin(angles), np.ones(18)])
    assert is_typical(views).all()


def test_of_few_vectors_none_is_an_outlier():
    assert is_typical(np.eye(4)).all()


def test_copies_of_one_vector_are_kept_and_one_outlier_is_not():
    album = np.repeat([[1.0, 2.0, 3.0]], 9, axis=0)
    assert is_typical(album).all()
    album[4] = [3.0, -2.0, 0.0]
    np.testing.assert_array_equal(np.flatnonzero(~is_typical(album)), [4])


@given(seed=st.integers(0, 100))
def test_neither_order_nor_lengths_matter(seed):
    rng = np.random.default_rng(seed)
    album = np.vstack([crowd(rng, 9, np.ones(5)), crowd(rng, 3, -np.ones(5))])
    expected = is_typical(album)
    order = rng.permutation(12)
    np.testing.assert_array_equal(is_typical(album[order]), expected[order])
    lengths = rng.uniform(0.1, 100, size=(12, 1))
    np.testing.assert_array_equal(is_typical(album * lengths), expected)


@pytest.mark.parametrize("n", [60, 1500])
def test_the_majority_is_found_whoever_comes_first(n):
    """Also of more vectors than can be compared in pairs."""
    rng = np.random.default_rng(0)
    many, few = (
        unit_rows(crowd(rng, n, np.eye(6)[0])),
        unit_rows(crowd(rng, n // 2, np.eye(6)[1])),
    )
    cosines = majority_cosines(np.vstack([few, many]))
    assert cosines[: len(few)].max() < cosines[len(few) :].min()
    assert cosines[len(few) :].mean() > 0.9


@pytest.mark.parametrize("scale", [1.0, 1e-180, 1e180])
@pytest.mark.parametrize("block", [1, 50, 2**19])
def test_cosines_of_pairs_are_those_of_unit_vectors(scale, block, monkeypatch):
    monkeypatch.setattr(typical, "_BLOCK", block)
    vectors = scale * np.random.default_rng(0).normal(size=(7, 30))
    vectors[3] = 0.0
    units = unit_rows(vectors)
    np.testing.assert_allclose(cosines_of_pairs(vectors), units @ units.T, rtol=0, atol=1e-14)


def test_bytes_and_floats_have_the_same_inliers_in_any_order():
    rng = np.random.default_rng(0)
    photos = rng.integers(0, 256, size=(12, 300), dtype=np.uint8)
    photos[:9] = np.clip(photos[0] + rng.normal(0, 20, size=(9, 300)), 0, 255)
    order = rng.permutation(12)
    expected = is_typical(photos.astype(np.float64))
    assert not expected[9:].any()
    np.testing.assert_array_equal(is_typical(photos), expected)
    np.testing.assert_array_equal(is_typical(photos[order]), expected[order])


@pytest.mark.parametrize("noise", [0.1, 1.0])
@pytest.mark.parametrize(("n_own", "n_outliers"), [(5, 0), (9, 0), (9, 2), (7, 4), (20, 5)])
def test_noise_alone_puts_no_vector_out_of_place(noise, n_own, n_outliers):
    """Bursts are nearly equal photos: an odd number of them must not look like two crowds."""
    rng = np.random.default_rng(0)
    scene, other = rng.normal(size=(2, 400))
    false, missed = 0, 0
    for _ in range(20):
        own = scene + noise * rng.normal(size=(n_own, 400))
        vectors = np.vstack([own, other + noise * rng.normal(size=(n_outliers, 400))])
        is_out = is_out_of_place(vectors, is_typical(vectors))
        false += is_out[:n_own].sum()
        missed += (~is_out[n_own:]).sum()
    assert false <= 0.05 * 20 * n_own
    assert missed == 0


def test_only_what_was_left_out_can_be_out_of_place():
    vectors = np.vstack([np.eye(4)[:1].repeat(5, axis=0), -np.eye(4)[:1]])
    everything = np.ones(6, dtype=bool)
    assert not is_out_of_place(vectors, everything).any()
    assert is_out_of_place(vectors, np.arange(6) < 5).tolist() == [False] * 5 + [True]
    assert is_out_of_place(vectors, np.arange(6) < 1).tolist() == [False] + [True] * 5
