"""A contact sheet: some pictures of each set in a row."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from setwise._support.text import printable

if TYPE_CHECKING:
    from PIL.Image import Image


N_PICTURES = 10
ROWS_PER_PAGE = 14
# In pixels, of which there are 200 to an inch: the pages are about as wide as A4.
EDGE, CELL, GAP, TEXT, HEADING, AIR = 56, 120, 8, 270, 72, 28
WIDTH = 2 * EDGE + TEXT + N_PICTURES * (CELL + GAP) - GAP
INK, FAINT, RULE, PAPER = "#1b1f24", "#6b7280", "#d7dbe0", "#ffffff"
# Pillow's own font, the last resort, knows no letter beyond ASCII.
FONTS = ("DejaVuSans.ttf", "NotoSans-Regular.ttf", "Arial.ttf", "LiberationSans-Regular.ttf")


@dataclass(frozen=True)
class SheetRow:
    """One set on a contact sheet."""

    group: str  # heads the rows of a group, such as a clip, which follow one another
    title: str
    details: tuple[str, ...]  # at most two lines
    pictures: tuple[bytes, ...]  # at most 10 image files


def spread(n_pictures: int) -> list[int]:
    """Indices of at most 10 pictures, evenly spread, with the first and the last."""
    chosen = np.linspace(0, n_pictures - 1, min(n_pictures, N_PICTURES))
    return [round(place) for place in chosen.tolist()]


def save_contact_sheet(rows: Sequence[SheetRow], path: Path) -> None:
    """Write a contact sheet as PDF, which no loader takes for an image of a set."""
    first, *others = sheet_pages(rows)
    about = {"title": "Contact sheet", "producer": "setwise", "resolution": 200}
    first.save(path, "PDF", save_all=True, append_images=others, quality=90, **about)


def sheet_pages(rows: Sequence[SheetRow]) -> Iterator[Image]:
    """Draw the pages of a contact sheet."""
    for start in range(0, len(rows), ROWS_PER_PAGE):
        groups = groupby(rows[start : start + ROWS_PER_PAGE], key=lambda row: row.group)
        yield _page([(group, list(members)) for group, members in groups])


def _page(groups: list[tuple[str, list[SheetRow]]]) -> Image:
    from PIL import Image, ImageDraw

    n_rows = sum(len(members) for _, members in groups)
    height = 2 * EDGE - AIR + len(groups) * (HEADING + AIR) + n_rows * (CELL + GAP)
    page = Image.new("RGB", (WIDTH, height), PAPER)
    draw, top = ImageDraw.Draw(page), EDGE
    for group, members in groups:
        _write(draw, (EDGE, top), group, 32, INK, WIDTH - 2 * EDGE)
        draw.line((EDGE, top + 50, WIDTH - EDGE, top + 50), fill=RULE, width=2)
        top += HEADING
        for row in members:
            _draw_row(page, draw, top, row)
            top += CELL + GAP
        top += AIR
    return page


def _draw_row(page: Image, draw: Any, top: int, row: SheetRow) -> None:
    from PIL import Image, ImageOps

    _write(draw, (EDGE, top + 16), row.title, 27, INK, TEXT - 2 * GAP)
    for i, detail in enumerate(row.details):
        _write(draw, (EDGE, top + 54 + 29 * i), detail, 21, FAINT, TEXT - 2 * GAP)
    for i, picture in enumerate(row.pictures):
        with Image.open(io.BytesIO(picture)) as image:
            cell = ImageOps.pad(image.convert("RGB"), (CELL, CELL), color=PAPER)
        page.paste(cell, (EDGE + TEXT + i * (CELL + GAP), top))


def _write(
    draw: Any, place: tuple[int, int], text: str, size: int, ink: str, room: int
) -> None:
    """Write a line, cut short to the room."""
    font, line = _font(size), printable(text)
    if font.getlength(line) > room:
        while line and font.getlength(f"{line}...") > room:
            line = line[:-1]
        line = f"{line}..."
    draw.text(place, line, fill=ink, font=font)


@cache
def _font(size: int) -> Any:
    """A font of the system or of Matplotlib with many letters, or else Pillow's own."""
    from PIL import ImageFont

    plots = find_spec("matplotlib")
    places = [] if plots is None else map(Path, plots.submodule_search_locations or [])
    bundled = [str(place / "mpl-data" / "fonts" / "ttf" / FONTS[0]) for place in places]
    for font in (*FONTS, *bundled):
        with suppress(OSError):
            return ImageFont.truetype(font, size)
    return ImageFont.load_default(size)
