from dataclasses import replace

import numpy as np
import pytest
from tests.report.parsed import Parsed
from tests.studies.report.made_results import made


@pytest.fixture(scope="module")
def sections():
    return made(n_wrong=0).result.sections


def test_numbers_in_names_are_not_shortened(sections):
    fusion = sections[0]
    curve = replace(fusion.curves[0], name="1.23456")
    assert "1.23456" in replace(fusion, curves=(curve,)).for_template(None)["curves"]


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
