"""Unions of subspaces and the pair of clouds: ranks, moments, and the same every time."""

from __future__ import annotations

import numpy as np
import pytest

from setwise import SetBatch
from setwise.errors import DataError, ParameterError
from setwise_paper.datasets.made import (
    corrupt_sets,
    limit_sets,
    make_gaussian_pair,
    make_subspace_union,
)


def test_without_noise_a_class_is_a_linear_subspace():
    sets = make_subspace_union(3, 2, 10, n_features=30, n_dims=4, noise=0.0)
    for label in range(3):
        assert np.linalg.matrix_rank(sets[sets.labels == label].vectors) == 4
    assert np.linalg.matrix_rank(sets.vectors) == 12


def test_sets_may_have_directions_of_their_own():
    sets = make_subspace_union(2, 2, 20, n_features=30, n_dims=4, n_set_dims=3, noise=0.0)
    assert [np.linalg.matrix_rank(one) for one in sets] == [7] * 4
    assert np.linalg.matrix_rank(sets[:2].vectors) == 4 + 2 * 3


def test_vectors_vary_by_one_along_their_subspace_and_by_the_noise_across():
    sets = make_subspace_union(1, 1, 5000, n_features=20, n_dims=3, noise=0.1)
    spread = np.linalg.svd(sets.vectors, compute_uv=False) / np.sqrt(5000)
    np.testing.assert_allclose(spread[:3], np.sqrt(1.01), rtol=0.05)
    np.testing.assert_allclose(spread[3:], 0.1, rtol=0.1)
    assert np.abs(sets.vectors.mean(axis=0)).max() < 0.06


def test_names_labels_and_shapes():
    sets = make_subspace_union(2, 3, 5, n_features=8, n_dims=2)
    assert sets.labels.tolist() == [0, 0, 0, 1, 1, 1]
    assert sets.names[4] == "class 1, set 2"
    assert sets.sizes.tolist() == [5] * 6
    assert sets.n_features == 8


def test_more_classes_and_sets_leave_the_first_ones_as_they_are():
    few, many = make_subspace_union(2, 2, 5), make_subspace_union(4, 3, 5)
    np.testing.assert_array_equal(few.vectors, many[[0, 1, 3, 4]].vectors)
    other = make_subspace_union(2, 2, 5, random_state=1)
    assert (few.vectors != other.vectors).all()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_classes", 0),
        ("n_sets", 0),
        ("n_vectors", 0),
        ("n_features", 0),
        ("n_dims", 0),
        ("n_dims", 51),
        ("n_set_dims", -1),
        ("noise", -0.1),
        ("noise", "much"),
        ("noise", np.inf),
        ("random_state", "0"),
    ],
)
def test_bad_parameters_of_the_union_are_refused_by_name(name, value):
    with pytest.raises(ParameterError, match=f"make_subspace_union: {name} must be .*, got"):
        make_subspace_union(**{name: value})


def test_directions_of_class_and_set_must_fit():
    with pytest.raises(ParameterError, match="at most n_features - n_set_dims, here 6, got 7"):
        make_subspace_union(n_features=10, n_dims=7, n_set_dims=4)


def test_clouds_have_the_moments_of_the_figure():
    pair = make_gaussian_pair(20_000, distance=5)
    first, second = pair
    np.testing.assert_allclose(first.mean(axis=0), 0, atol=0.05)
    np.testing.assert_allclose(second.mean(axis=0), [5, 0, 0], atol=0.05)
    for cloud in pair:
        np.testing.assert_allclose(np.cov(cloud.T), 2 * np.eye(3), atol=0.08)
    assert pair.labels.tolist() == [0, 1]


def test_clouds_are_those_of_the_example_and_the_test_of_figure_4():
    d, n = 4, 100
    rng = np.random.default_rng([d, n, 0])
    points = np.sqrt(2.0) * rng.standard_normal((3, 2 * n))
    points[0, n:] += d
    pair = make_gaussian_pair(n, d, random_state=np.random.default_rng([d, n, 0]))
    np.testing.assert_array_equal(pair.vectors.T, points)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_vectors", 0),
        ("n_features", 0),
        ("distance", -1.0),
        ("variance", 0.0),
        ("random_state", -1),
        ("random_state", None),
    ],
)
def test_bad_parameters_of_the_pair_are_refused_by_name(name, value):
    with pytest.raises(ParameterError, match=f"make_gaussian_pair: {name} must be .*, got"):
        make_gaussian_pair(**{name: value})


