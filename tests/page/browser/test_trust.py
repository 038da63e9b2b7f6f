"""What people rely on: nothing slips in, nothing is lost, and keys do what is seen."""

from base64 import b64encode
from threading import Event

import pytest
from selenium.webdriver.common.keys import Keys
from tests.page.browser.conftest import settle
from tests.page.browser.real_photos import cuts, write_set
from tests.page.browser.test_identifying import DROP, send
from tests.page.browser.test_inbox_keys import CHOSEN, decision
from tests.page.browser.window import Window

from setwise.page import identify

CHOOSE = """
[...document.querySelectorAll('.inbox tbody tr')]
  .find((row) => row.querySelector('.name').textContent === arguments[0]).focus()
"""


@pytest.fixture
def sorting(driver, served):
    """The inbox, with no decision made."""
    for row in served.get("/api/v1/inbox").json()["rows"]:
        if row["decided"] is not None:
            served.post(f"/api/v1/inbox/{row['id']}/decide", {"label": None})
    settle(served)
    window = Window(driver, served.address).open("inbox")
    window.until("document.querySelectorAll('.inbox tr.done').length === 6", "all rows")
    yield window
    log = window.complaints()
    driver.get("about:blank")
    assert log == []


def choose(window, name):
    window.run(CHOOSE, name)
    window.until(f"{CHOSEN} === '{name}'")


def test_photos_out_of_place_stay_out_of_the_gallery_from_the_inbox_too(sorting, served):
    choose(sorting, "six")
    sorting.find(".inbox tr[aria-current]", "2 photos stay out")
    sorting.press(Keys.ENTER)
    sorting.until("document.querySelector('.inbox tr.decided') !== null")
    sorting.click(".actions .button", "Add decided to the gallery")
    sorting.find(".toast", "Added six (six photos) to cat")
    sorting.find(".inbox .decision", "in the gallery")
    assert served.sets()["six"]["n_images"] == 6
    sorting.click("#undo")
    sorting.until(
        "!document.querySelector('.inbox tbody').textContent.includes('in the gallery')"
    )


def test_the_most_similar_photo_is_looked_for_in_the_whole_gallery(window, probes):
    window.open("identify").ask(probes["mixed"])
    assert window.text(".answer .words").startswith("cat, ")
    told = window.run(
        "return [...document.querySelectorAll('.pairs li')].map((li) =>"
        " [li.className, li.querySelector('b').textContent])"
    )
    assert [label for kind, label in told if kind == "out"] == ["coffee", "coffee"]
    assert {label for kind, label in told if kind != "out"} == {"cat"}


def test_enter_takes_an_exact_name_or_the_new_one_and_never_a_beginning(sorting):
    choose(sorting, "four")
    sorting.press(Keys.ENTER)
    field = sorting.find("dialog.chooser input")
    assert field.get_attribute("maxlength") == "100"
    field.send_keys(Keys.ENTER)  # nothing is typed, so nothing is chosen
    assert sorting.sees("dialog.chooser")
    assert sorting.text("dialog.chooser li b") == sorting.text(".candidates .label")
    field.send_keys("cof", Keys.ENTER)
    sorting.until("document.querySelector('.inbox tr.decided') !== null")
    assert decision(sorting, "four").startswith("✓ cof")
    assert "coffee" not in decision(sorting, "four")
    sorting.press("u")
    sorting.until("document.querySelector('.inbox tr.decided') === null")
    choose(sorting, "four")
    sorting.press("c")
    sorting.find("dialog.chooser input").send_keys("Coffee", Keys.ENTER)
    sorting.until("document.querySelector('.inbox tr.decided') !== null")
    assert decision(sorting, "four").startswith("✓ coffee")


def test_a_new_name_is_a_candidate_at_once(sorting):
    choose(sorting, "four")
    sorting.press(Keys.ENTER)
    sorting.choose_class("coins")
    sorting.until("document.querySelector('.inbox tr.decided') !== null")
    choose(sorting, "one")
    sorting.find(".candidates .label", "coins")
    sorting.press("c")
    sorting.find("dialog.chooser input").send_keys("co")
    sorting.find("dialog.chooser li", "not yet in the gallery")
    sorting.press(Keys.ESCAPE)


def test_an_album_of_two_is_split_in_the_inbox_and_joined_by_undo(sorting):
    choose(sorting, "five")
    sorting.find(".inbox tr[aria-current]", "four photos of astronaut and four photos of cat")
    sorting.press(Keys.ENTER)
    sorting.find(".inbox .name", "five 2")
    sorting.until("document.querySelectorAll('.inbox tr.done').length === 7", "judged parts")
    assert sorting.run(
        "return [...document.querySelectorAll('.inbox tr')].filter((row) =>"
        " row.textContent.includes('five')).map((row) => row.querySelector('b').textContent)"
    ) in (["astronaut", "cat"], ["cat", "astronaut"])
    sorting.click("#undo")
    sorting.until("document.querySelectorAll('.inbox tr.done').length === 6", "one album again")


def test_a_heap_asks_to_be_split(window, tmp_path):
    heap = [*cuts("chelsea", 301, 10), *cuts("astronaut", 302, 10), *cuts("coffee", 303, 8)]
    window.open("identify").ask(write_set(tmp_path / "heap", heap))
    words = window.text(".answer .words")
    assert words == "This looks like three different people or things: " + words.split(": ")[1]
    assert window.run("return document.querySelectorAll('.parts > li').length") >= 3
    window.click(".answer .button", "Split into")
    window.until("document.querySelectorAll('.contents li').length >= 3", "the parts")
    found = window.run(
        "return [...document.querySelectorAll('.contents span')].map((one) => one.textContent)"
    )
    assert {one.partition(",")[0] for one in found} >= {"cat", "astronaut", "coffee"}


