"""Generated sets: subspaces, two clouds, and outliers in sets as in the paper's robustness."""

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
    ranks = [np.linalg.matrix_rank(sets[sets.labels == label].vectors) for label in range(3)]
    assert ranks == [4, 4, 4]
    assert np.linalg.matrix_rank(sets.vectors) == 12
    assert (sets.labels.tolist(), sets.names[4]) == ([0, 0, 1, 1, 2, 2], "class 2, set 1")
    assert (sets.sizes.tolist(), sets.n_features) == ([10] * 6, 30)
    own = make_subspace_union(2, 2, 20, n_features=30, n_dims=4, n_set_dims=3, noise=0.0)
    assert [np.linalg.matrix_rank(one) for one in own] == [7] * 4
    assert np.linalg.matrix_rank(own[:2].vectors) == 4 + 2 * 3


def test_vectors_vary_by_one_along_their_subspace_and_by_the_noise_across():
    sets = make_subspace_union(1, 1, 5000, n_features=20, n_dims=3, noise=0.1)
    spread = np.linalg.svd(sets.vectors, compute_uv=False) / np.sqrt(5000)
    np.testing.assert_allclose(spread[:3], np.sqrt(1.01), rtol=0.05)
    np.testing.assert_allclose(spread[3:], 0.1, rtol=0.1)
    assert np.abs(sets.vectors.mean(axis=0)).max() < 0.06


def test_more_classes_and_sets_leave_the_first_ones_as_they_are():
    few, many = make_subspace_union(2, 2, 5), make_subspace_union(4, 3, 5)
    np.testing.assert_array_equal(few.vectors, many[[0, 1, 3, 4]].vectors)
    assert (few.vectors != make_subspace_union(2, 2, 5, random_state=1).vectors).all()


def test_clouds_are_those_of_figure_4():
    rng = np.random.default_rng([4, 100, 0])
    points = np.sqrt(2.0) * rng.standard_normal((3, 200))
    points[0, 100:] += 4
    pair = make_gaussian_pair(100, 4, random_state=np.random.default_rng([4, 100, 0]))
    np.testing.assert_array_equal(pair.vectors.T, points)
    pair = make_gaussian_pair(20_000, distance=5)
    for cloud, centre in zip(pair, ([0, 0, 0], [5, 0, 0]), strict=True):
        np.testing.assert_allclose(cloud.mean(axis=0), centre, atol=0.05)
        np.testing.assert_allclose(np.cov(cloud.T), 2 * np.eye(3), atol=0.08)
    assert pair.labels.tolist() == [0, 1]


def tagged(n_classes, n_sets, n_vectors, *, first=0):
    """Images of 2 x 2 pixels that tell their set, class, number, and batch."""
    labels = np.repeat(np.arange(n_classes), n_sets)
    images = [
        np.array([[[first + i, label], [k, first]] for k in range(n_vectors)], dtype=np.int64)
        for i, label in enumerate(labels)
    ]
    return SetBatch.from_images(images, [f"clip {i}" for i in range(len(labels))], labels)


@pytest.fixture
def gallery():
    """As many as the paper's: a set of 100 images for each of 20 people."""
    return tagged(20, 1, 100)


@pytest.mark.parametrize("n_outliers", [1, 2, 3])
def test_gallery_sets_get_images_of_each_other_one(gallery, n_outliers):
    before = gallery.vectors.tobytes()
    found = corrupt_sets(gallery, n_outliers=n_outliers)
    assert found.sets.sizes.tolist() == [100 + 19 * n_outliers] * 20
    for i, vectors in enumerate(found.sets):
        came_from = np.bincount(vectors[:, 0], minlength=20)
        assert came_from[i] == 100
        assert (np.delete(came_from, i) == n_outliers).all()
        assert len(np.unique(vectors, axis=0)) == len(vectors)
        np.testing.assert_array_equal(vectors[:100], gallery[i])
    owner = np.repeat(np.arange(20), found.sets.sizes)
    np.testing.assert_array_equal(found.is_outlier, found.sets.vectors[:, 0] != owner)
    assert gallery.vectors.tobytes() == before


@pytest.mark.parametrize("n_outliers", [1, 2, 3])
def test_probes_get_images_of_each_gallery_set(gallery, n_outliers):
    probes = tagged(20, 1, 100, first=1000)[3:8]
    found = corrupt_sets(probes, n_outliers=n_outliers, source=gallery)
    assert found.sets.sizes.tolist() == [100 + 20 * n_outliers] * 5
    is_added = found.sets.vectors[:, 3] == 0
    is_right_person = found.sets.vectors[:, 1] == np.repeat(probes.labels, found.sets.sizes)
    np.testing.assert_array_equal(found.is_outlier, is_added & ~is_right_person)
    assert found.is_outlier.sum() == 5 * 19 * n_outliers


