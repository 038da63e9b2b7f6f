"""Distances between hulls: hand examples, generic solvers, certificates and invariances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import lstsq
from scipy.optimize import minimize
from scipy.stats import ortho_group
from tests.baselines.convex_hulls import convex_hull_distance
from tests.helpers import fingerprint

from setwise.baselines import hulls, simplex_qp
from setwise.baselines.hulls import affine_hull, affine_hull_distance, gram_hull_distance
from setwise.errors import ConvergenceWarning


def cloud(n_vectors=8, n_features=12, seed=0, shift=0.0):
    vectors = np.random.default_rng(seed).standard_normal((n_vectors, n_features))
    vectors[:, 0] += shift
    return vectors


def affine_distance(a, b):
    return affine_hull_distance(a.mean, a.basis, b.mean, b.basis)


def assert_certified(found, a, b, tau=1.0):
    """Feasible weights, and a duality gap that proves them optimal, both recomputed."""
    for weights, vectors in ((found.alpha, a), (found.beta, b)):
        assert weights.shape == (len(vectors),)
        assert weights.sum() == pytest.approx(1, abs=1e-12)
        assert weights.min() >= 0
        assert weights.max() <= tau * (1 + 1e-12)
    between = found.alpha @ a - found.beta @ b
    assert found.distance == pytest.approx(np.linalg.norm(between), rel=1e-9, abs=1e-7)
    lowest = least_mean(a @ between, tau) + least_mean(-b @ between, tau)
    squared = between @ between
    size = max(np.var(a, axis=0).sum(), np.var(b, axis=0).sum(), squared)
    # Where the hulls meet, the distance is its own bound.
    gap = min(squared - lowest, squared)
    assert gap <= max(1e-8 * squared, 1e-12 * size)
    assert found.gap <= max(1e-8 * squared, 1e-12 * size)


def least_mean(values, tau):
    """Least weighted mean of values under weights of at most tau."""
    left, total = 1.0, 0.0
    for value in sorted(values):
        weight = min(tau, left)
        total, left = total + weight * value, left - weight
    return total


# Affine hulls.


def test_skew_lines_are_as_far_apart_as_their_common_perpendicular():
    x, y, _ = np.eye(3)[:, :, None]
    assert affine_hull_distance(np.zeros(3), x, np.array([5.0, 7.0, 3.0]), y) == pytest.approx(
        3
    )


def test_parallel_lines_share_their_direction():
    x = np.eye(3)[:, :1]
    distance = affine_hull_distance(np.zeros(3), x, np.array([5.0, 3.0, 4.0]), -x)
    assert distance == pytest.approx(5)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("n_a", "n_b", "energy"), [(5, 4, 1.0), (8, 6, 0.8), (1, 5, 1.0)])
def test_affine_distance_is_the_residual_of_least_squares(seed, n_a, n_b, energy):
    a = affine_hull(cloud(n_a, seed=seed), energy)
    b = affine_hull(cloud(n_b, seed=seed + 100), energy)
    both = np.hstack([a.basis, b.basis])
    wanted = a.mean - b.mean
    residual = wanted - both @ lstsq(both, wanted)[0]
    assert affine_distance(a, b) == pytest.approx(np.linalg.norm(residual), rel=1e-10)
    assert affine_distance(b, a) == pytest.approx(affine_distance(a, b), rel=1e-10)


def test_shared_directions_count_once():
    rng = np.random.default_rng(0)
    directions = ortho_group.rvs(10, random_state=0)
    turn = ortho_group.rvs(5, random_state=1)
    a, b = directions[:, :6], directions[:, :5] @ turn
    means = rng.standard_normal((2, 10))
    expected = np.linalg.norm(directions[:, 6:].T @ (means[0] - means[1]))
    for first, second in ((a, b), (b, a)):
        distance = affine_hull_distance(means[0], first, means[1], second)
        assert distance == pytest.approx(expected, rel=1e-9)


def test_hulls_that_fill_the_space_are_at_distance_0_exactly():
    a, b = affine_hull(cloud(7), 1.0), affine_hull(cloud(7, seed=1), 1.0)
    assert a.n_dims + b.n_dims == 12
    assert affine_distance(a, b) == 0


def test_affine_distance_turns_and_moves_with_the_sets():
    rotation = ortho_group.rvs(12, random_state=2)
    a, b = cloud(4), cloud(5, seed=1)
    expected = affine_distance(affine_hull(a, 1.0), affine_hull(b, 1.0))
    moved = [affine_hull(vectors[::-1] @ rotation + 7.0, 1.0) for vectors in (a, b)]
    assert affine_distance(*moved) == pytest.approx(expected, rel=1e-10)


def test_hull_keeps_the_fewest_directions_that_hold_the_energy():
    vectors = np.vstack([np.diag([4.0, 3.0, 1.0]), -np.diag([4.0, 3.0, 1.0])]) + 5.0
    dims = {e: affine_hull(vectors, e).n_dims for e in (0.5, 16 / 26, 0.62, 25 / 26, 0.97, 1.0)}
    assert dims == {0.5: 1, 16 / 26: 1, 0.62: 2, 25 / 26: 2, 0.97: 3, 1.0: 3}
    np.testing.assert_allclose(np.abs(affine_hull(vectors, 0.5).basis[:, 0]), [1, 0, 0])


@pytest.mark.parametrize("n_copies", [1, 5])
def test_a_set_that_does_not_vary_is_a_point(n_copies):
    hull = affine_hull(np.repeat(cloud(1) * 100, n_copies, axis=0), 1.0)
    assert hull.basis.shape == (12, 0)
    point = affine_hull(cloud(1, seed=1), 1.0)
    expected = np.linalg.norm(hull.mean - point.mean)
    assert affine_distance(hull, point) == pytest.approx(expected)


# Convex hulls.


def test_two_squares():
    square = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    found = convex_hull_distance(square, square + np.array([3.0, 0.5]))
    assert found.distance == pytest.approx(2)
    np.testing.assert_allclose(found.alpha[:2], 0, atol=1e-9)
    np.testing.assert_allclose(found.beta[2:], 0, atol=1e-9)


def test_a_point_and_a_triangle():
    triangle = np.array([[2.0, -1.0], [2.0, 1.0], [5.0, 0.0]])
    found = convex_hull_distance(np.zeros((1, 2)), triangle)
    assert found.distance == pytest.approx(2)
    np.testing.assert_allclose(found.beta, [0.5, 0.5, 0], atol=1e-9)


def by_generic_solver(a, b, tau):
    """SLSQP on the weights."""
    n_a, both = len(a), np.vstack([a, -b])
    start = np.concatenate([np.full(n_a, 1 / n_a), np.full(len(b), 1 / len(b))])
    solved = minimize(
        lambda w: (w @ both) @ (w @ both),
        start,
        jac=lambda w: 2 * both @ (w @ both),
        bounds=[(0, tau)] * len(both),
        constraints=[
            {"type": "eq", "fun": lambda w: w[:n_a].sum() - 1},
            {"type": "eq", "fun": lambda w: w[n_a:].sum() - 1},
        ],
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 500},
    )
    return np.linalg.norm(solved.x @ both)


@pytest.mark.parametrize("tau", [1.0, 0.4, 0.2])
@pytest.mark.parametrize(("n_a", "n_b", "n_features"), [(6, 9, 4), (5, 5, 20), (12, 8, 2)])
def test_convex_distance_is_that_of_a_generic_solver(n_a, n_b, n_features, tau):
    a, b = cloud(n_a, n_features), cloud(n_b, n_features, seed=1, shift=4.0)
    found = convex_hull_distance(a, b, tau)
    assert found.distance == pytest.approx(by_generic_solver(a, b, tau), rel=1e-6)
    assert_certified(found, a, b, tau)


CASES = {
    "image sets": (cloud(41, 400), cloud(41, 400, 1)),
    "the hulls meet": (cloud(30, 4), cloud(20, 4, 1)),
    "one inside the other": (cloud(30, 3) * 9, cloud(5, 3, 1)),
    "the same set": (cloud(9), cloud(9)),
    "they share one vector": (cloud(9, 3), np.vstack([cloud(9, 3)[:1], cloud(4, 3, 1, 9.0)])),
    "copies": (np.repeat(cloud(5), 3, axis=0), np.repeat(cloud(4, seed=1), 2, axis=0)),
    "single vectors": (cloud(1), cloud(1, seed=1)),
    "a single vector": (cloud(1, 3), cloud(20, 3, 1, 3.0)),
    "one set is a point, many times": (np.ones((6, 3)), cloud(20, 3, 1)),
    "one feature": (cloud(8, 1), cloud(9, 1, 1, 8.0)),
    "far from the origin": (cloud(8, 3) + 1e6, cloud(9, 3, 1, 3.0) + 1e6),
    "tiny": (cloud(8, 3) * 1e-100, cloud(9, 3, 1, 3.0) * 1e-100),
    "huge": (cloud(8, 3) * 1e100, cloud(9, 3, 1, 3.0) * 1e100),
    "one small, one large": (cloud(8, 3) * 1e-4, cloud(9, 3, 1, 9.0)),
    "far more vectors than features": (cloud(150, 3), cloud(200, 3, 1, 6.0)),
    "all zero": (np.zeros((3, 2)), np.zeros((4, 2))),
}


@pytest.mark.parametrize("tau", [1.0, 0.3])
@pytest.mark.parametrize("case", CASES)
def test_every_answer_is_certified(case, tau):
    a, b = CASES[case]
    tau = max(tau, 1 / min(len(a), len(b)))
    before = fingerprint(a, b)
    found = convex_hull_distance(a, b, tau)
    assert fingerprint(a, b) == before
    # In units in which the certificate's squares neither overflow nor vanish.
    unit = np.abs(np.vstack([a, b])).max() or 1.0
    centre = a.mean(axis=0)
    found_in_units = type(found)(
        found.distance / unit, found.alpha, found.beta, found.gap / unit / unit
    )
    assert_certified(found_in_units, (a - centre) / unit, (b - centre) / unit, tau)


@pytest.mark.parametrize("case", ["the hulls meet", "one inside the other", "the same set"])
def test_hulls_that_meet_are_at_distance_0(case):
    a, b = CASES[case]
    size = np.abs(np.vstack([a, b])).max()
    assert convex_hull_distance(a, b).distance < 1e-7 * size


def test_the_smallest_bound_leaves_only_the_means():
    a, b = cloud(6), cloud(6, seed=1)
    found = convex_hull_distance(a, b, tau=1 / 6)
    np.testing.assert_allclose(found.alpha, 1 / 6)
    assert found.distance == pytest.approx(np.linalg.norm(a.mean(axis=0) - b.mean(axis=0)))
    # One more vector leaves that set some choice.
    larger = cloud(7, seed=1)
    for tau in (1 / 6, 1 / 6 + 1e-7):
        assert_certified(convex_hull_distance(a, larger, tau), a, larger, tau)


@pytest.mark.parametrize("tau", [1.0, 0.2])
def test_inner_products_are_enough(tau):
    a, b = cloud(9, 5), cloud(11, 5, seed=1, shift=4.0)
    both = np.vstack([a, b])
    found = gram_hull_distance(both @ both.T, len(a), tau)
    assert_certified(found, a, b, tau)
    by_vectors = convex_hull_distance(a, b, tau)
    assert found.distance == pytest.approx(by_vectors.distance, rel=1e-9)
    np.testing.assert_allclose(found.alpha, by_vectors.alpha, atol=1e-7)


@pytest.mark.parametrize("tau", [1.0, 0.2])
def test_large_sets_are_solved_by_pools_without_a_difference(monkeypatch, tau):
    a, b = cloud(150, 30), cloud(130, 30, seed=1, shift=9.0)
    found = convex_hull_distance(a, b, tau)
    assert_certified(found, a, b, tau)
    monkeypatch.setattr(hulls, "_POOL", 1000)
    assert found.distance == pytest.approx(convex_hull_distance(a, b, tau).distance, rel=1e-9)
    monkeypatch.setattr(hulls, "_POOL", 2)
    few = convex_hull_distance(a, b, tau)
    assert found.distance == pytest.approx(few.distance, rel=1e-9)


def test_an_answer_that_is_not_proved_is_doubted_aloud(monkeypatch):
    monkeypatch.setattr(simplex_qp, "_MAX_STEPS", 2)
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        convex_hull_distance(cloud(30, 5), cloud(30, 5, seed=1, shift=4.0))


points = st.integers(1, 3).flatmap(
    lambda n_features: st.tuples(
        *[
            st.lists(
                st.lists(st.integers(-4, 4), min_size=n_features, max_size=n_features),
                min_size=1,
                max_size=7,
            )
        ]
        * 2
    )
)


@given(points=points, tau=st.sampled_from([1.0, 0.7, 0.5, 0.25]), shift=st.integers(0, 9))
def test_distances_of_small_grids_are_certified_and_keep_their_laws(points, tau, shift):
    a, b = (np.array(side, dtype=float) for side in points)
    b[:, 0] += shift
    tau = max(tau, 1 / min(len(a), len(b)))
    found = convex_hull_distance(a, b, tau)
    assert_certified(found, a, b, tau)
    slack = 1e-6
    mirrored = convex_hull_distance(b[::-1] - 3.0, a - 3.0, tau)
    assert mirrored.distance == pytest.approx(found.distance, abs=slack)
    # Hulls only grow with the bound, up to all that the affine hull holds.
    convex = convex_hull_distance(a, b).distance
    assert convex <= found.distance + slack
    assert found.distance <= np.linalg.norm(a.mean(axis=0) - b.mean(axis=0)) + slack
    assert convex <= np.linalg.norm(a[:, None] - b, axis=2).min() + slack
    affine = affine_distance(affine_hull(a, 1.0), affine_hull(b, 1.0))
    assert affine <= convex + slack


def test_convex_distance_turns_and_moves_with_the_sets():
    rotation = ortho_group.rvs(12, random_state=2)
    a, b = cloud(9), cloud(7, seed=1)
    expected = convex_hull_distance(a, b, 0.5)
    shuffle = np.random.default_rng(0).permutation(len(a))
    found = convex_hull_distance(a[shuffle] @ rotation + 7.0, b @ rotation + 7.0, 0.5)
    assert found.distance == pytest.approx(expected.distance, rel=1e-9)
    np.testing.assert_allclose(found.alpha, expected.alpha[shuffle], atol=1e-7)
