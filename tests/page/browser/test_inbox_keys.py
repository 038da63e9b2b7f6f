"""Sorting an inbox, with the keyboard alone, and carrying files."""

import csv
import io
from urllib.request import urlopen

import pytest
from selenium.webdriver.common.keys import Keys
from tests.page.browser.conftest import settle
from tests.page.browser.window import Window

ROWS = "return [...document.querySelectorAll('.inbox .name')].map((name) => name.textContent)"
CHOSEN = "document.querySelector('.inbox tr[aria-current] .name')?.textContent"
DECISION = """
return [...document.querySelectorAll('.inbox tbody tr')]
  .find((row) => row.querySelector('.name').textContent === arguments[0])
  .querySelector('.decision').textContent
"""


@pytest.fixture
def window(driver, served):
    for row in served.get("/api/v1/inbox").json()["rows"]:
        if row["decided"] is not None:  # by an earlier test
            served.post(f"/api/v1/inbox/{row['id']}/decide", {"label": None})
    settle(served)
    window = Window(driver, served.address).open("inbox")
    window.until("document.querySelectorAll('.inbox tr.done, .inbox tr.decided').length === 6")
    window.until("document.querySelector('#view-inbox .lead').textContent.includes('decide')")
    yield window
    log = window.complaints()
    driver.get("about:blank")
    assert log == []


def decision(window, name):
    return window.run(DECISION, name)


def test_what_teaches_most_is_on_top_and_keys_decide(window):
    assert window.run(ROWS)[:2] == ["five", "four"]  # the mixed set, then the unknown one
    window.press("j", "j")
    name = window.run(f"return {CHOSEN}")
    assert (
        window.run("return document.activeElement.querySelector('.name').textContent") == name
    )
    window.press(Keys.ENTER)
    window.until(f"{CHOSEN} !== '{name}'", "the next set to decide")
    assert decision(window, name).startswith("✓")
    window.press("k")
    window.press("u")  # takes the decision back, and goes there
    window.until(
        "document.querySelector('.inbox tr.decided') === null", "a decision taken back"
    )
    assert window.run(f"return {CHOSEN}") == name
    assert "Accept" in decision(window, name)


def test_a_number_chooses_a_candidate_and_x_takes_it_back(window):
    window.press("j", "k", "j")
    assert window.run(f"return {CHOSEN}") == "four"
    second = window.text(".candidates li:nth-child(2) .label")
    window.press("2")
    window.until("document.querySelector('.inbox tr.decided') !== null")
    assert second in decision(window, "four")
    window.click(".inbox tr.decided .button", "Take back")
    window.until("document.querySelector('.inbox tr.decided') === null")


def test_enter_on_an_unknown_set_asks_for_a_name_and_search_and_keys_are_found(window):
    window.press("j", "k", "j", Keys.ENTER)
    window.choose_class("coins")
    window.until("document.querySelector('.inbox tr.decided') !== null")
    assert "coins" in decision(window, "four")
    window.press("/")
    window.press("three")
    assert window.run(ROWS) == ["three"]
    window.run("document.activeElement.blur()")
    window.press("?")
    window.find("dialog.keys", "next album, previous album")
    window.press(Keys.ESCAPE)
    window.fill("#view-inbox input", "")
    window.click(".inbox tr.decided .button", "Take back")
    window.until("document.querySelector('.inbox tr.decided') === null")


def test_sure_ones_are_accepted_exported_enrolled_and_undone(window):
    window.click(".actions .button", "Accept sure ones")
    window.click("dialog.sheet .button", "Accept")
    window.find(".toast", "accepted")
    decided = window.run("return document.querySelectorAll('.inbox tr.decided').length")
    with urlopen(f"{window.address}/api/v1/inbox.csv") as answer:
        rows = list(csv.DictReader(io.TextIOWrapper(answer, "utf-8")))
    assert sum(bool(row["decided"]) for row in rows) == decided > 1
    window.click(".actions .button", "Add decided to the gallery")
    window.until(
        "document.querySelector('.inbox tbody').textContent.includes('in the gallery')"
    )
    window.click("#undo")
    window.until(
        "!document.querySelector('.inbox tbody').textContent.includes('in the gallery')"
    )


def test_files_are_copied_only_after_a_question_that_says_what_will_happen(window, served):
    into = served.gallery.parent / "sorted"
    window.click(".actions .button", "Accept sure ones")
    window.click("dialog.sheet .button", "Accept")
    window.find(".toast", "accepted")
    window.click(".menu summary")
    window.click(".actions .button", "Copy files")
    assert "Nothing is overwritten" in window.find("dialog.question").text
    window.click("dialog .button", "Cancel")
    assert not list(into.iterdir())
    window.click(".menu summary")
    window.click(".actions .button", "Copy files")
    window.click("dialog .button", "Copy")
    window.find(".toast", "Copied")
    assert list(into.rglob("*.jpg"))
    window.click("#undo")
    window.find("#redo[aria-label*='Copied']:enabled")
    assert not list(into.rglob("*.jpg"))
