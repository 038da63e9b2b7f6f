"""The report of a study: its page, its parts, and names that stay names."""

import base64
import errno
import hashlib
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from paper.tests.made_results import HOSTILE, failure, made, only
from paper.tests.small_sets import write_objects
from tests.report.parsed import Parsed

from setwise import SetBatch
from setwise.classify import Explanation
from setwise.errors import DataError
from setwise_paper.accuracy import AccuracyRow, accuracy, agreement, seconds, signed, tolerance
from setwise_paper.report import parts as pictures
from setwise_paper.report.parts import MOST_IMAGES, Pictures, at_a_glance, probe_pages
from setwise_paper.report.render import render, write_report
from setwise_paper.spec import Data, Published
from setwise_paper.study import shipped_studies


@pytest.fixture(scope="module")
def page(ordinary):
    return Parsed(ordinary)


@pytest.fixture(scope="module")
def given():
    return made(n_wrong=2)


@pytest.fixture(scope="module")
def sections(given):
    return given.result.sections


def test_page_is_one_well_formed_file_that_asks_the_network_for_nothing(ordinary, page):
    assert page.mistakes == []
    assert page.declarations == ["doctype html"]
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(set(ids)) == len(ids)
    anchors = {one["href"][1:] for one in page.all_of("a")}
    assert {"section-methods", "probe-methods-1", "wrong-methods"} <= anchors <= set(ids)
    for _, attributes in page.tags:
        for name in ("src", "href", "action", "data", "poster", "srcset"):
            assert (attributes.get(name) or "#").startswith(("#", "data:image/png;base64,"))
    assert not re.search(r"@import|url\((?!#)|https?://", ordinary)
    (policy,) = [one["content"] for one in page.all_of("meta")
                 if one.get("http-equiv") == "Content-Security-Policy"]  # fmt: skip
    digest = base64.b64encode(hashlib.sha256(page.text_in("script").encode()).digest())
    assert f"script-src 'sha256-{digest.decode()}'" in policy
    assert "default-src 'none'" in policy


def test_all_that_a_study_found_is_shown(page):
    shown = page.shown()
    for text in (
        *("91.75", "± 4.42", "87.50 to 100.00", "96.50", "+4.75", "−5.00", "400 ms"),
        *("a machine", "numpy 2.0", "ConvergenceWarning 12", "read from somewhere"),
    ):
        assert text in shown, text
    ids = [one.get("id") for one in page.all_of("section") if one.get("class") == "experiment"]
    names = ("fusion", "methods", "robustness", "distributions", "gaussians")
    assert ids == [f"section-{name}" for name in names]
    pages = [one["id"] for one in page.all_of("article") if one.get("class") == "probe-page"]
    assert pages == [f"probe-methods-{i}" for i in (1, 2, 3, 4)]
    labels = [one.get("aria-label", "") for one in page.all_of("svg")]
    assert sum(label.startswith("Tree of cuts") for label in labels) == 4
    alternatives = [one["alt"] for one in page.all_of("img")]
    assert sum(text.startswith("7 images of") for text in alternatives) == 4
    assert sum(text.startswith("Nearest gallery image") for text in alternatives) == 8


def test_failures_what_is_left_and_nothing_at_all_are_pages_too(rendered, given):
    unfinished = only(made(failures=[failure()], n_finished=50, n_wrong=0))
    page = Parsed(rendered(unfinished))
    assert [one["id"] for one in page.all_of("aside")] == ["unfinished"]
    for text in ("1 item of work failed", "50 of 60", "DCC on fold 3", "LinAlgError: bad"):
        assert text in page.shown(), text
    name, shipped = next(iter(shipped_studies().items()))
    study = given.result.study.model_copy(update={"title": shipped.title})
    empty = rendered(only(given, n_finished=0, versions={}, data_notes={}, study=study))
    assert Parsed(empty).mistakes == []
    assert f"setwise reproduce {name}<" in empty


def test_probe_without_explanation_is_listed_without_page(rendered, given):
    methods = given.result.sections[1]
    first, second = methods.wrong
    bare = replace(methods, wrong=(replace(first, explanation={}), second))
    page = Parsed(rendered(replace(given, result=replace(given.result, sections=(bare,)))))
    assert len(page.all_of("article")) == 1
    assert "not explained yet" in page.shown()


