"""Photos of a set on a page: which are shown, their times, and small pictures of them."""

import base64
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from setwise import SetBatch
from setwise.plots.answer_picture import choose
from setwise.report.photos import photo, png_data_uri, strip_data_uri, time_span
from setwise.sets import Origins


@given(st.lists(st.booleans(), min_size=1, max_size=60), st.integers(1, 30))
def test_so_many_are_shown_in_order_and_those_out_of_place_first(is_out, most):
    is_out = np.array(is_out)
    shown = choose(is_out, most)
    assert len(shown) == min(most, len(is_out))
    assert (np.diff(shown) > 0).all()
    n_out = int(is_out.sum())
    assert is_out[shown].sum() >= min(n_out, most // 2)
    if n_out <= most // 2:
        assert set(np.flatnonzero(is_out)) <= set(shown)


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        (["2024-05-01T12:01:30", "2024-05-01T12:05"], "2024-05-01 12:01 to 12:05"),
        (["2024-05-02T08:00", "2024-05-01T12:05"], "2024-05-01 12:05 to 2024-05-02 08:00"),
        (["2024-05-01T12:01", None], "2024-05-01 12:01"),
        ([None, None], ""),
    ],
)
def test_times(times, expected):
    origins = Origins.of_files(["a", "b"], times)
    sets = SetBatch(np.eye(2), [0, 2], origins=origins)
    assert time_span(sets, 0) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("albums/anna/IMG_1.jpg", "IMG_1.jpg"),
        ("C:\\albums\\IMG_1.jpg", "IMG_1.jpg"),
        ("clips/clip.mp4, frame 12", "clip.mp4, frame 12"),
        ("", "vector 1"),
        ("..", ".."),
    ],
)
def test_a_photo_is_called_by_the_tail_of_its_path(path, expected):
    sets = SetBatch(np.eye(2)[:1], [0, 1], origins=Origins.of_files([path]))
    shown = photo(sets, 0, 0)
    assert (shown.file, shown.path, shown.uri) == (expected, path, "")


def pixels(uri):
    content = base64.b64decode(uri.removeprefix("data:image/png;base64,"))
    return np.asarray(Image.open(io.BytesIO(content)))


def test_bytes_come_back_as_they_were():
    image = np.arange(12, dtype=np.uint8).reshape(3, 4) * 20
    np.testing.assert_array_equal(pixels(png_data_uri(image)), image)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([[0.0, 0.5, 1.0]], [[0, 128, 255]]),
        ([[0.0, 100.0, 255.0]], [[0, 100, 255]]),
        ([[-1.0, 0.0, 1.0]], [[0, 128, 255]]),
        ([[0.0, 500.0, 1000.0]], [[0, 128, 255]]),
        ([[np.nan, 10.0, 20.0]], [[0, 10, 20]]),
    ],
)
def test_numbers_become_greys(values, expected):
    np.testing.assert_array_equal(pixels(png_data_uri(np.array(values))), expected)


@pytest.mark.parametrize(("n_channels", "shape"), [(1, (5, 6)), (3, (5, 6, 3)), (4, (5, 6, 3))])
def test_channels_that_can_be_shown(n_channels, shape):
    image = np.full((5, 6, n_channels), 7, dtype=np.uint8)
    found = pixels(png_data_uri(image))
    assert found.shape == shape
    assert (found == 7).all()


def test_large_images_get_smaller_and_keep_their_shape():
    assert pixels(png_data_uri(np.zeros((64, 128), dtype=np.uint8), 32)).shape == (16, 32)


def test_strip_has_a_column_a_vector_and_darker_is_larger():
    vectors = np.column_stack([np.arange(10.0), np.zeros(10)])
    strip = pixels(strip_data_uri(vectors))
    assert strip.shape == (2, 10)
    assert (np.diff(strip[0].astype(int)) <= 0).all()
    assert strip[0, 0] > strip[0, -1]


def test_long_sets_get_a_short_strip():
    assert (
        pixels(strip_data_uri(np.random.default_rng(0).normal(size=(5000, 3)))).shape[1] <= 240
    )
