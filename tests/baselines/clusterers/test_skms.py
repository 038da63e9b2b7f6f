"""SKMS: the learned kernel against a literal one, and what its constraints promise."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from setwise.baselines.clusterers.skms import (
    FAR,
    NEAR,
    SKMS,
    Modes,
    bandwidths,
    distance_targets,
    learn_kernel,
    low_rank_factor,
    mean_shift,
    merge_modes,
    random_constraints,
    select_sigma,
    skms,
    squared_distances,
)
from setwise.errors import ConvergenceWarning, DataError, ParameterError

NONE = np.empty((0, 3), dtype=np.int64)


def blobs(seed=0, n=60, n_classes=4, spread=1.0):
    return make_blobs(n, n_features=5, centers=n_classes, cluster_std=spread, random_state=seed)


def gaussian_factor(points, sigma):
    return low_rank_factor(np.exp(-squared_distances(points) / (2 * sigma**2)))


def problem(seed=0, n_constraints=40, spread=3.0):
    """A factor, constraints and targets that the Gaussian kernel does not keep by itself."""
    points, labels = blobs(seed, spread=spread)
    rng = np.random.default_rng(seed)
    constraints = random_constraints(labels, n_constraints / len(labels), rng)
    factor = gaussian_factor(points, 5.0)
    near, far = distance_targets(factor)
    return factor, constraints, np.where(constraints[:, 2] > 0, near, far)


# -------------------------------------------------------------------------- kernel learning


def test_squared_distances_far_from_the_origin():
    points = 1e6 + np.random.default_rng(0).standard_normal((7, 3))
    literal = [[((a - b) ** 2).sum() for b in points] for a in points]
    np.testing.assert_allclose(squared_distances(points), literal, rtol=1e-6, atol=1e-12)


def test_sigma_by_the_literal_formula():
    points, labels = blobs(spread=2.0)
    distances = squared_distances(points)
    constraints = random_constraints(labels, 1.0, np.random.default_rng(0))
    sigmas = [0.3, 1.0, 3.0, 10.0, 30.0]
    costs = []
    for sigma in sigmas:
        K = np.exp(-distances / (2 * sigma**2))
        cost = 0.0
        for i, j, delta in constraints:
            d = K[i, i] + K[j, j] - 2 * K[i, j]
            xi = NEAR if delta > 0 else FAR
            r = xi / (max(xi, d) if delta > 0 else min(xi, d))
            cost += r - np.log(r) - 1
        costs.append(cost)
    chosen = select_sigma(distances, constraints, sigmas)
    assert chosen == sigmas[int(np.argmin(costs))]
    assert chosen not in (sigmas[0], sigmas[-1])


def test_sigma_without_constraints_is_about_the_median_distance():
    points, _ = blobs()
    distances = squared_distances(points)
    median = np.median(np.sqrt(distances[np.triu_indices(60, 1)]))
    assert 0.75 < select_sigma(distances, NONE) / median < 1.33
    assert select_sigma(distances, NONE, [0.01, 1.1 * median, 1e3]) == 1.1 * median
    assert select_sigma(np.zeros((3, 3)), NONE) > 0


def test_low_rank_factor_holds_the_share_and_no_more():
    points, _ = blobs()
    kernel = np.exp(-squared_distances(points) / 8.0)
    factor = low_rank_factor(kernel)
    trace, kept = np.trace(kernel), (factor**2).sum()
    assert np.sqrt(kept / trace) >= 0.99
    assert np.sqrt((kept - (factor[:, -1] ** 2).sum()) / trace) < 0.99
    assert low_rank_factor(kernel, 4).shape == (60, 4)
    values = np.linalg.eigvalsh(kernel - factor @ factor.T)
    assert values.min() > -1e-12


def literal_learning(G, constraints, targets, gamma, tol, max_updates):
    """The update of the recipe, with a Cholesky factor of ``I + beta x x'``."""
    r = G.shape[1]
    B = np.eye(r)
    lam, xi = np.zeros(len(targets)), targets.copy()
    n_updates = 0
    while True:
        old = lam.copy()
        for c, (i, j, delta) in enumerate(constraints):
            x = B.T @ (G[i] - G[j])
            p = x @ x
            n_updates += 1
            if p < 1e-12:
                continue
            a = min(lam[c], delta * gamma / (gamma + 1) * (1 / p - 1 / xi[c]))
            beta = delta * a / (1 - delta * a * p)
            xi[c] = gamma * xi[c] / (gamma + delta * a * xi[c])
            lam[c] -= a
            B = B @ np.linalg.cholesky(np.eye(r) + beta * np.outer(x, x))
        scale = np.linalg.norm(lam) + np.linalg.norm(old)
        if scale == 0 or np.abs(lam - old).sum() / scale < tol or n_updates >= max_updates:
            return G @ B @ B.T @ G.T, lam, n_updates


