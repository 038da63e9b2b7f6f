"""Histogram equalisation."""

from __future__ import annotations

import numpy as np
from sklearn.pipeline import make_pipeline

from setwise import SetBatch
from setwise.features.equalise import Equalised
from setwise.features.lbp import LBP


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
