"""Faces grouped by person: average linkage that places keep apart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score

from setwise.faces import grouping
from setwise.faces.grouping import group_faces


def people(seed, n_people=12, n_faces=8, noise=0.04):
    """Faces around directions of people, as far from each other as networks' vectors are."""
    rng = np.random.default_rng(seed)
    who = rng.normal(size=(n_people, 128))
    who /= np.linalg.norm(who, axis=1, keepdims=True)
    labels = np.repeat(np.arange(n_people), n_faces)
    vectors = who[labels] + noise * rng.normal(size=(len(labels), 128))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True), labels


@pytest.mark.parametrize("seed", range(3))
def test_groups_are_those_of_average_linkage_where_people_are_apart(seed):
    vectors, labels = people(seed)
    found = group_faces(vectors, [{str(i)} for i in range(len(labels))])
    linked = AgglomerativeClustering(None, linkage="average", distance_threshold=1.0)
    assert adjusted_rand_score(linked.fit_predict(vectors), found) == 1
    assert adjusted_rand_score(labels, found) == 1


def test_two_faces_of_a_photo_are_two_people():
    vectors = np.array([[0.0], [0.7], [0.1], [0.8]])  # all near enough
    found = group_faces(vectors, [{"a"}, {"a"}, {"b"}, {"b"}], max_distance=1)
    assert found[0] == found[2] != found[1] == found[3]


def test_a_collage_shows_one_person_many_times():
    vectors = np.array([[0.0], [0.1], [0.2], [0.9], [0.3]])
    found = group_faces(vectors, [{"a"}, {"a"}, {"a"}, {"a"}, {"b"}], max_distance=1)
    assert len({*found[[0, 1, 2, 4]]}) == 1
    assert found[3] != found[0]  # as near as faces of one person, but not as one image


def test_groups_that_no_near_pair_joins_are_compared_as_wholes(monkeypatch):
    monkeypatch.setattr(grouping, "N_NEAREST", 3)
    rng = np.random.default_rng(0)
    light, dark = rng.normal(0, 0.03, (8, 2)), rng.normal((0.7, 0), 0.03, (8, 2))
    found = group_faces(
        np.concatenate([light, dark]), [{str(i)} for i in range(16)], max_distance=1
    )
    assert set(found.tolist()) == {0}


def test_settled_groups_stay_as_they_are():
    vectors = np.array([[0.0], [9.0], [0.1], [0.05], [9.1]])
    found = group_faces(
        vectors, [{str(i)} for i in range(5)], known=[0, 0, 1, -1, -1], max_distance=1
    )
    assert found[0] == found[1] != found[2]  # as a person said, near or not
    assert found[3] == found[2]
    assert found[4] not in found[:4]  # far from the mean of the first group


@given(st.integers(0, 10_000))
def test_the_order_of_faces_does_not_count(seed):
    rng = np.random.default_rng(seed)
    vectors, _ = people(seed, 4, 4, noise=0.08)
    where = [{str(photo)} for photo in rng.integers(0, 8, len(vectors))]
    order = rng.permutation(len(vectors))
    there = group_faces(vectors[order], [where[i] for i in order])
    here = group_faces(vectors, where)
    assert adjusted_rand_score(here[order], there) == 1
    for photo in {place for places in where for place in places}:
        own = [g for g, places in zip(here.tolist(), where, strict=True) if photo in places]
        assert len(own) == len(set(own))


def test_no_faces_no_groups():
    assert group_faces(np.zeros((0, 128)), []).tolist() == []
