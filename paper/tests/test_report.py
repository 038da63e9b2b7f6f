import base64
import hashlib
import re
from dataclasses import replace

import pytest
from paper.tests.made_results import failure, made, only
from tests.report.parsed import Parsed

from setwise.errors import DataError
from setwise_paper.report import pictures
from setwise_paper.report.render import render, write_report


@pytest.fixture(scope="module")
def page(ordinary):
    return Parsed(ordinary)


def test_page_is_well_formed(page):
    assert page.mistakes == []
    assert page.declarations == ["doctype html"]


def test_ids_differ_and_links_lead_somewhere(page):
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(set(ids)) == len(ids)
    anchors = {one["href"][1:] for one in page.all_of("a")}
    assert anchors <= set(ids)
    assert {"section-methods", "probe-methods-1", "wrong-methods"} <= anchors


def test_nothing_is_asked_of_the_network(ordinary, page):
    for _, attributes in page.tags:
        for name in ("src", "href", "action", "data", "poster", "srcset"):
            value = attributes.get(name) or "#"
            assert value.startswith(("#", "data:image/png;base64,")), value
    assert not re.search(r"@import|url\((?!#)", ordinary)
    assert "http://" not in ordinary
    assert "https://" not in ordinary
    assert not page.all_of("link")


def test_policy_lets_this_script_run_and_no_other(page):
    (policy,) = [
        one["content"]
        for one in page.all_of("meta")
        if one.get("http-equiv") == "Content-Security-Policy"
    ]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    digest = hashlib.sha256(page.text_in("script").encode()).digest()
    assert rules["script-src"] == f"'sha256-{base64.b64encode(digest).decode()}'"
    assert rules["default-src"] == "'none'"
    assert rules["img-src"] == "data:"
    assert len(page.all_of("script")) == 1


def test_numbers_of_paper_and_ours_are_shown(page):
    shown = page.shown()
    for text in ("91.75", "± 4.42", "87.50 to 100.00", "96.50", "+4.75", "−5.00", "400 ms"):
        assert text in shown, text


def test_versions_machine_and_warnings_are_told(page):
    shown = page.shown()
    for text in ("a machine", "numpy 2.0", "ConvergenceWarning 12", "read from somewhere"):
        assert text in shown, text


def test_every_section_is_shown_in_order(page):
    ids = [one.get("id") for one in page.all_of("section") if one.get("class") == "experiment"]
    names = ("fusion", "methods", "robustness", "distributions", "gaussians")
    assert ids == [f"section-{name}" for name in names]


def test_each_wrong_probe_has_images_tree_and_neighbours(page):
    pages = [one for one in page.all_of("article") if one.get("class") == "probe-page"]
    assert [one["id"] for one in pages] == [f"probe-methods-{i}" for i in (1, 2, 3, 4)]
    labels = [one.get("aria-label", "") for one in page.all_of("svg")]
    assert sum(label.startswith("Tree of cuts") for label in labels) == 4
    alternatives = [one["alt"] for one in page.all_of("img")]
    assert sum(text.startswith("7 images of") for text in alternatives) == 4
    assert sum(text.startswith("Nearest gallery image") for text in alternatives) == 8


def test_failures_and_what_is_left_are_told(rendered):
    page = Parsed(rendered(only(made(failures=[failure()], n_finished=50, n_wrong=0))))
    assert [one["id"] for one in page.all_of("aside")] == ["unfinished"]
    shown = page.shown()
    for text in (
        "1 item of work failed",
        "50 of 60",
        "DCC on fold 3",
        "LinAlgError: bad",
        "/tmp/t",
    ):
        assert text in shown, text


def test_probe_without_explanation_is_listed_without_page(rendered):
    given = made(n_wrong=2)
    methods = given.result.sections[1]
    first, second = methods.wrong
    bare = replace(methods, wrong=(replace(first, explanation={}), second))
    sections = (given.result.sections[0], bare)
    page = Parsed(rendered(replace(given, result=replace(given.result, sections=sections))))
    assert len(page.all_of("article")) == 1
    assert "not explained yet" in page.shown()
    assert page.mistakes == []


def test_nothing_finished_is_a_page_too(rendered):
    given = made(n_wrong=0)
    page = Parsed(rendered(only(given, n_finished=0, versions={}, data_notes={})))
    assert page.mistakes == []
    assert "0 of 60" in page.shown()


def test_data_that_is_gone_leaves_a_page_without_images(monkeypatch):
    def gone(data, folder):
        raise DataError("eth80: there is no such file. Fetch it.")

    monkeypatch.setattr(pictures, "read_data", gone)
    page = Parsed(render(only(made(n_wrong=1), "methods").result))
    assert not page.all_of("img")
    assert "there is no such file" in page.shown()
    assert len(page.all_of("article")) == 1


def test_vectors_that_are_no_images_become_a_strip(rendered):
    given = made(n_wrong=1)
    bare = type(given.sets)(
        given.sets.vectors.astype(float), given.sets.offsets, given.sets.names, given.labels
    )
    given = only(replace(given, images=None, sets=bare), "methods")
    page = Parsed(rendered(given))
    assert [one["class"] for one in page.all_of("img")] == ["strip"]
    assert "The data are no images" in page.shown()


def test_a_study_that_is_shipped_is_called_by_its_name(rendered):
    from setwise_paper.study import shipped_studies

    given = made(n_wrong=0)
    name, shipped = next(iter(shipped_studies().items()))
    study = given.result.study.model_copy(update={"title": shipped.title})
    page = rendered(only(given, study=study))
    assert f"setwise reproduce {name}<" in page


def test_a_write_that_fails_leaves_what_was_there(tmp_path, monkeypatch):
    import errno
    from pathlib import Path

    result = only(made(n_wrong=0)).result
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
    timed = replace(
        methods, experiment=methods.experiment.model_copy(update={"is_timed": True})
    )
    page = rendered(replace(given, result=replace(given.result, sections=(timed,))))
    assert caption not in page
    assert "Ratios are to" in page
