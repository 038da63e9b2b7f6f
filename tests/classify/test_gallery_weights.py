"""What the gallery says about the looks of an ensemble."""

from __future__ import annotations

import numpy as np
from tests.conftest import toy_sets

from setwise import CVC
from setwise.classify.gallery_weights import representation_weights


def test_a_look_beaten_beyond_chance_is_dropped_and_the_rest_vote_evenly():
    best = np.ones(20)
    as_good = np.r_[np.zeros(2), np.ones(18)]
    worse = np.r_[np.zeros(5), np.ones(15)]  # 5 of 5 disagreements lost: p = 1/32
    weights = representation_weights(np.array([best, as_good, worse]), np.array([0, 1, 2, 0]))
    np.testing.assert_array_equal(weights, [1, 1, 0, 1])


def test_losses_count_only_where_the_best_look_was_right():
    best = np.r_[np.ones(10), np.zeros(5)]
    other = np.r_[np.zeros(5), np.ones(5), np.ones(4), np.zeros(1)]  # loses 5, wins 4
    np.testing.assert_array_equal(
        representation_weights(np.array([best, other]), np.arange(2)), [1, 1]
    )


def test_nothing_is_dropped_when_no_representation_recognises_anything():
    np.testing.assert_array_equal(
        representation_weights(np.zeros((3, 9)), np.arange(3)), [1, 1, 1]
    )


def test_a_misleading_view_is_dropped_by_fit(seed):
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
    assert weight["plain svd, d=2"] == 1
    assert weight["noise svd, d=2"] == 0
    assert clf.gallery_accuracy_["plain svd"] > clf.gallery_accuracy_["noise svd"]


def test_a_gallery_with_a_single_set_of_some_class_is_not_tried(seed):
    sets, labels = toy_sets(seed)
    clf = CVC(dims=(1, 2)).fit(sets[2:], labels[2:])
    assert clf.gallery_accuracy_ is None
    np.testing.assert_array_equal(clf.weights_, 1)
