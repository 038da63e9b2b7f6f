"""RNP: the stacked least-squares problem, literally, and the interface."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import toy_sets

from setwise.baselines.nearest_points import RNP, RegularisedSet, nearest_points
from setwise.errors import ParameterError


def some_set(n_vectors, seed=0, n_features=10):
    return np.random.default_rng(seed).standard_normal((n_vectors, n_features)) + 0.5


def literal_weights(a, b, lambda_a, lambda_b):
    """The recipe's joint closed form, with columns as vectors."""
    a = (a / np.linalg.norm(a, axis=1, keepdims=True)).T
    b = (b / np.linalg.norm(b, axis=1, keepdims=True)).T
    c = np.sqrt(lambda_a / lambda_b)
    n_a, n_b = a.shape[1], b.shape[1]
    stacked = np.block(
        [
            [a, -c * b],
            [np.ones((1, n_a)), np.zeros((1, n_b))],
            [np.zeros((1, n_a)), c * np.ones((1, n_b))],
        ]
    )
    wanted = np.append(np.zeros(len(a)), [1, 1])
    normal = stacked.T @ stacked + lambda_a * np.eye(n_a + n_b)
    x = np.linalg.solve(normal, stacked.T @ wanted)
    return x[:n_a], c * x[n_a:]


def literal_distance(a, b, lambda_a, lambda_b):
    alpha, beta = literal_weights(a, b, lambda_a, lambda_b)
    a, b = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (a, b))
    norms = np.linalg.norm(a, "nuc") + np.linalg.norm(b, "nuc")
    return np.sum((alpha @ a - beta @ b) ** 2) * norms


@pytest.mark.parametrize("lambdas", [(0.001, 0.1), (0.1, 0.1), (3.0, 0.01)])
@pytest.mark.parametrize("sizes", [(6, 8), (1, 5), (5, 1), (1, 1), (30, 12)])
def test_weights_solve_the_stacked_normal_equations(sizes, lambdas):
    a, b = some_set(sizes[0]), some_set(sizes[1], seed=1)
    known, probe = (RegularisedSet.of(x, p) for x, p in zip((a, b), lambdas, strict=True))
    alpha, beta = nearest_points(known, probe)
    expected = literal_weights(a, b, *lambdas)
    np.testing.assert_allclose(alpha, expected[0], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(beta, expected[1], rtol=1e-7, atol=1e-9)


def test_nuclear_norm_is_that_of_the_unit_vectors():
    a = some_set(6)
    expected = np.linalg.norm(a / np.linalg.norm(a, axis=1, keepdims=True), "nuc")
    assert RegularisedSet.of(a, 0.1).nuclear_norm == pytest.approx(expected)


def test_two_orthogonal_vectors_by_hand():
    known, probe = (RegularisedSet.of(x[None], 0.5) for x in np.eye(2))
    # Each minimises a^2 + (a - 1)^2 + 0.5 a^2 by itself.
    np.testing.assert_allclose(np.concatenate(nearest_points(known, probe)), 0.4)


@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(1, 6))
def test_with_equal_weights_both_sides_are_treated_alike(seed, n_a, n_b):
    known, probe = (
        RegularisedSet.of(some_set(n, s), 0.1) for n, s in ((n_a, seed), (n_b, seed + 1))
    )
    there, back = nearest_points(known, probe), nearest_points(probe, known)
    for found, expected in zip(there, back[::-1], strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-10)


def test_scores_are_the_literal_distances(seed):
    sets, labels = toy_sets(seed)
    gallery, known = sets[::2], labels[::2]
    scores = RNP().fit(gallery, known).decision_function(sets[1::2])
    expected = np.full(scores.shape, -np.inf)
    for i, probe in enumerate(sets[1::2]):
        for vectors, label in zip(gallery, known, strict=True):
            distance = literal_distance(vectors, probe, 0.001, 0.1)
            expected[i, label] = max(expected[i, label], -distance)
    np.testing.assert_allclose(scores, expected, rtol=1e-6)


def test_lengths_of_vectors_and_their_order_do_not_matter(seed):
    sets, labels = toy_sets(seed)
    fitted = RNP().fit(sets, labels)
    scores = fitted.decision_function(sets)
    rng = np.random.default_rng(0)
    stretched = [x[::-1] * rng.uniform(0.1, 9, (len(x), 1)) for x in sets]
    np.testing.assert_allclose(fitted.decision_function(stretched), scores, rtol=1e-6)
    again = RNP(n_jobs=2).fit(stretched, labels).decision_function(sets)
    np.testing.assert_allclose(again, scores, rtol=1e-6)


def test_classes_that_live_apart_are_told_apart(seed):
    sets, labels = toy_sets(seed, n_sets=6)
    assert RNP().fit(sets[::2], labels[::2]).score(sets[1::2], labels[1::2]) >= 8 / 9


def test_odd_sets_are_accepted():
    gallery = [np.eye(3)[:1], np.ones((4, 3)), np.diag([0.0, 1.0, 0.0])]
    fitted = RNP().fit(gallery, ["x", "copies", "y and zeros"])
    probes = [[[2.0, 2.0, 2.0]], [[5.0, 0.1, 0.1]], [[0.1, 5.0, 0.1], [0.0, 0.0, 0.0]]]
    assert list(fitted.predict(probes)) == ["copies", "x", "y and zeros"]


@pytest.mark.parametrize("name", ["lambda_gallery", "lambda_probe"])
def test_bad_parameters_are_refused_by_name(name):
    sets, labels = toy_sets(0)
    with pytest.raises(ParameterError, match=f"RNP: {name} must be a positive number"):
        RNP(**{name: 0}).fit(sets, labels)
