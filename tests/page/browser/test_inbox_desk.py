"""The inbox as a desk: groups named once, several at a time, one album at a time."""

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from tests.page.browser.real_photos import cuts, write_set
from tests.page.browser.test_inbox_keys import decision
from tests.page.browser.test_trust import choose, sorting  # noqa: F401 (a fixture)

DECIDED = "document.querySelectorAll('.inbox tr.decided').length"
SWIPE = """
const card = document.querySelector('.one-album');
const at = (type, x) => card.dispatchEvent(
  new PointerEvent(type, { pointerType: 'touch', clientX: x, clientY: 300, bubbles: true }));
at('pointerdown', 200); at('pointermove', 200 + arguments[0] / 2);
at('pointermove', 200 + arguments[0]); at('pointerup', 200 + arguments[0]);
"""


@pytest.fixture
def with_a_pair(sorting, served):  # noqa: F811
    """One more album of coins, which are unknown."""
    new = write_set(served.state.settings.inbox / "more coins", cuts("coins", 141))
    sorting.find(".inbox .unknown", "Somebody new, 2 albums")
    yield sorting
    for photo in new.iterdir():
        photo.unlink()
    new.rmdir()
    sorting.open("inbox")
    gone = "!document.querySelector('.inbox tbody').textContent.includes('more coins')"
    sorting.until(f"document.querySelectorAll('.inbox tr.done').length === 6 && {gone}", "six")


def test_a_group_of_unknown_albums_is_one_row_and_named_once(with_a_pair):
    window = with_a_pair
    assert window.run("return document.querySelectorAll('.inbox tbody tr').length") == 6
    window.click(".inbox .decision .button", "Who is it?")
    window.find("dialog.chooser", "One name for all of them")
    window.choose_class("coins")
    window.until(f"{DECIDED} === 2", "both albums")
    assert decision(window, "four").startswith("✓ coins")
    assert decision(window, "more coins").startswith("✓ coins")
    window.press("u")
    window.find(".inbox .unknown", "Somebody new, 2 albums")
    window.click(".inbox .decision .button", "Not the same")
    window.until("document.querySelectorAll('.inbox tbody tr').length === 7", "one by one")
    window.press("u")
    window.find(".inbox .unknown", "Somebody new, 2 albums")


def test_several_rows_are_chosen_and_decided_together(sorting):  # noqa: F811
    boxes = sorting.driver.find_elements("css selector", ".pick")
    sorting.run("arguments[0].click()", boxes[1])
    chain = ActionChains(sorting.driver).key_down(Keys.SHIFT).click(boxes[3])
    chain.key_up(Keys.SHIFT).perform()
    sorting.find(".chosen", "3 rows chosen")
    sorting.click(".chosen .button", "They are")
    sorting.find("dialog.chooser h2", "these 3 albums")
    sorting.choose_class("coffee")
    sorting.until(f"{DECIDED} === 3", "three albums")
    sorting.press("u")
    sorting.until(f"{DECIDED} === 0", "none")
    sorting.press("a")
    sorting.find(".chosen", "6 rows chosen")
    assert sorting.violations() == []
    sorting.click(".chosen .button", "Accept their answers")
    sorting.until(f"{DECIDED} === 4", "those that have an answer")
    sorting.press("u")
    sorting.until(f"{DECIDED} === 0", "none")


def test_one_album_at_a_time_with_large_photos_and_a_swipe(sorting):  # noqa: F811
    sorting.click(".inbox-bar .button", "One at a time")
    sorting.find(".one-answer .eyebrow", "five · 1 of 6")
    sorting.until("document.querySelector('.one-photos img').naturalWidth >= 160", "originals")
    sorting.run(SWIPE, -150)
    name = sorting.find(".one-answer .eyebrow", "four").text
    assert "1 of 6" in name
    for _ in range(4):  # until there is somebody to say yes to
        if "Accept" in sorting.text(".one-answer .actions"):
            break
        sorting.click(".one-answer .button", "Later")
    accepted = sorting.text(".one-answer .eyebrow").partition(" · ")[0]
    sorting.run(SWIPE, 150)
    sorting.find(".one-answer .eyebrow", "2 of 6")
    sorting.open("inbox/one", 390)
    assert sorting.violations() == []
    assert sorting.run("return document.documentElement.scrollWidth") <= 390
    sorting.open("inbox")
    sorting.until(f"{DECIDED} === 1", "the one that was accepted")
    assert decision(sorting, accepted).startswith("✓")


def test_files_are_dropped_on_the_inbox_as_anywhere(sorting, probes):  # noqa: F811
    from base64 import b64encode

    from tests.page.browser.test_identifying import DROP

    photos = [b64encode(path.read_bytes()).decode() for path in sorted(probes["cat"].iterdir())]
    sorting.run(DROP.replace("document.querySelector('.zone')", "document.body"), photos, "")
    sorting.until("document.querySelector('.answer .words')", "an answer")
    sorting.click(".question-card .close")
