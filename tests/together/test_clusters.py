"""SetClusters: people of tracks, numbers told and found, links, order, wrong arguments."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from tests.together.made_tracks import made_tracks

import setwise.together.graph as graph_module
from setwise import CVC, SetBatch, SetClusters
from setwise.errors import DataError, ParameterError
from setwise.evaluation import GroupScores

SIZES = (6, 5, 4, 3, 2, 1, 1, 1)


@pytest.fixture(scope="module")
def tracks():
    return made_tracks(SIZES)


@pytest.fixture(scope="module")
def found(tracks):
    return SetClusters().fit(tracks[0])


def test_people_are_found_and_those_seen_once_are_left_out(tracks, found):
    truth = tracks[1]
    scores = GroupScores.of(truth, found.labels_)
    assert (scores.precision, scores.recall) == (1.0, 1.0)
    once = np.bincount(truth)[truth] == 1
    assert (found.labels_[once] == -1).all()
    assert found.n_clusters_ == 5
    assert np.bincount(found.labels_[~once]).tolist() == [6, 5, 4, 3, 2]


def test_probabilities_are_those_of_the_groups(tracks, found):
    assert (found.probabilities_[found.labels_ < 0] == 0).all()
    grouped = found.probabilities_[found.labels_ >= 0]
    assert (grouped >= 0.5).all()
    assert (grouped <= 1).all()


def test_order_and_threads_make_no_difference(tracks, found):
    vectors, _ = tracks
    order = np.random.default_rng(1).permutation(len(vectors))
    other = SetClusters(n_jobs=2).fit([vectors[i] for i in order])
    assert adjusted_rand_score(other.labels_, found.labels_[order]) == 1.0
    np.testing.assert_array_equal(other.labels_ < 0, found.labels_[order] < 0)
    np.testing.assert_array_equal(other.probabilities_, found.probabilities_[order])
    np.testing.assert_array_equal(
        other.graph_.similarity.toarray(),
        found.graph_.similarity.toarray()[np.ix_(order, order)],
    )


def test_the_number_may_be_told(tracks, found):
    vectors, truth = tracks
    told = SetClusters(8).fit(vectors)
    assert told.n_clusters_ == 8
    assert adjusted_rand_score(told.labels_, truth) == 1.0
    np.testing.assert_array_equal(found.cut(8), told.labels_)
    assert len(set(found.cut(3))) == 3
    assert found.cut(len(truth)).tolist() == list(range(len(truth)))
    assert (told.probabilities_ >= 0).all()


def test_links_bind_and_part(tracks, found):
    vectors, _ = tracks
    groups = [np.flatnonzero(found.labels_ == g) for g in range(3)]
    bound = [(int(groups[0][0]), int(groups[1][0]))]
    parted = [(int(groups[2][0]), int(i)) for i in groups[2][1:]]
    linked = SetClusters().fit(vectors, must_link=bound, cannot_link=parted)
    labels = linked.labels_
    assert labels[bound[0][0]] == labels[bound[0][1]] >= 0
    assert all(labels[i] != labels[j] or labels[i] < 0 for i, j in parted)
    np.testing.assert_array_equal(
        linked.fit_predict(vectors, must_link=bound, cannot_link=parted), labels
    )


def test_a_number_that_links_rule_out_is_refused(tracks):
    vectors = tracks[0][:6]
    pairs = [(i, j) for i in range(4) for j in range(i)]
    linked = SetClusters().fit(vectors, must_link=[(4, 5)], cannot_link=pairs)
    assert len(set(linked.cut(4)[:4])) == 4
    with pytest.raises(DataError, match=r"3 groups are asked for.*at least 4"):
        linked.cut(3)
    with pytest.raises(DataError, match=r"6 groups are asked for.*at most 5"):
        linked.cut(6)


def test_bundles_of_strangers_are_groups_of_their_own():
    vectors, truth = made_tracks((5, 5, 5, 1, 1), seed=3)
    a, b = (int(np.flatnonzero(truth == person)[0]) for person in (3, 4))
    labels = SetClusters().fit_predict(vectors, must_link=[(a, b)])
    assert labels[a] == labels[b] >= 0
    assert (labels == labels[a]).sum() == 2


def test_near_sets_alone_are_compared_where_there_are_many(tracks, monkeypatch):
    vectors, truth = made_tracks((30, 20, 15, 10, 5, 3, 1, 1), seed=2)
    whole = SetClusters().fit(vectors)
    monkeypatch.setattr(graph_module, "MOST_RELATED", 50)
    near = SetClusters().fit(vectors)
    assert near.graph_.similarity.nnz < whole.graph_.similarity.nnz
    for one in (whole, near):
        assert GroupScores.of(truth, one.labels_).f > 0.95
        assert GroupScores.of(truth, one.labels_).precision > 0.97


def test_single_faces_are_grouped():
    vectors, truth = made_tracks((12, 9, 6, 4, 1, 1), seed=4, n_vectors=(1, 2))
    scores = GroupScores.of(truth, SetClusters().fit_predict(vectors))
    assert scores.precision == 1.0
    assert scores.f > 0.9


def test_other_descriptions_are_used(tracks):
    how = CVC(dims=(2,), representations=[("plain", "mean")]).describe()
    found = SetClusters(description=how).fit(tracks[0])
    assert {name.split(":")[0] for name in found.graph_.members} == {"plain mean, d=1"}


def test_two_sets_are_one_group_unless_they_are_to_be_parted():
    rng = np.random.default_rng(0)
    two = [rng.normal(size=(5, 20)) for _ in range(2)]
    assert SetClusters().fit_predict(two).tolist() == [0, 0]
    assert SetClusters().fit_predict(two, cannot_link=[(0, 1)]).tolist() == [-1, -1]


def test_copies_are_one_group():
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=(2, 5, 20))
    labels = SetClusters().fit_predict([one, other, one, other, one, other])
    assert labels.tolist() == [0, 1, 0, 1, 0, 1]


def test_it_is_an_estimator(tracks):
    how = CVC().describe()
    made = SetClusters(3, description=how, n_jobs=1)
    assert clone(made).get_params()["n_clusters"] == 3
    assert repr(clone(made).description) == repr(how)
    batch = SetBatch.from_list(tracks[0][:8])
    assert SetClusters().fit(batch).labels_.shape == (8,)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"n_clusters": 0}, "n_clusters"),
        ({"description": "default"}, "description"),
        ({"n_jobs": "all"}, "n_jobs"),
    ],
)
def test_wrong_parameters_are_refused(parameters, said):
    with pytest.raises(ParameterError, match=said):
        SetClusters(**parameters).fit([np.eye(3), np.eye(3)])


@pytest.mark.parametrize(
    ("links", "said"),
    [
        ({"must_link": [(0, 9)]}, r"must_link has the pair \(0, 9\)"),
        ({"cannot_link": [(1, 1)]}, r"cannot_link has the pair \(1, 1\)"),
        ({"cannot_link": [(0, 1, 2)]}, "cannot_link is of shape"),
        ({"must_link": 3}, "must_link is 3"),
        ({"must_link": [(0, 1)], "cannot_link": [(1, 0)]}, "sets 1 and 0 are in cannot_link"),
    ],
)
def test_wrong_links_are_refused(links, said):
    with pytest.raises(DataError, match=said):
        SetClusters().fit([np.eye(3)] * 3, **links)


def test_one_set_is_refused():
    with pytest.raises(DataError, match=r"SetClusters\.fit: one set is given"):
        SetClusters().fit([np.eye(3)])
