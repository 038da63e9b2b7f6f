"""The page of a study in a real browser; tests/report shows what every report does there."""

import re

import pytest
from tests.report.browser import browsing, complaints, resize

VISIBLE_CARDS = """
return [...document.querySelectorAll('.cards > li')]
  .filter(card => card.getClientRects().length).map(card => card.dataset.truth)
"""
IS_SHOWN = "return document.querySelector(arguments[0]).getClientRects().length > 0"


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    with browsing(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


@pytest.fixture
def opened(driver, tmp_path):
    def open_page(content, anchor=""):
        path = tmp_path / "report.html"
        path.write_text(content, encoding="utf-8")
        driver.get("about:blank")
        driver.get(path.as_uri() + anchor)
        return driver

    resize(driver, 1400)
    yield open_page
    assert complaints(driver) == []


def shown(driver, selector):
    return driver.execute_script(IS_SHOWN, selector)


def click(driver, selector):
    driver.execute_script("document.querySelector(arguments[0]).click()", selector)


def test_opens_with_style_script_and_images_and_turns_to_wrong_probes(opened, ordinary):
    page = opened(ordinary)
    assert page.title == "Stripes – reproduction"
    assert page.execute_script("return document.documentElement.classList.contains('js')")
    loaded = "[...document.images].every(one => one.complete && one.naturalWidth > 0)"
    assert page.execute_script(f"return {loaded}")
    assert shown(page, ".glance")
    assert not shown(page, "#probe-methods-1")
    click(page, ".cards a")
    assert shown(page, "#probe-methods-1")
    assert not shown(page, "main")
    click(page, "#probe-methods-1 .next")
    assert shown(page, "#probe-methods-2")
    click(page, "#probe-methods-2 .back")
    assert page.current_url.endswith("#card-probe-methods-2")


def test_cell_of_the_confusion_matrix_shows_its_probes(opened, ordinary):
    page = opened(ordinary)
    assert len(page.execute_script(VISIBLE_CARDS)) == 4
    click(page, ".confusion a")
    picked = page.execute_script("return document.querySelector('.confusion a').dataset.truth")
    left = page.execute_script(VISIBLE_CARDS)
    assert set(left) == {picked}
    assert len(left) < 4


@pytest.mark.parametrize("anchor", ["", "#probe-methods-1"])
def test_body_never_scrolls_sideways(opened, ordinary, driver, anchor):
    for width in (320, 1400):
        resize(driver, width)
        page = opened(ordinary, anchor)
        root = "document.documentElement"
        assert page.execute_script(f"return {root}.scrollWidth <= {root}.clientWidth")


def test_everything_can_be_read_without_script(opened, ordinary):
    page = opened(re.sub(r"(?s)<script>.*</script>", "", ordinary), "#probe-methods-2")
    assert shown(page, "#probe-methods-2")
    assert not shown(page, "#probe-methods-1")
    page.execute_script("location.hash = ''")
    assert shown(page, "#table-methods")
    assert not shown(page, ".controls")


def test_hostile_names_stay_names(opened, hostile):
    page = opened(hostile)
    assert "alert(1)" in page.title  # and none was opened, or this would have failed
    assert page.execute_script("return document.querySelectorAll('img[src=x]').length") == 0


def test_theme_is_remembered_and_paper_is_light(opened, ordinary):
    page = opened(ordinary)
    colour = "return getComputedStyle(document.body).backgroundColor"
    light = page.execute_script(colour)
    click(page, ".theme")
    dark = page.execute_script(colour)
    assert light != dark
    page = opened(ordinary)
    assert page.execute_script(colour) == dark
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert page.execute_script(colour) == "rgb(255, 255, 255)"
    assert not shown(page, ".controls")
    assert shown(page, "#probe-methods-4")
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    page.execute_script("localStorage.clear()")
