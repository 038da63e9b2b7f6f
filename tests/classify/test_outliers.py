"""Outliers in probes are found by what the gallery knows of sets and classes."""

from __future__ import annotations

import numpy as np
import pytest

from setwise import CVC
from setwise.gallery.outliers import two_parts


def people(rng, n_people, n_sets, n_vectors, *, spread=0.25, n_features=40):
    """Sets of vectors around a direction of each class, in two poses each."""
    who = rng.normal(size=(n_people, n_features))
    pose = rng.normal(size=(2, n_features))
    sets, labels = [], []
    for label in range(n_people):
        for _ in range(n_sets):
            poses = 0.4 * pose[np.arange(n_vectors) % 2]
            noise = spread * rng.normal(size=(n_vectors, n_features))
            sets.append(who[label] + poses + noise)
            labels.append(label)
    return sets, np.array(labels)


@pytest.fixture
def enrolled(seed):
    rng = np.random.default_rng(seed)
    sets, labels = people(rng, 6, 3, 16)
    is_gallery = np.arange(18) % 3 < 2
    clf = CVC(random_state=0).fit(
        [sets[i] for i in np.flatnonzero(is_gallery)], labels[is_gallery]
    )
    return clf, [sets[i] for i in np.flatnonzero(~is_gallery)]


def test_a_set_falls_into_its_two_parts():
    rng = np.random.default_rng(0)
    one, other = np.eye(10)[:2]
    album = np.vstack(
        [one + 0.01 * rng.normal(size=(6, 10)), other + 0.01 * rng.normal(size=(9, 10))]
    )
    cosine, is_larger = two_parts(album)
    np.testing.assert_array_equal(is_larger, np.arange(15) >= 6)
    assert abs(cosine) < 0.1


def test_too_few_vectors_and_copies_have_no_parts():
    for album in (np.eye(4), np.ones((9, 3))):
        cosine, is_larger = two_parts(album)
        assert cosine == 1.0
        assert is_larger.all()


def test_the_album_of_another_class_in_a_probe_is_left_out(enrolled):
    clf, probes = enrolled
    for own, other in ((0, 1), (2, 5), (4, 3)):
        mixed = np.vstack([probes[own], probes[other][:9]])
        bases = clf.gallery_.bases(mixed)
        assert bases.inliers[:16].mean() > 0.9
        assert not bases.inliers[16:].any()
        why = clf.explain(mixed)
        assert why.label == own
        assert (why.support[16:] == 0).all()
        np.testing.assert_array_equal(why.is_typical, bases.inliers)


def test_a_probe_in_two_poses_is_kept_whole(enrolled):
    clf, probes = enrolled
    for probe in probes:
        assert clf.gallery_.bases(probe).inliers.mean() > 0.9


def test_nothing_is_dropped_where_nobody_asked(enrolled):
    _, probes = enrolled
    sets, labels = [p for p in probes for _ in range(2)], np.repeat(np.arange(6), 2)
    clf = CVC(outliers=None).fit(sets, labels)
    mixed = np.vstack([probes[0], probes[1][:9]])
    assert clf.gallery_.bases(mixed).inliers.all()
