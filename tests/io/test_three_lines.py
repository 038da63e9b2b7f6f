"""A folder of photos becomes labels in three lines; other kinds are beside their loaders."""

import numpy as np
import pytest
from tests.striped_sets import striped_sets

import setwise
from setwise.io import save_images


@pytest.fixture
def album(tmp_path):
    save_images(striped_sets(3), tmp_path / "gallery")
    probes = striped_sets(1, seed=1)
    probes.labels = None
    save_images(probes, tmp_path / "new")
    return tmp_path


def test_a_photo_folder_becomes_labels_in_three_lines(album, no_networks):
    photos = setwise.load_images(album / "gallery")
    clf = setwise.CVC.for_images().fit(photos, photos.labels)
    labels = clf.predict(setwise.load_images(album / "new"))
    assert labels.tolist() == ["flat", "steep", "slanted"]


def test_the_same_labels_with_threads(album):
    one, two = (setwise.load_images(album / "gallery", n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one.vectors, two.vectors)
    assert one.names == two.names
