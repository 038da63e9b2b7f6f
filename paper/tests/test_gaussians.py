"""One cut of two clouds."""

from __future__ import annotations

import numpy as np
import pytest

from setwise.cut import dfvc
from setwise.graph import GaussianGraph
from setwise_paper.kinds.gaussians import GaussiansItem
from setwise_paper.plan import perform


def item(**more) -> GaussiansItem:
    asked = {"distance": 4.0, "size": 80, "variance": 2.0, "draw": 0, "seed": 0}
    return GaussiansItem(**asked | more)


@pytest.mark.parametrize("kind", ["", "_from_start"])
def test_errors_by_switches_add_up_to_the_error(kind):
    found = perform(item())
    counts, errors = np.array(found[f"counts{kind}"]), np.array(found[f"errors{kind}"])
    assert counts.shape == errors.shape == (3,)
    assert counts.sum() == 160
    assert counts @ errors == pytest.approx(160 * found["error"])
    assert np.mean(found["is_wrong"]) == found["error"]


def test_later_switches_are_those_after_the_first_iterate():
    found = perform(item())
    assert found["counts_from_start"][0] < found["counts"][0]
    assert 0 < found["switches"] < 0.3


def test_it_is_algorithm_3_on_the_gaussian_graph():
    # The third coordinate is not kept, but nothing else is: the cut of two is close to it.
    found = perform(item(distance=6.0, size=60))
    points = np.array(found["points"]).T
    side = dfvc(GaussianGraph(sigma=2.0).adjacency(points).toarray()).vector >= 0
    is_second = np.array(found["is_second"])
    assert is_second.sum() == 60
    mine = is_second ^ np.array(found["is_wrong"])
    assert max(np.mean(mine == side), np.mean(mine != side)) > 0.93


def test_clouds_far_apart_are_told_apart_and_less_connected():
    near, far = perform(item(distance=2.0)), perform(item(distance=7.0))
    assert far["connectivity"] < near["connectivity"]
    assert far["error"] <= 0.02 < near["error"] < 0.5
    assert far["exact_error"] <= 0.02
    assert far["error"] <= 0.5 >= near["exact_error"]


def test_only_the_first_draw_keeps_its_points_and_draws_differ():
    first, second = perform(item()), perform(item(draw=1))
    assert len(first["points"]) == 160
    assert "points" not in second
    assert "is_wrong" not in second
    assert first["connectivity"] != second["connectivity"]
    assert perform(item(seed=1))["points"] != first["points"]
    # Sizes and distances have streams of their own.
    assert perform(item(size=81))["points"][:5] != first["points"][:5]