def test_data_that_is_gone_or_no_images(rendered, monkeypatch):
    given = only(made(n_wrong=1), "methods")
    vectors = given.sets.vectors.astype(float)
    bare = SetBatch(vectors, given.sets.offsets, given.sets.names, given.labels)
    page = Parsed(rendered(replace(given, images=None, sets=bare)))
    assert [one["class"] for one in page.all_of("img")] == ["strip"]
    assert "The data are no images" in page.shown()

    def gone(data, folder):
        raise DataError("eth80: there is no such file. Fetch it.")

    monkeypatch.setattr(pictures, "read_data", gone)
    page = Parsed(render(given.result))
    assert not page.all_of("img")
    assert "there is no such file" in page.shown()
    assert len(page.all_of("article")) == 1


def test_a_write_that_fails_leaves_what_was_there(tmp_path, monkeypatch, given):
    result = only(given).result
    path = write_report(result, tmp_path / "report.html")
    before = path.read_bytes()

    def refuse(self, target):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(DataError, match=r"report\.html: cannot be written: No space left"):
        write_report(replace(result, machine="another one"), path)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]


def test_times_of_a_few_probes_are_not_drawn_against_accuracy(rendered):
    given = only(made(n_wrong=0), "methods")
    (methods,) = given.result.sections
    caption = "Accuracy against the time to judge one probe"
    assert caption in rendered(given)
    experiment = methods.experiment.model_copy(update={"is_timed": True})
    timed = (replace(methods, experiment=experiment),)
    page = rendered(replace(given, result=replace(given.result, sections=timed)))
    assert caption not in page
    assert "Ratios are to" in page


# --- names that are HTML, scripts or templates


def test_hostile_names_are_shown_and_add_no_node(hostile, rendered):
    page = Parsed(hostile)
    # Names that sort alike, so that classes stand in the same order.
    calm = made(("b", "a", "c"), " x", failures=[failure(" x")], n_finished=50)
    calm = Parsed(rendered(calm))
    assert page.outside_pictures == calm.outside_pictures
    assert {tag for tag, _ in page.tags} == {tag for tag, _ in calm.tags}
    assert page.mistakes == page.comments == []
    shown = page.shown()
    assert all(name in shown for name in HOSTILE)
    assert "49" not in re.findall(r"quoted. & new\nline 日本 שלום (\S+)", shown)
    picks = {one["data-truth"] for one in page.all_of("a") if "data-truth" in one}
    assert set() < picks <= set(HOSTILE)


def test_hostile_names_reach_no_attribute_that_acts(hostile):
    page = Parsed(hostile)
    for tag, attributes in page.tags:
        for name, value in attributes.items():
            assert not name.startswith("on"), (tag, name)
            assert not (value or "").strip().lower().startswith("javascript:"), (tag, name)
        for name in ("id", "for", "aria-labelledby", "data-filters", "href"):
            if name in attributes:
                assert re.fullmatch(r"#?[A-Za-z0-9_-]+", attributes[name]), attributes[name]
        assert not re.search(r"[<>{}\\]|alert|日", attributes.get("style") or "")
    assert len(page.all_of("script")) == 1
    assert {one["src"][:22] for one in page.all_of("img")} == {"data:image/png;base64,"}


# --- the numbers at the top


def facts(result, **changes):
    return {fact.label: fact for fact in at_a_glance(replace(result, **changes))}


def test_paper_beside_ours_and_the_best(given):
    found = facts(given.result)
    assert (found["The paper says"].value, found["We find"].value) == ("91.75", "91.00")
    assert found["We find"].mark == "within"
    assert found["Best of all here"].value == "96.50"
    assert (found["Wrong probes"].value, found["Finished"].mark) == ("2", "")
    found = facts(given.result, failures=(failure(),), n_finished=59)
    assert found["Finished"].mark == "below"
    assert "1 to go, 1 failed" in found["Finished"].note


def test_best_of_all_is_of_no_timing_and_no_tie(given, sections):
    fusion, methods = sections[:2]
    timed = methods.experiment.model_copy(update={"is_timed": True})
    untold = (fusion, replace(methods, experiment=timed))
    assert facts(given.result, sections=untold)["Best of all here"].value == "91.00"
    best = methods.rows[0]
    tied = (best, *(replace(row, mean=best.mean) for row in methods.rows[1:3]))
    found = facts(given.result, sections=(replace(methods, rows=tied),))
    assert "Best of all here" not in found
    assert found["Best here, shared"].note == "3 methods: CVC, DCC, …"


@pytest.mark.parametrize(
    ("mean", "paper", "expected"),
    [
        # 3 / sqrt(9) of ours, and 6 / sqrt(9) of the paper's.
        *((90.0, (90, 6), "within"), (93.0, (90, 6), "within"), (87.0, (90, 6), "within")),
        *((93.1, (90, 6), "above"), (86.9, (90, 6), "below")),
        *((90.9, (90, None), "within"), (91.1, (90, None), "above"), (90, (None, None), "")),
    ],
)
def test_agreement_is_within_both_standard_errors(mean, paper, expected):
    published = Published(mean=paper[0], std=paper[1])
    row = AccuracyRow("x", mean, 3.0, 0, 100, 9, 90, published=published)
    assert tolerance(row) == pytest.approx(1 + (paper[1] or 0) / 3)
    assert agreement(row) == expected


