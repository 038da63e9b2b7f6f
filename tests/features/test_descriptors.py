"""Histograms of oriented gradients, and local binary patterns."""

from __future__ import annotations

import numpy as np
import pytest
from skimage.feature import hog, local_binary_pattern
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from setwise import CVC, SetBatch
from setwise.baselines import MSM
from setwise.errors import DataError
from setwise.features.cache import Cached
from setwise.features.descriptors import HOG, LBP
from setwise.features.images import Equalised, as_grey, resized

PLAIN = [("plain", "svd"), ("plain", "centred")]


@pytest.mark.parametrize("norm", ["L2-Hys", "L2", "L1", "L1-sqrt"])
@pytest.mark.parametrize(("cell", "block", "orientations"), [(8, 2, 9), ((4, 8), (1, 2), 5)])
def test_equals_scikit_image(seed, norm, cell, block, orientations):
    images = np.random.default_rng(seed).integers(0, 256, (3, 16, 24), dtype=np.uint8)
    made = HOG(cell=cell, block=block, orientations=orientations, norm=norm).transform(images)
    cell, block = np.broadcast_to(cell, 2), np.broadcast_to(block, 2)
    expected = [
        hog(
            image,
            orientations=orientations,
            pixels_per_cell=tuple(cell),
            cells_per_block=tuple(block),
            block_norm=norm,
        )
        for image in images
    ]
    # Its histograms are sums in single precision.
    np.testing.assert_allclose(made, expected, rtol=1e-5)


def test_colour_and_size(seed):
    images = np.random.default_rng(seed).integers(0, 256, (2, 20, 30, 3), dtype=np.uint8)
    made = HOG(size=(16, 24)).transform(images)
    expected = HOG().transform(resized(as_grey(images, "test"), (16, 24)))
    assert np.array_equal(made, expected)


def test_stripes_have_their_direction():
    stripes = np.broadcast_to(np.sin(np.arange(16.0)), (1, 16, 16))
    bins = HOG(cell=16, block=1, orientations=4).transform(stripes)[0]
    other = HOG(cell=16, block=1, orientations=4).transform(stripes.swapaxes(1, 2))[0]
    assert bins.argmax() != other.argmax()
    assert bins.max() > 0.9


def test_a_constant_image_has_no_edges():
    assert not HOG().transform(np.full((1, 16, 16), 9)).any()


@pytest.mark.parametrize(
    ("feature", "message"),
    [
        (HOG(), "images of 8 x 8 are smaller than one block. Expected at least 16 x 16"),
        (HOG(cell=16), r"8 x 8 do not consist of whole tiles of 16 x 16.*size=\(16, 16\)"),
        (HOG(cell=3), "do not consist of whole"),
        (HOG(cell=(4, 8), block=2), "at least 8 x 16"),
    ],
)
def test_refuses_images_that_are_too_small(feature, message):
    with pytest.raises(DataError, match=message):
        feature.transform(np.ones((1, 8, 8)))


def textures(seed, n_sets=6):
    """Sets of stripes that run one way or the other, at any phase, in noise."""
    rng = np.random.default_rng(seed)
    ramp = np.arange(32.0)
    sets, labels = [], []
    for i in range(2 * n_sets):
        phases = rng.uniform(0, 6, (5, 1, 1))
        along = ramp[None, None, :] if i % 2 else ramp[None, :, None]
        waves = 120 + 60 * np.sin(0.7 * along + phases)
        noise = rng.normal(0, 5, (5, 32, 32))
        sets.append(np.clip(waves + noise, 0, 255).astype(np.uint8))
        labels.append("across" if i % 2 else "down")
    return SetBatch.from_images(sets, labels=np.array(labels))


@pytest.mark.parametrize(
    "feature", [HOG(cell=8), make_pipeline(Equalised(), LBP(patch=16))], ids=["hog", "lbp"]
)
def test_textures_are_told_apart_in_a_pipeline(seed, feature):
    sets = textures(seed)
    pipeline = make_pipeline(feature, CVC(dims=(1, 2, 3)))
    scores = cross_val_score(pipeline, sets, sets.labels, cv=3, error_score="raise")
    assert scores.tolist() == [1, 1, 1]


def test_as_a_view_of_an_ensemble(seed, tmp_path):
    """A view is given the same images, in their own type."""
    sets = textures(seed, n_sets=3)
    seen = make_pipeline(HOG(), CVC((1, 2), representations=PLAIN, outliers=None))
    seen.fit(sets, sets.labels)
    edges = ("edges", Cached(HOG(), tmp_path))
    model = CVC((1, 2), representations=[(edges, "svd"), (edges, "centred")], outliers=None)
    model.fit(sets, sets.labels)
    np.testing.assert_allclose(
        model.predict_proba(sets), seen.predict_proba(sets), rtol=1e-6, atol=1e-9
    )
    again = Cached(HOG(), tmp_path)
    again.transform(sets)
    assert (again.n_hits_, again.n_misses_) == (len(sets.vectors), 0)


