"""Any function of images as a feature."""

from __future__ import annotations

import numpy as np
import pytest

from setwise import SetBatch
from setwise.errors import DataError, ParameterError
from setwise.features.embedding import Embedding

IMAGES = np.arange(7 * 4, dtype=float).reshape(7, 2, 2) + 1


def corners(images):
    return images.reshape(len(images), -1)[:, :3]


@pytest.mark.parametrize("batch_size", [1, 3, 7, 64])
def test_in_batches(batch_size):
    sizes = []

    def function(images):
        sizes.append(len(images))
        return corners(images)

    made = Embedding(function, batch_size=batch_size).transform(IMAGES)
    assert np.array_equal(made, IMAGES.reshape(7, 4)[:, :3])
    assert sum(sizes) == 7
    assert max(sizes) == min(batch_size, 7)
    assert set(sizes[:-1]) <= {batch_size}


def test_a_function_that_writes_into_its_images_harms_nobody():
    def function(images):
        images *= 0
        return corners(images) + 1

    before = IMAGES.copy()
    assert (Embedding(function).transform(IMAGES) == 1).all()
    assert np.array_equal(IMAGES, before)


def test_lists_and_other_dtypes_become_doubles():
    made = Embedding(lambda images: [[1, 2]] * len(images)).transform(IMAGES)
    assert made.dtype == np.float64


def growing(images):
    return np.ones((len(images), int(images[0, 0, 0])))


def broken(images):
    raise KeyError("weights")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda images: images, r"lambda>, given images 0 to 2, made .* \(3, 2, 2\)"),
        (lambda images: corners(images)[1:], r"shape \(2, 3\). Expected \(3, n_features\)"),
        (lambda images: corners(images)[:, :0], r"\(3, 0\)"),
        (lambda images: np.array(3), r"shape \(\)"),
        (lambda images: corners(images) + 1j, "dtype complex128"),
        (lambda images: [["a"]] * len(images), "dtype <U1"),
        (
            lambda images: np.where(corners(images) > 20, np.nan, 1),
            "given images 3 to 5, made NaN",
        ),
        (growing, "growing, given images 3 to 5, made vectors of 13 features, but before of 1"),
        (broken, "broken, given images 0 to 2, failed with KeyError: 'weights'"),
        (lambda images: [[1], [2, 3], [4]], "failed with ValueError"),
    ],
)
def test_refuses_what_a_function_makes(function, message):
    with pytest.raises(DataError, match=message):
        Embedding(function, batch_size=3).transform(IMAGES)


def test_messages_call_it_by_its_name():
    with pytest.raises(DataError, match="my network, given images"):
        Embedding(broken, name="my network").transform(SetBatch.from_images([IMAGES]))


def test_only_a_name_identifies_it():
    assert Embedding(corners, name="v1").fingerprint()["parameters"] == {
        "name": "v1",
        "batch_size": 64,
    }
    with pytest.raises(ParameterError, match="corners has no name"):
        Embedding(corners).fingerprint()
