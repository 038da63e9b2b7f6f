import numpy as np
import pytest
from tests.plots.drawn import a_curve, clashes, lines_of, outside, texts_of

from setwise.plots import new_figure
from setwise_paper.figures.curves import plot_outliers
from setwise_paper.figures.style import OURS

pytest.importorskip("matplotlib")

CVC = a_curve("CVC", (100.0, 99.0, 97.0), x=(0, 1, 2))
MSM = a_curve("MSM", (95.0, 90.0, 70.0), x=(0, 1, 2))


def drawn(*args, size=(6, 3.6), **more):
    axes = new_figure(*size).subplots()
    assert plot_outliers(axes, *args, **more) is axes
    return axes


def test_lines_names_and_shares():
    axes = drawn([CVC, MSM], (0.0, 19.0, 38.2))
    lines = lines_of(axes)
    np.testing.assert_array_equal(lines["MSM"].get_ydata(), MSM.mean)
    assert lines["CVC"].get_color() == OURS
    assert texts_of(axes) == ["CVC  97.0", "MSM  70.0"]
    ticks = [label.get_text() for label in axes.get_xticklabels()]
    assert ticks == ["0 (0 %)", "1 (19 %)", "2 (38 %)"]
    plain = [label.get_text() for label in drawn([CVC]).get_xticklabels()]
    assert plain == ["0", "1", "2"]


def test_what_the_paper_says():
    axes = drawn([CVC, MSM], published={"CVC": [(1, 100.0), (2, 97.43)], "other": [(1, 2.0)]})
    marks = [line.get_xydata()[0] for line in axes.lines if line.get_marker() == "D"]
    np.testing.assert_array_equal(marks, [[1, 100.0], [2, 97.43]])
    assert texts_of(axes) == ["CVC  97.0", "◆ paper", "MSM  70.0"]
    low, high = drawn([CVC], published={"CVC": [(1, 20.0)]}).get_ylim()
    assert low < 20 < high


def test_many_methods_keep_their_names_apart():
    curves = [a_curve(f"method {i}", (90.0, 80.0 + i / 9), x=(0, 1)) for i in range(28)]
    axes = drawn(curves, size=(7, 4))
    assert len(axes.texts) == 28
    assert not clashes(axes)
    assert not outside(axes)
    assert not axes.collections  # so many bands would hide the lines
