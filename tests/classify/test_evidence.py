"""What a graph says beyond its clusters, each by an oracle of its own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import subspace_angles
from tests.conftest import toy_sets

from setwise import CVC
from setwise.basis import SVD, Mean
from setwise.features import unit_rows
from setwise.gallery.evidence import (
    AllAngles,
    ClusterOverlap,
    EdgeShare,
    Evidence,
    SmallestAngle,
    set_angles,
)


@given(seed=st.integers(0, 100), n_probe=st.integers(1, 4))
def test_canonical_angles_are_those_of_scipy(seed, n_probe):
    rng = np.random.default_rng(seed)
    widths = rng.integers(1, 5, size=6)
    spaces = [np.linalg.qr(rng.normal(size=(12, w)))[0] for w in widths]
    probe = np.linalg.qr(rng.normal(size=(12, n_probe)))[0]
    column_sets = np.repeat(np.arange(6), widths)
    largest, mean = set_angles(probe.T @ np.hstack(spaces), column_sets, SVD())
    cosines = [np.cos(subspace_angles(probe, space)) for space in spaces]
    np.testing.assert_allclose(largest, [c.max() for c in cosines], atol=1e-9)
    np.testing.assert_allclose(mean, [(c**2).mean() for c in cosines], atol=1e-9)


def test_columns_that_point_somewhere_are_compared_with_their_sign():
    cosines = np.array([[-0.9, 0.2, 0.5], [0.1, -0.3, 0.6]])
    largest, mean = set_angles(cosines, np.array([0, 0, 1]), Mean())
    np.testing.assert_allclose(largest, [0.2, 0.6])
    np.testing.assert_allclose(mean, [(0.2**2 + 0.1**2) / 2, (0.5**2 + 0.6**2) / 2])


def test_a_probe_without_columns_has_no_angles():
    largest, mean = set_angles(np.zeros((0, 5)), np.array([0, 0, 1, 1, 1]), SVD())
    np.testing.assert_array_equal(largest, [0, 0])
    np.testing.assert_array_equal(mean, [0, 0])


@pytest.fixture
def layer(seed):
    """What the only layer of a small ensemble sees of a probe, and its gallery."""
    sets, labels = toy_sets(seed, n_classes=3, n_sets=4, noise=1.0)
    clf = CVC((3,), representations=[("plain", "svd")], outliers=None)
    gallery = clf.fit(sets[1:], labels[1:]).gallery_
    (seen,) = gallery.everything.views(gallery.bases(sets[0])).values()
    return gallery, seen


def test_edge_shares_counted_edge_by_edge(layer):
    gallery, seen = layer
    n = seen.graph.columns.shape[1]
    adjacency = seen.graph.insert(seen.probe).toarray()
    n_sets = np.bincount(gallery.codes)
    expected = np.zeros(3)
    for j in range(n, len(adjacency)):
        weights = np.zeros(3)
        for i in range(n):
            code = gallery.codes[gallery.layers[0].column_sets[i]]
            weights[code] += adjacency[j, i] / n_sets[code]
        expected += weights / weights.sum()
    np.testing.assert_allclose(EdgeShare().overlaps(seen), expected / (len(adjacency) - n))


def test_a_class_of_many_equal_sets_has_no_advantage_by_its_edges(seed):
    sets, labels = toy_sets(seed, n_classes=2, n_sets=3, noise=0.5)
    parameters = {"dims": (2,), "representations": [("plain", "svd")], "evidence": "edges"}

    def shares(gallery_sets, y):
        gallery = CVC(**parameters).fit(gallery_sets, y).gallery_
        (seen,) = gallery.everything.views(gallery.bases(sets[0])).values()
        return seen.sets_per_target

    np.testing.assert_array_equal(shares(sets[1:], labels[1:]), [2, 3])


def test_overlaps_are_between_0_and_1_and_distances_finite(layer):
    _, seen = layer
    for kind in (ClusterOverlap(), EdgeShare(), SmallestAngle(), AllAngles()):
        overlaps, distances = kind.overlaps(seen), kind.distances(seen)
        assert overlaps.shape == distances.shape == (3,)
        assert ((overlaps >= 0) & (overlaps <= 1)).all()
        assert np.isfinite(distances).all()


def test_the_mean_is_compared_by_its_cosine(seed):
    sets, labels = toy_sets(seed)
    clf = CVC(representations=[("plain", "mean")], outliers=None, weights=None)
    gallery = clf.fit(sets[1:], labels[1:]).gallery_
    (seen,) = gallery.everything.views(gallery.bases(sets[0])).values()
    means = unit_rows(np.array([unit_rows(s).mean(axis=0) for s in sets]))
    cosines = means[1:] @ means[0]
    expected = [max(cosines[labels[1:] == c].max(), 0) for c in range(3)]
    np.testing.assert_allclose(SmallestAngle().overlaps(seen), expected, atol=1e-12)
    assert {str(m) for m in clf.layers_} == {"plain mean, d=1"}


def test_trees_are_made_where_clusters_are_asked_for_only(seed):
    sets, labels = toy_sets(seed)
    middle = CVC((1, 2, 3), representations=[("plain", "svd"), ("plain", "centred")])
    asked = [str(v) for v in middle.fit(sets, labels).members_ if v.evidence.name == "clusters"]
    assert asked == ["plain svd, d=2: clusters", "plain centred, d=2: clusters"]
    gallery = middle.gallery_
    seen = gallery.everything.views(gallery.bases(sets[0]))
    list(middle.judge(sets[:1]))
    assert all("clustered" not in vars(one) for one in seen.values())
    everywhere = CVC((1, 2, 3), representations=[("plain", "svd")], evidence=["clusters"])
    assert len(everywhere.fit(sets, labels).members_) == 3


def test_a_kind_of_evidence_from_outside(seed):
    """One small class, and nothing else changes."""
    from dataclasses import dataclass
    from typing import ClassVar

    @dataclass(frozen=True)
    class LargestEdge(Evidence):
        name: ClassVar[str] = "largest edge"

        def overlaps(self, seen):
            by_class = np.zeros(seen.targets.n_targets)
            np.maximum.at(by_class, seen.targets.targets, seen.edges.max(axis=0))
            return np.minimum(by_class, 1.0)

    sets, labels = toy_sets(seed)
    clf = CVC((1, 2), evidence=["largest edge"]).fit(sets, labels)
    assert {v.evidence for v in clf.members_} == {LargestEdge()}
    assert clf.score(sets, labels) == 1.0


def test_few_vectors_do_not_say_how_a_set_varies(seed):
    """Neither in the gallery nor in a probe; alone, it speaks all the same."""
    sets, labels = toy_sets(seed, n_vectors=(12, 13))
    pairs = [("plain", "svd"), ("plain", "centred")]
    clf = CVC((2,), representations=pairs, outliers=None).fit(sets, labels)
    gallery = clf.gallery_
    assert len(gallery.everything.views(gallery.bases(sets[0]))) == 2
    (only,) = gallery.everything.views(gallery.bases(sets[0][:5]))
    assert str(gallery.layers[only].layer) == "plain svd, d=2"
    small = CVC((2,), representations=pairs, weights=None).fit([s[:4] for s in sets], labels)
    by_member = dict(zip(map(str, small.members_), small.weights_, strict=True))
    assert by_member["plain centred, d=2: edges"] == 0 < by_member["plain svd, d=2: edges"]
    alone = CVC((2,), representations=pairs[1:]).fit([s[:4] for s in sets], labels)
    assert (alone.weights_ > 0).any()
