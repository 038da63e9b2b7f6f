"""The lasso graph: its codes, and exact insertion of probes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers import fingerprint, unit_columns

from setwise.errors import ParameterError
from setwise.graph import LassoGraph
from setwise.lasso import lasso_codes, optimality_violation


def around_classes(rng, n_features, n_columns, spread=0.3):
    """Columns around four directions, as bases of sets of four classes are."""
    columns = rng.standard_normal((n_features, 4))[:, rng.integers(0, 4, n_columns)]
    columns = columns + spread * rng.standard_normal((n_features, n_columns))
    return columns / np.linalg.norm(columns, axis=0)


GALLERIES = {
    "random": lambda rng: unit_columns(rng, 30, 20),
    "classes": lambda rng: around_classes(rng, 30, 40),
    "more columns than features": lambda rng: around_classes(rng, 8, 60),
    "correlated": lambda rng: around_classes(rng, 30, 40, spread=0.02),
}


@pytest.fixture(params=GALLERIES)
def gallery_and_probe(request):
    together = GALLERIES[request.param](np.random.default_rng(0))
    return together[:, :-5], together[:, -5:]


def contents(solution):
    parts = [solution.columns, solution.gram, solution.residuals]
    for sparse in (solution.codes, solution.adjacency):
        parts += [sparse.data, sparse.indices, sparse.indptr]
    return fingerprint(*parts)


def test_the_adjacency_is_the_codes_and_their_transpose_in_size(gallery_and_probe):
    columns, _ = gallery_and_probe
    gram = columns.T @ columns
    codes = lasso_codes(gram, 0.05, rank=min(columns.shape)).toarray()
    solution = LassoGraph(0.05).solve(columns)
    np.testing.assert_array_equal(solution.codes.toarray(), codes)
    np.testing.assert_array_equal(solution.adjacency.toarray(), np.abs(codes) + np.abs(codes).T)
    np.testing.assert_allclose(solution.gram, gram)
    np.testing.assert_allclose(solution.residuals, columns - columns @ codes, atol=1e-14)
    scratch = LassoGraph(0.05).adjacency(columns)
    np.testing.assert_array_equal(scratch.toarray(), solution.adjacency.toarray())


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.3])
def test_inserting_a_probe_gives_the_codes_of_solving_from_scratch(gallery_and_probe, alpha):
    gallery, probe = gallery_and_probe
    together = np.hstack([gallery, probe])
    graph = LassoGraph(alpha)
    solution = graph.solve(gallery)
    codes = solution.codes_with(probe)
    np.testing.assert_allclose(
        codes.toarray(), graph.solve(together).codes.toarray(), rtol=0, atol=1e-11
    )
    assert optimality_violation(together.T @ together, codes, alpha) <= 1e-10
    np.testing.assert_allclose(
        solution.insert(probe).toarray(), graph.adjacency(together).toarray(), atol=1e-12
    )


def test_a_probe_changes_some_gallery_codes_and_keeps_the_others(gallery_and_probe):
    gallery, probe = gallery_and_probe
    n = gallery.shape[1]
    solution = LassoGraph(0.1).solve(gallery)
    codes = solution.codes_with(probe)
    is_changed = (np.abs(solution.residuals.T @ probe) > 0.1).any(axis=1)
    kept = codes[:n][:, np.flatnonzero(~is_changed)].toarray()
    np.testing.assert_array_equal(kept, solution.codes.toarray()[:, ~is_changed])
    uses_probe = np.abs(codes[n:].toarray()).sum(axis=0)[:n] > 0
    np.testing.assert_array_equal(uses_probe, is_changed)


def test_inserting_leaves_the_solution_and_the_probe_as_they_were(gallery_and_probe):
    gallery, probe = gallery_and_probe
    solution = LassoGraph().solve(gallery)
    before = contents(solution), fingerprint(probe)
    first = solution.insert(probe)
    again = solution.insert(probe)
    assert (contents(solution), fingerprint(probe)) == before
    np.testing.assert_array_equal(first.toarray(), again.toarray())


@pytest.mark.parametrize("copy", [1, -1])
def test_a_probe_that_copies_the_gallery_is_still_coded_optimally(copy):
    # Copies have more than one optimum, so the conditions are checked instead of the codes.
    rng = np.random.default_rng(1)
    gallery = around_classes(rng, 20, 25)
    probe = np.hstack([copy * gallery[:, :2], unit_columns(rng, 20, 1)])
    together = np.hstack([gallery, probe])
    codes = LassoGraph(0.05).solve(gallery).codes_with(probe)
    assert optimality_violation(together.T @ together, codes, 0.05) <= 1e-10
    assert codes[[25, 26], [0, 1]].all() or codes[[0, 1], [25, 26]].all()


def test_a_probe_orthogonal_to_everything_stands_alone():
    gallery = np.vstack([around_classes(np.random.default_rng(2), 10, 15), np.zeros((1, 15))])
    probe = np.eye(11)[:, -1:]
    solution = LassoGraph().solve(gallery)
    adjacency = solution.insert(probe).toarray()
    np.testing.assert_array_equal(adjacency[:15, :15], solution.adjacency.toarray())
    assert not adjacency[15].any()


def test_a_probe_without_columns_changes_nothing():
    gallery = around_classes(np.random.default_rng(3), 10, 15)
    solution = LassoGraph().solve(gallery)
    np.testing.assert_array_equal(
        solution.insert(np.empty((10, 0))).toarray(), solution.adjacency.toarray()
    )


@given(seed=st.integers(0, 10_000), n_new=st.integers(1, 4), alpha=st.floats(0.01, 0.5))
def test_any_probe_is_inserted_optimally(seed, n_new, alpha):
    rng = np.random.default_rng(seed)
    together = around_classes(rng, rng.integers(3, 15), 15 + n_new, 10 ** rng.uniform(-3, 0))
    codes = LassoGraph(alpha).solve(together[:, :15]).codes_with(together[:, 15:])
    assert optimality_violation(together.T @ together, codes, alpha) <= 1e-10
    assert not codes.diagonal().any()


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
