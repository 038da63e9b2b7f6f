import numpy as np
import pytest
from tests.plots.drawn import clashes

from setwise.errors import DataError
from setwise.plots.confusion import plot_confusion
from setwise.plots.style import new_figure

pytest.importorskip("matplotlib")


def drawn(counts, names, size=(5, 4)):
    axes = new_figure(*size).subplots()
    assert plot_confusion(axes, counts, names) is axes
    return axes


def test_numbers_stand_where_they_belong():
    axes = drawn([[8, 2, 0], [0, 5, 0], [1, 0, 0]], ["cow", "dog", "cat"])
    cells = {text.get_position(): text.get_text() for text in axes.texts}
    assert cells == {(0, 0): "8", (1, 0): "2", (1, 1): "5", (0, 2): "1"}
    assert [label.get_text() for label in axes.get_yticklabels()] == ["cow", "dog", "cat"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["cow", "dog", "cat"]
    low, high = axes.get_ylim()
    assert low > high  # the first class is on top


def test_colours_grow_with_the_share_of_the_row():
    axes = drawn([[8, 2], [50, 50]], ["a", "b"])
    cells = axes.patches[2:]  # after the two empty rows
    alphas = [cell.get_facecolor()[3] for cell in cells]
    assert alphas[0] > alphas[2] == alphas[3] > alphas[1] > 0
    colours = [cell.get_facecolor()[:3] for cell in cells]
    assert colours[0] == colours[3] != colours[1] == colours[2]


@pytest.mark.parametrize(
    ("n", "size"),
    [(1, (3, 2)), (3, (3, 3)), (8, (5, 4)), (12, (6, 5)), (38, (8, 8)), (38, (5, 4))],
)
def test_nothing_lies_on_anything_else(n, size):
    names = [f"a class with a long name {i}" for i in range(n)]
    axes = drawn(1234 * (np.eye(n) + np.eye(n, k=1)) + np.eye(n, k=-1), names, size)
    assert not clashes(axes)
    short = drawn(np.eye(n, dtype=int), [f"c{i}" for i in range(n)], size)
    assert not clashes(short)


def test_a_class_without_probes():
    axes = drawn([[0, 0], [0, 3]], ["a", "b"])
    assert [text.get_text() for text in axes.texts] == ["3"]


@pytest.mark.parametrize(
    ("counts", "names", "message"),
    [
        ([[1, 2]], ["a"], "1 in rows, 2 in columns, 1 in names"),
        ([[1, 2], [3, 4]], ["a"], "2 in rows, 2 in columns, 1 in names"),
        ([[1, 2], [3]], ["a", "b"], "rows of different lengths"),
        ([[1, -2], [3, 4]], ["a", "b"], "counts holds -2"),
        ([], [], "Expected rows and columns"),
    ],
)
def test_what_cannot_be_drawn(counts, names, message):
    with pytest.raises(DataError, match=message):
        drawn(counts, names)
