"""The tree of cuts, as pages draw it."""

import re
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("markupsafe")

from tests.plots.explained import albums, explanation_of
from tests.report.parsed import Parsed

from setwise import CVC
from setwise.classify.explanation import CutStep
from setwise.plots.style import OTHER, PALETTE
from setwise.report.tree import _colours, _stops, tree_figure


@pytest.fixture(scope="module")
def explanation():
    return explanation_of(4)


def texts_in(tree):
    return [text for tag, text in Parsed(tree).texts if tag == "text"]


def texts_of(why):
    return texts_in(tree_figure(why, "A tree")[0])


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


def boxes_of(tree):
    """Left, top, right and bottom of each text, as wide as a usual font draws it."""
    boxes = []
    for tag, one in Parsed(tree).tags:
        if tag == "text":
            size = float(re.search(r"font-size: ([\d.]+)px", one["style"]).group(1))
            boxes.append([float(one["x"]), float(one["y"]), size, one["text-anchor"]])
    found = []
    for (x, y, size, anchor), text in zip(boxes, texts_in(tree), strict=True):
        width = 0.55 * size * len(text)
        left = x - width * {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor]
        found.append((left, y - 0.7 * size, left + width, y))
    return found


def test_no_text_lies_on_another_or_leaves_the_picture():
    people = [f"person {i}" for i in range(12)]
    for why in (explanation_of(4), explanation_of(12), explanation_of(12, people)):
        boxes = boxes_of(tree_figure(why, "A tree")[0])
        assert all(left >= 0 for left, *_ in boxes)
        for i, (left, top, right, bottom) in enumerate(boxes):
            for other in boxes[:i]:
                apart = right <= other[0] or other[2] <= left
                assert apart or bottom <= other[1] or other[3] <= top


def test_a_tree_that_is_none_says_why(explanation):
    tree, note = tree_figure(replace(explanation, tree=()), "A tree")
    assert (tree, note) == ("", "this clusterer makes no tree")
    alone = replace(explanation, tree=explanation.tree[-1:])
    assert tree_figure(alone, "A tree") == ("", "the probe has no column here")


def test_names_make_no_elements_and_long_ones_are_shortened(explanation):
    names = ["<script>alert(1)</script>", 'a"b', "$x_1$", "日本語 " * 9]
    tree, _ = tree_figure(explanation_of(4, names), '"><script>alert(2)</script>')
    found = Parsed(tree)
    assert found.mistakes == []
    assert {tag for tag, _ in found.tags} == {"svg", "path", "line", "circle", "text"}
    assert found.all_of("svg")[0]["aria-label"] == '"><script>alert(2)</script>'
    assert any(one.endswith("…") for text in texts_in(tree) for one in text.split(", "))


def test_coordinates_are_no_finer_than_can_be_seen(explanation):
    paths = re.findall(r'<path d="([^"]*)"', tree_figure(explanation, "A tree")[0])
    assert paths
    assert not any(re.search(r"\.\d\d", path) for path in paths)


def test_slices_of_a_disc_are_the_shares_of_its_classes(explanation):
    tree, _ = tree_figure(explanation, "A tree")
    root = min(explanation.tree, key=lambda step: step.node)
    slices = re.findall(r'<path d="(M[^"]*A[^"]*)"', tree)
    first = slices[: len(root.class_counts)]
    center = np.array(re.match(r"M([\d.]+) ([\d.]+)", first[0]).groups(), dtype=float)
    for path, count in zip(first, root.class_counts, strict=True):
        start = re.search(r"L([\d.]+) ([\d.]+)A", path).groups()
        end = re.search(r" 1 ([\d.]+) ([\d.]+)z", path).groups()
        one, other = (np.array(point, dtype=float) - center for point in (start, end))
        turn = np.arctan2(*other[::-1]) - np.arctan2(*one[::-1])
        assert turn / (2 * np.pi) % 1 == pytest.approx(count / root.n_columns, abs=0.01)


def test_larger_trees_are_higher(explanation):
    tree, _ = tree_figure(explanation, "A tree")
    leaves = [step for step in explanation.tree if not step.children and step.n_probe]
    height = float(re.search(r'viewBox="0 0 \S+ ([\d.]+)"', tree).group(1))
    assert height == pytest.approx(14 + 44 * max(len(leaves), 2) + 11, abs=2)


def test_of_many_classes_the_probable_ones_have_colours():
    why = explanation_of(30)
    colours = _colours(why)
    assert sum(colour != OTHER for colour in colours) == len(PALETTE)
    assert colours[int(np.flatnonzero(why.classes == why.label)[0])] == PALETTE[0]


@pytest.mark.filterwarnings("ignore::setwise.errors.GuessingWarning")
def test_few_classes_keep_their_colours_from_probe_to_probe():
    sets, y = albums(3)
    clf = CVC(dims=(1,)).fit(sets, y)
    whys = [clf.explain(one) for one in (sets[0], sets[-1])]
    assert whys[0].label != whys[1].label
    assert _colours(whys[0]) == _colours(whys[1])
