"""Parts of reports."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from paper.tests.made_results import failure, made
from paper.tests.small_sets import write_objects
from tests.report.parsed import Parsed

from setwise import SetBatch
from setwise.report.tables import number
from setwise_paper.accuracy import AccuracyRow, accuracy, agreement, seconds, signed, tolerance
from setwise_paper.report.glance import at_a_glance
from setwise_paper.report.pictures import MOST_IMAGES, Pictures
from setwise_paper.spec import Data, Published


def facts(result):
    return {fact.label: fact for fact in at_a_glance(result)}


def test_paper_beside_ours_and_the_best():
    found = facts(made(n_wrong=2).result)
    assert (found["The paper says"].value, found["We find"].value) == ("91.75", "91.00")
    assert found["We find"].mark == "within"
    assert found["Best of all here"].value == "96.50"
    assert found["Wrong probes"].value == "2"
    assert found["Finished"].mark == ""


def test_failures_are_marked():
    result = replace(made(n_wrong=0).result, failures=(failure(),), n_finished=59)
    found = facts(result)
    assert "Wrong probes" not in found
    assert found["Finished"].mark == "below"
    assert "1 to go, 1 failed" in found["Finished"].note


def test_times_are_no_results():
    result = made(n_wrong=0).result
    fusion, methods = result.sections[:2]
    timed = methods.experiment.model_copy(update={"is_timed": True})
    found = facts(replace(result, sections=(fusion, replace(methods, experiment=timed))))
    assert found["Best of all here"].value == "91.00"


def test_a_tie_is_no_best_of_all():
    result = made(n_wrong=0).result
    methods = result.sections[1]
    best = methods.rows[0]
    tied = (best, *(replace(row, mean=best.mean) for row in methods.rows[1:3]))
    found = facts(replace(result, sections=(replace(methods, rows=tied),)))
    assert "Best of all here" not in found
    assert found["Best here, shared"].value == "96.50"
    assert found["Best here, shared"].note == "3 methods: CVC, DCC, …"


def row(mean, *, std=3.0, paper_mean=90.0, paper_std=6.0, n_folds=9):
    published = None if paper_mean is None else Published(mean=paper_mean, std=paper_std)
    return AccuracyRow("x", mean, std, 0, 100, n_folds, 90, published=published)


@pytest.mark.parametrize(
    ("mean", "expected"),
    [(90.0, "within"), (93.0, "within"), (87.0, "within"), (93.1, "above"), (86.9, "below")],
)
def test_agreement_is_within_both_standard_errors(mean, expected):
    # 3 / sqrt(9) of ours, and 6 / sqrt(9) of the paper's.
    assert tolerance(row(mean)) == pytest.approx(3.0)
    assert agreement(row(mean)) == expected


def test_paper_without_deviation_counts_with_ours_alone():
    assert agreement(row(90.9, paper_std=None)) == "within"
    assert agreement(row(91.1, paper_std=None)) == "above"


def test_paper_without_figure_agrees_with_nothing():
    assert agreement(row(90.0, paper_mean=None)) == ""


def test_what_is_missing_is_a_dash():
    for write in (accuracy, signed, number, seconds):
        assert write(None) == write(math.nan) == "–"


OBJECTS = Data(name="objects", feature={"name": "hog"}, protocol="pairs")


@pytest.fixture
def folder(tmp_path):
    return write_objects(tmp_path, n_classes=2, n_sets=2, n_views=3, size=16)


def test_images_are_those_before_features(folder):
    found = Pictures.of(OBJECTS, folder)
    assert found.has_images
    assert found.sets.image_shape == (16, 16)
    assert set(found.of_classes) == set(found.labels)
    assert all(uri.startswith("data:image/png") for uri in found.of_classes.values())


def test_data_that_is_not_at_hand_says_so(tmp_path, monkeypatch):
    monkeypatch.delenv("SETWISE_DATA", raising=False)
    found = Pictures.of(Data(name="youtube"), tmp_path)
    assert not found.has_images
    assert "youtube" in found.why_none
    assert found.one(0, 0) == ""
    assert found.album(0) is None
    assert found.of_classes == {}


def test_what_is_out_of_range_has_no_picture(folder):
    found = Pictures.of(OBJECTS, folder)
    assert found.one(99, 0) == found.one(0, 99) == found.strip(99) == ""
    assert found.album(99) is None
    assert found.size(99) == 0


def test_long_sets_are_shown_by_evenly_spread_images():
    images = SetBatch.from_images([np.zeros((500, 4, 4), dtype=np.uint8)])
    album = Pictures(images, np.array(["a"])).album(0)
    assert len(album.images) == MOST_IMAGES
    assert (album.images[0], album.images[-1], album.n_images) == (0, 499, 500)
    assert set(np.diff(album.images)) <= {7, 8}


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
