"""Outliers in sets as in the paper's robustness, and sets of fewer vectors."""

import numpy as np
import pytest

from setwise import SetBatch
from setwise.errors import DataError, ParameterError
from setwise_paper.datasets.made import corrupt_sets, limit_sets


def tagged(n_classes, n_sets, n_vectors, *, first=0):
    """Images of 2 x 2 pixels that tell their set, class, number, and batch."""
    labels = np.repeat(np.arange(n_classes), n_sets)
    images = [
        np.array([[[first + i, label], [k, first]] for k in range(n_vectors)], dtype=np.int64)
        for i, label in enumerate(labels)
    ]
    return SetBatch.from_images(images, [f"clip {i}" for i in range(len(labels))], labels)


@pytest.fixture(scope="module")
def gallery():
    """As many as the paper's: a set of 100 images for each of 20 people."""
    return tagged(20, 1, 100)


@pytest.mark.parametrize("n_outliers", [1, 3])
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
    assert (found.sets.names, found.sets.image_shape) == (gallery.names, (2, 2))
    np.testing.assert_array_equal(found.sets.labels, gallery.labels)


def test_probes_get_images_of_each_gallery_set(gallery):
    probes = tagged(20, 1, 100, first=1000)[3:8]
    found = corrupt_sets(probes, n_outliers=3, source=gallery)
    assert found.sets.sizes.tolist() == [100 + 20 * 3] * 5
    is_added = found.sets.vectors[:, 3] == 0
    is_right_person = found.sets.vectors[:, 1] == np.repeat(probes.labels, found.sets.sizes)
    np.testing.assert_array_equal(found.is_outlier, is_added & ~is_right_person)
    assert found.is_outlier.sum() == 5 * 19 * 3
    bare = corrupt_sets(tagged(2, 2, 5).replaced(labels=None))
    assert (bare.is_outlier.sum(), bare.sets.labels) == (4 * 3, None)


def test_same_seed_same_choice_in_the_order_it_had(gallery):
    first, again, other = (corrupt_sets(gallery, random_state=s).sets for s in (0, 0, 1))
    np.testing.assert_array_equal(first.vectors, again.vectors)
    assert (first.vectors != other.vectors).any()
    sets = limit_sets(gallery, 30)
    numbers = sets.vectors[:, 2].reshape(20, 30)
    assert (np.diff(numbers, axis=1) > 0).all()
    assert len(np.unique(numbers, axis=0)) == 20
    assert abs(numbers.mean() - 49.5) < 5
    np.testing.assert_array_equal(sets.vectors, limit_sets(gallery, 30).vectors)
    np.testing.assert_array_equal(limit_sets(gallery, 101).vectors, gallery.vectors)


def test_what_does_not_fit_is_refused():
    small, floats = tagged(3, 1, 4), SetBatch.from_images([np.ones((3, 2, 2))])
    rows = [SetBatch.from_rows(np.ones((2, n), dtype=int)) for n in (3, 4)]
    for said, sets, more in (
        (r"sets must be a SetBatch .*got list", [np.ones((3, 2))], {}),
        (r"source must be a SetBatch .*got ndarray", small, {"source": np.ones((3, 2))}),
        ("5 vectors are to be taken of 'clip 1', which has 4", small, {"n_outliers": 5}),
        ("sets have n_features 4, and source has 3", small, {"source": rows[0]}),
        (r"image_shape \(2, 2\), and source has None", small, {"source": rows[1]}),
        ("sets have dtype int64, and source has float64", small, {"source": floats}),
    ):
        with pytest.raises(DataError, match=said):
            corrupt_sets(sets, **more)
    with pytest.raises(DataError, match=r"limit_sets: sets must be .*SetBatch of 0 sets"):
        limit_sets(small[:0], 3)
    with pytest.raises(ParameterError, match="n_outliers must be an int of at least 0, got -1"):
        corrupt_sets(small, n_outliers=-1)
    with pytest.raises(ParameterError, match="n_vectors must be an int of at least 1, got 0"):
        limit_sets(small, 0)
