"""The picture of an answer: the set, how probable each class is, and the most alike images.

Two columns on a wide sheet, one on a narrow one. Nothing is told by colour alone: vectors out
of place are framed and named, and the answer always stands before the runner-up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.plots.sheet import Sheet
from setwise.plots.style import GREY, INK, LIGHT, OTHER, PALETTE

if TYPE_CHECKING:
    from setwise.classify.answer import Answer

# Vectors out of place. Dark, to stand out in print too.
OUT = "#a83e22"
COLOURS = {"first": PALETTE[0], "second": PALETTE[1], "other": OTHER}
# In inches: the margin, the least width of two columns, photos and pairs, and between them.
LEFT, _GUTTER = 0.45, 0.5
_TWO_COLUMNS = 8.0
_TILE, _GAP, _PAIR = 0.84, 0.05, 0.58
_MOST_ROWS, _MOST_BARS, _NAMES, _FIGURES = 3, 6, 0.8, 0.45
# Inches of one letter per point of its size.
_LETTER = 0.0081


@dataclass(frozen=True)
class Bar:
    """Probability of one class; its kind is ``"first"``, ``"second"`` or ``"other"``."""

    label: str
    kind: str
    probability: float


@dataclass(frozen=True)
class AnswerPicture:
    """An answer as it is drawn; there are no images where vectors are none.

    ``alike`` has the pairs of images of answer and runner-up; ``note`` says why there are none.
    ``support`` of the answer by each vector is from 0 to 1, or NaN.
    """

    name: str
    answer: Answer
    about: str
    sentence: str
    images: Sequence[npt.NDArray[Any] | None]
    files: Sequence[str]
    alike: Sequence[Any] = ()
    note: str = ""
    support: FloatArray | None = None


def kinds_of(answer: Answer) -> dict[str, str]:
    """The kind of each label: "first" is the answer, "second" the runner-up."""
    kinds = {} if answer.runner_up is None else {str(answer.runner_up): "second"}
    return kinds | ({str(answer.nearest): "first"} if answer.is_informed else {})


def bars(answer: Answer, most: int = _MOST_BARS) -> tuple[Bar, ...]:
    """The most probable classes, the answer first."""
    kinds = kinds_of(answer)
    pairs = zip(map(str, answer.classes), map(float, answer.probabilities), strict=True)
    found = [Bar(label, kinds.get(label, "other"), chance) for label, chance in pairs]
    found.sort(key=lambda bar: (bar.kind != "first", -bar.probability))
    return tuple(found[:most])


def n_without_bar(answer: Answer) -> int:
    """How many classes have no bar."""
    return max(len(answer.classes) - _MOST_BARS, 0)


def choose(is_out: BoolArray, most: int) -> IntArray:
    """At most so many vectors, evenly spread; half of the places are for outliers."""
    if len(is_out) <= most:
        return np.arange(len(is_out))
    out = _spread(np.flatnonzero(is_out), max(most // 2, most - int((~is_out).sum())))
    return np.sort(np.concatenate([out, _spread(np.flatnonzero(~is_out), most - len(out))]))


def _spread(chosen: IntArray, most: int) -> IntArray:
    if len(chosen) <= most:
        return chosen
    return chosen[np.linspace(0, len(chosen) - 1, most).round().astype(np.int64)]


def is_wide(sheet: Sheet) -> bool:
    """Whether a sheet has room for two columns."""
    return sheet.width >= _TWO_COLUMNS


def column(sheet: Sheet, place: int) -> tuple[float, float]:
    """Left edge and width of a column; a narrow sheet has one."""
    inside = sheet.width - 2 * LEFT
    if not is_wide(sheet):
        return LEFT, inside
    width = (inside - _GUTTER) / 2
    return LEFT + place * (width + _GUTTER), width


def draw_picture(
    sheet: Sheet, picture: AnswerPicture, beside: Callable[[Sheet, float], float] | None = None
) -> float:
    """Draw an answer, return where it ends; ``beside`` draws in place of alike images."""
    top = _draw_heading(sheet, picture)
    top = _draw_photos(sheet, top, picture)
    below_bars = _draw_bars(sheet, top, picture)
    if not is_wide(sheet):
        top = below_bars + 0.1
    below = beside(sheet, top) if beside else _draw_alike(sheet, top, picture)
    return max(below_bars, below)


def draw_title(
    sheet: Sheet, x: float, top: float, width: float, title: str, note: str = ""
) -> float:
    """The title of a panel, and below it how to read it."""
    sheet.write(x, top, title, weight="bold")
    for line in _lines(note, width, 7.5):
        top += 0.15
        sheet.write(x, top, line, size=7.5, color=GREY)
    return top + 0.14


def _draw_heading(sheet: Sheet, picture: AnswerPicture) -> float:
    """Name of the set, and the answer in words."""
    inside = sheet.width - 2 * LEFT
    about = {"color": GREY, "size": 9}
    room = inside
    if is_wide(sheet):
        words = sheet.write(sheet.width - LEFT, 0.5, picture.about, ha="right", **about)
        room -= sheet.width_of(words) + 0.2
    sheet.write_short(LEFT, 0.5, picture.name, room, size=18, weight="bold")
    top = 0.86
    for line in _lines(picture.sentence, inside, 11.5):
        sheet.write(LEFT, top, line, size=11.5)
        top += 0.21
    if not is_wide(sheet):
        sheet.write(LEFT, top - 0.02, picture.about, **about)
        top += 0.16
    return top + 0.03


def _lines(text: str, width: float, size: float) -> list[str]:
    from textwrap import wrap

    return wrap(" ".join(text.split()), max(int(width / (size * _LETTER)), 8), max_lines=4)


def _draw_photos(sheet: Sheet, top: float, picture: AnswerPicture) -> float:
    """The photos, framed where out of place; below each, how far it supports the answer."""
    inside, is_out = sheet.width - 2 * LEFT, ~picture.answer.is_typical
    if picture.images:
        per_row = max(int((inside + _GAP) / _TILE), 1)
        tile = (inside + _GAP) / per_row
        below = 0.0 if picture.support is None else 0.09
        shown = choose(is_out, per_row * (_MOST_ROWS if is_wide(sheet) else 2 * _MOST_ROWS))
        for place, j in enumerate(map(int, shown)):
            row, across = divmod(place, per_row)
            corner = LEFT + across * tile, top + row * (tile + below)
            _draw_photo(sheet, corner, tile - _GAP, picture, j)
        top += -(-len(shown) // per_row) * (tile + below) + 0.12
        if picture.support is not None:
            words = "Line below a photo: how far it supports the answer."
            hidden = len(is_out) - len(shown)
            words += f" {hidden} more are not shown." if hidden else ""
            sheet.write(LEFT, top, words, size=7.5, color=GREY)
            top += 0.17
    if is_out.any():
        names = [picture.files[int(j)] for j in np.flatnonzero(is_out)]
        words = f"{len(names)} out of place: {', '.join(names)}"
        sheet.write_short(LEFT, top + 0.03, words, inside, color=OUT, size=9.5)
        top += 0.13
    return top + 0.35


def _draw_photo(
    sheet: Sheet, corner: tuple[float, float], side: float, picture: AnswerPicture, j: int
) -> None:
    x, y = corner
    is_out = not picture.answer.is_typical[j]
    sheet.image(x, y, side, picture.images[j], OUT if is_out else "")
    if is_out:
        sheet.rectangle(x, y + side - 0.14, side, 0.14, OUT)
        centre = {"ha": "center", "size": 6.5, "color": "white"}
        name = picture.files[j]
        sheet.write_short(x + side / 2, y + side - 0.04, name, side - 0.06, **centre)
    if picture.support is not None:
        share = float(np.nan_to_num(picture.support[j]))
        sheet.rectangle(x, y + side + 0.03, side, 0.045, LIGHT)
        sheet.rectangle(x, y + side + 0.03, side * share, 0.045, COLOURS["first"])


def _draw_bars(sheet: Sheet, top: float, picture: AnswerPicture) -> float:
    """How probable the answer and the runner-up are, and others, small and grey."""
    x, width = column(sheet, 0)
    is_unknown = picture.answer.is_informed and picture.answer.is_known is False
    if_known = ", if it were known after all" * is_unknown
    sheet.write(x, top, f"How probable{if_known}", weight="bold")
    top += 0.16
    shown, n_more = bars(picture.answer), n_without_bar(picture.answer)
    longest = max((len(bar.label) for bar in shown), default=0)
    names = float(np.clip(0.1 * longest, _NAMES, 0.45 * width))
    for bar in shown:
        is_small = bar.kind == "other"
        height, size = (0.11, 8.0) if is_small else (0.24, 10.5)
        style = {"size": size, "color": GREY if is_small else INK}
        style["weight"] = "bold" if bar.kind == "first" else "normal"
        base, length = top + height / 2 + size / 200, width - names - _FIGURES
        sheet.write_short(x, base, bar.label, names - 0.1, **style)
        sheet.rectangle(x + names, top, length, height, LIGHT)
        sheet.rectangle(x + names, top, length * bar.probability, height, COLOURS[bar.kind])
        sheet.write(x + width, base, f"{bar.probability:.2f}", ha="right", **style)
        top += height + 0.11
    if n_more:
        words = f"and {n_more} more, less probable"
        sheet.write(x, top + 0.1, words, size=8, color=GREY)
        top += 0.2
    return top + 0.2


def _draw_alike(sheet: Sheet, top: float, picture: AnswerPicture) -> float:
    """Photos of the set beside those of answer and runner-up that are most alike."""
    x, width = column(sheet, 1)
    if picture.note:
        for line in _lines(picture.note, width, 8):
            sheet.write(x, top, line, size=8, color=GREY)
            top += 0.15
        return top
    for alike, kind in zip(picture.alike, ("first", "second"), strict=False):
        sheet.rectangle(x, top - 0.1, 0.11, 0.11, COLOURS[kind])
        words = f"Most alike of {alike.label}"
        sheet.write_short(x + 0.18, top, words, width - 0.2, weight="bold")
        step = min(2 * _PAIR + 0.14, width / 4)
        side = (step - 0.14) / 2
        for place, pair in enumerate(alike.pairs):
            left = x + place * step
            sheet.image(left, top + 0.1, side, pair.image)
            sheet.image(left + side, top + 0.1, side, pair.other)
            grey: dict[str, Any] = {"ha": "right", "size": 6, "color": GREY}
            below = left + 2 * side, top + side + 0.21
            sheet.write_short(*below, pair.origin, 2 * side, **grey)
        top += side + 0.55
    if picture.alike:
        words = "left: a photo of this set; right: the most similar photo of the gallery"
        sheet.write(x, top - 0.12, words, size=7.5, color=GREY)
    return top + 0.1
