"""Labels and texts are shown as they are, and never become part of the page (R-I1)."""

import re

import pytest
from paper.tests.made_results import HOSTILE, failure, made
from tests.report.parsed import Parsed


@pytest.fixture(scope="module")
def page(hostile):
    return Parsed(hostile)


def test_no_node_is_new(page, rendered):
    # Names that sort alike, so that classes stand in the same order.
    calm = Parsed(
        rendered(made(("b", "a", "c"), " x", failures=[failure(" x")], n_finished=50))
    )
    assert page.outside_pictures == calm.outside_pictures
    assert {tag for tag, _ in page.tags} == {tag for tag, _ in calm.tags}
    assert page.mistakes == []
    assert page.comments == []


def test_no_attribute_runs_anything(page):
    for tag, attributes in page.tags:
        for name, value in attributes.items():
            assert not name.startswith("on"), (tag, name)
            assert not (value or "").strip().lower().startswith("javascript:"), (tag, name)
    assert len(page.all_of("script")) == 1
    assert {one["src"][:22] for one in page.all_of("img")} == {"data:image/png;base64,"}


def test_ids_and_anchors_are_plain(page):
    for _, attributes in page.tags:
        for name in ("id", "for", "aria-labelledby", "data-filters"):
            if name in attributes:
                assert re.fullmatch(r"[A-Za-z0-9_-]+", attributes[name]), attributes[name]
        if "href" in attributes:
            assert re.fullmatch(r"#[A-Za-z0-9_-]+", attributes["href"]), attributes["href"]


def test_styles_hold_no_text_of_strangers(page):
    for _, attributes in page.tags:
        assert not re.search(r"[<>{}\\]|alert|日", attributes.get("style") or "")


def test_names_are_shown_as_they_are(page):
    shown = page.shown()
    for name in HOSTILE:
        assert name in shown
    assert "49" not in re.findall(r"quoted. & new\nline 日本 שלום (\S+)", shown)
    picks = [one["data-truth"] for one in page.all_of("a") if "data-truth" in one]
    assert set(picks) <= set(HOSTILE)
    assert picks
