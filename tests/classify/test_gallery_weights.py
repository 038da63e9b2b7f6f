"""What the gallery says about the members of an ensemble."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax
from tests.conftest import toy_sets

from setwise import CVC
from setwise.gallery.bases import tried_sets
from setwise.gallery.fusion import Pool, ScoreMatrix
from setwise.gallery.trials import (
    POWER,
    Trials,
    chosen_features,
    fitted_inverse_temperature,
    halves,
    weights_of,
)


def test_weights_are_powers_of_the_log_odds_of_being_right_against_guessing():
    likely, n_trials, n_classes = np.array([0.9, 0.6, 0.3]), 40, 4
    mean = (n_trials * likely + 0.5 / n_classes) / (n_trials + 1)
    odds = np.log(mean / (1 - mean)) + np.log(n_classes - 1)
    np.testing.assert_allclose(weights_of(np.log(likely), n_trials, n_classes), odds**POWER)


def test_a_member_worse_than_guessing_counts_nothing():
    assert weights_of(np.log([0.9, 0.2]), 20, 3)[1] == 0


def test_a_member_that_is_always_sure_and_right_has_a_finite_weight():
    few, many = (weights_of(np.zeros(1), n, 3)[0] for n in (4, 40))
    assert 0 < few < many < np.inf


def test_members_that_know_nothing_at_all_count_alike():
    np.testing.assert_array_equal(weights_of(np.log(np.full(3, 0.1)), 40, 4), [1, 1, 1])


def test_members_that_are_not_informed_guess():
    trials = trials_of(np.eye(3)[np.arange(12) % 3], np.zeros((12, 3)))
    found = trials.log_likelihoods(np.ones(2))
    assert found[0] > found[1] == pytest.approx(-np.log(3))


def test_tried_sets_are_spread_over_the_gallery():
    np.testing.assert_array_equal(tried_sets(np.arange(7), 500), np.arange(7))
    tried = tried_sets(np.arange(5001), 250)
    assert len(tried) <= 250
    assert tried[-1] > 4900


@pytest.mark.parametrize("labels", ["cyclic", "sorted", "shuffled"])
def test_tried_sets_are_of_all_classes(labels):
    codes = np.arange(502) % 2
    if labels != "cyclic":
        codes = (
            np.sort(codes)
            if labels == "sorted"
            else np.random.default_rng(0).permutation(codes)
        )
    counts = np.bincount(codes[tried_sets(codes, 500)])
    assert abs(counts[0] - counts[1]) <= 1


def test_a_gallery_of_cyclic_labels_is_fitted():
    rng = np.random.default_rng(0)
    labels = np.array(["anna", "bert"] * 251)
    centres = {"anna": rng.normal(size=6), "bert": rng.normal(size=6)}
    sets = [centres[who] + 0.1 * rng.normal(size=(1, 6)) for who in labels]
    clf = CVC((1,), representations=[("plain", "mean")], evidence="all angles").fit(
        sets, labels
    )
    assert clf.score(sets[:4], labels[:4]) == 1.0


def test_halves_part_a_set_where_it_varies_most(seed):
    rng = np.random.default_rng(seed)
    along = rng.permutation(np.linspace(-1, 1, 12))
    vectors = np.column_stack([np.full(12, 5.0), along, 0.01 * rng.normal(size=12)])
    cut = [vectors[half] for half in halves(vectors)]
    low, high = sorted(cut, key=lambda half: half[:, 1].mean())
    assert low[:, 1].max() < high[:, 1].min()
    assert len(low) == len(high) == 6


def test_other_halves_part_it_along_the_next_direction():
    wide, narrow = (grid.ravel() for grid in np.meshgrid(np.linspace(-1, 1, 5), [-0.3, 0.3]))
    vectors = np.column_stack([np.full(10, 5.0), wide, narrow])
    assert {tuple(np.sign(narrow[half])) for half in halves(vectors, 1)} == {
        (-1,) * 5,
        (1,) * 5,
    }


@given(power=st.floats(0.3, 3.0), seed=st.integers(0, 50))
def test_the_power_is_found_by_which_labels_were_drawn(power, seed):
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(4000, 4))
    drawn = softmax(power * logits, axis=1).cumsum(axis=1)
    codes = (drawn < rng.random((4000, 1))).sum(axis=1)
    np.testing.assert_allclose(fitted_inverse_temperature(logits, codes), power, rtol=0.15)


def test_the_power_stays_finite_where_all_went_right():
    logits = np.eye(5)[[0, 1, 2, 3, 4] * 4]
    found = fitted_inverse_temperature(logits, np.array([0, 1, 2, 3, 4] * 4))
    assert 1 < found < 10


def test_a_misleading_view_is_weighed_down_by_fit(seed):
    """Sign-scrambled features carry no class: the gallery must notice."""
    from sklearn.preprocessing import FunctionTransformer

    sets, labels = toy_sets(seed, n_classes=4, n_sets=5, noise=0.3)
    noise = FunctionTransformer(
        lambda X: np.random.default_rng(int(1e6 * abs(X).sum()) % 2**31).normal(size=X.shape)
    )
    clf = CVC(
        dims=(1, 2, 3),
        representations=[("plain", "svd"), (("noise", noise), "svd")],
        random_state=0,
    ).fit(sets, labels)
    weight = dict(zip(map(str, clf.members_), clf.weights_, strict=True))
    for kind in ("clusters", "edges", "smallest angle", "all angles"):
        plain, noisy = f"plain svd, d=2: {kind}", f"noise svd, d=2: {kind}"
        assert weight[plain] > 3 * weight[noisy]
        assert clf.gallery_accuracy_[plain] > clf.gallery_accuracy_[noisy]


def test_a_gallery_with_a_single_set_of_some_class_is_tried_on_halves(seed):
    sets, labels = toy_sets(seed)
    clf = CVC(dims=(1, 2)).fit(sets[2:], labels[2:])
    assert set(clf.gallery_accuracy_) == set(map(str, clf.members_))
    assert clf.weights_.min() >= 0
    assert len(set(clf.weights_)) > 2


def test_sets_too_small_to_be_halved_leave_all_members_even(seed):
    sets, labels = toy_sets(seed)
    pairs = [("plain", "mean"), ("whitened", "svd")]
    small = [s[:5] for s in sets[2:]]
    clf = CVC(dims=(1, 2), representations=pairs).fit(small, labels[2:])
    assert clf.gallery_accuracy_ is None
    np.testing.assert_array_equal(clf.weights_, 1)


def trials_of(*overlaps):
    """Trials in which each member says the same of the same sets, sure of itself."""
    codes = np.arange(12) % 3
    tables = np.stack([np.asarray(table, dtype=float) for table in overlaps], axis=1)
    many = tables.shape[1]
    even, dims, rows = np.ones(many), np.ones(many, dtype=int), np.arange(3)
    score_matrices = [ScoreMatrix(1 - o, o, even, dims, rows, 3, 6.0 * even) for o in tables]
    return Trials(score_matrices, codes, codes[:0])


def test_a_feature_that_misleads_is_dropped():
    codes, rng = np.arange(12) % 3, np.random.default_rng(0)
    right = 0.5 * np.eye(3)[codes] + 0.2 * rng.random((12, 3))
    misled = np.eye(3)[np.where(np.arange(12) % 2, codes, (codes + 1) % 3)]
    trials, fusion = trials_of(right, misled, misled), Pool()
    assert trials.n_fused_right(fusion) < 12
    even = np.ones(3)
    chosen = chosen_features(trials, even, ["pixels", "network", "network"], fusion)
    np.testing.assert_array_equal(chosen, [1, 0, 0])
    same = chosen_features(trials, even, ["pixels"] * 3, fusion)  # one feature alone stays
    np.testing.assert_array_equal(same, even)
    good = trials_of(right, 0.9 * right)  # all recognised: nothing to choose by
    np.testing.assert_array_equal(chosen_features(good, even[:2], ["a", "b"], fusion), [1, 1])


def test_halves_may_lower_the_usual_power_of_a_pool_and_never_raise_it():
    codes, rng = np.arange(12) % 3, np.random.default_rng(0)
    modest = trials_of(np.eye(3)[codes]).counted(np.ones(1), np.full(1, 0.5))
    assert modest.pool_inverse_temperature(Pool()) > Pool.usual_power
    of_halves = modest.pool_inverse_temperature(Pool(), of_halves=True)
    np.testing.assert_allclose(of_halves, Pool.usual_power, rtol=1e-3)
    wrong = trials_of(np.eye(3)[rng.permutation(codes)])
    assert wrong.pool_inverse_temperature(Pool(), of_halves=True) < 0.5


def test_a_gallery_without_trials_has_the_usual_power(seed):
    sets, labels = toy_sets(seed)
    small = [s[:3] for s in sets[2:]]
    clf = CVC(dims=(1, 2)).fit(small, labels[2:])
    assert clf.gallery_accuracy_ is None
    assert clf.gallery_.calibration.pool_inverse_temperature == Pool.usual_power
    single = CVC(dims=(1, 2)).fit([s[:1] for s in small], labels[2:])
    assert single.gallery_.calibration.pool_inverse_temperature == 1.0
    mode = CVC(dims=(1, 2), fusion="mode").fit(small, labels[2:])
    assert mode.gallery_.calibration.pool_inverse_temperature == 1.0
