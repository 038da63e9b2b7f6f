import numpy as np
import pytest
from tests.plots.drawn import a_curve, lines_of

from setwise.plots import new_figure
from setwise_paper.figures.curves import plot_dimensions
from setwise_paper.figures.style import PUBLISHED
from setwise_paper.spec import Published

pytest.importorskip("matplotlib")

FUSIONS = [
    a_curve("mode", (60.0, 80.0, 91.0), (5.0, 4.0, 3.0)),
    a_curve("sum", (60.0, 78.0, 90.0), (5.0, 4.0, 3.0)),
    a_curve("none", (60.0, 70.0, 84.0), (5.0, 4.0, 3.0)),
]


def drawn(*args, size=(6, 3.6)):
    axes = new_figure(*size).subplots()
    assert plot_dimensions(axes, *args) is axes
    return axes


def diamonds(axes):
    return [line.get_ydata()[0] for line in axes.lines if line.get_marker() == "D"]


def test_lines_are_the_numbers():
    lines = lines_of(drawn(FUSIONS))
    for curve in FUSIONS:
        np.testing.assert_array_equal(lines[curve.name].get_xdata(), curve.x)
        np.testing.assert_array_equal(lines[curve.name].get_ydata(), curve.mean)


def test_bands_are_one_standard_deviation():
    axes = drawn(FUSIONS[:1])
    (band,) = axes.collections
    corners = band.get_paths()[0].vertices
    assert {(1.0, 55.0), (1.0, 65.0), (3.0, 88.0), (3.0, 94.0)} <= set(map(tuple, corners))


def test_what_the_paper_says():
    published = {"mode": Published(mean=91.75), "sum": Published(mean=88.75)}
    published["other"] = Published(mean=3.0)
    published["none"] = Published()
    axes = drawn(FUSIONS, published)
    assert diamonds(axes) == [91.75, 88.75]
    texts = {text.get_text(): text.get_color() for text in axes.texts}
    assert [*texts] == ["mode  91.0", "paper 91.8", "sum  90.0", "paper 88.8", "none  84.0"]
    assert texts["paper 88.8"] == PUBLISHED
    assert diamonds(drawn(FUSIONS)) == []


def test_a_mark_far_away_is_inside():
    low, high = drawn(FUSIONS, {"mode": Published(mean=20.0)}).get_ylim()
    assert low < 20 < high
    axes = drawn([a_curve("mode", (99.0, 100.0), (3.0, 4.0))])
    assert axes.get_ylim()[1] < 102
    assert max(axes.get_yticks()) <= 100
