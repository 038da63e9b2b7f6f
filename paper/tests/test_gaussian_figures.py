from types import SimpleNamespace as Row

import pytest
from tests.plots.drawn import clashes, outside, texts_of

from setwise.plots import new_figure
from setwise_paper.figures.gaussians import plot_by_size, plot_clouds, plot_switch_errors

pytest.importorskip("matplotlib")

SWITCHES = [
    Row(switches=0, n_points=61_234, error=2.0),
    Row(switches=1, n_points=2_300, error=30.0),
    Row(switches=2, n_points=15, error=80.0),
]
FROM_START = [Row(switches=i, n_points=100, error=5.0 + i) for i in range(3)]


def new_axes(size=(4, 3)):
    return new_figure(*size).subplots()


def test_clouds_and_what_is_wrong():
    points = [[0, 0, 5], [1, 0, 5], [4, 1, 5], [5, 1, 5]]
    axes = new_axes()
    assert plot_clouds(axes, points, [False, False, True, True], [0, 1, 0, 0]) is axes
    first, second, wrong = (one.get_offsets().tolist() for one in axes.collections)
    assert first == [[0, 0], [1, 0]]
    assert second == [[4, 1], [5, 1]]
    assert wrong == [[1, 0]]
    assert axes.get_legend().get_texts()[0].get_text() == "wrong side: 1 of 4"


def test_lines_by_size():
    rows = [Row(distance=d, size=s, error=d * s / 100) for d in (3, 2) for s in (200, 100)]
    axes = new_axes()
    assert plot_by_size(axes, rows, "error", "error (%)") is axes
    data = [
        line.get_xydata().tolist() for line in axes.lines if "leader" not in line.get_label()
    ]
    assert data == [[[100, 2], [200, 4]], [[100, 3], [200, 6]]]
    assert texts_of(axes) == ["d = 3", "d = 2"]
    assert axes.get_ylabel() == "error (%)"
    assert axes.get_ylim()[0] == 0


@pytest.mark.parametrize("n_distances", [1, 6, 12])
def test_names_of_distances_keep_apart(n_distances):
    rows = [Row(distance=d + 0.5, size=100, error=0.0) for d in range(n_distances)]
    axes = new_axes()
    plot_by_size(axes, rows, "error", "error (%)")
    assert (
        len({line.get_color() for line in axes.lines if "leader" not in line.get_label()})
        == n_distances
    )
    assert not clashes(axes)
    assert not outside(axes)


def test_bars_of_switches():
    axes = new_axes((5, 3.4))
    assert plot_switch_errors(axes, SWITCHES, FROM_START) is axes
    heights = [bar.get_height() for bar in axes.patches]
    assert heights == [5.0, 6.0, 7.0, 2.0, 30.0, 80.0]
    assert texts_of(axes)[3:] == ["61.2 k", "2.3 k", "15"]
    names = [label.get_text() for label in axes.get_xticklabels()]
    assert names == ["0", "1", "2 or more"]
    assert not clashes(axes)


def test_no_errors_at_all():
    axes = new_axes()
    none = [Row(switches=0, n_points=5, error=0.0)]
    plot_switch_errors(axes, none, none)
    assert axes.get_ylim() == (0, 1)