def test_what_is_missing_is_a_dash():
    for write in (accuracy, signed, seconds):
        assert write(None) == write(math.nan) == "–"


# --- pictures and pages of probes


def test_images_are_those_before_features(tmp_path, monkeypatch):
    monkeypatch.delenv("SETWISE_DATA", raising=False)
    folder = write_objects(tmp_path, n_classes=2, n_sets=2, n_views=3, size=16)
    found = Pictures.of(Data(name="objects", feature={"name": "hog"}, protocol="pairs"), folder)
    assert found.sets.image_shape == (16, 16)
    assert set(found.of_classes) == set(found.labels)
    assert all(uri.startswith("data:image/png") for uri in found.of_classes.values())
    assert found.one(99, 0) == found.one(0, 99) == found.strip(99) == ""
    assert (found.album(99), found.size(99)) == (None, 0)
    absent = Pictures.of(Data(name="youtube"), folder)
    assert "youtube" in absent.why_none
    assert (absent.one(0, 0), absent.album(0), absent.of_classes) == ("", None, {})


def test_long_sets_are_shown_by_evenly_spread_images():
    images = SetBatch.from_images([np.zeros((500, 4, 4), dtype=np.uint8)])
    album = Pictures(images, np.array(["a"])).album(0)
    assert len(album.images) == MOST_IMAGES
    assert (album.images[0], album.images[-1], album.n_images) == (0, 499, 500)
    assert set(np.diff(album.images)) <= {7, 8}


def test_pages_of_probes_show_votes_support_and_neighbours(given, sections):
    images = Pictures(given.images, given.labels)
    wrong = sections[1].wrong
    pages = probe_pages("methods", wrong, images)
    ids = ["probe-methods-1", "probe-methods-2"]
    assert [(page.previous, page.id, page.next) for page in pages] == [
        ("", *ids), (*ids, "")]  # fmt: skip
    for page, one in zip(pages, wrong, strict=True):
        why = Explanation.from_dict(one.explanation["why"])
        cells = [cell for _, row in page.votes.grid for cell in row if cell is not None]
        assert len(cells) == len(why.votes)
        assert {tally.kind for tally in page.votes.tally} >= {"truth", "answer"}
        expected = ["" if np.isnan(s) else "answer" if s >= 0.5 else "other"
                    for s in why.support]  # fmt: skip
        assert [tile.supports for tile in page.tiles] == expected
        assert page.n_doubtful == int((why.support < 0.5).sum())
        (neighbour,) = page.nearest
        assert neighbour.probe_image == images.one(one.index, 1)
        assert (neighbour.gallery_image, neighbour.place) == (images.one(0, 2), 2)


# --- figures of sections


def test_what_is_empty_is_not_drawn(sections):
    fusion, methods, robustness, distributions, gaussians = sections
    assert replace(fusion, curves=()).for_template(None)["curves"] == ""
    assert replace(methods, rows=methods.rows[:1]).time_figure() == ""
    assert replace(robustness, gallery=(), probes=()).for_template(None)["sides"] == []
    assert replace(distributions, examples=()).draw_distances() == ""
    bare = replace(gaussians, rows=(), switches=(), switches_from_start=(), example={})
    assert bare.panels() == []
    captions = [caption for _, caption in gaussians.panels()]
    assert captions[0] == "One draw: 2 points each, 2 apart"
    assert len(captions) == 5


def test_robustness_has_shares_and_marks_of_the_paper(sections):
    robustness = sections[2]
    gallery, probes = robustness.sides()
    assert robustness.published(gallery) == {1.0: 88.0}
    assert robustness.published(probes) == {}
    figure = robustness.figure(gallery)
    assert "17 %" in figure
    assert "paper" in figure
    unfinished = replace(robustness, gallery_share=(0.0,))
    assert "17 %" not in unfinished.figure(unfinished.sides()[0])
    ids = [{attributes["id"] for _, attributes in Parsed(robustness.figure(side)).tags
            if "id" in attributes} for side in (gallery, probes)]  # fmt: skip
    assert ids[0]
    assert not ids[0] & ids[1], "two pictures share no id"


def test_a_class_called_probe_is_not_the_probe(sections):
    example = replace(sections[3].examples[0], classes=("probe", "b", "c"), truth="probe")
    assert Parsed(example.draw_points()).text_in("text").count("probe") == 2