def tagged(n_classes, n_sets, n_vectors, *, first=0):
    """Images of 2 x 2 pixels that tell their set, class, number, and batch."""
    images, labels = [], np.repeat(np.arange(n_classes), n_sets)
    for i, label in enumerate(labels):
        rows = [[[first + i, label], [k, first]] for k in range(n_vectors)]
        images.append(np.array(rows, dtype=np.int64))
    return SetBatch.from_images(images, [f"clip {i}" for i in range(len(labels))], labels)


def origin(sets):
    """Which set each vector came from."""
    return sets.vectors[:, 0]


@pytest.fixture
def gallery():
    """As many as the paper's: a set of 100 images for each of 20 people."""
    return tagged(20, 1, 100)


@pytest.mark.parametrize(("n_outliers", "n_added"), [(1, 19), (2, 38), (3, 57)])
def test_gallery_sets_get_images_of_each_other_one(gallery, n_outliers, n_added):
    found = corrupt_sets(gallery, n_outliers=n_outliers)
    assert found.sets.sizes.tolist() == [100 + n_added] * 20
    for i, vectors in enumerate(found.sets):
        came_from = np.bincount(vectors[:, 0], minlength=20)
        assert came_from[i] == 100
        assert (np.delete(came_from, i) == n_outliers).all()
        assert len(np.unique(vectors, axis=0)) == len(vectors)
    owner = np.repeat(np.arange(20), found.sets.sizes)
    np.testing.assert_array_equal(found.is_outlier, origin(found.sets) != owner)


@pytest.mark.parametrize("n_outliers", [1, 2, 3])
def test_probes_get_images_of_each_gallery_set(gallery, n_outliers):
    probes = tagged(20, 1, 100, first=1000)[3:8]
    found = corrupt_sets(probes, n_outliers=n_outliers, source=gallery)
    assert found.sets.sizes.tolist() == [100 + 20 * n_outliers] * 5
    is_added = found.sets.vectors[:, 3] == 0
    is_right_person = found.sets.vectors[:, 1] == np.repeat(probes.labels, found.sets.sizes)
    np.testing.assert_array_equal(found.is_outlier, is_added & ~is_right_person)
    assert found.is_outlier.sum() == 5 * 19 * n_outliers


def test_the_sets_themselves_stay_as_they_are(gallery):
    before = gallery.vectors.tobytes()
    found = corrupt_sets(gallery, n_outliers=2)
    corrupt_sets(gallery, n_outliers=2, how="replace")
    assert gallery.vectors.tobytes() == before
    for vectors, clean in zip(found.sets, gallery, strict=True):
        np.testing.assert_array_equal(vectors[:100], clean)
    assert not np.shares_memory(
        corrupt_sets(gallery, n_outliers=0).sets.vectors, gallery.vectors
    )


@pytest.mark.parametrize("how", ["add", "replace"])
def test_names_labels_image_shape_and_dtype_are_kept(gallery, how):
    sets = corrupt_sets(gallery, how=how).sets
    assert sets.names == gallery.names
    assert sets.image_shape == (2, 2)
    assert sets.vectors.dtype == gallery.vectors.dtype
    np.testing.assert_array_equal(sets.labels, gallery.labels)


def test_replacing_keeps_the_sizes_and_the_places_of_the_others(gallery):
    found = corrupt_sets(gallery, n_outliers=3, how="replace")
    assert found.sets.sizes.tolist() == [100] * 20
    changed = (found.sets.vectors != gallery.vectors).any(axis=1)
    np.testing.assert_array_equal(changed, found.is_outlier)
    by_set = found.is_outlier.reshape(20, 100)
    assert (by_set.sum(axis=1) == 57).all()
    assert len(np.unique(by_set, axis=0)) == 20


def test_from_each_class_takes_from_others_only_and_once_a_class():
    sets = tagged(4, 3, 10)
    found = corrupt_sets(sets, n_outliers=2, each="class")
    assert found.sets.sizes.tolist() == [10 + 3 * 2] * 12
    for label, vectors in zip(found.sets.labels, found.sets, strict=True):
        assert np.delete(np.bincount(vectors[10:, 1], minlength=4), label).tolist() == [2] * 3
        assert (vectors[10:, 1] != label).all()


