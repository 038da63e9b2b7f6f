"""Files, times and small pictures stay with their vectors, whatever is done to the sets."""

from datetime import datetime

import numpy as np
import pytest

import setwise
from setwise.errors import DataError
from setwise.features import Pixels
from setwise.sets import Origins, SetBatch, check_sets


@pytest.fixture
def batch():
    files = [f"{name}/{i}.jpg" for name in "abc" for i in range(4)]
    times = [datetime(2024, 5, 1, 12, 0, i) for i in range(11)] + [None]
    thumbnails = [bytes([i]) for i in range(12)]
    images = np.random.default_rng(0).integers(1, 255, (3, 4, 6, 6), dtype=np.uint8)
    sets = SetBatch.from_images(list(images), ["a", "b", "c"], np.array(["x", "y", "x"]))
    return sets.replaced(origins=Origins.of_files(files, times, thumbnails))


def test_sets_that_are_taken_keep_their_files_times_and_pictures(batch):
    part = batch[[2, 0]]
    assert part.origins.files == (*(f"c/{i}.jpg" for i in range(4)), *batch.origins.files[:4])
    assert np.isnat(part.origins.times).tolist() == [False] * 3 + [True] + [False] * 4
    assert part.origins.thumbnails[4] == b"\x00"
    assert batch[[-1]].origins.files == batch.of_set(2).files
    assert np.array_equal(batch[[-1]].vectors, batch[2])
    assert len(batch[[]].origins) == 0


def test_the_gate_features_and_joining_keep_them(batch):
    assert check_sets(batch).origins is batch.origins
    assert Pixels(4).fit_transform(batch).origins is batch.origins
    plain = SetBatch.from_rows(np.ones((2, 36)))
    joined = SetBatch.join([plain, batch])
    assert joined.origins.files == ("", "", *batch.origins.files)
    assert joined.origins.take([2, 3]).times.tolist() == batch.origins.times[:2].tolist()
    assert SetBatch.join([plain, plain]).origins is None


def test_a_gallery_remembers_them_through_enroll_and_forget(batch):
    clf = setwise.CVC(dims=(1, 2), weights=None).fit(batch, batch.labels)
    clf.enroll(batch[[0]].replaced(names=["again"]), ["y"])
    clf.forget(sets=["b"])
    assert clf.gallery_.sets.origins.files == (
        *batch.of_set(0).files, *batch.of_set(2).files, *batch.of_set(0).files
    )  # fmt: skip


def test_origins_of_other_vectors_are_refused(batch):
    with pytest.raises(DataError, match="expected the origins of 12 vectors, got 2"):
        batch.replaced(origins=Origins.of_files(["a", "b"]))
    with pytest.raises(DataError, match="expected 2 times, one per file, got 1"):
        Origins.of_files(["a", "b"], [None])
    with pytest.raises(DataError, match="expected 1 thumbnails"):
        Origins.of_files(["a"], None, [b"", b""])
