"""Pixels, their size and brightness, and histogram equalisation."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image
from sklearn.pipeline import make_pipeline

from setwise import SetBatch
from setwise.errors import DataError
from setwise.features.descriptors import LBP
from setwise.features.images import Equalised, Pixels, as_bytes, as_grey, check_tiles, resized


def literal_weights(n_in, n_out):
    """A triangle as wide as what a new pixel covers, around its centre."""
    scale = n_in / n_out
    reach = max(scale, 1.0)
    centres = (np.arange(n_out)[:, None] + 0.5) * scale
    distance = np.abs(np.arange(n_in) + 0.5 - centres) / reach
    weights = np.maximum(1 - distance, 0)
    return weights / weights.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("size", [(8, 8), (5, 7), (1, 1), (16, 12), (30, 25)])
def test_resizing_equals_the_definition(seed, size):
    images = np.random.default_rng(seed).uniform(0, 255, (3, 16, 12))
    rows, columns = literal_weights(16, size[0]), literal_weights(12, size[1])
    expected = rows @ images @ columns.T
    np.testing.assert_allclose(resized(images, size), expected, rtol=1e-5)


def test_colours_are_resized_one_by_one(seed):
    images = np.random.default_rng(seed).uniform(0, 1, (2, 9, 8, 3))
    made = resized(images, 4)
    assert made.shape == (2, 4, 4, 3)
    for c in range(3):
        assert np.array_equal(made[..., c], resized(images[..., c], 4))


def test_a_chequerboard_made_smaller_is_grey():
    board = np.indices((32, 32)).sum(axis=0) % 2 * 200.0
    np.testing.assert_allclose(resized(board[None], 4), 100, atol=1)


def test_pixels_as_they_are():
    images = np.arange(24, dtype=np.uint8).reshape(2, 2, 2, 3)
    made = Pixels().transform(images)
    assert made.dtype == np.uint8
    assert np.array_equal(made, images.reshape(2, 12))
    assert Pixels(grey=True).transform(images).shape == (2, 4)


def test_unit_norm_leaves_black_images_zero():
    images = np.stack([np.zeros((2, 2)), np.full((2, 2), 7.0)]).astype(np.uint8)
    made = Pixels(unit_norm=True).transform(images)
    assert np.array_equal(made, [[0] * 4, [0.5] * 4])


def test_too_large_for_single_precision_is_refused():
    with pytest.raises(DataError, match="image 0 is not finite"):
        Pixels(size=2).transform(np.full((1, 4, 4), 1e300))


def test_grey_is_what_pillow_calls_grey(seed):
    images = np.random.default_rng(seed).integers(0, 256, (2, 5, 6, 3), dtype=np.uint8)
    expected = [np.asarray(Image.fromarray(image).convert("L")) for image in images]
    assert np.abs(as_grey(images, "test") - expected).max() < 1
    pure = np.eye(3)[None, None]
    np.testing.assert_allclose(as_grey(pure, "test").ravel(), [0.299, 0.587, 0.114])


@pytest.mark.parametrize("size", [None, 3])
def test_bytes_of_anything(size):
    ramp = np.linspace(0, 1, 36).reshape(1, 6, 6)
    levels = np.rint(255 * ramp).astype(np.uint8)
    expected = as_bytes(levels, "test", size)
    assert expected.dtype == np.uint8
    assert np.array_equal(as_bytes(levels / 255, "test", size), expected)
    assert np.array_equal(as_bytes(levels.astype(int), "test", size), expected)
    white = as_bytes(np.ones((1, 6, 6), dtype=bool), "test", size)
    assert (white == 255).all()
    assert (as_bytes(np.ones((1, 6, 6, 3)), "test", size) == 255).all()
    assert (as_bytes(np.ones((1, 6, 6), dtype=int), "test", size) == 1).all()


def test_each_image_has_its_own_range():
    images = np.stack([np.full((2, 2), 0.5), np.full((2, 2), 100.0)])
    assert as_bytes(images, "test")[:, 0, 0].tolist() == [128, 100]


def test_images_of_broken_tiles_are_refused_with_the_nearest_size():
    check_tiles("X", "cell", (4, 8), (8, 8))
    with pytest.raises(DataError, match=r"X: images of 30 x 17 .* cell=8 .* size=\(32, 16\)"):
        check_tiles("X", "cell", 8, (30, 17))


def literal(image):
    """What share of the pixels is at most as bright, of 255."""
    flat = image.ravel()
    return np.rint(255 * (flat[None] <= flat[:, None]).mean(axis=1)).reshape(image.shape)


def test_equals_the_definition(seed):
    rng = np.random.default_rng(seed)
    images = (255 * rng.beta(2, 8, (5, 12, 9))).astype(np.uint8)
    images[3] = 77
    made = Equalised().transform(images)
    assert made.dtype == np.uint8
    assert np.array_equal(made, [literal(image) for image in images])
    assert (made[3] == 255).all()


def test_dark_and_bright_copies_become_the_same(seed):
    image = np.random.default_rng(seed).integers(0, 100, (1, 8, 8), dtype=np.uint8)
    expected = Equalised().transform(image)
    assert expected.max() == 255
    assert np.array_equal(Equalised().transform(2 * image + 30), expected)
    assert np.array_equal(Equalised().transform(image / 255), expected)


def test_patterns_of_equalised_sets(seed):
    rng = np.random.default_rng(seed)
    sets = SetBatch.from_images([rng.integers(0, 90, (n, 16, 16, 3)) for n in (2, 3)])
    made = make_pipeline(Equalised(), LBP()).fit_transform(sets)
    assert made.vectors.shape == (5, 4 * 59)
    assert Equalised().transform(sets).image_shape == (16, 16)
