"""One layer's verdict: the stand-in for infinity, and sets judged by their own gallery."""

from __future__ import annotations

from itertools import product

import numpy as np
from tests.conftest import toy_sets

from setwise import CVC
from setwise.cluster import FlatClusters
from setwise.gallery.distributions import bhattacharyya, class_cluster_distributions, overlap
from setwise.gallery.evidence import LayerResult
from setwise.gallery.left_out import LeftOutViews


def result(histogram) -> LayerResult:
    histogram = np.asarray(histogram, dtype=float)
    rows = class_cluster_distributions(histogram)
    return LayerResult(
        distances=bhattacharyya(rows[:-1], rows[-1]),
        overlaps=overlap(rows[:-1], rows[-1]),
        histogram=histogram,
        clusters=FlatClusters(np.zeros(0, dtype=np.int64)),
    )


def test_sharing_nothing_is_farther_than_the_least_that_can_be_shared():
    # Two rows of 8 columns and a probe of 2: one shares a single column, one nothing.
    found = result([[1, 7, 0], [0, 8, 0], [1, 0, 1]]).finite_distances
    assert found[0] == -np.log(1 / np.sqrt(8 * 2))
    assert found[1] == -np.log(0.5 / np.sqrt(8 * 2))
    assert np.isfinite(found).all()


def test_a_row_without_columns_is_as_far_as_the_farthest():
    found = result([[1, 7, 0], [0, 8, 0], [0, 0, 0], [1, 0, 1]]).finite_distances
    assert found[2] == found[1] > found[0]


def test_a_set_judged_by_its_own_gallery_is_judged_as_a_probe_would_be(seed):
    """Left out of the gallery and given back as probe, it gets the same of all evidence."""
    sets, labels = toy_sets(seed, noise=1.0)
    for kind, basis in product(("class", "set"), ("svd", "spread")):
        parameters = {
            "dims": (3,),
            "representations": [("plain", basis)],
            "distributions": kind,
            "outliers": None,
        }
        gallery = CVC(**parameters).fit(sets, labels).gallery_
        own = list(LeftOutViews(gallery.everything.layer_graph(0), np.arange(len(sets))))
        for left_out in (0, 4):
            rest = [i for i in range(len(sets)) if i != left_out]
            clf = CVC(**parameters).fit([sets[i] for i in rest], labels[rest])
            bases = clf.gallery_.bases(sets[left_out])
            (again,) = clf.gallery_.everything.views(bases).values()
            for evidence in {member.evidence for member in gallery.members}:
                expected = evidence.overlaps(own[left_out])
                if kind == "set":
                    assert expected[left_out] == 0
                    expected = expected[rest]
                np.testing.assert_allclose(evidence.overlaps(again), expected, atol=1e-9)
