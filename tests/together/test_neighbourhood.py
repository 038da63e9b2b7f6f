"""Pairs of near sets, against the angles of single pairs and against all pairs."""

import numpy as np
import pytest
from scipy.linalg import subspace_angles

from setwise import CVC
from setwise.basis import SVD, Spread
from setwise.evaluation.testing import separable_sets
from setwise.gallery.evidence import set_angles
from setwise.index import ExactIndex
from setwise.sets import check_sets
from setwise.together import graph as graph_module
from setwise.together import relate
from setwise.together.neighbourhood import (
    N_NEAR,
    StackedBases,
    near_pairs,
    near_sets,
    paired,
    usual_sets,
)
from setwise.together.pairs import without_clusters


@pytest.fixture(scope="module")
def sets():
    return separable_sets(n_classes=12, n_sets=5, n_features=16)


def described(**changes):
    return without_clusters(CVC(**{"dims": (3,), "outliers": None} | changes).describe())


def test_angles_are_those_of_scipy():
    rng = np.random.default_rng(0)
    bases = [np.linalg.qr(rng.normal(size=(9, 3)))[0] for _ in range(4)]
    stacked = StackedBases(
        np.array([b.T for b in bases], dtype=np.float32), np.full(4, 3), SVD(), dims=3
    )
    one, other = np.array([0, 0, 2]), np.array([1, 3, 1])
    largest, mean = stacked.of_pairs(one, other)
    for pair, (i, j) in enumerate(zip(one, other, strict=True)):
        cosines = np.cos(subspace_angles(bases[i], bases[j]))
        assert largest[pair] == pytest.approx(cosines.max(), abs=1e-5)
        assert mean[pair] == pytest.approx((cosines**2).mean(), abs=1e-5)


def test_columns_with_lengths_are_compared_as_in_a_gallery():
    rng = np.random.default_rng(0)
    columns = [0.4 * rng.normal(size=(9, 3)) for _ in range(4)]
    stacked = StackedBases(
        np.array([c.T for c in columns], dtype=np.float32), np.full(4, 3), Spread(), dims=1
    )
    found = stacked.of_pairs(np.zeros(3, int), np.arange(1, 4))
    products, sets = columns[0].T @ np.hstack(columns[1:]), np.repeat(np.arange(3), 3)
    np.testing.assert_allclose(found, set_angles(products, sets, Spread()), rtol=1e-5)


@pytest.mark.parametrize("basis", ["svd", "means"])
def test_where_all_are_near_and_usual_both_ways_agree(basis, monkeypatch):
    few, _ = separable_sets(n_classes=4, n_sets=3)
    how = {"representations": [("plain", basis)], "evidence": ("smallest angle", "all angles")}
    how = CVC(dims=(2,), outliers=None, **how).describe()
    whole = relate(few, description=how)
    monkeypatch.setattr(graph_module, "MOST_RELATED", 2)
    near = relate(few, description=how, n_jobs=2)
    assert near.members == whole.members
    np.testing.assert_allclose(
        near.similarity.toarray(),
        whole.similarity.toarray(),
        atol=2e-3 if basis == "svd" else 0.2,
    )


def test_near_sets_are_those_of_the_index(sets):
    rows = np.random.default_rng(0).normal(size=(40, 5)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    found = near_sets(described(), rows, n_jobs=None)
    one_by_one = ExactIndex().build(rows, np.arange(40))
    for row, near in zip(rows, found, strict=True):
        np.testing.assert_array_equal(near, one_by_one.nearest(row, N_NEAR + 1))


def test_pairs_are_told_once():
    first, second = paired(np.array([[0, 1], [1, 0], [2, 0]]), 3)
    assert list(zip(first, second, strict=True)) == [(0, 1), (0, 2)]


def test_order_of_the_sets_makes_no_difference(sets):
    vectors, _ = sets
    order = np.random.default_rng(1).permutation(len(vectors))
    both = [
        near_pairs(described(), check_sets([vectors[i] for i in places]), None)
        for places in (range(len(vectors)), order)
    ]
    even = np.ones(len(both[0].members))
    one, other = (found.similarity(even).toarray() for found in both)
    np.testing.assert_allclose(other, one[np.ix_(order, order)], atol=1e-4)


def test_nearest_are_of_the_same_class(sets, monkeypatch):
    vectors, labels = sets
    monkeypatch.setattr(graph_module, "MOST_RELATED", 2)
    steps = relate(vectors, description=described()).steps(3)
    rows = np.repeat(np.arange(len(labels)), np.diff(steps.indptr))
    assert (labels[rows] == labels[steps.indices]).mean() > 0.95
    np.testing.assert_allclose(steps.sum(axis=1), 1.0)


def test_usual_sets_are_spread_over_all():
    rows = np.repeat(np.arange(1000.0)[:, None], 3, axis=1).astype(np.float32)
    chosen = usual_sets(rows)
    assert len(chosen) == 64
    assert chosen.max() > 900
