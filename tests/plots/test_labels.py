import warnings
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.plots.drawn import clashes, outside, texts_of

from setwise.errors import DataError
from setwise.plots.labels import fonts_for, one_line, plot_accuracy_time, spread
from setwise.plots.style import OURS, PALETTE, new_figure


@st.composite
def heights_and_gaps(draw):
    heights = draw(st.lists(st.floats(0, 1), min_size=1, max_size=30))
    most = 1.0 / max(len(heights) - 1, 1)
    return np.sort(heights)[::-1], draw(st.floats(0, 1)) * most


@given(heights_and_gaps())
def test_names_keep_apart_and_inside(case):
    heights, gap = case
    places = spread(heights, gap)
    assert (-np.diff(places) >= gap - 1e-12).all()
    assert places.max() <= 1 + 1e-12
    assert places.min() >= -1e-12


def test_names_with_room_stand_beside_their_points():
    np.testing.assert_allclose(spread(np.array([0.9, 0.5, 0.1]), 0.2), [0.9, 0.5, 0.1])


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("two\nlines", "two lines"),
        ("  wide   name ", "wide name"),
        ("a\x00b\ud800", "a\ufffdb\ufffd"),
        (7, "7"),
        ("x" * 40, "x" * 27 + "…"),
        ("日本語", "日本語"),
    ],
)
def test_names_on_one_line(name, line):
    assert one_line(name) == line


def test_no_font_is_asked_for_twice():
    pytest.importorskip("matplotlib")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        family, known = fonts_for(["plain"])
    assert family == ["DejaVu Sans"]
    assert ord("é") in known


def drawn(points, size=(7, 4)):
    axes = new_figure(*size).subplots()
    assert plot_accuracy_time(axes, points) is axes
    return axes


def test_points_are_the_numbers():
    axes = drawn([("MSM", 0.002, 0.9, 0.8, 0.95), ("CVC", 0.05, 0.97, 0.9, 1.0)])
    dots = [line for line in axes.lines if line.get_marker() == "o"]
    np.testing.assert_allclose([dot.get_xydata()[0] for dot in dots], [[2, 90], [50, 97]])
    assert [dot.get_color() for dot in dots] == [PALETTE[0], OURS]
    lines = [line for line in axes.lines if not line.get_label().startswith("_leader")]
    bars = [line.get_ydata() for line in lines if line.get_marker() != "o"]
    np.testing.assert_allclose(bars, [[80, 95], [90, 100]])
    assert texts_of(axes) == ["CVC  97.0", "MSM  90.0"]
    assert axes.get_xscale() == "log"


@pytest.mark.parametrize("n_points", [1, 2, 28])
def test_names_and_ticks_keep_apart(n_points):
    rng = np.random.default_rng(n_points)
    points = [
        (f"a method with quite a long name {i}", 10 ** rng.uniform(-3, 1), a, a - 0.05, a)
        for i, a in enumerate(rng.uniform(0.9, 1.0, n_points))
    ]
    axes = drawn(points, (7, 5))
    assert len(axes.texts) == n_points
    assert not clashes(axes)
    assert not outside(axes)


@pytest.mark.parametrize("seconds", [(0.02,), (0.02, 0.5), (0.001, 90.0)])
def test_times_are_plain_numbers(seconds):
    axes = drawn([(f"m{i}", s, 0.9, 0.8, 1.0) for i, s in enumerate(seconds)])
    axes.figure.draw_without_rendering()
    ticks = [label.get_text() for label in axes.get_xticklabels()]
    low, high = axes.get_xlim()
    inside = [tick for tick in ticks if low <= float(tick) <= high]
    assert 2 <= len(inside) <= 8


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([], "points is empty"),
        ([("m", 0.0, 0.9, 0.8, 1.0)], "m takes 0 seconds per probe.*more than 0"),
        ([("m", 0.1, float("nan"), 0.8, 1.0)], "m takes 0.1 seconds .* an accuracy of nan"),
    ],
)
def test_what_cannot_be_drawn(points, message):
    with pytest.raises(DataError, match=message):
        drawn(points)


def test_the_axis_ends_where_percentages_do():
    axes = drawn([("CVC", 0.05, 1.0, 0.99, 1.0), ("MSM", 0.002, 0.02, 0.0, 0.05)])
    low, high = axes.get_ylim()
    assert max(axes.get_yticks()) == 100
    assert min(axes.get_yticks()) == 0
    assert (-4 < low < 0, 100 < high < 104) == (True, True)


def test_leaders_do_not_cross():
    """Many methods that share an accuracy, at times in no order."""
    times = (0.3, 0.001, 0.02, 4.0, 0.005, 0.9, 0.1)
    points = [(f"m{i}", s, (1.0, 0.99)[i % 2], 0.9, 1.0) for i, s in enumerate(times)]
    axes = drawn(points)
    leaders = [line.get_xydata() for line in axes.lines if "leader" in line.get_label()]
    assert len(leaders) == len(points)
    for one, other in combinations(leaders, 2):
        x = np.linspace(max(one[0, 0], other[0, 0]), one[1, 0], 50)
        gap = np.interp(x, *one.T) - np.interp(x, *other.T)
        assert (gap >= -1e-9).all() or (gap <= 1e-9).all()
