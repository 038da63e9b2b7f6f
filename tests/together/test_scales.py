"""Groups at all scales: silhouettes, agreement and probabilities, by their definitions."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import silhouette_score

from setwise.evaluation import GroupScores
from setwise.together import Links
from setwise.together.modules import in_order
from setwise.together.scales import (
    ScaledGroups,
    Walks,
    agreement,
    scaled_groups,
    silhouette,
)
from setwise.together.tree import Between


def blocks(sizes, inside=4.0, noise=0.5, seed=0):
    """Similarities of groups of some sizes, and the groups."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(len(sizes)), sizes)
    table = np.where(truth[:, None] == truth, inside, 0.0) + noise * rng.normal(
        size=(len(truth),) * 2
    )
    table = np.triu(table, 1)
    table = table + table.T
    np.fill_diagonal(table, 0.0)
    return as_rows(table), truth


def as_rows(table):
    """All pairs stored, zeros included, but the diagonal."""
    n = len(table)
    other = ~np.eye(n, dtype=bool)
    indices = np.broadcast_to(np.arange(n), (n, n))[other]
    return sp.csr_array((table[other], indices, (n - 1) * np.arange(n + 1)), shape=(n, n))


@given(st.integers(0, 10_000))
def test_silhouette_is_scikit_learns(seed):
    similarity, _ = blocks((3, 4, 2, 1), noise=2.0, seed=seed)
    labels = in_order(np.random.default_rng(seed).integers(0, 4, 10))
    far = similarity.data.max() - similarity.toarray()
    np.fill_diagonal(far, 0.0)
    if 2 <= len(set(labels)) < 10:
        expected = silhouette_score(far, labels, metric="precomputed")
        assert silhouette(similarity, labels) == pytest.approx(expected, abs=1e-9)


def test_pairs_that_were_not_compared_have_their_base_similarity():
    similarity, truth = blocks((4, 4, 4))
    table = similarity.toarray()
    table[np.abs(truth[:, None] - truth) == 2] = 0.0
    sparse = sp.csr_array(table)
    base = Between.of(sparse).base
    full = np.where(table == 0, base[:, None] + base, table)
    full.flat[:: len(full) + 1] = 0.0
    assert silhouette(sparse, truth) == pytest.approx(silhouette(as_rows(full), truth))


@pytest.mark.parametrize("labels", [np.zeros(4, int), np.arange(4)])
def test_one_group_and_none_have_no_silhouette(labels):
    assert silhouette(blocks((2, 2))[0], labels) == -1


def test_agreement_is_b_cubed():
    rng = np.random.default_rng(0)
    groups = np.array([in_order(rng.integers(0, 4, 15)) for _ in range(4)])
    found = agreement(groups, np.ones(15))
    for i in range(4):
        for j in range(4):
            assert found[i, j] == pytest.approx(GroupScores.of(groups[i], groups[j]).f)


def test_sizes_of_bundles_count():
    one, other, sizes = np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([3, 1, 2])
    whole = np.array([np.repeat(labels, sizes) for labels in (one, other)])
    found = agreement(np.array([one, other]), sizes.astype(float))
    np.testing.assert_allclose(found, agreement(whole, np.ones(6)))


def test_walks_are_the_mean_over_numbers_of_nearest_sets():
    similarity, _ = blocks((5, 5, 2), noise=1.0)
    table = similarity.toarray()
    np.fill_diagonal(table, -np.inf)
    usual = np.median(table.max(axis=1))
    weights, loops = np.zeros_like(table), np.zeros(12)
    for k in (3, 5, 8):
        rank = (-table).argsort(axis=1).argsort(axis=1)
        near = (rank < k) | (rank < k).T
        one = np.where(near, np.exp(np.minimum(table - usual, 0) / (0.3 * usual)), 0.0)
        degrees = one.sum(axis=1)
        weights += one / 3
        loops += np.maximum(np.median(degrees) - degrees, 0) / 3
    found, stays = Walks.of(similarity).at(0.3)
    np.testing.assert_allclose(found.toarray(), weights, atol=1e-12)
    np.testing.assert_allclose(stays, loops, atol=1e-12)


def test_the_graph_stays_as_it_was():
    similarity, _ = blocks((4, 4))
    before = similarity.copy()
    scaled_groups(similarity, Links.of(8))
    np.testing.assert_array_equal(similarity.toarray(), before.toarray())
    np.testing.assert_array_equal(similarity.indices, before.indices)


def test_blocks_and_single_sets_are_found():
    similarity, truth = blocks((6, 3, 8, 1, 1, 5))
    found = scaled_groups(similarity, Links.of(24), n_jobs=2)
    np.testing.assert_array_equal(found.chosen, truth)
    assert found.probabilities.sum() == pytest.approx(1)
    assert found.groups.shape == (len(found.scales), 24)


def test_groups_are_those_of_the_largest_expected_agreement():
    similarity, _ = blocks((6, 3, 8, 1, 1, 5), inside=2.0, noise=0.9)
    found = scaled_groups(similarity, Links.of(24))
    expected = [
        sum(
            share * GroupScores.of(truth, one).f
            for share, truth in zip(found.probabilities, found.groups, strict=True)
        )
        for one in found.groups
    ]
    assert expected[found.best] == pytest.approx(max(expected))
    assert len(set(np.round(expected, 6))) > 3


def test_labels_of_some_sets_tell_the_scale():
    coarse = np.repeat([0, 0, 1, 1], 3)
    similarity, fine = blocks((3, 3, 3, 3))
    table = similarity.toarray() + 2.0 * (coarse[:, None] == coarse)
    np.fill_diagonal(table, 0.0)
    similarity = as_rows(table)
    found = [
        scaled_groups(similarity, Links.of(12), codes).chosen
        for codes in (np.repeat([0, 1], 3), np.repeat([0, 0], 3))
    ]
    np.testing.assert_array_equal(found, [fine, coarse])


def test_links_bind_and_part():
    similarity, _ = blocks((4, 4, 4))
    links = Links.of(12, must_link=[(0, 4)], cannot_link=[(8, 9)])
    found = scaled_groups(similarity, links).chosen[links.bundles]
    assert found[0] == found[4]
    assert found[8] != found[9]


def test_probabilities_are_shares_of_the_scales():
    groups = np.array([[0, 0, 1, 2], [0, 0, 1, 1], [0, 0, 0, 0]])
    scaled = ScaledGroups(np.arange(3.0), groups, np.array([0.5, 0.3, 0.2]), best=0)
    sizes = np.array([2.0, 1, 1, 1])
    of = np.array([0, 0, 1, -1])
    found = scaled.together(of, sizes).toarray()
    np.testing.assert_allclose(found, [[1.0, 0.2], [1.0, 0.2], [0.2, 0.0], [0.2, 0.5]])


@given(st.integers(0, 10_000))
def test_probabilities_are_means_over_pairs(seed):
    rng = np.random.default_rng(seed)
    groups = np.array([in_order(rng.integers(0, k, 9)) for k in (6, 4, 2)])
    shares = rng.dirichlet(np.ones(3))
    pairs = sum(s * (g[:, None] == g) for s, g in zip(shares, groups, strict=True))
    of = rng.integers(-1, 3, 9)
    scaled = ScaledGroups(np.arange(3.0), groups, shares, best=0)
    found = scaled.together(of, np.ones(9)).toarray()
    for i in range(9):
        for g in range(found.shape[1]):
            mates = [j for j in range(9) if of[j] == g and j != i]
            expected = np.mean([pairs[i, j] for j in mates]) if mates else 0.0
            assert found[i, g] == pytest.approx(expected, abs=1e-9)
