"""The tree of cuts, as the pages of reports draw it."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from tests.plots.test_explanation_plot import albums, explanation_of

from setwise import CVC
from setwise.classify.explanation import CutStep
from setwise.plots.plot_page import Page
from setwise.plots.style import OTHER, PALETTE, new_figure
from setwise.plots.tree_plot import _stops, draw_tree


@pytest.fixture(scope="module")
def explanation():
    return explanation_of(4)


def tree_axes(why):
    figure = new_figure(14.0, 9.2)
    draw_tree(Page.of(figure, why), (0.03, 0.025, 0.61, 0.44))
    return figure.axes[0]


def texts_of(why):
    return [text.get_text() for text in tree_axes(why).texts]


def a_step(node, children=(), n_probe=0, kind="leaf"):
    counts = np.array([2, 1])
    return CutStep(
        node=node,
        parent=-1,
        children=children,
        depth=0,
        n_columns=3 + n_probe,
        n_probe=n_probe,
        class_counts=counts,
        kind=kind,
        connectivity=0.0,
        ncut=0.0,
        fell_away=(),
    )


def test_components_fall_apart_at_one_stop(explanation):
    """Five parts, two of them with the probe: two branches, three parts shed."""
    parts = tuple(a_step(i, n_probe=i in (2, 4)) for i in range(1, 6))
    tree = (a_step(0, (1, 2, 3, 4, 5), 2, "components"), *parts)
    root, *leaves = _stops(tree, 1)
    assert root.is_branching
    assert [step.node for step in root.shed] == [1, 3, 5]
    assert [leaf.step.node for leaf in leaves] == [2, 4]
    assert "apart" in texts_of(replace(explanation, tree=tree))


@pytest.mark.parametrize("most_cuts", [1, 2, 5])
def test_stops_hold_the_whole_tree_once(explanation, most_cuts):
    tree = explanation.tree
    stops = _stops(tree, most_cuts)
    cuts = [step.node for stop in stops for step in stop.cuts]
    assert sorted(cuts) == sorted(step.node for step in tree if step.children)
    shed = [step.node for stop in stops for step in stop.shed]
    leaves = [stop.step.node for stop in stops if not stop.cuts]
    assert sorted(shed + leaves) == sorted(step.node for step in tree if not step.children)
    for i, stop in enumerate(stops):
        assert stop.parent < i
        assert stop.parent < 0 or stops[stop.parent].column < stop.column


def test_leaves_are_numbered_like_the_columns_of_the_table(explanation):
    leaves = [stop.step for stop in _stops(explanation.tree, 1) if not stop.cuts]
    probe = explanation.class_cluster[-1]
    n_probe = sum(leaf.n_probe for leaf in leaves)
    np.testing.assert_allclose([leaf.n_probe / n_probe for leaf in leaves], probe[probe > 0])


def test_no_text_of_the_tree_lies_on_another():
    ax = tree_axes(explanation_of(12))
    renderer = ax.figure.canvas.get_renderer()
    boxes = [t.get_window_extent(renderer) for t in ax.texts if t.get_text()]
    # Boxes include ascent and descent that letters rarely use, so let them touch.
    boxes = [box.padded(-1.5) for box in boxes]
    clashes = [
        (i, j) for i in range(len(boxes)) for j in range(i) if boxes[i].overlaps(boxes[j])
    ]
    assert not clashes


def test_a_tree_that_is_none_says_why(explanation):
    assert "this clusterer makes no tree" in texts_of(replace(explanation, tree=()))
    alone = replace(explanation, tree=explanation.tree[-1:])
    assert "the probe has no column here" in texts_of(alone)


def test_of_many_classes_the_probable_ones_have_colours():
    why = explanation_of(30)
    page = Page.of(new_figure(5, 5), why)
    assert sum(colour != OTHER for colour in page.colours) == len(PALETTE)
    assert page.colours[page.answer] == PALETTE[0]


@pytest.mark.filterwarnings("ignore::setwise.errors.GuessingWarning")
def test_few_classes_keep_their_colours_from_probe_to_probe():
    sets, y = albums(3)
    clf = CVC(dims=(1,)).fit(sets, y)
    pages = [Page.of(new_figure(5, 5), clf.explain(s)) for s in (sets[0], sets[-1])]
    assert pages[0].answer != pages[1].answer
    assert pages[0].colours == pages[1].colours
