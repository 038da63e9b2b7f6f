"""A page of each person or thing, and changes that show at once."""

import time
from threading import Event

import pytest
from selenium.webdriver.common.keys import Keys
from tests.page.browser.window import Window

from setwise.errors import DataError
from setwise.page import learning
from setwise.page.commands import Commands


def open_person(window, name) -> None:
    window.open().click(".person-open", name)
    window.find("#person-title", name)


def names(window) -> list[str]:
    return window.run(
        "return [...document.querySelectorAll('.person h2')].map((name) => name.textContent)"
    )


def undo(window, words) -> None:
    window.find(f"#undo[aria-label*='{words}']:enabled")
    window.click("#undo")
    window.find(".toast", "Undone")


def test_a_person_is_renamed_and_the_name_shows_at_once(window):
    open_person(window, "cat")
    window.click("#view-person .button", "Rename")
    window.choose_class("Chelsea")
    window.find("#person-title", "Chelsea")
    window.find(".toast", "cat is Chelsea now")
    undo(window, "cat is Chelsea")
    window.find("#person-title", "cat")


def test_two_that_are_one_are_joined_after_a_question(window):
    open_person(window, "rocket")
    window.click("#view-person .button", "The same as")
    window.choose_class("coffee")
    window.click("dialog .button", "Yes, they are the same")
    window.find(".toast", "rocket and coffee are one")
    window.click(".bar nav a", "Gallery")
    assert names(window) == ["astronaut", "cat", "coffee"]
    undo(window, "rocket and coffee")
    window.until("document.querySelectorAll('.person').length === 4")


@pytest.fixture
def mixed(window, served):
    """An album of coffee is taken for a cat's."""
    one = next(one for name, one in served.sets().items() if one["label"] == "coffee")
    served.post("/api/v1/commands/move", {"set_id": one["id"], "label": "cat"})
    yield window
    served.post("/api/v1/commands/undo")


def test_doubtful_photos_come_first_and_go_where_they_belong(mixed, served):
    open_person(mixed, "cat")
    mixed.find(".doubtful h2", "Are these cat?")
    tiles = "return [...document.querySelectorAll('.doubtful .tile')].length"
    assert mixed.run(tiles) == 8
    assert mixed.text(".doubtful .caption") == "like coffee"
    assert mixed.violations() == []
    for i in range(2):
        mixed.click(f".doubtful li:nth-child({i + 1}) .tile")
    mixed.find(".chosen", "2 photos chosen")
    mixed.click(".chosen .button", "Somebody else")
    assert mixed.text("dialog.chooser li b") == "coffee"  # what they look like comes first
    mixed.press(Keys.ARROW_DOWN, Keys.ENTER)
    mixed.until(f"({tiles.removeprefix('return ')}) === 6", "the others")
    mixed.find(".toast", "Moved two photos to coffee")
    undo(mixed, "Moved two photos")
    mixed.until(f"({tiles.removeprefix('return ')}) === 8", "all of them")


def test_a_cover_is_chosen_and_seen_in_the_gallery(window, served):
    open_person(window, "astronaut")
    window.click(".all-photos li:nth-child(5) .tile")
    window.click(".chosen .button", "Make it the cover")
    window.find(".toast", "cover")
    chosen = next(one for one in served.overview()["classes"] if one["name"] == "astronaut")
    window.click(".bar nav a", "Gallery")
    window.until(
        f"document.querySelector('.person-cover[src^=\"{chosen['cover']}\"]') !== null"
    )


def test_a_change_shows_at_once_and_a_badge_says_what_goes_on(window, served, monkeypatch):
    go, learn, commit, learnt = Event(), Event(), Commands._commit, learning.learnt

    def slowly(*given):
        assert go.wait(20)
        return commit(*given)

    def learnt_slowly(*given, **options):
        assert learn.wait(20)
        return learnt(*given, **options)

    monkeypatch.setattr(Commands, "_commit", slowly)
    monkeypatch.setattr(learning, "learnt", learnt_slowly)
    window.open_albums().click(".set[aria-label*='album of cat']", "day 1")
    window.click("dialog .button", "Remove this album")
    window.until("document.querySelectorAll('.set[aria-label*=\"of cat\"]').length === 2")
    window.find("#busy", "Saving")
    assert len(served.sets()) == 9  # the server has not done it yet
    go.set()
    window.find(".toast", "Removed cat/day 1")
    window.find("#busy", "Learning")
    learn.set()
    window.until("document.querySelector('#busy').hidden", "all is learnt")
    undo(window, "Removed cat/day 1")
    window.until("document.querySelectorAll('.set[aria-label*=\"of cat\"]').length === 3")


def test_a_change_that_is_refused_is_taken_back_in_view(window, served, monkeypatch):
    def locked(*_):
        msg = "It is locked."
        raise DataError(msg)

    monkeypatch.setattr(Commands, "forget", locked)
    window.open_albums()
    window.click(".set[aria-label*='album of cat']", "day 1")
    window.click("dialog .button", "Remove this album")
    window.find(".toast.warning", "It is locked.")
    window.until("document.querySelectorAll('.set[aria-label*=\"of cat\"]').length === 3")
    assert all("Failed to load resource" in line for line in window.complaints())


def test_a_question_goes_before_learning(served, probes, monkeypatch):
    """The learner waits while somebody waits for an answer."""
    begun, go = [], Event()
    monkeypatch.setattr(
        learning, "learnt", lambda gallery, **_: begun.append(gallery) or gallery
    )
    monkeypatch.setattr(
        type(served.state.queue), "is_busy", property(lambda _: not go.is_set())
    )
    one = next(iter(served.sets().values()))
    served.post("/api/v1/commands/remove_photos", {"set_id": one["id"], "images": [0]})
    time.sleep(learning.REST_S + 0.5)
    assert begun == []
    go.set()
    for _ in range(200):
        if begun:
            break
        time.sleep(0.02)
    assert begun
    served.post("/api/v1/commands/undo")


def test_eight_windows_follow_through_one_stream(window, served):
    driver, first = window.driver, window.driver.current_window_handle
    others = []
    counts = "document.querySelector('#view-gallery .counts').textContent"
    window.open_albums()
    try:
        for _ in range(7):
            driver.switch_to.new_window("window")
            others.append(driver.current_window_handle)
            Window(driver, window.address).open()
        assert served.state.n_streams == 1
        one = next(iter(served.sets().values()))
        served.post("/api/v1/commands/forget", {"set_id": one["id"]})
        for handle in (first, *others):
            driver.switch_to.window(handle)
            window.until(f"{counts}.includes('8 albums')")
        driver.switch_to.window(first)
        driver.get("about:blank")  # which had the stream: another one takes over
        assert served.post("/api/v1/commands/undo").json()["state"] == "done"
        for handle in others:
            driver.switch_to.window(handle)
            window.until(f"{counts}.includes('9 albums')")
    finally:
        for handle in others:
            driver.switch_to.window(handle)
            driver.close()
        driver.switch_to.window(first)
        window.open()
