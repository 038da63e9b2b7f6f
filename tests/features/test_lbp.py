"""Local binary patterns."""

from __future__ import annotations

import numpy as np
import pytest
from skimage.feature import local_binary_pattern

from setwise.errors import DataError
from setwise.features.lbp import LBP


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


def test_as_for_mobo(seed):
    images = np.random.default_rng(seed).integers(0, 256, (2, 40, 40), dtype=np.uint8)
    made = LBP.as_for_mobo().transform(images)
    assert made.shape == (2, 25 * 59)
    assert np.array_equal(made, LBP(patch=8, root=False).transform(images))
    np.testing.assert_allclose(made.sum(axis=1), 25)
    assert LBP.as_for_mobo().transform(images[:, :32, :24]).shape == (2, 1475)


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
