"""The tree of cuts as a picture of a page."""

import re
from dataclasses import replace

import numpy as np
import pytest
from setwise.report.tree_figure import tree_figure
from tests.report.parsed import Parsed
from tests.striped_sets import striped_sets

from setwise import CVC


@pytest.fixture(scope="module")
def why():
    sets = striped_sets(4)
    is_probe = np.arange(len(sets)) >= 9
    classifier = CVC(dims=(1, 2, 3), fusion="mode", weights=None, random_state=0)
    classifier.fit(sets[~is_probe], sets.labels[~is_probe])
    return classifier.explain(sets[is_probe][[0]])


def test_tree_is_text_and_paths_without_a_halo(why):
    tree, note = tree_figure(why, "A tree")
    found = Parsed(tree)
    assert found.mistakes == []
    assert found.all_of("svg")[0]["aria-label"] == "A tree"
    assert "cluster: its class" in found.text_in("text")
    assert "Tree of cuts" not in found.text_in("text")  # the page says it
    assert "circle: classes in a cluster" in note
    assert "clip-path" not in tree


def test_coordinates_are_no_finer_than_can_be_seen(why):
    tree, _ = tree_figure(why, "A tree")
    paths = re.findall(r'<path d="([^"]*)"', tree)
    assert paths
    assert not any(re.search(r"\.\d\d", path) for path in paths)


def test_tree_that_is_none_says_why(why):
    tree, note = tree_figure(replace(why, tree=()), "A tree")
    assert tree == ""
    assert "no tree" in note


def test_larger_trees_are_higher(why):
    def height(tree):
        return float(re.search(r'viewBox="0 0 \S+ ([\d.]+)"', tree).group(1))

    leaves = [step for step in why.tree if not step.children and step.n_probe]
    small, _ = tree_figure(why, "A tree")
    assert height(small) == pytest.approx(14 + 44 * max(len(leaves), 2) + 11, abs=2)
