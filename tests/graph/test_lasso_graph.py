"""The lasso graph: its codes, its parameter, and which kind of gallery it makes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from tests.conftest import toy_sets
from tests.graph.galleries import (
    GALLERIES,
    assert_well_solved,
    codes_of,
    columns_as_kept,
    solve,
)
from tests.lasso.problems import around_classes

from setwise import CVC
from setwise.errors import ParameterError
from setwise.graph import LassoGraph, lasso
from setwise.graph.lasso_gallery import GramLasso, PooledLasso
from setwise.lasso import lasso_codes, pools


@pytest.mark.parametrize("name", GALLERIES)
def test_the_adjacency_is_the_codes_and_their_transpose_in_size(name):
    columns = GALLERIES[name](np.random.default_rng(0))
    gram = columns.T @ columns
    codes = lasso_codes(gram, 0.05, rank=min(columns.shape)).toarray()
    solution = LassoGraph(0.05).solve(columns)
    assert isinstance(solution, GramLasso)
    np.testing.assert_array_equal(codes_of(solution), codes)
    np.testing.assert_array_equal(solution.adjacency.toarray(), np.abs(codes) + np.abs(codes).T)
    np.testing.assert_allclose(solution.gram, gram)
    scratch = LassoGraph(0.05).adjacency(columns)
    np.testing.assert_array_equal(scratch.toarray(), solution.adjacency.toarray())


@pytest.mark.parametrize("name", GALLERIES)
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.3])
def test_both_kinds_of_gallery_make_the_same_graph_of_columns_in_single_precision(
    monkeypatch, name, alpha
):
    monkeypatch.setattr(pools, "POOL_SIZE", 8)
    columns = columns_as_kept(PooledLasso, GALLERIES[name](np.random.default_rng(0)))
    by_gram, by_pools = (solve(kind, columns, alpha) for kind in (GramLasso, PooledLasso))
    np.testing.assert_allclose(codes_of(by_pools), codes_of(by_gram), rtol=0, atol=1e-9)
    assert_well_solved(by_pools, alpha)
    probe = columns_as_kept(PooledLasso, around_classes(np.random.default_rng(1), 30, 3))
    probe = probe[: len(columns)] / np.linalg.norm(probe[: len(columns)], axis=0)
    probe = columns_as_kept(PooledLasso, probe)
    np.testing.assert_allclose(
        by_pools.insert(probe).toarray(), by_gram.insert(probe).toarray(), rtol=0, atol=2e-9
    )


@pytest.mark.parametrize(("n_columns", "kind"), [(30, GramLasso), (31, PooledLasso)])
def test_a_gallery_above_the_limit_does_without_the_gram_matrix(monkeypatch, n_columns, kind):
    monkeypatch.setattr(lasso, "GRAM_LIMIT", 30)
    columns = around_classes(np.random.default_rng(0), 10, n_columns)
    solution = LassoGraph(0.05).solve(columns, n_jobs=2)
    assert type(solution) is kind
    assert_well_solved(solution, 0.05, close_to=columns)
    adjacency = LassoGraph(0.05).adjacency(columns)
    np.testing.assert_array_equal(adjacency.toarray(), solution.adjacency.toarray())


@pytest.mark.parametrize("limit", [0, 4000])
def test_enrolling_and_forgetting_keep_the_kind_and_the_codes_of_solving(monkeypatch, limit):
    monkeypatch.setattr(lasso, "GRAM_LIMIT", limit)
    monkeypatch.setattr(pools, "POOL_SIZE", 6)
    rng = np.random.default_rng(2)
    graph, columns = LassoGraph(0.05), around_classes(rng, 12, 50)
    gallery = graph.solve(columns[:, :36])
    kind = type(gallery)
    enrolled = graph.enroll(gallery, columns[:, 36:])
    assert type(enrolled) is kind
    assert_well_solved(enrolled, 0.05, close_to=columns)
    is_kept = rng.random(50) < 0.7
    rest = graph.forget(enrolled, is_kept)
    assert type(rest) is kind
    assert_well_solved(rest, 0.05, close_to=columns[:, is_kept])


def test_a_gallery_can_be_updated_unless_it_crosses_the_limit(monkeypatch):
    monkeypatch.setattr(lasso, "GRAM_LIMIT", 30)
    graph, columns = LassoGraph(0.05), around_classes(np.random.default_rng(3), 12, 31)
    below, above = graph.solve(columns[:, :30]), graph.solve(columns)
    assert [graph.can_update(below, n) for n in (0, 29, 30, 31)] == [True, True, True, False]
    assert [graph.can_update(above, n) for n in (30, 31, 500)] == [False, True, True]


@pytest.mark.parametrize("limit", [20, 27])
def test_a_classifier_crosses_the_limit_both_ways_and_is_as_if_fitted_anew(monkeypatch, limit):
    # 18 columns in the gallery at first, then 27, then 12; at 27 nothing is crossed.
    monkeypatch.setattr(lasso, "GRAM_LIMIT", limit)
    monkeypatch.setattr(pools, "POOL_SIZE", 4)
    sets, labels = toy_sets(0, n_classes=3, n_sets=3, n_features=12)
    first, added = np.arange(9) % 3 < 2, np.arange(9) % 3 == 2

    def fitted(which):
        clf = CVC(dims=(3,), representations=[("plain", "svd")], weights=None)
        return clf.fit([sets[i] for i in which], labels[which])

    def solution(clf):
        return clf.gallery_.layers[0].graph

    order = np.concatenate([np.flatnonzero(first), np.flatnonzero(added)])
    clf = fitted(order[:6])
    assert type(solution(clf)) is GramLasso
    clf.enroll([sets[i] for i in order[6:]], labels[order[6:]])
    assert type(solution(clf)) is (PooledLasso if limit == 20 else GramLasso)
    assert_same_graph(solution(clf), solution(fitted(order)))
    clf.forget(sets=[0, 1, 2, 3, 4])
    assert type(solution(clf)) is GramLasso
    assert_same_graph(solution(clf), solution(fitted(order[5:])))


def assert_same_graph(found, expected):
    # Bases are solved set by set, so columns are equal, and in float64 where they can be.
    np.testing.assert_array_equal(found.columns, expected.columns)
    assert found.columns.dtype == expected.columns.dtype
    np.testing.assert_allclose(
        found.adjacency.toarray(), expected.adjacency.toarray(), rtol=0, atol=1e-9
    )
    assert_well_solved(found, found.alpha)


def test_memory_is_estimated_by_the_kind_of_gallery(monkeypatch):
    graph = LassoGraph()
    assert graph.memory(100, 4000) == GramLasso.bytes_needed(100, 4000)
    assert graph.memory(100, 4001) == PooledLasso.bytes_needed(100, 4001)
    # Without the Gram matrix, memory grows with the columns, not with their square.
    at, twice = (PooledLasso.bytes_needed(100, n) for n in (100_000, 200_000))
    assert twice < 2 * at
    assert PooledLasso.bytes_needed(400, 100_000) < 0.05 * GramLasso.bytes_needed(400, 100_000)


def test_two_columns_are_coded_by_hand():
    # a = sign(c) (|c| - alpha) for unit columns of correlation c.
    columns = np.array([[1.0, -0.6], [0.0, 0.8]])
    adjacency = LassoGraph(0.1).adjacency(columns)
    assert isinstance(adjacency, sp.csr_array)
    np.testing.assert_allclose(adjacency.toarray(), [[0.0, 1.0], [1.0, 0.0]], atol=1e-15)


@pytest.mark.parametrize("alpha", [0, -0.1, np.inf, np.nan, "0.1", None, True, [0.1]])
def test_alpha_must_be_a_positive_number(alpha):
    with pytest.raises(ParameterError, match=r"^LassoGraph: alpha must be .*, got "):
        LassoGraph(alpha)


@pytest.mark.parametrize("alpha", [1, np.float32(0.5), np.int64(1)])
def test_alpha_may_be_any_kind_of_number(alpha):
    assert LassoGraph(alpha).adjacency(np.eye(2)).nnz == 0
