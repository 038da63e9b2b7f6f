"""Previews in RAW photos: read, turned, with their time, and not beside their JPEG."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image
from tests.io.made_raw import made_dng

from setwise.errors import DataError
from setwise.io import load_images
from setwise.io.decode import orientation_of
from setwise.io.raw import RAW_SUFFIXES, is_raw, read_preview
from setwise.io.scan import scan

pytest.importorskip("rawpy")


def slope(width=96, height=64):
    """A picture that is darkest at the left, and whose top is red."""
    pixels = np.zeros((height, width, 3), np.uint8)
    pixels[..., 1] = np.linspace(0, 250, width)[None, :]
    pixels[: height // 4, :, 0] = 250
    return Image.fromarray(pixels)


def test_the_preview_is_a_photo(tmp_path):
    made_dng(tmp_path / "a.dng", slope(), taken="2026:05:01 12:00:00")
    found = load_images(tmp_path, size=None, colour=True)
    assert found.image_shape == (64, 96, 3)
    difference = found.images[0].astype(int) - np.asarray(slope()).astype(int)
    assert np.abs(difference).mean() < 3
    assert "the preview of the camera read: 1" in " ".join(found.report.notes)
    assert str(found.origins.times[0]).startswith("2026-05-01T12:00:00")


@pytest.mark.parametrize("orientation", [1, 3, 6, 8])
def test_it_is_turned_as_the_camera_was(tmp_path, orientation):
    path = made_dng(tmp_path / "a.dng", slope(), orientation=orientation)
    image = slope()
    image.getexif()[0x0112] = orientation
    turn = {1: 0, 3: 180, 6: -90, 8: 90}[orientation]
    expected = np.asarray(image.rotate(turn, expand=True)).astype(int)
    found = load_images([path], size=None, colour=True).images[0].astype(int)
    assert found.shape == expected.shape
    assert np.abs(found - expected).mean() < 4
    assert orientation_of(path) == orientation


def test_beside_a_jpeg_of_the_same_name_it_is_left_out(tmp_path):
    for name in ("both", "alone"):
        made_dng(tmp_path / f"{name}.dng", slope())
    slope().save(tmp_path / "both.jpg")
    found = scan(tmp_path, 100)
    assert [image.path.name for image in found.images] == ["alone.dng", "both.jpg"]
    assert "1 .dng beside a photo such as both.dng" in " ".join(found.notes())


def test_what_is_no_raw_photo_is_refused(tmp_path):
    (tmp_path / "a.cr2").write_bytes(b"junk" * 100)
    with pytest.raises(DataError, match=r"a\.cr2 has no preview \(.*\)\. Export it as JPEG"):
        load_images([tmp_path / "a.cr2"])


def test_kinds_and_names():
    from pathlib import Path

    assert is_raw(Path("IMG_1.CR2"))
    assert not is_raw(Path("IMG_1.JPG"))
    assert ".nef" in RAW_SUFFIXES


def test_a_preview_has_no_time_where_the_camera_has_no_clock(tmp_path):
    assert read_preview(made_dng(tmp_path / "a.dng", slope())).time is None
