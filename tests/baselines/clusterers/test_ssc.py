"""SSC: its ADMM against the exact lasso, its versions against what they promise."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.linear_model import Lasso
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from setwise.baselines.clusterers.ssc import (
    SSC,
    spectral_labels,
    ssc_affinity,
    ssc_codes_admm,
    ssc_penalty,
)
from setwise.errors import ConvergenceWarning, DataError, ParameterError
from setwise.features import unit_rows
from setwise.lasso import lasso_codes, optimality_violation

LONG = {"max_iter": 50_000, "tol": 1e-12}


def subspaces(seed=0, n_subspaces=4, n=25, n_features=30, noise=0.01, offset=0.0):
    """Unit points near 3-dimensional subspaces, and which one each is near."""
    rng = np.random.default_rng(seed)
    points = [
        rng.standard_normal((n, 3)) @ rng.standard_normal((3, n_features))
        + offset * rng.standard_normal(n_features)
        for _ in range(n_subspaces)
    ]
    noisy = np.vstack(points) + noise * rng.standard_normal((n_subspaces * n, n_features))
    return unit_rows(noisy), np.repeat(np.arange(n_subspaces), n)


# ------------------------------------------------------------------------------------ codes


def test_penalty_by_hand():
    gram = np.array([[1.0, 0.6, -0.8], [0.6, 1.0, 0.1], [-0.8, 0.1, 1.0]])
    assert ssc_penalty(gram, 20.0) == 0.6 / 20.0
    # The fourth point is orthogonal to all others, and coded by nothing whatever the penalty.
    alone = np.pad(gram, (0, 1))
    alone[3, 3] = 1.0
    assert ssc_penalty(alone, 20.0) == 0.6 / 20.0
    assert ssc_penalty(np.eye(4), 20.0) == 1.0 / 20.0
    assert gram[0, 0] == 1.0  # the argument is left alone


@pytest.mark.parametrize(("alpha", "n_features"), [(5.0, 6), (20.0, 6), (20.0, 30), (5.0, 60)])
def test_admm_ends_at_the_exact_lasso(alpha, n_features):
    points, _ = subspaces(n=8, n_features=n_features, noise=0.1)
    gram = points @ points.T
    exact = lasso_codes(gram, ssc_penalty(gram, alpha), rank=min(points.shape))
    found = ssc_codes_admm(points, alpha, **LONG)
    assert found.residual <= LONG["tol"]
    assert found.errors is None
    np.testing.assert_allclose(found.codes.toarray(), exact.toarray(), atol=1e-7)
    assert optimality_violation(gram, found.codes, ssc_penalty(gram, alpha)) < 1e-7


def test_admm_ends_at_scikit_learns_lasso():
    points, _ = subspaces(n=6, noise=0.1)
    n, n_features = points.shape
    codes = ssc_codes_admm(points, 20.0, **LONG).codes.toarray()
    lasso = Lasso(
        ssc_penalty(points @ points.T, 20.0) / n_features,
        fit_intercept=False,
        tol=1e-14,
        max_iter=100_000,
    )
    for i in range(n):
        others = np.arange(n) != i
        lasso.fit(points[others].T, points[i])
        np.testing.assert_allclose(codes[others, i], lasso.coef_, atol=1e-6)
        assert codes[i, i] == 0.0


def literal_admm(Y, alpha, n_iter):
    """The lasso version of the authors' program, literally (columns are points)."""
    N = Y.shape[1]
    G = Y.T @ Y
    lambda_Y = np.abs(G - np.diag(np.diag(G))).max(axis=0).min()
    mu_1, mu_2 = alpha / lambda_Y, alpha
    A = np.linalg.inv(mu_1 * G + mu_2 * np.eye(N))
    C, Lambda = np.zeros((N, N)), np.zeros((N, N))
    for _ in range(n_iter):
        Z = A @ (mu_1 * G + mu_2 * (C - Lambda / mu_2))
        Z = Z - np.diag(np.diag(Z))
        V = Z + Lambda / mu_2
        C = np.maximum(0, np.abs(V) - 1 / mu_2) * np.sign(V)
        C = C - np.diag(np.diag(C))
        Lambda = Lambda + mu_2 * (Z - C)
    return C


def test_zero_diag_z_reproduces_the_authors_program():
    points, _ = subspaces(n=10, noise=0.1)
    literal = literal_admm(points.T, 20.0, 60)
    found = ssc_codes_admm(points, 20.0, zero_diag_z=True, max_iter=60, tol=1e-300)
    assert found.n_iter == 60
    np.testing.assert_allclose(found.codes.toarray(), literal, atol=1e-12)
    # It is not ADMM: its limit is another.
    right = ssc_codes_admm(points, 20.0, **LONG).codes
    wrong = ssc_codes_admm(points, 20.0, zero_diag_z=True, **LONG).codes
    assert abs(right - wrong).max() > 1e-3


