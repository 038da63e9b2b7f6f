"""The first run as people do it: a heap of photos, names, and a new album recognised."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from tests.faces.made_people import photo
from tests.page.browser.window import Window

# Who is in each photo, as (person, seed); person 9 is seen once, and 3 in the new album only.
HEAP = {
    "beach/1.jpg": [(0, 0), (1, 0)],
    "beach/2.jpg": [(0, 1), (2, 0)],
    "party/3.jpg": [(1, 2), (2, 1), (0, 2)],
    "party/4.jpg": [(9, 0), (1, 4)],
    "party/5.jpg": [(2, 3), (0, 5)],
}
NEW = {"6.jpg": [(0, 3), (3, 0)], "7.jpg": [(3, 1), (0, 7)]}
NAMES = ("Anna", "Bo", "Cleo")


@dataclass(frozen=True)
class Journey:
    """What it took, and what was answered in the end."""

    clicks: int
    keys: int
    seconds: float
    people: list[str]
    answers: list[str]


def write_people(root: Path) -> Path:
    """Write the heap, below ``summer``, and the album that comes later, ``new``."""
    for folder, photos in (("summer", HEAP), ("new", NEW)):
        for name, people in photos.items():
            photo(root / folder / name, people)
    return root


def first_run(window: Window, photos: Path) -> Journey:
    """Name everybody of the heap, make the gallery, and ask about the new album."""
    from selenium.webdriver.common.keys import Keys

    began, clicks, keys = time.monotonic(), 0, 0

    def click(selector: str, words: str = "") -> None:
        nonlocal clicks
        window.click(selector, words)
        clicks += 1

    window.find("h1", "Who is in your photos?")
    click(".folder", photos.name)
    click(".folder", "summer")
    click(".folders .button", "Use “summer”")
    window.find(".start-head .lead", "3 people in 5 photos")
    click(".person-stack input")
    for name in NAMES:  # Enter goes on to the next who has no name
        window.press(*name, Keys.ENTER)
        keys += len(name) + 1
    window.find(".start-head .lead", "All have a name")
    click(".start-head .button", "Make the gallery")
    window.until("document.querySelectorAll('.person').length === 3", "the gallery")
    people = window.run(
        "return [...document.querySelectorAll('.person h2')].map((h) => h.textContent)"
    )
    click(".bar nav a", "Identify")
    window.ask(photos / "new")
    clicks += 1  # the folder, in the picker of the system
    answers = window.run(
        "return [...document.querySelectorAll('.answer .words')].map((p) => p.textContent)"
    )
    return Journey(clicks, keys, time.monotonic() - began, people, answers)
