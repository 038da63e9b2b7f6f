"""The lasso graph: its codes, its parameter, and which kind of gallery it makes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from tests.graph.galleries import (
    GALLERIES,
    assert_well_solved,
    codes_of,
    columns_as_kept,
    contents,
    solve,
)
from tests.lasso.problems import around_classes

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
    np.testing.assert_allclose(solution.residuals, (columns - columns @ codes).T, atol=1e-14)
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


@pytest.mark.parametrize("pool_size", [6, 256])
def test_a_gallery_crosses_the_limit_both_ways_and_stays_exact(monkeypatch, pool_size):
    monkeypatch.setattr(lasso, "GRAM_LIMIT", 40)
    monkeypatch.setattr(pools, "POOL_SIZE", pool_size)
    rng = np.random.default_rng(2)
    graph = LassoGraph(0.05)
    columns = around_classes(rng, 12, 36)
    gallery = graph.solve(columns)
    for kind, change in [
        (GramLasso, 4),  # exactly the limit
        (PooledLasso, 1),  # above it
        (PooledLasso, 12),
        (PooledLasso, -10),
        (GramLasso, -3),  # exactly the limit again
        (GramLasso, -1),
        (PooledLasso, 20),
        (GramLasso, -30),
        (GramLasso, 5),
    ]:
        before = contents(gallery)
        if change > 0:
            new = around_classes(rng, 12, change)
            changed = graph.enroll(gallery, new)
            columns = np.hstack([columns, new])
        else:
            is_kept = np.ones(columns.shape[1], bool)
            is_kept[rng.permutation(columns.shape[1])[:-change]] = False
            changed = graph.forget(gallery, is_kept)
            columns = columns[:, is_kept]
        assert contents(gallery) == before
        assert type(changed) is kind
        # What was rounded once stays so.
        columns = np.asarray(changed.columns, dtype=np.float64)
        assert_well_solved(changed, 0.05, close_to=columns)
        gallery = changed


@pytest.mark.parametrize("name", ["classes", "correlated"])
@pytest.mark.parametrize("alpha", [1e-3, 0.05])
def test_a_gallery_that_falls_below_the_limit_loses_no_precision(monkeypatch, name, alpha):
    monkeypatch.setattr(lasso, "GRAM_LIMIT", 39)
    graph, columns = LassoGraph(alpha), GALLERIES[name](np.random.default_rng(0))
    gallery = graph.solve(columns)
    assert isinstance(gallery, PooledLasso)
    fallen = graph.forget(gallery, np.arange(40) != 7)
    assert isinstance(fallen, GramLasso)
    # The Gram matrix, the residuals and the codes, in float64 of the rounded columns.
    assert_well_solved(fallen, alpha)
    rounded = columns_as_kept(PooledLasso, np.delete(columns, 7, axis=1))
    np.testing.assert_allclose(
        codes_of(fallen), codes_of(solve(GramLasso, rounded, alpha)), rtol=0, atol=1e-11
    )


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