def literal_affine_outlier_admm(Y, alpha, n_iter):
    """The affine outlier version, literally, without the step that is not ADMM's."""
    D, N = Y.shape
    gamma = alpha / np.abs(Y).sum(axis=0).max()
    P = np.hstack([Y, np.eye(D) / gamma])
    T = np.abs(P.T @ Y)
    T[:N] -= np.diag(np.diag(T[:N]))
    mu_1, mu_2 = alpha / T.max(axis=0).min(), alpha
    delta = np.r_[np.ones(N), np.zeros(D)][:, None]
    A = np.linalg.inv(mu_1 * P.T @ P + mu_2 * np.eye(N + D) + mu_2 * delta @ delta.T)
    C, Lambda_2 = np.zeros((N + D, N)), np.zeros((N + D, N))
    Lambda_1, ell = np.zeros((D, N)), np.zeros((1, N))
    ones = np.ones((1, N))
    for _ in range(n_iter):
        right = mu_1 * P.T @ (Y + Lambda_1 / mu_1) + mu_2 * C - Lambda_2
        Z = A @ (right + mu_2 * delta @ (ones - ell / mu_2))
        V = Z + Lambda_2 / mu_2
        C = np.maximum(0, np.abs(V) - 1 / mu_2) * np.sign(V)
        C[:N] -= np.diag(np.diag(C[:N]))
        Lambda_1 += mu_1 * (Y - P @ Z)
        Lambda_2 += mu_2 * (Z - C)
        ell += mu_2 * (delta.T @ Z - ones)
    return C[:N], (C[N:] / gamma).T


@pytest.mark.parametrize("n_features", [8, 50])  # the smaller inverse is another for each
def test_affine_outlier_version_same_as_the_literal_one(n_features):
    points, _ = subspaces(n=10, n_features=n_features, noise=0.1)
    codes, errors = literal_affine_outlier_admm(points.T, 20.0, 50)
    found = ssc_codes_admm(points, 20.0, affine=True, outliers=True, max_iter=50, tol=1e-300)
    np.testing.assert_allclose(found.codes.toarray(), codes, atol=1e-10)
    np.testing.assert_allclose(found.errors, errors, atol=1e-10)


def test_affine_codes_sum_to_one():
    points, _ = subspaces(n=10, offset=1.0)
    found = ssc_codes_admm(points, 20.0, affine=True, max_iter=20_000, tol=1e-9)
    np.testing.assert_allclose(found.codes.sum(axis=0), 1.0, atol=1e-7)
    free = ssc_codes_admm(points, 20.0, max_iter=20_000, tol=1e-9)
    assert np.abs(free.codes.sum(axis=0) - 1.0).max() > 0.01


def test_outlier_version_recovers_planted_errors():
    points, _ = subspaces(n_subspaces=1, n=40, noise=0.0)
    planted = np.zeros(points.shape)
    planted[[3, 7, 30], [5, 11, 2]] = 0.6, -0.5, 0.4
    found = ssc_codes_admm(points + planted, 20.0, outliers=True, max_iter=2000, tol=1e-5)
    np.testing.assert_allclose(found.errors, planted, atol=1e-3)
    assert (found.errors[planted == 0] == 0).mean() > 0.99
    rebuilt = found.codes.T @ (points + planted) + found.errors
    np.testing.assert_allclose(rebuilt, points + planted, atol=5e-3)


# --------------------------------------------------------------------------------- affinity


def test_affinity_by_hand():
    codes = sp.csc_array(np.array([[0.0, 4.0, 0.0], [-2.0, 0.0, 0.0], [1.0, -3.0, 0.0]]))
    everything = np.array([[0, 2, 0.5], [2, 0, 0.75], [0.5, 0.75, 0]])
    np.testing.assert_allclose(ssc_affinity(codes).toarray(), everything)
    largest = np.array([[0, 2, 0], [2, 0, 0], [0, 0, 0]])
    np.testing.assert_allclose(ssc_affinity(codes, keep=0.5).toarray(), largest)


@given(seed=st.integers(0, 10**6), keep=st.floats(0.05, 0.99))
def test_fewest_largest_entries_that_hold_the_share_are_kept(seed, keep):
    codes = np.random.default_rng(seed).standard_normal((9, 9))
    np.fill_diagonal(codes, 0.0)
    kept = ssc_affinity(sp.csc_array(np.triu(codes)), keep).toarray()
    for i in range(1, 9):
        sizes = np.sort(np.abs(codes[:i, i]))[::-1]
        fewest = 1 + np.flatnonzero(np.cumsum(sizes) >= keep * sizes.sum() * (1 - 1e-12))[0]
        assert np.count_nonzero(kept[:i, i]) == fewest
    np.testing.assert_array_equal(kept, kept.T)


@pytest.mark.parametrize("storage", [np.array, sp.csr_array])
def test_blocks_are_clusters(storage):
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.repeat(np.arange(4), [5, 8, 11, 3]))
    W = np.where(labels == labels[:, None], 0.2 + rng.random((27, 27)), 1e-4)
    W = W + W.T
    found = spectral_labels(storage(W), 4, random_state=0)
    assert adjusted_rand_score(found, labels) == 1.0
    assert found.dtype == np.int64


