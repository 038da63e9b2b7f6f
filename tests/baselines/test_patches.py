"""Nearly flat patches, and the two methods that use them, against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg
from tests.conftest import toy_sets

from setwise.baselines import MDA, MMD
from setwise.baselines.patches import _divided, linear_patches, patch_scatters
from setwise.errors import ParameterError


def horseshoe(n: int = 60) -> np.ndarray:
    angle = np.linspace(0.7, 2 * np.pi - 0.7, n)
    return np.column_stack([np.cos(angle), np.sin(angle), np.zeros(n)])


def test_a_line_is_one_patch_and_a_horseshoe_is_several():
    line = np.outer(np.arange(60.0), [1.0, 2.0, 3.0])
    assert len(linear_patches(line, n_neighbors=4)) == 1
    patches = linear_patches(horseshoe(), n_neighbors=2, max_ratio=1.02)
    assert len(patches) > 1
    # Each patch is a stretch of the horseshoe, without holes.
    for patch in patches:
        np.testing.assert_array_equal(patch, np.arange(patch[0], patch[0] + len(patch)))


def test_patches_are_flat_or_small(seed):
    vectors = horseshoe() + 0.01 * np.random.default_rng(seed).normal(size=(60, 3))
    patches = linear_patches(vectors, n_neighbors=4, max_ratio=1.01, min_size=5)
    assert max(len(patch) for patch in patches) < 10


@given(st.integers(0, 1000), st.integers(2, 40), st.sampled_from([1.01, 1.2, 2.0]))
def test_patches_are_a_partition_whatever_the_set(seed, n, max_ratio):
    rng = np.random.default_rng(seed)
    # Copies, and two clouds far apart, are no trouble.
    vectors = rng.integers(0, 3, size=(n, 2)) + 100.0 * (np.arange(n) % 2)[:, None]
    patches = linear_patches(vectors, n_neighbors=2, max_ratio=max_ratio, min_size=2)
    np.testing.assert_array_equal(np.sort(np.concatenate(patches)), np.arange(n))


def test_the_order_of_vectors_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    vectors = horseshoe() + 0.01 * rng.normal(size=(60, 3))
    order = rng.permutation(60)
    plain = {
        frozenset(patch.tolist())
        for patch in linear_patches(vectors, n_neighbors=4, max_ratio=1.1)
    }
    assert len(plain) > 1
    mixed = linear_patches(vectors[order], n_neighbors=4, max_ratio=1.1)
    assert {frozenset(order[patch].tolist()) for patch in mixed} == plain


PATCHES = {"n_neighbors": 3, "max_ratio": 1.1, "min_size": 3}


def literal_mmd(a, b, *, energy=0.95):
    """The two terms for every pair of patches, and the least of them."""
    found = []
    for x in (a[p] for p in linear_patches(a, **PATCHES)):
        for y in (b[p] for p in linear_patches(b, **PATCHES)):
            ex, ey = (m.mean(axis=0) / np.linalg.norm(m.mean(axis=0)) for m in (x, y))
            bases = []
            for m in (x, y):
                _, s, vt = np.linalg.svd(m - m.mean(axis=0), full_matrices=False)
                q = int(np.searchsorted(np.cumsum(s**2) / (s**2).sum(), energy - 1e-12)) + 1
                bases.append(vt[:q].T)
            cosines = np.cos(linalg.subspace_angles(*bases))
            found.append((1 - (ex @ ey) ** 2) + (1 - (cosines**2).mean()))
    return np.sqrt(max(min(found), 0.0))


def test_mmd_is_the_least_distance_of_two_patches(seed):
    rng = np.random.default_rng(seed)
    sets = [horseshoe(20 + i) + rng.normal(size=3) + 0.05 * rng.normal(size=(20 + i, 3))
            for i in range(4)]  # fmt: skip
    clf = MMD(**PATCHES).fit(sets, [0, 0, 1, 1])
    assert clf.n_patches_.max() > 1
    for probe in sets:
        expected = [literal_mmd(probe, vectors) for vectors in sets]
        np.testing.assert_allclose(clf._distances(clf._model(probe)), expected, atol=1e-6)


def test_mmd_of_single_vectors_counts_the_angle_twice():
    a, b = np.array([[1.0, 0.0, 0.0]]), np.array([[1.0, 1.0, 0.0]])
    clf = MMD().fit([a, b], [0, 1])
    np.testing.assert_allclose(clf._distances(clf._model(a)), [0.0, 1.0], atol=1e-12)


def test_scatters_are_those_of_all_pairs(seed):
    rng = np.random.default_rng(seed)
    patches = [rng.normal(size=(n, 4)) + 3 * rng.normal(size=4) for n in (3, 5, 2, 4)]
    codes = np.array([0, 1, 0, 2])
    within, between = patch_scatters(patches, codes, n_between=1)
    expected_within = sum(len(p) * np.cov(p.T, bias=True) for p in patches)
    np.testing.assert_allclose(within, expected_within, atol=1e-10)
    expected = np.zeros((4, 4))
    for i, mine in enumerate(patches):
        others = [j for j in range(4) if codes[j] != codes[i]]
        j = min(
            others, key=lambda k: np.linalg.norm(mine.mean(axis=0) - patches[k].mean(axis=0))
        )
        steps = (mine[:, None] - patches[j][None]).reshape(-1, 4)
        expected += steps.T @ steps / len(steps)
    np.testing.assert_allclose(between, expected, atol=1e-10)


def test_the_projection_of_mda_solves_its_eigenproblem(seed):
    sets, labels = toy_sets(seed, noise=0.5)
    clf = MDA(5).fit(sets, labels)
    assert clf.regularisation_ > 0
    assert clf.projection_.shape == (20, 5)
    # S_w-orthonormal inside the principal space: what `eigh` promises.
    patches = [vectors @ np.eye(20) for vectors in sets]
    within, _ = patch_scatters(patches, labels, 5)
    inside = clf.projection_.T @ within @ clf.projection_
    added = clf.regularisation_ * clf.projection_.T @ clf.projection_
    np.testing.assert_allclose(inside + added, np.eye(5), atol=1e-6)


@pytest.mark.parametrize(
    ("clf", "name"),
    [(MMD(max_ratio=1.0), "max_ratio"), (MMD(energy=1.1), "energy"),
     (MMD(min_size=0), "min_size"), (MDA(0), "n_components"), (MDA(energy=-1), "energy"),
     (MDA(regularisation=0), "regularisation")],
)  # fmt: skip
def test_bad_parameters_are_named(clf, name):
    sets, labels = toy_sets(0)
    with pytest.raises(ParameterError, match=f"^{type(clf).__name__}: {name} must be .*, got "):
        clf.fit(sets, labels)


def test_sides_without_neighbours_share_the_rest_evenly():
    """Nobody is anybody's neighbour: each seed takes its nearest, the rest go in turn."""
    places = np.array([0.0, 1.0, 2.0, 7.0, 8.0, 9.0])
    geodesic = np.abs(places[:, None] - places)
    alone = np.zeros((6, 6), dtype=bool)
    halves = _divided(np.arange(6), alone, geodesic, np.ones((6, 6)))
    assert sorted(map(len, halves)) == [3, 3]
    np.testing.assert_array_equal(np.sort(np.concatenate(halves)), np.arange(6))
    assert {0, 1} <= set(halves[0])
    assert {4, 5} <= set(halves[1])


def test_a_vector_that_both_sides_want_goes_to_the_flatter_one():
    # 4 is a neighbour of both pairs; to the first it is far along the manifold.
    is_near = np.zeros((5, 5), dtype=bool)
    for i, j in ((0, 1), (2, 3), (1, 4), (3, 4)):
        is_near[i, j] = is_near[j, i] = True
    geodesic = np.array(
        [[0, 1, 9, 8, 4], [1, 0, 8, 7, 3], [9, 8, 0, 1, 2], [8, 7, 1, 0, 1], [4, 3, 2, 1, 0]]
    ).astype(float)
    ratio = np.ones((5, 5))
    ratio[0, 1] = ratio[1, 0] = 3.0
    first, second = _divided(np.arange(5), is_near, geodesic, ratio)
    np.testing.assert_array_equal(first, [0, 1])
    np.testing.assert_array_equal(second, [2, 3, 4])
