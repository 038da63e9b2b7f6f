"""One clusterer on the images of a few sets."""

from __future__ import annotations

import json

import numpy as np
import pytest
from paper.tests.small_sets import objects_at_hand, write_hands

from setwise.classify import bhattacharyya, conditional_orthogonality, signal_to_noise
from setwise.errors import DataError, ParameterError
from setwise_paper.data import read_data
from setwise_paper.kinds.distributions import DistributionsItem
from setwise_paper.plan import perform
from setwise_paper.spec import Data

CLUSTERERS = ("shc", "kmeans", "ssc", "spectral", "skms")
OBJECTS = Data(name="objects", protocol="pairs")
at_hand = objects_at_hand(n_classes=6, n_sets=3, n_views=9, size=12)


def item(clusterer="kmeans", **more) -> DistributionsItem:
    asked = {"data": OBJECTS, "n_classes": 4, "draw": 0, "seed": 0} | more
    return DistributionsItem(clusterer=clusterer, **asked)


@pytest.mark.parametrize("clusterer", CLUSTERERS)
def test_distances_are_those_of_the_table(clusterer):
    found = perform(item(clusterer))
    table = np.array(found["table"])
    assert table.shape == (5, found["n_clusters"])
    np.testing.assert_allclose(table.sum(axis=1), 1, atol=1e-5)
    distances = np.array([np.inf if d is None else d for d in found["distances"]])
    np.testing.assert_allclose(distances, bhattacharyya(table[:-1], table[-1]), atol=1e-4)
    snr = signal_to_noise(distances)
    assert found["snr"] == (pytest.approx(snr) if np.isfinite(snr) else None)
    assert found["answer"] == found["classes"][int(distances.argmin())]
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize("clusterer", CLUSTERERS)
def test_the_table_counts_the_points(clusterer):
    found = perform(item(clusterer))
    rows, clusters = np.array(found["point_rows"]), np.array(found["point_clusters"])
    counts = np.zeros((5, found["n_clusters"]))
    np.add.at(counts, (rows, clusters), 1)
    np.testing.assert_allclose(counts / 9, found["table"], atol=1e-5)
    assert np.array(found["points"]).shape == (45, 3)


def test_shc_stops_when_no_cluster_holds_the_probe_and_two_classes():
    for draw in range(4):
        table = np.array(perform(item("shc", draw=draw))["table"])
        assert conditional_orthogonality(table[:-1], table[-1]) == 0


def test_others_make_as_many_clusters_as_there_are_classes():
    assert perform(item("kmeans"))["n_clusters"] == 4
    assert perform(item("kmeans", n_classes=3))["n_clusters"] == 3


def test_all_clusterers_see_the_same_draw_and_draws_differ():
    same = ("classes", "truth", "points", "point_rows")
    draws = [perform(item(clusterer)) for clusterer in CLUSTERERS]
    assert all(one[name] == draws[0][name] for one in draws for name in same)
    others = [perform(item(draw=draw)) for draw in range(6)]
    assert len({tuple(one["classes"]) for one in others}) > 1
    assert len({one["classes"].index(one["truth"]) for one in others}) > 1
    assert perform(item(seed=1))["points"] != draws[0]["points"]


def test_the_probe_is_another_set_of_one_of_the_classes():
    found = perform(item())
    points, rows = np.array(found["points"]), np.array(found["point_rows"])
    own = found["classes"].index(found["truth"])
    assert len(set(found["classes"])) == 4
    assert not (points[rows == 4][:, None] == points[rows == own]).all(axis=2).any()


def test_what_cannot_be_is_refused(tmp_path):
    with pytest.raises(ParameterError, match=r"no clusterer 'k-means'.*Did you mean 'kmeans'"):
        perform(item("k-means"))
    with pytest.raises(DataError, match="objects has 6 classes, 6 of them with two sets"):
        perform(item(n_classes=7))
    folder = write_hands(tmp_path, n_sets=2)
    hands = Data(name="hands")
    assert len(read_data(hands, folder).sets) == 6
    assert perform(item(data=hands, n_classes=3), folder)["truth"] in ("flat", "steep",
                                                                         "slanted")  # fmt: skip
