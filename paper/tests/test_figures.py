"""The figures of studies: what is drawn is the numbers, and every name can be read."""

from types import SimpleNamespace as Row

import numpy as np
import pytest
from tests.plots.drawn import a_curve, clashes, lines_of, outside, texts_of

from setwise.plots import new_figure
from setwise_paper.figures.clusters import plot_distances, plot_distributions, plot_points
from setwise_paper.figures.curves import plot_dimensions, plot_outliers
from setwise_paper.figures.gaussians import plot_by_size, plot_clouds, plot_switch_errors
from setwise_paper.figures.style import OTHER, OURS, PALETTE, PROBE, PUBLISHED
from setwise_paper.spec import Published

pytest.importorskip("matplotlib")
from matplotlib.colors import to_hex

FUSIONS = [
    a_curve("mode", (60.0, 80.0, 91.0), (5.0, 4.0, 3.0)),
    a_curve("sum", (60.0, 78.0, 90.0), (5.0, 4.0, 3.0)),
    a_curve("none", (60.0, 70.0, 84.0), (5.0, 4.0, 3.0)),
]
CVC = a_curve("CVC", (100.0, 99.0, 97.0), x=(0, 1, 2))
MSM = a_curve("MSM", (95.0, 90.0, 70.0), x=(0, 1, 2))


def drawn(plot, *args, size=(6, 4), **more):
    axes = new_figure(*size).subplots()
    assert plot(axes, *args, **more) is axes
    return axes


def diamonds(axes):
    return [tuple(line.get_xydata()[0]) for line in axes.lines if line.get_marker() == "D"]


def offsets(axes):
    return [one.get_offsets().tolist() for one in axes.collections]


def legends(axes):
    found = [one for one in axes.get_children() if type(one).__name__ == "Legend"]
    return sorted([text.get_text() for text in one.get_texts()] for one in found)


def test_lines_and_bands_are_the_numbers():
    lines = lines_of(drawn(plot_dimensions, FUSIONS))
    for curve in FUSIONS:
        np.testing.assert_array_equal(lines[curve.name].get_xydata().T, [curve.x, curve.mean])
    (band,) = drawn(plot_dimensions, FUSIONS[:1]).collections
    corners = set(map(tuple, band.get_paths()[0].vertices))
    assert {(1.0, 55.0), (1.0, 65.0), (3.0, 88.0), (3.0, 94.0)} <= corners


def test_numbers_of_the_paper_are_diamonds():
    published = {"mode": Published(mean=91.75), "sum": Published(mean=88.75)}
    published |= {"other": Published(mean=3.0), "none": Published()}
    axes = drawn(plot_dimensions, FUSIONS, published)
    assert [height for _, height in diamonds(axes)] == [91.75, 88.75]
    texts = {text.get_text(): text.get_color() for text in axes.texts}
    assert [*texts] == ["mode  91.0", "paper 91.8", "sum  90.0", "paper 88.8", "none  84.0"]
    assert texts["paper 88.8"] == PUBLISHED
    reported = {"CVC": [(1, 100.0), (2, 97.43)], "other": [(1, 2.0)]}
    axes = drawn(plot_outliers, [CVC, MSM], published=reported)
    assert diamonds(axes) == [(1, 100.0), (2, 97.43)]
    assert texts_of(axes) == ["CVC  97.0", "◆ paper", "MSM  70.0"]
    low, high = drawn(plot_dimensions, FUSIONS, {"mode": Published(mean=20.0)}).get_ylim()
    assert low < 20 < high


def test_outliers_have_shares_and_many_methods_keep_apart():
    axes = drawn(plot_outliers, [CVC, MSM], (0.0, 19.0, 38.2))
    lines = lines_of(axes)
    np.testing.assert_array_equal(lines["MSM"].get_ydata(), MSM.mean)
    assert lines["CVC"].get_color() == OURS
    ticks = [label.get_text() for label in axes.get_xticklabels()]
    assert ticks == ["0 (0 %)", "1 (19 %)", "2 (38 %)"]
    curves = [a_curve(f"method {i}", (90.0, 80.0 + i / 9), x=(0, 1)) for i in range(28)]
    axes = drawn(plot_outliers, curves, size=(7, 4))
    assert len(axes.texts) == 28
    assert not clashes(axes)
    assert not outside(axes)
    assert not axes.collections, "so many bands would hide the lines"


def test_clouds_and_points_on_the_wrong_side():
    points = [[0, 0, 5], [1, 0, 5], [4, 1, 5], [5, 1, 5]]
    axes = drawn(plot_clouds, points, [False, False, True, True], [0, 1, 0, 0])
    assert offsets(axes) == [[[0, 0], [1, 0]], [[4, 1], [5, 1]], [[1, 0]]]
    assert legends(axes) == [["wrong side: 1 of 4"]]


