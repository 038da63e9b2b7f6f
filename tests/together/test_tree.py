"""The tree of groups: average linkage by SciPy, groups first, what must stay apart last."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from setwise.together import GroupTree, Links, grow_tree
from setwise.together.modules import in_order
from setwise.together.tree import Between


def random_table(n, seed):
    rng = np.random.default_rng(seed)
    table = np.triu(rng.normal(size=(n, n)), 1)
    return table + table.T


def as_rows(table):
    n = len(table)
    other = ~np.eye(n, dtype=bool)
    indices = np.broadcast_to(np.arange(n), (n, n))[other]
    return sp.csr_array((table[other], indices, (n - 1) * np.arange(n + 1)), shape=(n, n))


@given(st.integers(0, 10_000))
def test_without_groups_and_links_it_is_scipys_average_linkage(seed):
    table = random_table(8, seed)
    tree = grow_tree(as_rows(table), Links.of(8), np.zeros(8, int))
    far = table.max() - table
    np.fill_diagonal(far, 0.0)
    expected = linkage(squareform(far), "average")
    np.testing.assert_allclose(table.max() - tree.similarity, expected[:, 2], atol=1e-9)
    for n_groups in range(1, 9):
        found = in_order(fcluster(expected, n_groups, "maxclust"))
        np.testing.assert_array_equal(tree.cut(n_groups), found)
    assert tree.n_sound == 7


def test_groups_are_joined_before_others():
    groups = np.array([0, 1, 0, 1, 2, 2])
    tree = grow_tree(as_rows(random_table(6, 0)), Links.of(6), groups)
    np.testing.assert_array_equal(tree.cut(3), in_order(groups))
    assert tree.cut(1).tolist() == [0] * 6
    assert tree.cut(6).tolist() == list(range(6))


@given(st.integers(0, 10_000))
def test_sound_joins_keep_apart_what_must_be(seed):
    rng = np.random.default_rng(seed)
    pairs = [(i, j) for i in range(7) for j in range(i) if rng.random() < 0.3]
    links = Links.of(7, cannot_link=pairs)
    tree = grow_tree(as_rows(random_table(7, seed)), links, np.zeros(7, int))
    found = tree.cut(7 - tree.n_sound)
    assert all(found[i] != found[j] for i, j in pairs)
    assert len(tree.children) == 6


def test_bundles_count_by_their_sets():
    table = as_rows(random_table(5, 3))
    links = Links.of(5, must_link=[(0, 1), (1, 2)])
    tree = grow_tree(table, links, np.zeros(3, int))
    assert tree.n_leaves == 3
    dense = table.toarray()
    first = max(dense[:3, 3].mean(), dense[:3, 4].mean(), dense[3, 4])
    assert tree.similarity[0] == pytest.approx(first)


def test_sets_that_were_not_compared_are_joined_last():
    near = np.kron(np.eye(3), np.ones((2, 2))) - np.eye(6)
    tree = grow_tree(sp.csr_array(near), Links.of(6), np.arange(6))
    assert tree.cut(3).tolist() == [0, 0, 1, 1, 2, 2]
    assert len(tree.children) == 5


def test_parts_of_a_group_that_were_not_compared_are_joined_before_groups():
    near = np.kron(np.eye(3), np.ones((2, 2))) - np.eye(6)
    tree = grow_tree(sp.csr_array(near), Links.of(6), np.array([0, 0, 1, 1, 0, 0]))
    assert tree.cut(2).tolist() == [0, 0, 1, 1, 0, 0]


def test_base_and_what_is_above_it_make_the_similarity():
    table = random_table(6, 1)
    between = Between.of(as_rows(table))
    whole = between.above.toarray() + between.base[:, None] + between.base
    np.fill_diagonal(whole, 0.0)
    np.testing.assert_allclose(whole, table)


def test_one_leaf_is_a_tree():
    tree = grow_tree(sp.csr_array((2, 2)), Links.of(2, must_link=[(0, 1)]), np.zeros(1, int))
    assert isinstance(tree, GroupTree)
    assert tree.cut(1).tolist() == [0]
