"""Albums that show several people or things."""

from dataclasses import replace

import numpy as np
import pytest
from tests.page.page_server import ANGLES, SHAPE, gallery_sets
from tests.striped_sets import stripes

from setwise import CVC
from setwise.classify.answer import kind_of
from setwise.classify.judge import Inference
from setwise.page.gallery_file import GalleryState
from setwise.page.parts import parts_of


@pytest.fixture(scope="module")
def strict():
    """A gallery that calls everything unknown."""
    sets = gallery_sets()
    looks = (("plain", "mean"), ("plain", "svd"))
    clf = CVC((1, 2), representations=looks, unknown=0.34, random_state=0)
    gallery = clf.fit(sets, sets.labels).gallery_
    clf.gallery_ = replace(gallery, calibration=replace(gallery.calibration, threshold=1e9))
    return GalleryState(clf, "strict")


def seen(state, *labels: str) -> np.ndarray:
    """Eight photos of each class, as the gallery compares them."""
    rng = np.random.default_rng(3)
    images = [image for label in labels for image in stripes(ANGLES[label], 8, rng, SHAPE)]
    vectors = np.stack([image.ravel() for image in images])
    return state.gallery.check([vectors], "test")[0]


def test_an_album_of_two_is_told_apart_though_each_is_farther_than_usual(strict):
    for label in ("flat", "steep"):
        answer = Inference.of(strict.gallery, seen(strict, label)).answer()
        assert (kind_of(answer), answer.nearest) == ("unknown", label)
    found = parts_of(strict, seen(strict, "flat", "steep"))
    assert [(part.label, part.images) for part in found] == [
        ("flat", list(range(8))),
        ("steep", list(range(8, 16))),
    ]


def test_an_album_of_one_has_no_parts(strict):
    for label in ANGLES:
        assert parts_of(strict, seen(strict, label, label)) == []
