"""What all image features share: forms of input, refusals, one image at a time."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from setwise import SetBatch
from setwise.errors import DataError, MissingExtraError, ParameterError
from setwise.features.cache import Cached
from setwise.features.descriptors import HOG, LBP
from setwise.features.embedding import Embedding
from setwise.features.images import Equalised, ImageFeature, Pixels


def row_means(images):
    return images.reshape(len(images), -1)[:, :7].astype(float)


FEATURES = [
    Pixels(),
    Pixels(size=(5, 4), grey=True, unit_norm=True),
    Equalised(),
    LBP(),
    LBP(size=24, patch=(6, 8), points=6, radius=2, method="uniform", root=False),
    HOG(),
    HOG(size=(20, 24), cell=4, block=3, orientations=5, norm="L1"),
    Embedding(row_means, batch_size=3, name="first seven"),
]
every_feature = pytest.mark.parametrize("feature", FEATURES, ids=lambda f: repr(f)[:40])


def some_sets(seed, sizes=(3, 1, 2), shape=(16, 24), dtype=np.uint8):
    rng = np.random.default_rng(seed)
    sets = [rng.integers(0, 256, (n, *shape)).astype(dtype) for n in sizes]
    labels = np.array(["a", "b", "a", "c", "d"][: len(sizes)])
    names = [f"track {i}" for i in range(len(sizes))]
    return SetBatch.from_images(sets, names, labels)


@every_feature
def test_sets_of_images_become_sets_with_the_same_names_and_labels(feature, seed):
    sets = some_sets(seed)
    before = sets.vectors.copy()
    made = clone(feature).fit_transform(sets, sets.labels)
    assert made.names == sets.names
    assert made.labels.tolist() == sets.labels.tolist()
    assert made.sizes.tolist() == [3, 1, 2]
    assert (made.image_shape == (16, 24)) == isinstance(feature, Equalised)
    assert np.array_equal(sets.vectors, before)


@every_feature
def test_an_array_of_images_gives_an_array_of_the_same_rows(feature, seed):
    sets = some_sets(seed)
    rows = feature.transform(sets.images)
    assert isinstance(rows, np.ndarray)
    assert np.array_equal(rows.reshape(6, -1), feature.transform(sets).vectors)


@every_feature
@given(order=st.permutations(range(6)), colour=st.booleans(), seed=st.integers(0, 99))
def test_what_becomes_of_an_image_does_not_depend_on_the_others(feature, order, colour, seed):
    images = some_sets(seed, shape=(16, 24, 3) if colour else (16, 24)).images
    together = feature.transform(images)
    alone = np.concatenate([feature.transform(image[None]) for image in images])
    assert np.array_equal(together, alone)
    assert np.array_equal(feature.transform(images[order]), together[order])


@every_feature
def test_more_images_than_are_worked_on_at_once(feature, seed, monkeypatch):
    images = some_sets(seed).images
    expected = feature.transform(images)
    monkeypatch.setattr("setwise.features.images.AT_ONCE", 4)
    assert np.array_equal(feature.transform(images), expected)


@every_feature
@pytest.mark.parametrize("shape", [(16, 24), (16, 24, 3), (16, 24, 1)])
def test_bytes_and_floats_of_the_same_values_give_the_same(feature, shape, seed):
    images = some_sets(seed, shape=shape).images
    expected = feature.transform(images)
    for dtype in (np.float64, np.float32, np.int16):
        np.testing.assert_allclose(
            feature.transform(images.astype(dtype)), expected, rtol=1e-5, atol=1e-7
        )


@every_feature
def test_copies_are_the_same(feature, seed):
    images = some_sets(seed).images
    expected = feature.transform(images)
    fitted = clone(feature).fit(images)
    assert fitted.image_shape_ == (16, 24)
    for copy in (clone(feature), pickle.loads(pickle.dumps(fitted))):
        assert np.array_equal(copy.transform(images), expected)
        assert repr(copy) == repr(feature)


@every_feature
def test_feature_names(feature, seed):
    sets = some_sets(seed)
    names = clone(feature).fit(sets).get_feature_names_out()
    assert len(names) == feature.transform(sets).n_features
    assert names[1] == f"{type(feature).__name__.lower()}1"
    with pytest.raises(NotFittedError, match="call fit first"):
        clone(feature).get_feature_names_out()


@every_feature
def test_a_setting_for_data_frames_leaves_sets_alone(feature, seed):
    with sklearn.config_context(transform_output="pandas"):
        assert isinstance(feature.transform(some_sets(seed)), SetBatch)


NAN = np.full((2, 16, 24), 5.0)
NAN[1, 3, 3] = np.nan


@every_feature
@pytest.mark.parametrize(
    ("images", "message"),
    [
        (np.ones((4, 7)), r"looks at images.*\(4, 7\)"),
        (np.ones((1, 2, 16, 24, 3)), r"\(1, 2, 16, 24, 3\)"),
        (np.ones((0, 16, 24)), r"nothing to look at.*\(0, 16, 24\)"),
        (np.ones((2, 16, 24), dtype=complex), "dtype complex128"),
        (np.ones((2, 16, 24), dtype=object), "dtype object"),
        (np.ma.masked_equal(np.eye(8)[None], 0), "masked pixels"),
        (np.full((2, 16, 24), "a"), "dtype <U1"),
        ([np.ones((16, 24)), np.ones((8, 8))], "differ in size"),
        (NAN, "image 1 is not finite"),
        (SetBatch.from_images([NAN[:1], NAN[1:]], names=["x", "y"]), "image 0 of y is not"),
        (SetBatch(np.ones((2, 4)), np.array([0, 2])), "holds vectors, not images"),
    ],
)
@pytest.mark.parametrize("method", ["fit", "transform"])
def test_refuses_what_is_no_images(feature, method, images, message):
    with pytest.raises(DataError, match=message):
        getattr(clone(feature), method)(images)


@pytest.mark.parametrize("feature", [Equalised(), LBP(), HOG(), Pixels(grey=True)])
@pytest.mark.parametrize("n_channels", [2, 4])
def test_refuses_channels_that_are_no_colours(feature, n_channels):
    with pytest.raises(DataError, match=f"have {n_channels} channels"):
        feature.transform(np.ones((2, 16, 16, n_channels)))


@pytest.mark.parametrize("value", [-1, 256, 300])
@pytest.mark.parametrize("wrapped", [lambda f, _: f, Cached], ids=["alone", "cached"])
@pytest.mark.parametrize("feature", [Equalised(), LBP()])
def test_refuses_values_beyond_bytes(feature, wrapped, value, tmp_path):
    feature = wrapped(feature, tmp_path)
    images = np.full((300, 16, 16), 7)
    images[270, 2, 3] = value
    sets = SetBatch.from_images([images[:260], images[260:]], names=["x", "y"])
    with pytest.raises(DataError, match=f"image 10 of y has values from .*{value}.* to 255"):
        feature.transform(sets)
    with pytest.raises(DataError, match="image 270 has values"):
        feature.transform(images.astype(float))


class Bad(Pixels):
    def compute(self, images):
        return np.where(images.reshape(len(images), -1) > 3, np.inf, 0.0)


def test_refuses_values_that_are_not_finite():
    sets = SetBatch.from_images([np.zeros((2, 2, 2)), np.full((2, 2, 2), 5)])
    with pytest.raises(DataError, match="Bad of image 0 of set 1 is not finite"):
        Bad().transform(sets)


def test_says_which_extra_is_missing(monkeypatch):
    def absent(module, extra):
        raise MissingExtraError(f'pip install "setwise[{extra}]"')

    monkeypatch.setattr("setwise.features.descriptors.require", absent)
    with pytest.raises(MissingExtraError, match=r"setwise\[image\]"):
        LBP().transform(np.ones((1, 16, 16)))


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (Pixels(size=0), "Pixels: size must be an int of 1 to 4096"),
        (Pixels(size=(3,)), "size"),
        (Pixels(size=(3, 2.5)), "size"),
        (Pixels(size="big"), "size"),
        (Pixels(grey=1), "grey"),
        (Pixels(unit_norm="yes"), "unit_norm"),
        (LBP(size=-1), "LBP: size"),
        (LBP(patch=None), "patch"),
        (LBP(points=1), "points"),
        (LBP(radius=0), "radius"),
        (LBP(method="ror"), "method must be one of 'nri_uniform', 'uniform'"),
        (LBP(root=None), "root"),
        (HOG(size=True), "HOG: size"),
        (HOG(cell=0), "cell"),
        (HOG(block=None), "block"),
        (HOG(orientations=0), "orientations"),
        (HOG(norm="l2"), "norm"),
        (Embedding(5), "Embedding: function must be a function"),
        (Embedding(row_means, batch_size=0), "batch_size"),
        (Embedding(row_means, name=" "), "name"),
        (Embedding(row_means, name=3), "name"),
    ],
)
@pytest.mark.parametrize("method", ["fit", "transform"])
def test_refuses_parameters(bad, message, method):
    with pytest.raises(ParameterError, match=message):
        getattr(bad, method)(np.ones((1, 16, 16)))


def test_features_are_image_features():
    assert all(isinstance(feature, ImageFeature) for feature in FEATURES)
