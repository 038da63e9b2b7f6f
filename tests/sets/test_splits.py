"""Gallery and probe splits: counts, disjointness, determinism."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setwise.errors import DataError, ParameterError
from setwise.sets import gallery_probe_split, gallery_probe_splits

LABELS = ["b"] * 3 + ["a"] * 5 + ["c"] * 4


@given(
    sizes=st.lists(st.integers(3, 6), min_size=1, max_size=4),
    n_gallery=st.integers(1, 2),
    seed=st.integers(0, 2**32),
)
def test_each_class_gives_its_share_and_every_set_stands_on_one_side(sizes, n_gallery, seed):
    labels = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))
    gallery, probes = gallery_probe_split(labels, n_gallery, rng=seed)
    assert np.bincount(labels[gallery]).tolist() == [n_gallery] * len(sizes)
    np.testing.assert_array_equal(
        np.sort(np.concatenate([gallery, probes])), np.arange(len(labels))
    )
    assert (np.diff(gallery) > 0).all()
    assert (np.diff(probes) > 0).all()


def test_the_same_seed_gives_the_same_split_and_others_differ():
    splits = [gallery_probe_split(LABELS, 2, rng=seed)[0].tolist() for seed in [0, 0, 1, 2, 3]]
    assert splits[0] == splits[1]
    assert len(set(map(tuple, splits))) > 2
    generator = np.random.default_rng(0)
    assert gallery_probe_split(LABELS, 2, rng=generator)[0].tolist() == splits[0]


def test_split_i_does_not_depend_on_how_many_are_asked_for():
    few = [gallery.tolist() for gallery, _ in gallery_probe_splits(LABELS, 2, 3, seed=7)]
    many = [gallery.tolist() for gallery, _ in gallery_probe_splits(LABELS, 2, 10, seed=7)]
    assert few == many[:3]
    assert len(set(map(tuple, many))) > 5
    other = [gallery.tolist() for gallery, _ in gallery_probe_splits(LABELS, 2, 10, seed=8)]
    assert other != many


def test_the_global_generator_is_left_alone():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    gallery_probe_split(LABELS, 2)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


@pytest.mark.parametrize("n_gallery", [3, 4])
def test_a_class_too_small_to_probe_is_named(n_gallery):
    with pytest.raises(
        DataError, match=f"class 'b' has 3 sets. Expected at least {n_gallery + 1}"
    ):
        gallery_probe_split(LABELS, n_gallery)


@pytest.mark.parametrize("n_gallery", [0, -1, 1.0, "1", None, True])
def test_n_gallery_must_be_a_count(n_gallery):
    with pytest.raises(ParameterError, match=f"n_gallery must be an int .*{n_gallery!r}"):
        gallery_probe_split(LABELS, n_gallery)


@pytest.mark.parametrize(
    "labels", [[], [["a", "a", "b", "b"]], ["a", "a", None, None], [1.0, 1.0, np.nan, np.nan]]
)
def test_labels_must_be_one_a_set(labels):
    with pytest.raises(DataError, match=r"labels must be of shape \(n_sets,\)"):
        gallery_probe_split(labels, 1)


def test_labels_of_two_types_are_refused():
    with pytest.raises(DataError, match="labels mix int and str"):
        gallery_probe_split([1, 1, "a", "a"], 1)