def test_lines_by_size():
    rows = [Row(distance=d, size=s, error=d * s / 100) for d in (3, 2) for s in (200, 100)]
    axes = drawn(plot_by_size, rows, "error", "error (%)")
    lines = [one.get_xydata() for one in axes.lines if "leader" not in one.get_label()]
    np.testing.assert_array_equal(lines, [[[100, 2], [200, 4]], [[100, 3], [200, 6]]])
    assert texts_of(axes) == ["d = 3", "d = 2"]
    rows = [Row(distance=d + 0.5, size=100, error=0.0) for d in range(12)]
    axes = drawn(plot_by_size, rows, "error", "error (%)", size=(4, 3))
    assert not clashes(axes)
    assert not outside(axes)


def test_bars_of_switches():
    switches = [Row(switches=i, n_points=n, error=e)
                for i, n, e in ((0, 61_234, 2.0), (1, 2_300, 30.0), (2, 15, 80.0))]  # fmt: skip
    start = [Row(switches=i, n_points=100, error=5.0 + i) for i in range(3)]
    axes = drawn(plot_switch_errors, switches, start)
    assert [bar.get_height() for bar in axes.patches] == [5.0, 6.0, 7.0, 2.0, 30.0, 80.0]
    assert texts_of(axes)[3:] == ["61.2 k", "2.3 k", "15"]
    assert [one.get_text() for one in axes.get_xticklabels()] == ["0", "1", "2 or more"]
    none = [Row(switches=0, n_points=5, error=0.0)]
    assert drawn(plot_switch_errors, none, none).get_ylim() == (0, 1)


def test_images_by_set_and_cluster():
    points = [[0, 0, 9], [1, 1, 9], [2, 0, 9], [3, 1, 9], [4, 4, 9]]
    axes = drawn(plot_points, points, [7, 7, 7, 3, 3], [*"aabb", "probe"], probe="probe")
    assert offsets(axes) == [[[0, 0], [1, 1]], [[2, 0], [3, 1]], [[4, 4]]]
    colours = [[to_hex(c) for c in one.get_facecolors()] for one in axes.collections]
    assert colours == [[PALETTE[0]] * 2, [PALETTE[0], PALETTE[1]], [PALETTE[1]]]
    assert to_hex(axes.collections[2].get_edgecolors()[0]) == PROBE
    assert legends(axes) == [["3", "2"], ["a", "b", "probe"]]
    # More clusters and sets than colours and markers: the largest clusters have colours.
    groups = [0, 1, 2, *np.arange(3, 13).repeat(2), *[20] * 17]
    names = [f"set {i}" for i in range(40)]
    axes = drawn(plot_points, np.arange(80).reshape(40, 2), groups, names)
    shown = [to_hex(one.get_facecolors()[0]) for one in axes.collections]
    assert shown[:3] == [OTHER] * 3
    assert set(shown[-17:]) == {PALETTE[0]}
    names = [name for texts in legends(axes) for name in texts]
    assert {"4 more clusters", "29 more sets"} <= set(names)


def test_distributions_go_down_the_diagonal():
    #         cluster 1 is bert's, 2 is anna's, 3 the probe's alone
    table = [[0.25, 0.75, 0.0], [1.0, 0.0, 0.0], [0.0, 0.5, 0.5]]
    axes = drawn(plot_distributions, table, ["anna", "bert", "probe"])
    assert [label.get_text() for label in axes.get_xticklabels()] == ["2", "1", "3"]
    cells = {text.get_position(): text.get_text() for text in axes.texts}
    anna, bert = {(0, 0.0): "75", (1, 0.0): "25"}, {(1, 1.0): "100"}
    assert cells == anna | bert | {(0, 2.3): "50", (2, 2.3): "50"}
    assert axes.get_yticklabels()[2].get_color() == PROBE
    table = np.random.default_rng(0).dirichlet(np.full(60, 0.3), 39)
    axes = drawn(plot_distributions, table, [f"a class called {i}" for i in range(39)])
    assert not clashes(axes)


def test_infinite_distances_stand_beyond_all_numbers():
    distances = {"SHC": [0.1, None, None], "$k$-means": [0.5, 0.2, float("inf")]}
    axes = drawn(plot_distances, distances, ["anna", "bert", "cleo"], "anna")
    near_shc, far_shc, beyond_shc, near, far, beyond = (
        [x for x, _ in one] for one in offsets(axes)
    )
    assert (near_shc, far_shc, near, far) == ([0.1], [], [0.2], [0.5])
    (at,) = {*beyond_shc, *beyond}
    ticks = [label.get_text() for label in axes.get_xticklabels()]
    assert dict(zip(axes.get_xticks(), ticks, strict=True))[at] == "∞"
    assert axes.get_xlim()[1] > at > 0.5
    truth = axes.get_yticklabels()[0]
    assert (truth.get_text(), truth.get_color()) == ("anna", PROBE)
    assert legends(axes) == [["SHC", "$k$-means"]]
    assert not any(text.get_parse_math() for text in axes.get_legend().get_texts())
    assert "∞" not in drawn(plot_distances, {"a": [0.0, 2.0]}, ["a", "b"], "b").get_xlabel()
    assert "∞" in drawn(plot_distances, {"a": [None, None]}, ["a", "b"], "b").get_xlabel()
