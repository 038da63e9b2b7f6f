"""The page of albums as a reader meets it, in a real browser."""

import pytest
from tests.report.browser import browsing, complaints, resize

ROWS = """
return [...document.querySelectorAll('#list tbody tr')]
  .filter(row => row.getClientRects().length).map(row => row.id)
"""
IS_SHOWN = "return document.querySelector(arguments[0]).getClientRects().length > 0"


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    with browsing(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


@pytest.fixture
def browser(driver, page, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(page, encoding="utf-8")
    resize(driver, 1200)
    driver.get(path.as_uri())
    yield driver
    driver.execute_script("localStorage.clear()")
    assert complaints(driver) == []


def choose(driver, selector, value):
    driver.execute_script(
        "const box = document.querySelector(arguments[0]); box.value = arguments[1];"
        "box.dispatchEvent(new Event('input', { bubbles: true }))",
        selector,
        value,
    )


def test_rows_are_picked_by_what_they_are_and_by_name(browser):
    assert len(browser.execute_script(ROWS)) == 6
    choose(browser, "select[data-filters]", "unknown")
    assert browser.execute_script(ROWS) == ["row-set-2"]
    choose(browser, "select[data-filters]", "out")
    assert sorted(browser.execute_script(ROWS)) == ["row-set-1", "row-set-3", "row-set-5"]
    choose(browser, "input[data-filters]", " STEEP")
    assert browser.execute_script(ROWS) == ["row-set-3"]
    told = browser.execute_script("return document.querySelector('output').textContent")
    assert told == "1 of 6"


def test_rows_are_sorted_and_what_has_no_number_comes_last(browser):
    heading = "document.querySelector('#list thead th:nth-child(3) button').click()"
    browser.execute_script(heading)
    surest_first = browser.execute_script(ROWS)
    assert surest_first[-2:] == ["row-set-3", "row-set-2"]  # the unsure, then the unknown one
    browser.execute_script(heading)
    assert browser.execute_script(ROWS)[0] == "row-set-3"
    assert browser.execute_script(ROWS)[-1] == "row-set-2"


@pytest.mark.parametrize("width", [420, 1200])
def test_a_set_has_a_page_of_its_own_and_nothing_is_wider_than_the_window(browser, width):
    resize(browser, width)
    wide = "return document.documentElement.scrollWidth"  # without the bar that scrolls
    assert browser.execute_script(wide) <= width
    assert not browser.execute_script(IS_SHOWN, "#set-3")
    browser.execute_script("document.querySelector('#row-set-3 a').click()")
    assert browser.execute_script(IS_SHOWN, "#set-3 .tiles")
    assert not browser.execute_script(IS_SHOWN, "#list")
    assert browser.execute_script(wide) <= width
    browser.execute_script("document.querySelector('#set-3 summary').click()")
    assert browser.execute_script(IS_SHOWN, "#set-3 .clusters")
    assert browser.execute_script(wide) <= width


def test_all_images_can_be_shown(browser):
    broken = """
    for (const one of document.images) one.loading = 'eager';
    return Promise.all([...document.images].map(one => one.decode().then(() => 0, () => 1)))
      .then(found => found.reduce((a, b) => a + b, 0))
    """
    assert browser.execute_script(broken) == 0
