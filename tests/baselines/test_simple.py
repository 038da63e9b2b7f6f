"""Frame voting, mean vectors and minimum distances against scikit-learn and brute force."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from tests.conftest import toy_sets

from setwise.baselines import FrameVote, MeanVector, MinimumDistance
from setwise.errors import ParameterError


@pytest.mark.parametrize("k", [1, 3])
def test_votes_are_those_of_nearest_neighbours(seed, k):
    sets, labels = toy_sets(seed, noise=3.0)
    clf = FrameVote(k).fit(sets[::2], labels[::2])
    rows = np.concatenate(sets[::2])
    codes = np.repeat(labels[::2], [len(s) for s in sets[::2]])
    model = KNeighborsClassifier(k).fit(rows, codes)
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
