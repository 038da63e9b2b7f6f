"""Outliers as in the paper's robustness section: how many, from where, and marked."""

import numpy as np
import pytest

from setwise import SetBatch
from setwise.errors import DataError, ParameterError
from setwise_paper.datasets.made import corrupt_sets, limit_sets


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


def test_the_protocol_of_the_paper_end_to_end():
    sets = limit_sets(tagged(20, 1, 250), 100)
    assert corrupt_sets(sets, n_outliers=3).sets.sizes.tolist() == [157] * 20


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