def test_images_of_other_sets_of_the_class_are_no_outliers():
    found = corrupt_sets(tagged(2, 2, 5))
    assert found.sets.sizes.tolist() == [5 + 3] * 4
    assert found.is_outlier.sum() == 4 * 2


def test_without_labels_everything_from_elsewhere_is_an_outlier():
    sets = tagged(2, 2, 5)
    bare = SetBatch(sets.vectors, sets.offsets, image_shape=(2, 2))
    found = corrupt_sets(bare)
    assert found.is_outlier.sum() == 4 * 3
    assert found.sets.labels is None


def test_same_seed_same_outliers(gallery):
    first, again, other = (corrupt_sets(gallery, random_state=s).sets for s in (0, 0, 1))
    np.testing.assert_array_equal(first.vectors, again.vectors)
    assert (first.vectors != other.vectors).any()


def test_limit_chooses_at_random_and_keeps_the_order(gallery):
    sets = limit_sets(gallery, 30)
    assert sets.sizes.tolist() == [30] * 20
    numbers = sets.vectors[:, 2].reshape(20, 30)
    assert (np.diff(numbers, axis=1) > 0).all()
    assert len(np.unique(numbers, axis=0)) == 20
    assert abs(numbers.mean() - 49.5) < 5
    assert (sets.names, sets.image_shape) == (gallery.names, (2, 2))
    np.testing.assert_array_equal(sets.labels, gallery.labels)
    np.testing.assert_array_equal(sets.vectors, limit_sets(gallery, 30).vectors)


def test_limit_keeps_small_sets_whole(gallery):
    np.testing.assert_array_equal(limit_sets(gallery, 100).vectors, gallery.vectors)
    np.testing.assert_array_equal(limit_sets(gallery, 101).vectors, gallery.vectors)


@pytest.mark.parametrize(
    ("name", "value"),
    [("n_outliers", -1), ("each", "person"), ("how", "mix"), ("random_state", None)],
)
def test_bad_parameters_are_refused_by_name(gallery, name, value):
    with pytest.raises(ParameterError, match=f"corrupt_sets: {name} must be .*, got"):
        corrupt_sets(gallery, **{name: value})


@pytest.mark.parametrize(("name", "value"), [("n_vectors", 0), ("random_state", -1)])
def test_bad_parameters_of_the_limit_are_refused_by_name(gallery, name, value):
    with pytest.raises(ParameterError, match=f"limit_sets: {name} must be .*, got"):
        limit_sets(gallery, **{"n_vectors": 5, name: value})


def test_data_that_does_not_fit_is_refused(gallery):
    small = tagged(3, 1, 4)
    with pytest.raises(DataError, match=r"sets must be a SetBatch .*got list"):
        corrupt_sets([np.ones((3, 2))])
    with pytest.raises(DataError, match=r"source must be a SetBatch .*got ndarray"):
        corrupt_sets(small, source=np.ones((3, 2)))
    with pytest.raises(DataError, match=r"limit_sets: sets must be .*SetBatch of 0 sets"):
        limit_sets(small[:0], 3)
    with pytest.raises(DataError, match="5 vectors are to be taken of 'clip 1', which has 4"):
        corrupt_sets(small, n_outliers=5)
    with pytest.raises(DataError, match="'clip 0' has 4 vectors, and 6 are to be replaced"):
        corrupt_sets(small, n_outliers=3, how="replace")
    with pytest.raises(DataError, match="sets have n_features 4, and source has 3"):
        corrupt_sets(small, source=SetBatch.from_rows(np.ones((2, 3), dtype=int)))
    with pytest.raises(DataError, match=r"image_shape \(2, 2\), and source has None"):
        corrupt_sets(small, source=SetBatch.from_rows(np.ones((2, 4), dtype=int)))
    floats = SetBatch.from_images([np.ones((3, 2, 2))])
    with pytest.raises(DataError, match="sets hold int64, and source float64"):
        corrupt_sets(small, source=floats)
    with pytest.raises(DataError, match='each="class" needs labels'):
        corrupt_sets(floats, each="class")
