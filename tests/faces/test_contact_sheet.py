"""Contact sheets: which pictures are where, and texts that are too long or not meant well."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from setwise.faces.contact_sheet import (
    CELL,
    EDGE,
    GAP,
    HEADING,
    TEXT,
    SheetRow,
    save_contact_sheet,
    sheet_pages,
    spread,
)

RED, GREEN, BLUE = (255, 0, 0), (0, 255, 0), (0, 0, 255)


def picture(colour, size=(20, 20)):
    file = io.BytesIO()
    Image.new("RGB", size, colour).save(file, "PNG")
    return file.getvalue()


def row(*pictures, group="clip", title="track 1"):
    return SheetRow(group, title, ("frames 0-9", "10 faces of 80 px"), pictures)


def middle(page, line, column, n_headings=1):
    """What is in the middle of a picture of the first group."""
    left = EDGE + TEXT + column * (CELL + GAP) + CELL // 2
    top = EDGE + n_headings * HEADING + line * (CELL + GAP) + CELL // 2
    return page.getpixel((left, top))


def test_pictures_stand_in_rows_and_in_order():
    rows = [row(picture(RED), picture(GREEN)), row(picture(BLUE, (60, 20)))]
    (page,) = sheet_pages(rows)
    shown = [middle(page, line, column) for line in (0, 1) for column in (0, 1)]
    assert shown == [RED, GREEN, BLUE, (255, 255, 255)]


def test_many_rows_take_several_pages():
    rows = [row(picture(RED), group=f"clip {i // 4}") for i in range(30)]
    pages = list(sheet_pages(rows))
    assert len(pages) == 3
    assert pages[0].width == pages[2].width
    assert pages[0].height > pages[2].height


@pytest.mark.parametrize("name", ["w" * 500, "\x1b[31m\n\u202e", "Zoë 画", "", "\udc80"])
def test_any_name_can_be_shown(name):
    (page,) = sheet_pages([row(picture(RED), group=name, title=name)])
    # Titles end before the pictures begin.
    pixels = np.asarray(page)[EDGE + HEADING : EDGE + HEADING + CELL]
    assert (pixels[:, EDGE + TEXT - GAP : EDGE + TEXT] == 255).all()
    assert middle(page, 0, 0) == RED


def test_a_sheet_is_a_pdf_of_all_pages(tmp_path):
    save_contact_sheet([row(picture(RED))] * 30, tmp_path / "contact.pdf")
    content = (tmp_path / "contact.pdf").read_bytes()
    assert content.startswith(b"%PDF")
    assert content.count(b"/Type /Page\n") == 3


@given(st.integers(1, 3000))
def test_pictures_are_spread_evenly_from_first_to_last(n_pictures):
    chosen = spread(n_pictures)
    assert len(chosen) == min(n_pictures, 10)
    assert (chosen[0], chosen[-1]) == (0, n_pictures - 1)
    steps = np.diff(chosen)
    assert len(steps) == 0 or (steps.min() >= 1 and steps.max() - steps.min() <= 1)
