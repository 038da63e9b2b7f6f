"""Albums that show several people or things."""

import numpy as np
import pytest
from tests.page.page_server import ANGLES, SHAPE, gallery_sets
from tests.striped_sets import stripes

from setwise import CVC
from setwise.classify.answer import kind_of
from setwise.classify.judge import Inference
from setwise.page.gallery_file import GalleryFile
from setwise.page.parts import parts_of


@pytest.fixture(scope="module")
def strict(tmp_path_factory):
    """A gallery that calls most of what is new unknown."""
    sets = gallery_sets()
    looks = (("plain", "mean"), ("plain", "svd"))
    clf = CVC((1, 2), representations=looks, unknown=0.05, random_state=0)
    with pytest.warns(match="too few"):
        clf.fit(sets, sets.labels)
    return GalleryFile(clf.save(tmp_path_factory.mktemp("strict") / "people.setwise")).state


def seen(label: str, turned: float = 0.2) -> np.ndarray:
    """Eight photos of a class, farther away than those of the gallery."""
    images = stripes(ANGLES[label] + turned, 8, np.random.default_rng(3), SHAPE)
    return np.stack([image.ravel() for image in images])


def judged(state, vectors: np.ndarray) -> np.ndarray:
    return state.gallery.check([vectors], "test")[0]


def test_an_album_of_two_is_told_apart_though_each_is_farther_than_usual(strict):
    flat, steep = (judged(strict, seen(label)) for label in ("flat", "steep"))
    assert {kind_of(Inference.of(strict.gallery, one).answer()) for one in (flat, steep)} == {
        "unknown"
    }
    found = parts_of(strict, judged(strict, np.concatenate([seen("flat"), seen("steep")])))
    assert [(part.label, part.images) for part in found] == [
        ("flat", list(range(8))),
        ("steep", list(range(8, 16))),
    ]


def test_an_album_of_one_has_no_parts(strict):
    for label in ANGLES:
        assert parts_of(strict, judged(strict, seen(label, turned=0.3))) == []
