"""Walks over the graph of sets: by hand, beside scikit-learn, and what they must not do."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.semi_supervised import LabelPropagation

from setwise.together import spread, walked
from setwise.together.spread import carriers, class_probabilities, shrunk_sizes


def random_steps(n, k, seed):
    rng = np.random.default_rng(seed)
    table = np.zeros((n, n))
    for i in range(n):
        others = rng.choice([j for j in range(n) if j != i], size=k, replace=False)
        table[i, others] = rng.random(k) + 0.05
    return sp.csr_array(table / table.sum(axis=1, keepdims=True))


def some_labels(n, n_classes, n_labelled, seed):
    codes = np.full(n, -1)
    chosen = np.random.default_rng(seed + 1).permutation(n)[:n_labelled]
    codes[chosen] = np.arange(n_labelled) % n_classes
    return codes


def test_it_is_scikit_learns_label_propagation_where_nobody_gives_up():
    steps, codes = random_steps(30, 4, 0), some_labels(30, 3, 9, 0)
    shares = walked(steps, codes, 3, going_on=1.0)
    oracle = LabelPropagation(kernel=lambda *_: steps.toarray(), max_iter=5000, tol=1e-12)
    oracle.fit(np.arange(30.0)[:, None], codes)
    np.testing.assert_allclose(shares, oracle.label_distributions_, atol=1e-6)


@given(st.integers(0, 10_000))
def test_shares_are_the_limit_of_walking(seed):
    steps, codes = random_steps(12, 3, seed), some_labels(12, 2, 3, seed)
    shares = walked(steps, codes, 2, going_on=0.9)
    walking = np.zeros_like(shares)
    walking[codes >= 0, codes[codes >= 0]] = 1.0
    fixed = walking.copy()
    for _ in range(400):
        walking = np.where((codes >= 0)[:, None], fixed, 0.9 * (steps @ walking))
    np.testing.assert_allclose(shares, walking, atol=1e-9)
    assert shares.sum(axis=1).max() <= 1.0 + 1e-9


def test_large_systems_are_solved_alike(monkeypatch):
    steps, codes = random_steps(60, 5, 3), some_labels(60, 4, 12, 3)
    exact = walked(steps, codes, 4)
    monkeypatch.setattr(spread, "MOST_FACTORED", 0)
    np.testing.assert_allclose(walked(steps, codes, 4), exact, atol=1e-6)


def test_a_labelled_set_claims_nothing_that_does_not_ask_it():
    # Set 0 is labelled and near to set 1, which is nearer to set 2, labelled otherwise.
    steps = sp.csr_array(np.array([[0, 1.0, 0], [0, 0, 1], [0, 1, 0]]))
    shares = walked(steps, np.array([0, -1, 1]), 2, going_on=1.0)
    np.testing.assert_allclose(shares[1], [0.0, 1.0])


def test_sets_that_reach_no_label_have_no_share():
    steps = sp.csr_array(np.array([[0, 1.0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]))
    shares = walked(steps, np.array([0, -1, -1, -1]), 1)
    np.testing.assert_allclose(shares[:, 0], [1.0, 0.99, 0.0, 0.0])
    np.testing.assert_allclose(class_probabilities(shares[2:]).sum(axis=1), 1.0)


def test_without_labels_nothing_is_known():
    steps = random_steps(5, 2, 0)
    assert walked(steps, np.full(5, -1), 2).sum() == 0


def test_even_sizes_are_believed_where_the_shares_leave_them_open():
    unsure = np.tile([0.55, 0.45], (40, 1))
    probabilities = class_probabilities(unsure)
    np.testing.assert_allclose(probabilities.sum(axis=0), [20.0, 20.0], atol=0.6)


def test_sure_sizes_stay():
    sure = np.array([[0.999, 0.001]] * 36 + [[0.001, 0.999]] * 4)
    assert (class_probabilities(sure).argmax(axis=1) == [0] * 36 + [1] * 4).all()
    np.testing.assert_allclose(class_probabilities(sure).sum(axis=0), [36, 4], atol=0.2)


def test_sets_of_unknown_classes_do_not_count_for_sizes():
    shares = np.array([[0.6, 0.4]] * 10 + [[0.9, 0.1]] * 30)
    counted = np.arange(40) < 10
    np.testing.assert_allclose(
        class_probabilities(shares, counted)[:10], class_probabilities(shares[:10])
    )


@pytest.mark.parametrize(("variance", "expected"), [(0.0, [1, 9]), (8.0, [3, 7]), (99, [5, 5])])
def test_sizes_are_shrunk_by_the_share_of_noise(variance, expected):
    np.testing.assert_allclose(shrunk_sizes(np.array([1.0, 9.0]), variance), expected)


def test_carriers_share_the_flow_of_the_first_step():
    steps = sp.csr_array(np.array([[0, 0.5, 0.5, 0], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 1, 0]]))
    shares = np.array([[0.0, 0.0], [0.2, 0.8], [0.6, 0.4], [0.5, 0.5]])
    assert carriers(steps, shares, 0, 0) == [(2, pytest.approx(0.75)), (1, pytest.approx(0.25))]
    assert carriers(steps, 0 * shares, 0, 0) == []