@pytest.mark.data
def test_edges_tell_real_objects_apart(real):
    import datasets  # on the path by tests/conftest.py

    folds = real("eth80").folds
    table = np.load(datasets.data_folder() / "eth80_64x64.npz", allow_pickle=False)
    labels, images, owner = (table[key] for key in ("set_labels", "images", "set_index"))
    sets = SetBatch.from_images([images[owner == i][::4] for i in range(len(labels))])
    edges = HOG(cell=16).transform(sets)
    is_right = [
        MSM().fit(edges[gallery], labels[gallery]).predict(edges[probes]) == labels[probes]
        for gallery, probes in folds[:4]
    ]
    assert np.mean(is_right) > 0.9


def test_a_pattern_by_hand():
    """The centre of a 3 x 3 image, told by which of its neighbours are at least as bright."""
    image = np.array([[9, 9, 9], [1, 5, 9], [1, 1, 1]], dtype=np.uint8)
    patches = LBP(patch=1, root=False, method="uniform").transform(image[None])
    # A diagonal point is one pixel away, between four pixels: north east it is 8.7, north
    # west 7.0, south east 3.0, south west 1.3. With north and east 9, four reach the centre's
    # 5, all in a row: the bin of uniform patterns with four.
    assert patches.reshape(9, 10)[4].tolist() == np.eye(10)[4].tolist()


def test_a_constant_image_has_one_pattern_inside():
    made = LBP(patch=6, method="uniform", root=False).transform(np.full((1, 6, 6), 9))
    assert made[0, 8] == 16 / 36  # all around as bright; the border sees black beyond it
    assert made.sum() == pytest.approx(1)


@pytest.mark.parametrize("method", ["nri_uniform", "uniform"])
@pytest.mark.parametrize(("points", "radius"), [(8, 1), (8, 2.5), (12, 2), (5, 1)])
@pytest.mark.parametrize("patch", [4, (6, 8), (12, 16)])
def test_equals_scikit_image_patch_by_patch(seed, method, points, radius, patch):
    images = np.random.default_rng(seed).integers(0, 256, (3, 12, 16), dtype=np.uint8)
    lbp = LBP(patch=patch, points=points, radius=radius, method=method, root=False)
    height, width = (patch, patch) if isinstance(patch, int) else patch
    expected = []
    for image in images:
        patterns = local_binary_pattern(image, points, radius, method)
        parts = [
            np.histogram(
                patterns[i : i + height, j : j + width],
                bins=np.arange(lbp.n_bins + 1),
                density=True,
            )[0]
            for i in range(0, 12, height)
            for j in range(0, 16, width)
        ]
        expected.append(np.concatenate(parts))
    np.testing.assert_allclose(lbp.transform(images), expected)


def test_the_papers_patterns_of_mobo(seed):
    images = np.random.default_rng(seed).integers(0, 256, (2, 40, 40), dtype=np.uint8)
    made = LBP(40, patch=8, root=False).transform(images)
    assert made.shape == (2, 25 * 59)
    assert np.array_equal(made, LBP(patch=8, root=False).transform(images))
    np.testing.assert_allclose(made.sum(axis=1), 25)
    assert LBP(40, patch=8, root=False).transform(images[:, :32, :24]).shape == (2, 1475)


def test_root_makes_unit_patches(seed):
    images = np.random.default_rng(seed).integers(0, 256, (2, 16, 16), dtype=np.uint8)
    shares = LBP(root=False).transform(images)
    roots = LBP().transform(images)
    np.testing.assert_allclose(roots**2, shares)
    np.testing.assert_allclose((roots.reshape(2, 4, 59) ** 2).sum(axis=2), 1)


def test_fractions_are_scaled_before_they_are_rounded(seed):
    images = np.random.default_rng(seed).integers(0, 256, (2, 16, 16), dtype=np.uint8)
    assert np.array_equal(LBP().transform(images / 255), LBP().transform(images))


def test_refuses_broken_patches():
    with pytest.raises(DataError, match=r"LBP: images of 30 x 32 .*patch=8.*size=\(32, 32\)"):
        LBP().transform(np.ones((1, 30, 32)))
    with pytest.raises(DataError, match="images of 20 x 20"):
        LBP(size=20).transform(np.ones((1, 32, 32)))