def test_undo_means_the_last_thing_done_wherever_it_is_pressed(sorting):
    choose(sorting, "one")
    sorting.press(Keys.ENTER)
    sorting.until("document.querySelector('.inbox tr.decided') !== null")
    sorting.click(".actions .button", "Add decided to the gallery")
    sorting.find(".inbox .decision", "in the gallery")
    choose(sorting, "three")
    sorting.press(Keys.ENTER)
    sorting.find("#undo[aria-label='Undo: three is coffee']:enabled")
    sorting.click("#undo")  # as `u` and Ctrl-Z do
    sorting.find(".toast", "Undone: three is coffee")
    assert "in the gallery" in decision(sorting, "one")
    sorting.find("#undo[aria-label*='Added one']:enabled")
    sorting.press("u")
    sorting.until(
        "!document.querySelector('.inbox tbody').textContent.includes('in the gallery')"
    )


def test_the_inbox_is_watched_and_says_what_it_could_not_use(sorting, served):
    left_out = "document.querySelector('#view-inbox .left-out').textContent"
    sorting.until(f"{left_out}.includes('broken.png')", "the file that cannot be read")
    late = write_set(served.state.settings.inbox / "late", cuts("coffee", 140))
    sorting.find(".inbox .name", "late")
    for photo in late.iterdir():
        photo.unlink()
    late.rmdir()
    sorting.until("document.querySelectorAll('.inbox tbody tr').length === 6", "six albums")


def test_keys_choose_only_what_can_be_seen(sorting, served):
    sorting.open("inbox", 800)
    sorting.until("document.querySelectorAll('.inbox tr.done').length === 6", "all rows")
    choose(sorting, "four")
    second = sorting.find(".candidates li:nth-child(2)").text
    sorting.press("2")
    sorting.until("document.querySelector('.inbox tr.decided') !== null")
    assert decision(sorting, "four").removeprefix("✓ ").partition("Take")[0] in second
    sorting.open("inbox", 360)
    box = sorting.find(".brand").rect
    assert box["height"] < 45  # one line


def test_sure_answers_are_looked_at_before_they_are_accepted(sorting):
    sorting.click(".actions .button", "Accept sure ones")
    sorting.find("dialog.sheet li", "2 photos stay out")
    n = sorting.run("return document.querySelectorAll('.sheet-rows input').length")
    sorting.click(".sheet-rows input")
    sorting.click("dialog.sheet .button", f"Accept {n - 1} albums")
    sorting.until(f"document.querySelectorAll('.inbox tr.decided').length === {n - 1}")
    sorting.press("u")
    sorting.until("document.querySelector('.inbox tr.decided') === null")


def test_photos_are_shown_large_from_their_files(sorting):
    choose(sorting, "one")
    sorting.press(" ")
    sorting.find(".lightbox", "1 of 8")
    sorting.press(Keys.ARROW_RIGHT)
    sorting.find(".lightbox", "2 of 8")
    sorting.until(
        "document.querySelector('.lightbox img').naturalWidth === 160", "the original"
    )
    sorting.press(" ")
    sorting.until("!document.querySelector('.lightbox')")
    sorting.press("p")
    sorting.click("dialog .tile")
    sorting.click("dialog .button", "It is cat")
    sorting.find(".inbox .decided", "1 photo stays out")


def test_files_can_be_dropped_anywhere(window, probes):
    window.open("gallery")
    photos = [b64encode(path.read_bytes()).decode() for path in sorted(probes["cat"].iterdir())]
    window.run(DROP.replace("document.querySelector('.zone')", "document.body"), photos, "")
    window.until("document.querySelector('.answer .words')", "an answer")
    assert window.run("return location.hash").startswith("#identify")


def test_a_reload_keeps_the_question_and_every_answer_has_an_address(
    window, probes, monkeypatch
):
    go, read = Event(), identify._Reader.read

    def read_slowly(self, received):
        assert go.wait(30)
        return read(self, received)

    monkeypatch.setattr(identify._Reader, "read", read_slowly)
    window.open("identify")
    window.driver.find_element("id", "choose-folder").send_keys(str(probes["cat"]))
    window.find(".progress", "Reading the photos")
    window.driver.refresh()
    window.find(".progress h2", "a cat")
    go.set()
    window.until("document.querySelector('.answer .words')", "the answer")
    address = window.find("a[href^='#identify/']", "address").get_attribute("href")
    window.run("sessionStorage.clear()")  # as in another window
    window.driver.get("about:blank")
    window.driver.get(address)
    window.until("document.querySelector('.answer .words')", "the answer at its address")
    window.click(".question-card .close")


def test_messages_do_not_leak_how_the_server_calls_things(window, tmp_path):
    for name in ("photo.jpg", "clip.mp4"):
        (tmp_path / name).write_bytes(b"neither this nor that")
        window.open("identify")
        send(window, tmp_path / name)
        words = window.find(".question-card .notice").text
        assert name in words
        assert not any(bad in words for bad in ("000000", "load_video", "set '"))
        window.click(".question-card .button", "Close")
    assert all("Failed to load resource" in line for line in window.complaints())


def test_the_tree_begins_with_its_last_sentence(window, probes):
    window.open("identify").ask(probes["cat"])
    window.click(".tree summary")
    assert "stays with cat to the end" in window.find(".tree-end").text
    window.find(".answer .reason", "ways of looking say cat")
