import numpy as np
import pytest
from tests.plots.drawn import clashes

from setwise.plots import new_figure
from setwise_paper.figures.clusters import plot_distances, plot_distributions, plot_points
from setwise_paper.figures.style import OTHER, PALETTE, PROBE

pytest.importorskip("matplotlib")
from matplotlib.colors import to_hex, to_rgba


def new_axes(size=(6, 4)):
    return new_figure(*size).subplots()


# --- images ---


def test_images_by_set_and_cluster():
    points = [[0, 0, 9], [1, 1, 9], [2, 0, 9], [3, 1, 9], [4, 4, 9]]
    axes = new_axes()
    names = ["a", "a", "b", "b", "probe"]
    assert plot_points(axes, points, [7, 7, 7, 3, 3], names, probe="probe") is axes
    offsets = [one.get_offsets().tolist() for one in axes.collections]
    assert offsets == [[[0, 0], [1, 1]], [[2, 0], [3, 1]], [[4, 4]]]
    colours = [[to_hex(c) for c in one.get_facecolors()] for one in axes.collections]
    assert colours == [[PALETTE[0]] * 2, [PALETTE[0], PALETTE[1]], [PALETTE[1]]]
    assert to_hex(axes.collections[2].get_edgecolors()[0]) == PROBE
    legends = [one for one in axes.get_children() if type(one).__name__ == "Legend"]
    told = [[text.get_text() for text in legend.get_texts()] for legend in legends]
    assert sorted(told) == [["3", "2"], ["a", "b", "probe"]]


def test_more_clusters_and_sets_than_there_are_colours_and_markers():
    n = 40
    names = [f"set {i}" for i in range(n)]
    # The last clusters are the largest, so it is they that have colours.
    groups = [0, 1, 2, *np.arange(3, 13).repeat(2), *[20] * (n - 23)]
    axes = new_axes()
    plot_points(axes, np.arange(2 * n).reshape(n, 2), groups, names)
    shown = [to_hex(one.get_facecolors()[0]) for one in axes.collections]
    assert shown[:3] == [OTHER] * 3
    assert set(shown[-(n - 23) :]) == {PALETTE[0]}
    legends = [one for one in axes.get_children() if type(one).__name__ == "Legend"]
    texts = [text.get_text() for legend in legends for text in legend.get_texts()]
    assert "4 more clusters" in texts
    assert "29 more sets" in texts
    assert len(texts) == 11 + 12


def test_legends_are_within_the_picture():
    axes = new_axes()
    plot_points(axes, np.eye(30), range(30), [f"a rather long name {i}" for i in range(30)])
    axes.figure.draw_without_rendering()
    for legend in [one for one in axes.get_children() if type(one).__name__ == "Legend"]:
        box, page = legend.get_window_extent(), axes.figure.bbox
        assert box.x0 >= 0
        assert box.y0 >= -1
        assert box.x1 <= page.width + 1
        assert not box.overlaps(axes.get_window_extent())


# --- distributions ---


def test_distributions_go_down_the_diagonal():
    #         cluster 1 is bert's, 2 is anna's, 3 the probe's alone
    table = [[0.25, 0.75, 0.0], [1.0, 0.0, 0.0], [0.0, 0.5, 0.5]]
    axes = new_axes()
    assert plot_distributions(axes, table, ["anna", "bert", "probe"]) is axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["2", "1", "3"]
    cells = {text.get_position(): text.get_text() for text in axes.texts}
    assert cells == {
        (0, 0.0): "75",
        (1, 0.0): "25",
        (1, 1.0): "100",
        (0, 2.3): "50",
        (2, 2.3): "50",
    }
    probe = axes.get_yticklabels()[2]
    assert (probe.get_text(), probe.get_color()) == ("probe", PROBE)
    of_probe = [cell for cell in axes.patches if cell.get_facecolor()[:3] == to_rgba(PROBE)[:3]]
    assert len(of_probe) == 2


@pytest.mark.parametrize(
    ("n_rows", "n_clusters", "size"),
    [(2, 1, (3, 2)), (6, 5, (5, 3)), (6, 40, (7, 3)), (39, 60, (7, 7))],
)
def test_distributions_of_any_size(n_rows, n_clusters, size):
    table = np.random.default_rng(0).dirichlet(np.full(n_clusters, 0.3), n_rows)
    table[table < 0.02] = 0
    axes = new_axes(size)
    plot_distributions(axes, table, [f"a class with a name {i}" for i in range(n_rows)])
    assert not clashes(axes)
    assert len(axes.patches) == n_rows + np.count_nonzero(table)


# --- distances ---


def places(axes):
    """Filled, hollow and crossed places of each clusterer."""
    xs = [one.get_offsets()[:, 0].tolist() for one in axes.collections]
    return [xs[i : i + 3] for i in range(0, len(xs), 3)]


def test_infinite_distances_stand_beyond_all_numbers():
    axes = new_axes()
    distances = {"SHC": [0.1, None, None], "SSC": [0.5, 0.2, float("inf")]}
    assert plot_distances(axes, distances, ["anna", "bert", "cleo"], "anna") is axes
    shc, ssc = places(axes)
    assert shc[:2] == [[0.1], []]
    assert ssc[:2] == [[0.2], [0.5]]
    infinite = set(shc[2] + ssc[2])
    assert len(shc[2]) == 2
    assert len(ssc[2]) == 1
    (beyond,) = infinite
    assert beyond > 0.5
    ticks = dict(
        zip(axes.get_xticks(), (t.get_text() for t in axes.get_xticklabels()), strict=True)
    )
    assert ticks[beyond] == "∞"
    assert all(float(text) == pytest.approx(at) for at, text in ticks.items() if at != beyond)
    assert axes.get_xlim()[1] > beyond
    truth = axes.get_yticklabels()[0]
    assert (truth.get_text(), truth.get_color()) == ("anna", PROBE)


def test_all_distances_finite_or_none():
    axes = new_axes()
    plot_distances(axes, {"SHC": [0.0, 2.0]}, ["a", "b"], "b")
    assert "∞" not in [t.get_text() for t in axes.get_xticklabels()]
    assert "∞" not in axes.get_xlabel()
    axes = new_axes()
    plot_distances(axes, {"SHC": [None, None]}, ["a", "b"], "b")
    ((filled, hollow, crossed),) = places(axes)
    assert (filled, hollow, len(crossed)) == ([], [], 2)
    assert min(crossed) > 0


def test_clusterers_are_told_apart():
    axes = new_axes()
    names = ["SHC", "$k$-means", "SSC", "SKMS"]
    plot_distances(axes, {name: [0.1, 0.2] for name in names}, ["a", "b"], "a")
    texts = axes.get_legend().get_texts()
    assert [text.get_text() for text in texts] == names
    assert not any(text.get_parse_math() for text in texts)
    heights = [one.get_offsets()[:, 1].tolist() for one in axes.collections[::3]]
    assert len({height for (height,) in heights}) == 4
