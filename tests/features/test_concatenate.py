"""Several features side by side."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import TruncatedSVD
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from setwise import CVC, SetBatch
from setwise.errors import ParameterError
from setwise.features.concatenate import Concatenated
from setwise.features.equalise import Equalised
from setwise.features.hog import HOG
from setwise.features.lbp import LBP
from setwise.features.pixels import Pixels
from setwise.features.vectors import PerVector


@pytest.fixture
def images(seed):
    return np.random.default_rng(seed).integers(0, 256, (5, 16, 16), dtype=np.uint8)


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_each_part_has_unit_norm(images):
    made = Concatenated([HOG(), LBP(), Equalised()]).transform(images)
    parts = [HOG().transform(images), LBP().transform(images)]
    flat = Equalised().transform(images).reshape(5, -1).astype(float)
    np.testing.assert_allclose(made, np.hstack([unit(part) for part in [*parts, flat]]))
    np.testing.assert_allclose(np.linalg.norm(made, axis=1), np.sqrt(3))


def test_as_they_are_if_asked(images):
    made = Concatenated((HOG(), LBP()), unit_norm=False).transform(images)
    assert np.array_equal(made, np.hstack([HOG().transform(images), LBP().transform(images)]))


def test_a_part_without_norm_stays_zero():
    flat = np.full((2, 16, 16), 9)
    made = Concatenated([HOG(), Pixels()]).transform(flat)
    n_edges = HOG().transform(flat).shape[1]
    assert not made[:, :n_edges].any()
    np.testing.assert_allclose(np.linalg.norm(made, axis=1), 1)


def test_parameters_by_name(images):
    both = Concatenated([HOG(), ("fine", HOG(cell=4)), HOG(cell=16, block=1)])
    parameters = both.get_params()
    assert parameters["hog1__cell"] == 8
    assert parameters["fine__cell"] == 4
    assert parameters["hog3__cell"] == 16
    copy = clone(both).set_params(fine__cell=8, unit_norm=False)
    assert (both.features[1][1].cell, both.unit_norm) == (4, True)
    expected = [HOG().transform(images)] * 2 + [HOG(cell=16, block=1).transform(images)]
    assert np.array_equal(copy.transform(images), np.hstack(expected))
    with pytest.raises(ParameterError, match="fine cannot be set"):
        both.set_params(fine=HOG())
    with pytest.raises(ValueError, match="Invalid parameter"):
        both.set_params(coarse__cell=2)


def test_searched_over_in_a_pipeline(seed):
    rng = np.random.default_rng(seed)
    wave = 100 + 50 * np.sin(np.arange(16))
    sets = SetBatch.from_images(
        [
            np.broadcast_to(wave[:, None] if i % 2 else wave, (6, 16, 16))
            + rng.uniform(0, 5, (6, 16, 16))
            for i in range(8)
        ]
    )
    labels = np.arange(8) % 2
    both = Concatenated([HOG(), Pixels()])
    pipeline = make_pipeline(
        both,
        PerVector(TruncatedSVD(6)),
        CVC((1, 2), representations=[("plain", "svd"), ("whitened", "svd")]),
    )
    search = GridSearchCV(
        pipeline, {"concatenated__hog__cell": [4, 8]}, cv=2, error_score="raise"
    )
    assert search.fit(sets, labels).best_score_ == 1
