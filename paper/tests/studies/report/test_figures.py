import re
from dataclasses import replace

import numpy as np
import pytest
from tests.report.parsed import Parsed
from tests.studies.report.made_results import CLASSES, made, striped_images, wrong_probes

from setwise.classify.explanation import Explanation
from setwise.report.tree_figure import tree_figure


@pytest.fixture(scope="module")
def sections():
    return made(n_wrong=0).result.sections


@pytest.fixture(scope="module")
def why():
    (wrong,) = wrong_probes("CVC", striped_images(CLASSES), CLASSES, 1)
    return Explanation.from_dict(wrong.explanation["why"])


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


def test_numbers_in_names_are_not_shortened(sections):
    fusion = sections[0]
    curve = replace(fusion.curves[0], name="1.23456")
    assert "1.23456" in replace(fusion, curves=(curve,)).for_template(None)["curves"]


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


def test_what_is_empty_is_not_drawn(sections):
    fusion, methods, robustness, distributions, gaussians = sections
    assert replace(fusion, curves=()).for_template(None)["curves"] == ""
    assert replace(methods, rows=methods.rows[:1]).time_figure() == ""
    assert replace(robustness, gallery=(), probes=()).for_template(None)["sides"] == []
    assert replace(distributions, examples=()).draw_distances() == ""
    bare = replace(gaussians, rows=(), switches=(), switches_from_start=(), example={})
    assert bare.panels() == []


def test_shares_of_an_unfinished_study_are_left_out(sections):
    unfinished = replace(sections[2], gallery_share=(0.0,))
    assert "17 %" not in unfinished.figure(unfinished.sides()[0])
    assert "17 %" in sections[2].figure(sections[2].sides()[0])


def test_paper_is_marked_at_the_outliers_it_reports(sections):
    gallery, probes = sections[2].sides()
    assert sections[2].published(gallery) == {1.0: 88.0}
    assert sections[2].published(probes) == {}
    assert "paper" in sections[2].figure(gallery)


def test_a_class_called_probe_is_not_the_probe(sections):
    example = replace(sections[3].examples[0], classes=("probe", "b", "c"), truth="probe")
    assert Parsed(example.draw_points()).text_in("text").count("probe") == 2


def test_same_picture_under_two_labels_shares_no_id(sections):
    def ids(side):
        tags = Parsed(sections[2].figure(side)).tags
        return {attributes["id"] for _, attributes in tags if "id" in attributes}

    gallery, probes = sections[2].sides()
    assert ids(gallery)
    assert not ids(gallery) & ids(probes)


def test_points_of_clouds_are_told_in_the_caption(sections):
    captions = [caption for _, caption in sections[4].panels()]
    assert captions[0] == "One draw: 2 points each, 2 apart"
    assert len(captions) == 5
    assert all(np.char.str_len(captions) > 0)
