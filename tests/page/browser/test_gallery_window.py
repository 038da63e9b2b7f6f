"""The wall: what is on it, and what can be done to its sets."""

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys


def test_every_class_is_there_with_its_sets_and_sizes(window):
    window.open_albums()
    assert window.text("#view-gallery .counts") == "4 people or things · 9 albums · 72 photos"
    assert window.sets_of("cat") == ["day 1", "day 2", "day 3"]
    window.find(".weak", "Only one album")
    is_shown = "[...document.querySelectorAll('.cover img')].every(i => i.naturalWidth > 0)"
    window.until(is_shown, "all thumbnails")


def test_search_finds_classes_and_slash_starts_it(window):
    window.open_albums().press("/")
    window.press("astro")
    assert window.text("#view-gallery output") == "1 of 4"
    assert window.sets_of("astronaut")
    assert not window.sets_of("cat")
    window.press(*[Keys.BACKSPACE] * 5, "zzz")
    window.find("#view-gallery", "No person, thing or album")


def test_weak_classes_alone_can_be_shown(window):
    window.open_albums()
    window.find(".weak", "Only one album")
    window.click("label.check")
    assert window.sets_of("rocket")
    assert not window.sets_of("cat")


def test_photos_are_taken_out_and_undo_brings_them_back(window):
    window.open_albums().click(".set", "day 1")
    window.click("dialog .tile")
    window.click("dialog .button", "Remove 1 photo")
    window.find(".toast")
    window.until("!!document.querySelector('.set[aria-label*=\"7 photos\"]')")
    window.click(".toast .button", "Undo")
    window.until("!document.querySelector('.set[aria-label*=\"7 photos\"]')")


def test_a_set_is_moved_to_a_class_found_by_typing_and_back_by_ctrl_z(window):
    window.open_albums()
    window.click(".set[aria-label*='album of cat']", "day 2")
    window.click("dialog .button", "Move to someone")
    window.find("dialog.chooser input").send_keys("coff", Keys.ARROW_DOWN, Keys.ENTER)
    window.find(".toast")
    window.until("document.querySelectorAll('.set[aria-label*=\"of cat\"]').length === 2")
    assert len(window.sets_of("coffee")) == 3
    ActionChains(window.driver).key_down(Keys.CONTROL).send_keys("z").key_up(
        Keys.CONTROL
    ).perform()
    window.until("document.querySelectorAll('.set[aria-label*=\"of cat\"]').length === 3")


def test_a_set_is_forgotten_undone_redone_and_the_journal_says_so(window):
    window.open_albums()
    window.click(".set[aria-label*='album of astronaut']", "day 3")
    window.click("dialog .button", "Remove this album")
    window.until("document.querySelectorAll('.set[aria-label*=\"astronaut\"]').length === 2")
    window.click("nav a", "History")
    window.click(".history .button", "Undo")
    window.find("#redo[aria-label*='astronaut/day 3']:enabled")
    window.find(".history li:first-child.undone", "astronaut/day 3")
    window.click("#redo")
    window.find("#undo[aria-label*='astronaut/day 3']:enabled")
    window.find(".history li:first-child:not(.undone)")
    window.press("u")
    window.find("#redo[aria-label*='astronaut/day 3']:enabled")
    window.click("nav a", "Gallery")
    window.until("document.querySelectorAll('.set[aria-label*=\"astronaut\"]').length === 3")


def test_dialogs_keep_the_focus_and_give_it_back(window):
    window.open_albums()
    first = window.find(".set")
    window.run("arguments[0].focus()", first)
    window.press(Keys.ENTER)
    window.find("dialog.one-set")
    for _ in range(4):
        window.press(Keys.TAB)
        assert window.run("return document.activeElement.closest('dialog') !== null")
    window.press(Keys.ESCAPE)
    window.until("!document.querySelector('dialog')")
    assert window.run("return document.activeElement === arguments[0]", first)


def test_a_second_window_follows(window):
    from tests.page.browser.window import Window

    window.open_albums()
    first = window.driver.current_window_handle
    window.driver.switch_to.new_window("window")
    other = Window(window.driver, window.address).open_albums()
    second = window.driver.current_window_handle
    try:
        window.driver.switch_to.window(first)
        window.click(".set[aria-label*='album of coffee']", "day 2")
        window.click("dialog .button", "Remove this album")
        window.until("document.querySelectorAll('.set[aria-label*=\"coffee\"]').length === 1")
        window.driver.switch_to.window(second)
        other.until("document.querySelectorAll('.set[aria-label*=\"coffee\"]').length === 1")
        other.click("#undo")
        window.driver.switch_to.window(first)
        window.until("document.querySelectorAll('.set[aria-label*=\"coffee\"]').length === 2")
    finally:
        window.driver.switch_to.window(second)
        window.driver.close()
        window.driver.switch_to.window(first)
