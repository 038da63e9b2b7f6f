"""The memory of a gallery is estimated from its shape, and refused before the work."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import setwise._support.memory
from setwise import CVC
from setwise.errors import TooLargeError
from setwise.gallery import Shortlist
from setwise.gallery.memory import GalleryShape, bytes_of_large, bytes_of_whole, known_widths

HOW = replace(CVC().describe(), dims=(3, 5))
SHAPE = GalleryShape(100, np.full(200, 10), 64)
WIDTHS = {"plain": 64, "whitened": 64}
LARGER = {
    "sets": (HOW, replace(SHAPE, sizes=np.full(400, 10)), WIDTHS),
    "vectors": (HOW, replace(SHAPE, sizes=np.full(200, 20)), WIDTHS),
    "width": (HOW, SHAPE, {"plain": 64, "whitened": 256}),
}


@pytest.mark.parametrize("what", LARGER)
@pytest.mark.parametrize("estimate", [bytes_of_whole, bytes_of_large])
def test_the_estimate_moves_with_what_it_depends_on(estimate, what):
    assert estimate(*LARGER[what]) > estimate(HOW, SHAPE, WIDTHS)


@pytest.mark.parametrize(
    ("larger", "smaller"),
    [
        ({"dims": (3, 5, 8)}, {}),
        ({}, {"weights": None}),
        ({"distributions": "set"}, {}),
        ({}, {"representations": HOW.representations[:1]}),
    ],
    ids=["dims", "weights", "distributions", "representations"],
)
def test_the_estimate_knows_what_is_asked_for(larger, smaller):
    shape = replace(SHAPE, n_classes=1000, sizes=np.full(2000, 10))
    one, other = (
        bytes_of_whole(replace(HOW, **changes), shape, WIDTHS) for changes in (larger, smaller)
    )
    assert one > other


def test_halves_of_single_sets_are_a_second_gallery():
    single = bytes_of_whole(HOW, replace(SHAPE, fewest_sets=1), WIDTHS)
    assert single > 1.5 * bytes_of_whole(HOW, SHAPE, WIDTHS)


def test_a_large_gallery_costs_in_proportion_to_its_sets():
    sizes = [
        bytes_of_large(
            HOW, GalleryShape(n, np.full(2 * n, 5), 512), {"plain": 512, "whitened": 512}
        )
        for n in (100_000, 200_000)
    ]
    assert 1.7 < sizes[1] / sizes[0] < 2.0
    vectors = 1_000_000 * 512 * 4  # what one view shows of a hundred thousand people
    assert vectors < sizes[0] < 2 * vectors


def test_only_plain_widths_are_known_beforehand():
    assert known_widths(HOW, 64) == {"plain": 64, "whitened": 0}


def people(n_classes, dtype):
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(n_classes), 2)
    return rng.normal(100, 20, size=(len(labels), 3, 8)).astype(dtype), labels


def test_a_large_gallery_is_refused_before_any_work(monkeypatch):
    monkeypatch.setattr(setwise._support.memory, "available_memory", lambda: 1000)
    monkeypatch.setattr(
        "setwise.gallery.shortlist.find_inliers", lambda *_: pytest.fail("work has begun")
    )
    clf = CVC(shortlist=Shortlist(n_classes=2, n_compared=2, above=2))
    with pytest.raises(TooLargeError, match=r"20 sets of 60 vectors needs about \d.* MiB"):
        clf.fit(*people(10, "float32"))


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_vectors_of_a_large_gallery_stay_as_they_are(dtype):
    clf = CVC((1, 2), weights=None, shortlist=Shortlist(n_classes=2, n_compared=2, above=2))
    gallery = clf.fit(*people(4, dtype)).gallery_
    assert gallery.sets.vectors.dtype == dtype
    assert gallery.solution.sets is gallery.sets
    assert {seen.dtype for seen in gallery.solution.seen.values()} == {np.dtype(np.float32)}
