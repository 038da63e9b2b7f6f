"""Rivals of groups: against scikit-learn, and against literal transcriptions."""

import numpy as np
import pytest
from sklearn.cluster import DBSCAN, HDBSCAN, AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score, silhouette_score

from setwise.baselines import MeanClusters
from setwise.baselines.mean_clusters import (
    PARTITIONS,
    alone_where_left_out,
    best_partition,
    finch_partitions,
    whispers_partitions,
)
from setwise.errors import ParameterError
from setwise.evaluation.testing import separable_sets


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    made = np.repeat(rng.normal(size=(6, 8)), 5, axis=0) + 0.35 * rng.normal(size=(30, 8))
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def transcribed_finch(rows):
    """Equation 1 of the paper, as a dense table, and recursion by means."""
    labels = np.arange(len(rows))
    while True:
        means = np.array([rows[labels == a].sum(axis=0) for a in range(labels.max() + 1)])
        means /= np.linalg.norm(means, axis=1, keepdims=True)
        if len(means) <= 2:
            return
        cosines = means @ means.T - 2 * np.eye(len(means))
        first = cosines.argmax(axis=1)
        linked = np.zeros((len(means), len(means)), dtype=bool)
        for i in range(len(means)):
            for j in range(len(means)):
                linked[i, j] = j == first[i] or i == first[j] or first[i] == first[j]
        reach = np.linalg.matrix_power(linked.astype(float) + np.eye(len(means)), len(means))
        _, code = np.unique(reach > 0, axis=0, return_inverse=True)
        if code.max() == 0:
            return
        labels = code.ravel()[labels]
        yield labels


def test_finch_is_the_papers(rows):
    found, expected = list(finch_partitions(rows)), list(transcribed_finch(rows))
    assert len(found) == len(expected) >= 2
    for one, other in zip(found, expected, strict=True):
        assert adjusted_rand_score(one, other) == 1.0


@pytest.mark.parametrize(
    ("method", "clusterer"),
    [
        ("dbscan", DBSCAN(eps=0.15, min_samples=2, metric="cosine")),
        ("hdbscan", HDBSCAN(2, copy=True)),
    ],
)
def test_scikit_learns_partition_is_among_those_tried(rows, method, clusterer):
    expected = clusterer.fit_predict(rows)
    assert expected.max() > 2
    agreement = [adjusted_rand_score(expected, p) for p in PARTITIONS[method](rows)]
    assert max(agreement) > 0.8


def test_told_the_number_it_is_scikit_learns_average_linkage():
    sets, _ = separable_sets(n_classes=5)
    found = MeanClusters("average", n_clusters=4).fit_predict(sets)
    means = [(v / np.linalg.norm(v, axis=1, keepdims=True)).mean(axis=0) for v in sets]
    rival = AgglomerativeClustering(4, metric="cosine", linkage="average").fit_predict(means)
    assert adjusted_rand_score(found, rival) == 1.0


@pytest.mark.parametrize("method", list(PARTITIONS))
def test_separable_classes_are_found(method):
    sets, labels = separable_sets(n_classes=6)
    assert adjusted_rand_score(MeanClusters(method).fit_predict(sets), labels) == 1.0


def test_the_largest_silhouette_is_taken(rows):
    tried = list(PARTITIONS["average"](rows))
    best = best_partition(rows, iter(tried))
    scores = [silhouette_score(rows, labels, metric="cosine") for labels in tried]
    assert best.tolist() == tried[int(np.argmax(scores))].tolist()


def test_whispers_end_in_one_group_where_all_are_near(rows):
    *_, last = whispers_partitions(np.ones((9, 2)) / np.sqrt(2))
    assert len(np.unique(last)) == 1
    assert all(labels.shape == (30,) for labels in whispers_partitions(rows))


def test_left_out_rows_are_groups_of_one():
    assert alone_where_left_out([-1, 2, 2, -1]).tolist() == [3, 2, 2, 4]


def test_no_partition_is_one_group():
    assert best_partition(np.eye(3), iter([np.zeros(3, dtype=int)])).tolist() == [0, 0, 0]


def test_only_average_linkage_is_told_a_number():
    with pytest.raises(ParameterError, match="average"):
        MeanClusters("finch", n_clusters=3).fit(separable_sets()[0])
    with pytest.raises(ParameterError, match="method"):
        MeanClusters("mean shift").fit(separable_sets()[0])
