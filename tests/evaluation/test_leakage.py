"""No image on both sides of a split."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setwise.errors import DataError, LeakageError
from setwise.evaluation.leakage import check_leakage, image_numbers, sets_that_share
from setwise.sets import SetBatch
from setwise_paper.datasets import load


def sets_of(*numbers: list[int]) -> SetBatch:
    """Sets of images, each filled with its number."""
    arrays = [np.repeat(np.array(one, dtype=np.uint8)[:, None], 6, axis=1) for one in numbers]
    return SetBatch.from_list(arrays, [f"set {chr(97 + i)}" for i in range(len(arrays))])


def test_the_message_says_which_images_how_many_and_what_to_do():
    sets = sets_of([1, 2], [3, 4, 5], [6, 5, 4], [9])
    with pytest.raises(LeakageError) as error:
        check_leakage(sets, np.array([0, 1]), np.array([3, 2]), where="toys, fold 7")
    message = str(error.value)
    assert "toys, fold 7: image 1 of 'set c', a probe" in message
    assert "image 2 of 'set b', in the gallery" in message
    assert "are 2 of the 4 images" in message
    assert "remove the copies" in message
    assert isinstance(error.value, DataError)


def test_copies_on_one_side_are_fine():
    sets = sets_of([1, 1, 2], [1, 2], [3, 3], [3, 0])
    check_leakage(sets, np.array([0, 1]), np.array([2, 3]))
    check_leakage(sets, np.array([0, 1]), np.array([], dtype=np.int64))


def test_a_set_on_both_sides_is_a_leak():
    with pytest.raises(LeakageError, match="so is 1 of the 1 images"):
        check_leakage(sets_of([1], [2]), np.array([0, 1]), np.array([1]))


@given(st.lists(st.lists(st.integers(0, 12), min_size=1, max_size=4), min_size=2, max_size=8))
def test_it_is_refused_if_and_only_if_an_image_is_shared(numbers):
    sets = sets_of(*numbers)
    half = len(numbers) // 2
    gallery, probes = np.arange(half), np.arange(half, len(numbers))
    shared = set(chain(*numbers[:half])) & set(chain(*numbers[half:]))
    given_numbers = image_numbers(sets)
    for known in (None, given_numbers):
        if shared:
            with pytest.raises(LeakageError):
                check_leakage(sets, gallery, probes, numbers=known)
        else:
            check_leakage(sets, gallery, probes, numbers=known)


def test_images_that_differ_in_one_bit_are_different():
    vectors = np.array([[1.0, 2.0], [1.0, np.nextafter(2.0, 3.0)], [1.0, 2.0]])
    assert image_numbers(SetBatch(vectors, [0, 3])).tolist() == [0, 1, 0]


@pytest.mark.data
@pytest.mark.parametrize("name", ["eth80", "yaleb", "coil20", "hands", "vowels"])
def test_the_real_datasets_have_no_leak(real, name):
    import datasets

    found = load(name, datasets.data_folder())
    numbers = image_numbers(found.sets)
    for gallery, probes in found.folds:
        check_leakage(found.sets, gallery, probes, numbers=numbers)


@given(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=4), min_size=2, max_size=6))
def test_pairs_that_share_are_those_of_the_first_set_of_each_image(numbers):
    expected = {}
    for image in range(10):
        owners = [i for i, images in enumerate(numbers) if image in images]
        for other in owners[1:]:
            expected[owners[0], other] = expected.get((owners[0], other), 0) + 1
    assert sets_that_share(sets_of(*numbers)) == expected