@pytest.mark.parametrize("gamma", [1.0, 100.0])
def test_kernel_same_as_by_the_literal_update(gamma, seed):
    factor, constraints, targets = problem(seed)
    kernel, multipliers, n_updates = literal_learning(
        factor, constraints, targets, gamma, 1e-3, 100_000
    )
    found = learn_kernel(factor, constraints, targets, gamma=gamma)
    np.testing.assert_allclose(found.factor @ found.factor.T, kernel, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(found.multipliers, multipliers, rtol=1e-8, atol=1e-9)
    assert found.n_updates == n_updates
    assert found.has_converged


def test_constraints_hold_within_a_few_percent(seed):
    factor, constraints, targets = problem(seed)
    before = squared_distances(factor)[constraints[:, 0], constraints[:, 1]]
    found = learn_kernel(factor, constraints, targets)
    after = squared_distances(found.factor)[constraints[:, 0], constraints[:, 1]]
    must = constraints[:, 2] > 0
    assert (before[must] > 1.5 * targets[must]).any()
    assert (before[~must] < 0.8 * targets[~must]).any()
    assert (after[must] <= 1.05 * targets[must]).all()
    assert (after[~must] >= 0.95 * targets[~must]).all()
    assert (found.multipliers >= 0).all()
    kernel = found.factor @ found.factor.T
    assert np.linalg.eigvalsh(kernel).min() > -1e-10


def test_without_constraints_the_kernel_stays():
    factor = problem()[0]
    found = learn_kernel(factor, NONE, np.empty(0))
    np.testing.assert_array_equal(found.factor, factor)
    assert (found.n_updates, found.has_converged) == (0, True)


def test_constraints_that_hold_change_nothing():
    points = np.array([[0.0, 0], [0.01, 0], [50, 0]])
    factor = gaussian_factor(points, 1.0)
    constraints = np.array([[0, 1, 1], [0, 2, -1]])
    found = learn_kernel(factor, constraints, np.array([0.1, 1.9]))
    np.testing.assert_allclose(found.factor, factor)
    assert (found.multipliers == 0).all()


def test_copies_of_a_point_cannot_be_parted():
    points = np.array([[0.0, 0], [0, 0], [3, 0], [3, 1]])
    constraints = np.array([[0, 1, -1], [2, 3, 1]])
    found = skms(points, constraints, sigmas=[1.0])
    assert found.labels[0] == found.labels[1]
    assert np.isfinite(found.kernel).all()
    assert set(skms(np.ones((5, 2)), constraints).labels) == {0}


# ------------------------------------------------------------------------------- mean shift


def literal_mean_shift(points, squared, tol=1e-10):
    modes = []
    for start in points:
        z, step = start, np.inf
        while step >= tol:
            w = np.array(
                [
                    h2 ** (-(len(z) + 2) / 2) * np.exp(-((z - g) @ (z - g)) / (2 * h2))
                    for g, h2 in zip(points, squared, strict=True)
                ]
            )
            old, z = z, w @ points / w.sum()
            step = np.linalg.norm(z - old)
        modes.append(z)
    return np.array(modes)


def test_mean_shift_same_as_the_literal_loop(seed):
    points = np.random.default_rng(seed).standard_normal((20, 2))
    squared = np.random.default_rng(seed + 1).uniform(0.05, 0.2, 20)
    found = mean_shift(points, squared)
    np.testing.assert_allclose(found.positions, literal_mean_shift(points, squared), atol=1e-8)
    assert found.n_moving == 0


def test_weights_do_not_overflow():
    points = np.vstack([np.zeros((3, 25)), np.ones((3, 25))])
    modes = mean_shift(points, np.full(6, 1e-8) * np.arange(1, 7))
    np.testing.assert_array_equal(modes.positions, points)


def test_bandwidth_by_hand():
    points = np.array([[0.0], [1.0], [3.0], [10.0]])
    # Point 2 is the third neighbour of point 0, which is the third of point 2: k = 3.
    links = np.array([[0, 2, 1], [0, 3, -1]])
    assert bandwidths(points, links, near=9.5).tolist() == [9.0, 4.0, 9.0, 81.0]
    # Too far to count, so that k is 5 % of the points, but at least 2.
    assert bandwidths(points, links, near=8.0).tolist() == [1.0, 1.0, 4.0, 49.0]
    assert bandwidths(points, NONE, near=8.0).tolist() == [1.0, 1.0, 4.0, 49.0]
    assert (bandwidths(np.zeros((4, 1)), links, near=1.0) == 1e-8).all()


def test_modes_merge_where_they_meet():
    positions = np.array([[0.0], [1e-7], [1.0], [1.0 + 1e-7], [2e-7]])
    assert merge_modes(positions, np.full(5, 0.01)).tolist() == [0, 0, 1, 1, 0]


# -------------------------------------------------------------------------------- estimator


@given(
    labels=st.lists(st.integers(-1, 3), min_size=1, max_size=30),
    share=st.floats(0, 2),
    seed=st.integers(0, 100),
)
def test_random_constraints_are_pairs_of_labelled_points(labels, share, seed):
    labels = np.array(labels)
    constraints = random_constraints(labels, share, np.random.default_rng(seed))
    n_labelled = (labels >= 0).sum()
    assert len(constraints) == (round(share * n_labelled) if n_labelled > 1 else 0)
    first, second, delta = constraints.T
    assert (first != second).all()
    assert (labels[first] >= 0).all()
    assert (labels[second] >= 0).all()
    np.testing.assert_array_equal(delta == 1, labels[first] == labels[second])
    assert set(delta.tolist()) <= {-1, 1}


@parametrize_with_checks(
    [SKMS()], expected_failed_checks=lambda _: {"check_clustering": "fits without labels"}
)
@pytest.mark.filterwarnings("ignore::setwise.errors.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_finds_blobs(seed):
    points, labels = make_blobs(
        80, centers=10.0 * np.eye(4, 6), cluster_std=0.5, random_state=seed
    )
    y = np.where(np.arange(80) % 4 == 0, -1, labels)
    clusterer = SKMS(random_state=seed).fit(points, y)
    assert adjusted_rand_score(clusterer.labels_, labels) == 1.0
    assert clusterer.n_clusters_ == 4
    assert clusterer.constraints_.shape == (60, 3)
    assert clusterer.kernel_.shape == (80, 80)
    assert clusterer.sigma_ > 0
    assert clusterer.n_updates_ % 60 == 0
    np.testing.assert_array_equal(clone(clusterer).fit_predict(points, y), clusterer.labels_)
    assert (y[clusterer.constraints_[:, :2]] >= 0).all()


@pytest.mark.filterwarnings("ignore::setwise.errors.ConvergenceWarning")
def test_constraints_pull_classes_together(seed):
    """A class of two far blobs is one cluster with must-links, and two without."""
    points, blob = make_blobs(
        80, centers=8.0 * np.eye(4, 6), cluster_std=0.5, random_state=seed
    )
    found = SKMS(constraint_share=3.0, random_state=seed).fit_predict(points, blob // 2)
    assert adjusted_rand_score(found, blob // 2) > 0.9
    without = SKMS(constraint_share=0.0).fit_predict(points, blob // 2)
    assert adjusted_rand_score(without, blob) > 0.9


def test_nobody_labelled_is_plain_mean_shift():
    points, _ = blobs()
    found = SKMS(sigmas=(2.0,)).fit(points, np.full(60, -1))
    assert len(found.constraints_) == found.n_updates_ == 0
    factor = gaussian_factor(points, 2.0)
    np.testing.assert_allclose(found.kernel_, factor @ factor.T)
    assert SKMS().fit_predict([[1.0, 2.0]], [0]).tolist() == [0]


def test_limits_that_are_hit_are_said_to_be(monkeypatch):
    points, labels = blobs(spread=3.0)
    with pytest.warns(ConvergenceWarning, match="after max_updates=1 projections"):
        found = SKMS(max_updates=1, random_state=0).fit(points, labels)
    assert found.n_updates_ == 60  # a sweep is never left half-way
    still_moving = lambda points, squared: Modes(points, 10_000, 5)  # noqa: E731
    # The module, whose name the function has too.
    monkeypatch.setattr(
        sys.modules["setwise.baselines.clusterers.skms"], "mean_shift", still_moving
    )
    with pytest.warns(ConvergenceWarning, match="5 points still moved after 10000"):
        SKMS(random_state=0).fit(points, labels)
    assert mean_shift(points, np.full(60, 4.0), max_iter=2).n_moving > 0


def test_one_class_for_each_row():
    with pytest.raises(DataError, match="one class for each of the 60 rows"):
        SKMS().fit_predict(blobs()[0])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"constraint_share": -0.5}, "constraint_share must be a number of at least 0"),
        ({"sigmas": ()}, "sigmas must be a sequence of positive numbers"),
        ({"sigmas": "median"}, "sigmas must be a sequence of positive numbers"),
        ({"sigmas": (1.0, 0.0)}, "sigmas must be a positive number"),
        ({"gamma": 0.0}, "gamma must be a positive number"),
        ({"tol": np.nan}, "tol must be a positive number"),
        ({"max_updates": 0}, "max_updates must be an int of at least 1"),
    ],
    ids=str,
)
def test_bad_parameters_name_themselves(parameters, message):
    with pytest.raises(ParameterError, match=message):
        SKMS(**parameters).fit(*blobs())