def test_isolated_vertices_break_nothing():
    W = np.kron(np.diag([1.0, 1.0, 0.0]), np.ones((4, 4)))
    found = spectral_labels(W, 2, random_state=0)
    assert adjusted_rand_score(found[:8], np.repeat([0, 1], 4)) == 1.0
    assert len(set(found[8:])) == 1  # all at the origin
    assert len(spectral_labels(np.zeros((5, 5)), 3, random_state=0)) == 5


# -------------------------------------------------------------------------------- estimator


@parametrize_with_checks([SSC(3)])
@pytest.mark.filterwarnings("ignore::setwise.errors.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("solver", ["admm", "exact"])
@pytest.mark.parametrize("alpha", [5.0, 20.0, 800.0])
@pytest.mark.filterwarnings("ignore::setwise.errors.ConvergenceWarning")
def test_finds_four_subspaces(alpha, solver, seed):
    points, labels = subspaces(seed)
    clusterer = SSC(4, alpha=alpha, solver=solver, random_state=0).fit(3.0 * points)
    assert adjusted_rand_score(clusterer.labels_, labels) == 1.0
    assert clusterer.n_clusters_ == 4
    assert clusterer.codes_.shape == clusterer.affinity_.shape == (100, 100)
    assert clusterer.codes_.diagonal().max() == 0.0


@pytest.mark.parametrize(
    "version", [{"affine": True}, {"outliers": True}, {"keep": 0.7}, {"zero_diag_z": True}]
)
@pytest.mark.filterwarnings("ignore::setwise.errors.ConvergenceWarning")
def test_every_version_finds_them(version, seed):
    points, labels = subspaces(seed)
    found = SSC(4, random_state=0, **version).fit_predict(points)
    assert adjusted_rand_score(found, labels) > 0.9


def test_exact_solver_is_exact():
    points, _ = subspaces(noise=0.1)
    exact = SSC(4, solver="exact", random_state=0).fit(points)
    gram = points @ points.T
    assert optimality_violation(gram, exact.codes_, ssc_penalty(gram, 20.0)) < 1e-12
    assert exact.residual_ < 1e-12
    assert exact.n_iter_ == 1
    admm = SSC(4, random_state=0, **LONG).fit(points)
    np.testing.assert_allclose(admm.codes_.toarray(), exact.codes_.toarray(), atol=1e-6)
    assert 1 < admm.n_iter_ < LONG["max_iter"]


def test_same_seed_same_labels_and_inputs_stay(seed):
    points, _ = subspaces(seed, noise=0.5)
    before = points.copy()
    clusterer = SSC(6, solver="exact", random_state=seed)
    first = clusterer.fit_predict(points)
    np.testing.assert_array_equal(first, clone(clusterer).fit_predict(points))
    np.testing.assert_array_equal(points, before)


def test_too_few_iterations_are_said_to_be():
    points, _ = subspaces()
    with pytest.warns(ConvergenceWarning, match="after 3 iterations, above tol=0.0002"):
        clusterer = SSC(4, max_iter=3, random_state=0).fit(points)
    assert clusterer.n_iter_ == 3
    assert clusterer.residual_ > 2e-4


@pytest.mark.parametrize("solver", ["admm", "exact"])
def test_duplicates_zero_rows_and_orthogonal_points(solver):
    clusterer = SSC(2, solver=solver, random_state=0)
    points, labels = subspaces(n_subspaces=2, n=6)
    twice = clusterer.fit_predict(np.repeat(points, 2, axis=0))
    np.testing.assert_array_equal(twice[::2], twice[1::2])
    with_zeros = clusterer.fit_predict(np.vstack([points, np.zeros((2, 30))]))
    assert adjusted_rand_score(with_zeros[:12], labels) == 1.0
    alone = clusterer.fit(np.eye(6))
    assert alone.codes_.nnz == 0
    assert alone.labels_.shape == (6,)
    assert SSC(1, solver=solver).fit(points).n_clusters_ == 1
    assert SSC(12, solver=solver, random_state=0).fit(points).labels_.max() < 12


def test_more_clusters_than_points_is_an_error():
    with pytest.raises(DataError, match="3 points cannot make 4 clusters"):
        SSC(4).fit(np.eye(3))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 0}, "n_clusters must be an int of at least 1"),
        ({"alpha": 0.0}, "alpha must be a positive number"),
        ({"solver": "lars"}, "solver must be one of 'admm', 'exact'"),
        ({"keep": 1.5}, "keep must be a positive number of at most 1"),
        ({"max_iter": 0}, "max_iter must be an int"),
        ({"tol": -1.0}, "tol must be a positive number"),
        ({"affine": "yes"}, "affine must be one of False, True"),
        ({"affine": True, "solver": "exact"}, 'affine must be False with solver="exact"'),
        ({"outliers": True, "solver": "exact"}, 'outliers must be False with solver="exact"'),
    ],
    ids=str,
)
def test_bad_parameters_name_themselves(parameters, message):
    with pytest.raises(ParameterError, match=message):
        SSC(**parameters).fit(np.eye(9))


def test_subspaces_are_not_what_k_means_finds(seed):
    points, labels = subspaces(seed)
    kmeans = KMeans(4, n_init=10, random_state=0).fit_predict(points)
    assert adjusted_rand_score(kmeans, labels) < 0.6
