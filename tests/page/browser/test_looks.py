"""Every view in light and dark, narrow and wide, for eyes and for screen readers."""

import pytest

VIEWS = ("gallery", "identify", "inbox", "history")


LOOKS = [("light", 320), ("dark", 1200)]


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
def test_axe_finds_nothing_wrong_and_nothing_is_wider_than_the_window(window, scheme, width):
    window.show_in(scheme)
    window.open("gallery", width)
    for view in VIEWS:
        window.run("location.hash = arguments[0]", view)
        window.find(f"#view-{view} h1")
        if view == "inbox":
            window.find(".inbox .first")
        assert window.violations() == [], view
        assert window.run("return document.documentElement.scrollWidth") <= width, view


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
def test_axe_finds_nothing_wrong_in_dialogs(window, scheme, width):
    window.show_in(scheme)
    window.open_albums(width).click(".set")
    window.find("dialog.one-set .tile")
    assert window.violations() == []
    window.click("dialog .button", "Move to someone")
    window.find("dialog.chooser li")
    assert window.violations() == []
    window.run("document.querySelectorAll('dialog').forEach((one) => one.close())")
    window.click("#help")
    window.find("dialog.keys")
    assert window.violations() == []


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
def test_axe_finds_nothing_wrong_in_an_answer(window, probes, scheme, width):
    window.show_in(scheme)
    window.open("identify", width).ask(probes["mixed"])
    window.click(".tree summary")
    window.find(".tree-words")
    assert window.violations() == []
    assert window.run("return document.documentElement.scrollWidth") <= width


def test_the_colours_can_be_chosen_and_are_remembered(window):
    window.open().click("#theme")
    chosen = window.run("return document.documentElement.dataset.theme")
    assert chosen in ("light", "dark")
    window.open()
    assert window.run("return document.documentElement.dataset.theme") == chosen
    window.run("localStorage.clear()")
