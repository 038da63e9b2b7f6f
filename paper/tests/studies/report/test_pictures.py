import numpy as np
import pytest
from tests.studies.small_objects import write_objects

from setwise import SetBatch
from setwise_paper.report.pictures import MOST_IMAGES, Pictures
from setwise_paper.spec import Data

OBJECTS = Data(name="objects", feature={"name": "hog"}, protocol="pairs")


@pytest.fixture
def folder(tmp_path):
    return write_objects(tmp_path, n_classes=2, n_sets=2, n_views=3, size=16)


def test_images_are_those_before_features(folder):
    found = Pictures.of(OBJECTS, folder)
    assert found.has_images
    assert found.sets.image_shape == (16, 16)
    assert set(found.of_classes) == set(found.labels)
    assert all(uri.startswith("data:image/png") for uri in found.of_classes.values())


def test_data_that_is_not_at_hand_says_so(tmp_path, monkeypatch):
    monkeypatch.delenv("SETWISE_DATA", raising=False)
    found = Pictures.of(Data(name="youtube"), tmp_path)
    assert not found.has_images
    assert "youtube" in found.why_none
    assert found.one(0, 0) == ""
    assert found.album(0) is None
    assert found.of_classes == {}


def test_what_is_out_of_range_has_no_picture(folder):
    found = Pictures.of(OBJECTS, folder)
    assert found.one(99, 0) == found.one(0, 99) == found.strip(99) == ""
    assert found.album(99) is None
    assert found.size(99) == 0


def test_long_sets_are_shown_by_evenly_spread_images():
    images = SetBatch.from_images([np.zeros((500, 4, 4), dtype=np.uint8)])
    album = Pictures(images, np.array(["a"])).album(0)
    assert len(album.images) == MOST_IMAGES
    assert (album.images[0], album.images[-1], album.n_images) == (0, 499, 500)
    assert set(np.diff(album.images)) <= {7, 8}


@pytest.mark.data
def test_real_images_have_thumbnails(real):
    import datasets

    found = Pictures.of(Data(name="eth80"), datasets.data_folder())
    assert len(found.of_classes) == 8
    assert len(set(found.of_classes.values())) == 8