def test_replacing_keeps_the_sizes_and_the_places_of_the_others(gallery):
    found = corrupt_sets(gallery, n_outliers=3, how="replace")
    changed = (found.sets.vectors != gallery.vectors).any(axis=1)
    np.testing.assert_array_equal(changed, found.is_outlier)
    by_set = found.is_outlier.reshape(20, 100)
    assert (by_set.sum(axis=1) == 57).all()
    assert len(np.unique(by_set, axis=0)) == 20
    for sets in (found.sets, corrupt_sets(gallery).sets):
        assert (sets.names, sets.image_shape) == (gallery.names, (2, 2))
        assert sets.vectors.dtype == gallery.vectors.dtype
        np.testing.assert_array_equal(sets.labels, gallery.labels)


def test_only_vectors_of_other_classes_are_outliers():
    sets = tagged(4, 3, 10)
    found = corrupt_sets(sets, n_outliers=2, each="class")
    assert found.sets.sizes.tolist() == [10 + 3 * 2] * 12
    for label, vectors in zip(found.sets.labels, found.sets, strict=True):
        assert np.delete(np.bincount(vectors[10:, 1], minlength=4), label).tolist() == [2] * 3
        assert (vectors[10:, 1] != label).all()
    assert corrupt_sets(tagged(2, 2, 5)).is_outlier.sum() == 4 * 2
    bare = corrupt_sets(tagged(2, 2, 5).replaced(labels=None))
    assert (bare.is_outlier.sum(), bare.sets.labels) == (4 * 3, None)


def test_same_seed_same_outliers(gallery):
    first, again, other = (corrupt_sets(gallery, random_state=s).sets for s in (0, 0, 1))
    np.testing.assert_array_equal(first.vectors, again.vectors)
    assert (first.vectors != other.vectors).any()


def test_limit_chooses_at_random_and_keeps_the_order(gallery):
    sets = limit_sets(gallery, 30)
    numbers = sets.vectors[:, 2].reshape(20, 30)
    assert (np.diff(numbers, axis=1) > 0).all()
    assert len(np.unique(numbers, axis=0)) == 20
    assert abs(numbers.mean() - 49.5) < 5
    assert (sets.names, sets.image_shape) == (gallery.names, (2, 2))
    np.testing.assert_array_equal(sets.vectors, limit_sets(gallery, 30).vectors)
    np.testing.assert_array_equal(limit_sets(gallery, 101).vectors, gallery.vectors)


@pytest.mark.parametrize(
    ("make", "wrong"),
    [
        (make_subspace_union, {"n_classes": 0, "n_sets": 0, "n_vectors": 0, "n_features": 0}),
        (make_subspace_union, {"n_dims": 51, "n_set_dims": -1, "random_state": "0"}),
        (make_subspace_union, {"noise": -0.1}),
        (make_subspace_union, {"noise": np.inf}),
        (make_gaussian_pair, {"n_vectors": 0, "n_features": 0, "distance": -1.0}),
        (make_gaussian_pair, {"variance": 0.0, "random_state": None}),
        (corrupt_sets, {"n_outliers": -1, "each": "person", "how": "mix"}),
        (limit_sets, {"n_vectors": 0, "random_state": -1}),
    ],
)
def test_bad_parameters_are_refused_by_name(make, wrong, gallery):
    given = [gallery] if make in (corrupt_sets, limit_sets) else []
    for name, value in wrong.items():
        with pytest.raises(ParameterError, match=f"{make.__name__}: {name} must be .*, got"):
            make(*given, **{name: value})


def test_data_that_does_not_fit_is_refused():
    small, floats = tagged(3, 1, 4), SetBatch.from_images([np.ones((3, 2, 2))])
    rows = [SetBatch.from_rows(np.ones((2, n), dtype=int)) for n in (3, 4)]
    for said, sets, more in (
        (r"sets must be a SetBatch .*got list", [np.ones((3, 2))], {}),
        (r"source must be a SetBatch .*got ndarray", small, {"source": np.ones((3, 2))}),
        ("5 vectors are to be taken of 'clip 1', which has 4", small, {"n_outliers": 5}),
        ("has 4 vectors, and 6 are to be replaced", small, {"n_outliers": 3, "how": "replace"}),
        ("sets have n_features 4, and source has 3", small, {"source": rows[0]}),
        (r"image_shape \(2, 2\), and source has None", small, {"source": rows[1]}),
        ("sets hold int64, and source float64", small, {"source": floats}),
        ('each="class" needs labels', floats, {"each": "class"}),
    ):
        with pytest.raises(DataError, match=said):
            corrupt_sets(sets, **more)
    with pytest.raises(DataError, match=r"limit_sets: sets must be .*SetBatch of 0 sets"):
        limit_sets(small[:0], 3)
