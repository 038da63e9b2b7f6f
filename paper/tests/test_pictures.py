"""Sprites: the images of a set in one picture."""

import base64
import io

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from setwise_paper.report.parts import sprite


def pixels(uri):
    content = base64.b64decode(uri.removeprefix("data:image/png;base64,"))
    return np.asarray(Image.open(io.BytesIO(content)))


@given(st.integers(1, 30), st.integers(1, 14))
def test_every_image_has_its_place_in_a_sprite(n_images, n_columns):
    images = np.arange(1, n_images + 1, dtype=np.uint8)[:, None, None] * np.ones(
        (1, 2, 3), dtype=np.uint8
    )
    made = sprite(images, n_columns)
    sheet = pixels(made.uri)
    assert sheet.shape == (2 * made.n_rows, 3 * made.n_columns)
    assert made.n_columns <= n_columns
    assert made.n_columns * (made.n_rows - 1) < n_images <= made.n_columns * made.n_rows
    for i in range(n_images):
        row, column = divmod(i, made.n_columns)
        tile = sheet[2 * row : 2 * row + 2, 3 * column : 3 * column + 3]
        assert (tile == i + 1).all()
    assert made.ratio == 1.5


def test_images_of_a_sprite_are_stretched_alike():
    images = np.array([[[0.0]], [[500.0]], [[1000.0]]])
    np.testing.assert_array_equal(pixels(sprite(images).uri), [[0, 128, 255]])
