"""What all graphs promise, and each of the others against a literal oracle."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import orthogonal_mp
from tests.helpers import fingerprint, low_rank_columns, unit_columns

from setwise.errors import DataError, ParameterError
from setwise.graph import (
    GalleryGraph,
    GaussianGraph,
    Graph,
    LassoGraph,
    LeastSquaresGraph,
    OMPGraph,
)
from setwise.graph.other import leave_one_out_least_squares


def columns_of_rank(rank, n_features, n_columns):
    return low_rank_columns(np.random.default_rng(0), n_features, n_columns, rank)


def symmetrised(codes):
    return np.abs(codes) + np.abs(codes).T


COLUMNS = {
    "random": unit_columns(np.random.default_rng(0), 15, 12),
    "more columns than features": unit_columns(np.random.default_rng(1), 4, 20),
    "duplicated": np.repeat(unit_columns(np.random.default_rng(2), 6, 5), 2, axis=1),
    "orthogonal": np.eye(6),
    "two": unit_columns(np.random.default_rng(3), 5, 2),
    "one": unit_columns(np.random.default_rng(4), 5, 1),
    "all equal": np.repeat(unit_columns(np.random.default_rng(5), 5, 1), 4, axis=1),
}


@pytest.mark.parametrize("name", ["lasso", "gaussian", "least_squares", "omp"])
@pytest.mark.parametrize("kind", COLUMNS)
def test_an_adjacency_is_symmetric_non_negative_and_hollow(name, kind):
    columns = COLUMNS[kind]
    before = fingerprint(columns)
    graph = Graph.known()[name]()
    adjacency = graph.adjacency(columns)
    n = columns.shape[1]
    assert isinstance(adjacency, sp.csr_array)
    assert adjacency.shape == (n, n)
    dense = adjacency.toarray()
    assert np.isfinite(dense).all()
    assert (adjacency.data > 0).all()  # no negative, and none stored that is zero
    np.testing.assert_array_equal(dense, dense.T)
    assert not dense.diagonal().any()
    assert fingerprint(columns) == before


@pytest.mark.parametrize("name", ["lasso", "gaussian", "least_squares", "omp"])
def test_inserting_a_probe_is_solving_from_scratch_with_what_the_gallery_fixed(name):
    rng = np.random.default_rng(6)
    gallery, probe = unit_columns(rng, 15, 12), unit_columns(rng, 15, 3)
    solution = Graph.known()[name]().solve(gallery)
    assert isinstance(solution, GalleryGraph)
    before = fingerprint(solution.columns, solution.adjacency.toarray(), probe)
    inserted = solution.insert(probe)
    np.testing.assert_allclose(
        inserted.toarray(),
        solution.graph.adjacency(np.hstack([gallery, probe])).toarray(),
        atol=1e-12,
    )
    assert fingerprint(solution.columns, solution.adjacency.toarray(), probe) == before


@pytest.mark.parametrize("name", ["lasso", "gaussian", "least_squares", "omp"])
def test_a_graph_goes_by_its_name_or_as_itself(name):
    assert isinstance(Graph.of(name, "CVC"), Graph.known()[name])
    graph = Graph.known()[name]()
    assert Graph.of(graph, "CVC") is graph


@pytest.mark.parametrize("wrong", ["lasagne", None, 3])
def test_an_unknown_graph_is_refused_with_the_known_names(wrong):
    with pytest.raises(ParameterError, match="graph must be one of 'lasso', 'gaussian'"):
        Graph.of(wrong, "CVC")


# Least squares.

REGIMES = {
    "fewer columns than features": columns_of_rank(8, 20, 8),
    "more columns than features": columns_of_rank(6, 6, 15),
    "rank deficient": columns_of_rank(5, 20, 12),
    "some in the span of the others, some not": np.hstack(
        [
            np.vstack([columns_of_rank(3, 10, 6), np.zeros((4, 6))]),
            np.vstack([np.zeros((10, 3)), unit_columns(np.random.default_rng(7), 4, 3)]),
        ]
    ),
    "the same, not orthogonal": np.hstack(
        [columns_of_rank(3, 14, 6), unit_columns(np.random.default_rng(8), 14, 3)]
    ),
    "duplicated": COLUMNS["duplicated"],
}


def literal_least_squares(columns):
    n = columns.shape[1]
    codes = np.zeros((n, n))
    for i in range(n):
        others = np.delete(np.arange(n), i)
        codes[others, i] = np.linalg.lstsq(columns[:, others], columns[:, i], rcond=1e-9)[0]
    return codes


@pytest.mark.parametrize("regime", REGIMES)
def test_least_squares_is_numpys_column_by_column(regime):
    columns = REGIMES[regime]
    codes = leave_one_out_least_squares(columns)
    np.testing.assert_allclose(codes, literal_least_squares(columns), atol=1e-8)


@pytest.mark.parametrize("regime", sorted(REGIMES.keys() - {"duplicated"}))
@pytest.mark.parametrize("n_largest", [1, 3, 7, 100])
def test_least_squares_keeps_exactly_the_largest_coefficients(regime, n_largest):
    columns = REGIMES[regime]
    codes = literal_least_squares(columns)
    for code in codes.T:
        code[np.argsort(-np.abs(code))[n_largest:]] = 0.0
    adjacency = LeastSquaresGraph(n_largest).adjacency(columns)
    np.testing.assert_allclose(adjacency.toarray(), symmetrised(codes), atol=1e-8)


def test_least_squares_keeps_one_of_two_equal_coefficients():
    # Of three equal columns each is half of the one and half of the other.
    columns = COLUMNS["all equal"][:, :3]
    adjacency = LeastSquaresGraph(1).adjacency(columns).toarray()
    assert adjacency.sum() == pytest.approx(2 * 3 * 0.5)
    assert LeastSquaresGraph(2).adjacency(columns).sum() == pytest.approx(2 * 6 * 0.5)


@pytest.mark.parametrize("n_largest", [0, -1, 2.0, "3", None, True])
def test_n_largest_must_be_a_count(n_largest):
    with pytest.raises(ParameterError, match=r"^LeastSquaresGraph: n_largest must be .*, got "):
        LeastSquaresGraph(n_largest)


@pytest.mark.parametrize("tolerance", [0, -1e-3, np.nan, np.inf, "small", True])
def test_tolerance_must_be_a_positive_number(tolerance):
    with pytest.raises(ParameterError, match=r"^LeastSquaresGraph: tolerance must be .*, got "):
        LeastSquaresGraph(tolerance=tolerance)


# Orthogonal matching pursuit.


@pytest.mark.parametrize("kind", ["random", "more columns than features", "two"])
@pytest.mark.parametrize("n_nonzero", [1, 3, 50])
def test_pursuit_is_scikit_learns_on_the_dictionary_without_the_column(kind, n_nonzero):
    columns = COLUMNS[kind]
    n_features, n = columns.shape
    most = min(n_nonzero, n - 1, n_features)
    codes = np.zeros((n, n))
    for i in range(n):
        others = np.delete(np.arange(n), i)
        codes[others, i] = orthogonal_mp(
            columns[:, others], columns[:, i], n_nonzero_coefs=most
        )
    adjacency = OMPGraph(n_nonzero).adjacency(columns).toarray()
    np.testing.assert_allclose(adjacency, symmetrised(codes), atol=1e-8)
    assert ((codes != 0).sum(axis=0) <= n_nonzero).all()


def test_pursuit_of_a_copy_stops_at_the_copy():
    adjacency = OMPGraph(5).adjacency(COLUMNS["duplicated"]).toarray()
    np.testing.assert_allclose(adjacency, np.kron(np.eye(5), [[0, 2], [2, 0]]), atol=1e-12)


def test_orthogonal_columns_pursue_nothing():
    assert OMPGraph(3).adjacency(np.eye(5)).nnz == 0


@pytest.mark.parametrize("n_nonzero", [0, -1, 2.0, "3", None, True])
def test_n_nonzero_must_be_a_count(n_nonzero):
    with pytest.raises(ParameterError, match=r"^OMPGraph: n_nonzero must be .*, got "):
        OMPGraph(n_nonzero)


# Gaussian.

SIGMAS = {
    "scalar": 0.7,
    "whole number": 2,
    "vector": np.array([0.5, 1.0, 2.0, 4.0]),
    "list": [0.5, 1.0, 2.0, 4.0],
    "matrix": np.diag([0.5, 1.0, 2.0, 4.0]) + 0.3,
}


@pytest.mark.parametrize("kind", SIGMAS)
def test_gaussian_weights_are_the_literal_formula(kind):
    columns = unit_columns(np.random.default_rng(9), 4, 8)
    sigma = np.asarray(SIGMAS[kind])
    covariance = sigma if sigma.ndim == 2 else np.diag(np.broadcast_to(sigma, 4))
    expected = np.zeros((8, 8))
    for i in range(8):
        for j in range(8):
            step = columns[:, i] - columns[:, j]
            if i != j:
                expected[i, j] = np.exp(-0.5 * step @ np.linalg.inv(covariance) @ step)
    adjacency = GaussianGraph(SIGMAS[kind]).adjacency(columns)
    np.testing.assert_allclose(adjacency.toarray(), expected, rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
def test_the_default_sigma_gives_a_median_pair_the_same_weight_at_any_scale(scale):
    columns = unit_columns(np.random.default_rng(10), 4, 7)  # 21 pairs, so one is the median
    adjacency = GaussianGraph().adjacency(scale * columns).toarray()
    np.testing.assert_allclose(adjacency, GaussianGraph().adjacency(columns).toarray())
    assert np.median(adjacency[np.triu_indices(7, 1)]) == pytest.approx(np.exp(-0.5))


def test_a_probe_does_not_move_the_default_sigma():
    rng = np.random.default_rng(11)
    gallery = unit_columns(rng, 4, 8)
    solution = GaussianGraph().solve(gallery)
    inserted = solution.insert(100 * unit_columns(rng, 4, 3)).toarray()
    np.testing.assert_allclose(inserted[:8, :8], GaussianGraph().adjacency(gallery).toarray())


def test_equal_columns_have_weight_one():
    adjacency = GaussianGraph().adjacency(COLUMNS["all equal"]).toarray()
    np.testing.assert_array_equal(adjacency, 1 - np.eye(4))


def test_a_sigma_so_small_that_no_edge_is_left_is_refused_with_a_better_one():
    columns = np.eye(3)
    with pytest.raises(DataError, match=r"underflows to zero.*try sigma=2e\+03 times it"):
        GaussianGraph(1e-3).adjacency(columns)
    assert GaussianGraph(1e-3 * 2e3).adjacency(columns).nnz == 6


BAD_SIGMAS = {
    "zero": 0,
    "negative": -1.0,
    "NaN": np.nan,
    "infinite": np.inf,
    "string": "wide",
    "dict": {},
    "wrong length": [1.0, 2.0, 3.0],
    "vector with zero": [1.0, 0.0],
    "vector with infinity": [1.0, np.inf],
    "wrong shape": np.eye(3),
    "3-D": np.ones((2, 2, 2)),
    "indefinite": [[1.0, 2.0], [2.0, 1.0]],
    "not symmetric": [[1.0, 0.9], [0.0, 1.0]],
    "matrix with NaN": [[np.nan, 0.0], [0.0, 1.0]],
    "ragged": [[1.0, 0.0], [1.0]],
}


@pytest.mark.parametrize("kind", BAD_SIGMAS)
def test_sigma_must_be_a_covariance(kind):
    with pytest.raises(ParameterError, match=r"^GaussianGraph: sigma must be .*, got "):
        GaussianGraph(BAD_SIGMAS[kind]).adjacency(np.eye(2))


def test_the_message_about_sigma_names_the_shape():
    with pytest.raises(ParameterError, match=r"got an array of shape \(3, 3\)\.$"):
        GaussianGraph(np.eye(3)).adjacency(np.eye(2))


def test_defaults_are_those_of_the_documentation():
    assert (LassoGraph().alpha, GaussianGraph().sigma) == (0.05, None)
    assert (LeastSquaresGraph().n_largest, OMPGraph().n_nonzero) == (10, 10)
