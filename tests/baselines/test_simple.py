"""Frame voting, means and minimum distances against scikit-learn and brute force."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from tests.conftest import toy_sets

from setwise.baselines import FrameVote, MeanCosine, MeanVector, MinimumDistance
from setwise.errors import ParameterError


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("k", [1, 3])
def test_votes_are_those_of_nearest_neighbours(seed, k, metric):
    sets, labels = toy_sets(seed, noise=3.0)
    sets = [s * 10.0 ** np.arange(len(s))[:, None] for s in sets]  # lengths differ
    clf = FrameVote(k, metric=metric).fit(sets[::2], labels[::2])
    rows = np.concatenate(sets[::2])
    codes = np.repeat(labels[::2], [len(s) for s in sets[::2]])
    model = KNeighborsClassifier(k, metric=metric).fit(rows, codes)
    for probe in sets[1::2]:
        neighbours = codes[model.kneighbors(probe, return_distance=False)].ravel()
        votes = np.bincount(neighbours, minlength=3)
        score = clf._score(probe) * votes.sum()
        np.testing.assert_array_equal(np.floor(score), votes)


def test_ties_go_to_the_nearer_class():
    gallery = [np.array([[0.0, 1.0]]), np.array([[10.0, 1.0]])]
    clf = FrameVote().fit(gallery, ["far", "near"])
    # One vector votes for each; the second class is nearer on average.
    assert clf.predict([np.array([[4.0, 1.0], [9.9, 1.0]])])[0] == "near"
    assert clf.predict_proba([np.array([[4.0, 1.0], [9.9, 1.0]])])[0, 1] < 0.6


def test_more_neighbours_than_vectors_are_all_of_them():
    sets, labels = toy_sets(0, n_vectors=(1, 2))
    assert FrameVote(100).fit(sets, labels).n_neighbors_ == len(sets)
    with pytest.raises(ParameterError, match="FrameVote: n_neighbors must be an int"):
        FrameVote(0).fit(sets, labels)


def test_distances_are_brute_force(seed):
    sets, labels = toy_sets(seed)
    mean, closest = MeanVector().fit(sets, labels), MinimumDistance().fit(sets, labels)
    probe = sets[0] + 0.1
    by_mean = [np.linalg.norm(s.mean(axis=0) - probe.mean(axis=0)) for s in sets]
    by_pair = [min(np.linalg.norm(a - b) for a in s for b in probe) for s in sets]
    np.testing.assert_allclose(mean._distances(mean._model(probe)), by_mean)
    np.testing.assert_allclose(closest._distances(closest._model(probe)), by_pair)


def test_zero_vectors_have_no_cosine_and_no_vote(seed):
    sets, labels = toy_sets(seed, noise=3.0)
    zero = np.zeros((3, sets[0].shape[1]))
    with_zeros = [np.vstack([zero, s]) for s in sets]
    for clf in (FrameVote(metric="cosine"), MeanCosine(), MeanCosine(robust=True)):
        clf.fit(sets[::2], labels[::2])
        expected = clf.decision_function(sets[1::2])
        np.testing.assert_array_equal(clf.decision_function(with_zeros[1::2]), expected)
        clf.fit(with_zeros[::2], labels[::2])
        np.testing.assert_array_equal(clf.decision_function(sets[1::2]), expected)


def test_mean_cosine_is_three_lines_of_numpy(seed):
    sets, labels = toy_sets(seed, noise=3.0)
    means = [(s / np.linalg.norm(s, axis=1, keepdims=True)).mean(axis=0) for s in sets]
    means = np.array([m / np.linalg.norm(m) for m in means])
    cosines = means[1::2] @ means[::2].T
    expected = [[row[labels[::2] == c].max() for c in range(3)] for row in cosines]
    clf = MeanCosine().fit(sets[::2], labels[::2])
    np.testing.assert_allclose(clf.decision_function(sets[1::2]), expected, atol=1e-12)


def test_robust_mean_is_that_of_the_nearer_half(seed):
    rows = np.random.default_rng(seed).standard_normal((9, 4)) + 1.0
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    median = np.median(unit, axis=0)
    nearer = sorted(unit, key=lambda u: -(u @ median))[:5]
    expected = np.mean(nearer, axis=0) / np.linalg.norm(np.mean(nearer, axis=0))
    clf = MeanCosine(robust=True).fit([rows, -rows], [0, 1])
    np.testing.assert_allclose(clf.gallery_models_, [expected, -expected])
    assert MeanCosine(robust=True).fit([rows[:2], rows[:1]], [0, 1]).predict([rows[:1]]) == [1]


def test_robust_mean_resists_outliers_that_turn_the_mean():
    good, outlier = np.array([[1.0, 0.0, 0.1]]), np.array([[-1.0, 0.3, 0.0]])
    clf = [MeanCosine(robust=robust).fit([good, outlier], [*"gs"]) for robust in (False, True)]
    # Three vectors of five are good, but the two outliers outweigh them by what is common.
    weak = np.vstack([np.tile([0.3, 0.0, 1.0], (3, 1)), np.tile(outlier, (2, 1))])
    assert [c.predict([weak])[0] for c in clf] == ["s", "g"]


def test_a_mean_without_direction_says_nothing():
    sets, labels = toy_sets(0)
    clf = MeanCosine().fit(sets, labels)
    np.testing.assert_allclose(clf.predict_proba([np.vstack([sets[0], -sets[0]])]), 1 / 3)


def test_odd_parameters_are_refused():
    sets, labels = toy_sets(0)
    with pytest.raises(ParameterError, match="FrameVote: metric must be one of 'euclidean'"):
        FrameVote(metric="cos").fit(sets, labels)
    with pytest.raises(ParameterError, match="MeanCosine: robust must be"):
        MeanCosine(robust=1).fit(sets, labels)
