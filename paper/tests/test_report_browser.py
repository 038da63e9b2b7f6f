"""The page as a reader meets it, in a real browser."""

import re

import pytest
from paper.tests.made_results import MEANS
from tests.report.browser import browsing, complaints, resize

VISIBLE_ROWS = """
return [...document.querySelectorAll('#table-methods tbody tr')]
  .filter(row => row.getClientRects().length).map(row => row.cells[0].textContent.trim())
"""
VISIBLE_CARDS = """
return [...document.querySelectorAll('.cards > li')]
  .filter(card => card.getClientRects().length).map(card => card.dataset.truth)
"""
IS_SHOWN = "return document.querySelector(arguments[0]).getClientRects().length > 0"


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    with browsing(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


@pytest.fixture(scope="module")
def address(ordinary, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(ordinary, encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def page(driver, address):
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    resize(driver, 1400)
    driver.get("about:blank")
    driver.get(address)
    yield driver
    driver.execute_script("localStorage.clear()")
    assert complaints(driver) == []


def shown(driver, selector):
    return driver.execute_script(IS_SHOWN, selector)


def click(driver, selector):
    driver.execute_script("document.querySelector(arguments[0]).click()", selector)


def press(driver, key):
    from selenium.webdriver.common.action_chains import ActionChains

    ActionChains(driver).send_keys(key).perform()


def type_into(driver, selector, text):
    driver.execute_script(
        "const box = document.querySelector(arguments[0]); box.value = arguments[1];"
        "box.dispatchEvent(new Event('input', { bubbles: true }))",
        selector,
        text,
    )


def test_opens_with_style_script_and_images(page):
    assert page.title == "Stripes – reproduction"
    assert page.execute_script("return document.documentElement.classList.contains('js')")
    assert page.execute_script(
        "return [...document.images].every(one => one.complete && one.naturalWidth > 0)"
    )
    assert shown(page, ".glance")
    assert not shown(page, "#probe-methods-1")


def test_headings_sort_numbers_and_names(page):
    heading = "#table-methods thead th:nth-child({}) button"
    assert page.execute_script(VISIBLE_ROWS) == list(MEANS)
    click(page, heading.format(3))  # ours, from high to low
    assert page.execute_script(VISIBLE_ROWS) == sorted(MEANS, key=MEANS.get, reverse=True)
    click(page, heading.format(3))
    assert page.execute_script(VISIBLE_ROWS) == sorted(MEANS, key=MEANS.get)
    sorts = "return [...document.querySelectorAll('#table-methods th[aria-sort]')]"
    said = page.execute_script(f"{sorts}.map(one => one.getAttribute('aria-sort'))")
    assert said[:3] == ["none", "none", "ascending"]
    click(page, heading.format(2))  # the paper's, which only two have
    assert page.execute_script(VISIBLE_ROWS)[:2] == ["DCC", "CVC"]
    click(page, heading.format(2))
    assert page.execute_script(VISIBLE_ROWS)[:2] == ["CVC", "DCC"]
    click(page, heading.format(1))
    assert page.execute_script(VISIBLE_ROWS) == sorted(MEANS)
    click(page, heading.format(1))
    assert page.execute_script(VISIBLE_ROWS) == sorted(MEANS, reverse=True)


def test_rows_are_filtered_by_name(page):
    type_into(page, "[data-filters=table-methods]", " msm ")
    assert page.execute_script(VISIBLE_ROWS) == ["MSM", "CMSM"]
    told = page.execute_script("return document.querySelector('output').textContent")
    assert told == "2 of 7"
    type_into(page, "[data-filters=table-methods]", "")
    assert page.execute_script(VISIBLE_ROWS) == list(MEANS)


def test_cards_are_filtered_by_class_and_by_name(page):
    every = page.execute_script(VISIBLE_CARDS)
    assert len(every) == 4
    type_into(page, "[data-picks=truth]", every[0])
    assert page.execute_script(VISIBLE_CARDS) == [one for one in every if one == every[0]]
    assert 0 < len(page.execute_script(VISIBLE_CARDS)) < 4
    told = page.execute_script("return document.querySelector('.wrong output').textContent")
    assert told.endswith("of 4")
    type_into(page, "[data-picks=truth]", "")
    type_into(page, "[data-picks=text]", "no such set")
    assert page.execute_script(VISIBLE_CARDS) == []


def test_cell_of_the_confusion_matrix_shows_its_probes(page):
    click(page, ".confusion a")
    picked = page.execute_script("return document.querySelector('.confusion a').dataset.truth")
    left = page.execute_script(VISIBLE_CARDS)
    assert set(left) == {picked}
    assert len(left) < 4
    assert page.current_url.endswith("#wrong-methods")


def test_theme_changes_colours_and_is_remembered(page, address):
    colour = "return getComputedStyle(document.body).backgroundColor"
    light = page.execute_script(colour)
    click(page, ".theme")
    dark = page.execute_script(colour)
    assert light != dark
    pressed = "return document.querySelector('.theme').getAttribute('aria-pressed')"
    assert page.execute_script(pressed) == "true"
    page.get("about:blank")
    page.get(address)
    assert page.execute_script(colour) == dark
    click(page, ".theme")
    assert page.execute_script(colour) == light


def test_system_that_is_dark_gets_a_dark_page(page):
    colour = "return getComputedStyle(document.body).backgroundColor"
    light = page.execute_script(colour)
    features = [{"name": "prefers-color-scheme", "value": "dark"}]
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    assert page.execute_script(colour) != light


def test_page_of_a_wrong_probe_opens_turns_and_goes_back(page):
    click(page, ".cards a")
    assert shown(page, "#probe-methods-1")
    assert not shown(page, "main")
    press(page, "\ue014")  # right
    assert shown(page, "#probe-methods-2")
    assert not shown(page, "#probe-methods-1")
    press(page, "\ue012")  # left
    assert shown(page, "#probe-methods-1")
    click(page, "#probe-methods-1 .next")
    assert shown(page, "#probe-methods-2")
    press(page, "\ue00c")  # Escape
    assert shown(page, ".cards")
    assert page.current_url.endswith("#card-probe-methods-2")
    click(page, ".cards a")
    click(page, "#probe-methods-1 .back")
    assert shown(page, ".cards")


@pytest.mark.parametrize("anchor", ["", "#probe-methods-1"])
@pytest.mark.parametrize("width", [320, 390, 1400])
def test_body_never_scrolls_sideways(page, address, width, anchor):
    resize(page, width)
    page.get("about:blank")
    page.get(address + anchor)
    wide, room = page.execute_script(
        "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )
    assert wide <= room
    assert room <= width


def test_everything_can_be_read_without_script(page, ordinary, tmp_path):
    path = tmp_path / "silent.html"
    path.write_text(re.sub(r"(?s)<script>.*</script>", "", ordinary), encoding="utf-8")
    page.get(path.as_uri() + "#probe-methods-2")
    assert shown(page, "#probe-methods-2")
    assert not shown(page, "#probe-methods-1")
    assert not shown(page, ".theme")
    page.execute_script("location.hash = ''")
    assert shown(page, "#table-methods")
    assert shown(page, ".cards a")
    assert not shown(page, ".controls")


def test_paper_has_light_colours_no_controls_and_all_pages(page):
    click(page, ".theme")
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    background = page.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert background == "rgb(255, 255, 255)"
    for selector in (".controls", ".theme", ".contents", ".turn"):
        assert not shown(page, selector)
    for selector in ("#table-methods", "#probe-methods-1", "#probe-methods-4"):
        assert shown(page, selector)


def test_strange_names_stay_names(page, hostile, tmp_path):
    path = tmp_path / "hostile.html"
    path.write_text(hostile, encoding="utf-8")
    page.get(path.as_uri())
    assert "alert(1)" in page.title  # and none was opened, or this would have failed
    every = page.execute_script(VISIBLE_CARDS)
    type_into(page, "[data-picks=truth]", every[0])
    assert set(page.execute_script(VISIBLE_CARDS)) == {every[0]}
    assert page.execute_script("return document.querySelectorAll('img[src=x]').length") == 0
