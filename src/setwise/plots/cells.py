"""Tables as pictures: a coloured cell for each number that is not zero."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from setwise.plots.labels import plain
from setwise.plots.style import INK, LIGHT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Cell", "draw_cells", "name_columns", "name_rows"]

_SIZE, _SMALLEST_SIZE = 8.5, 4.5
# A digit is about so much of its size wide.
_DIGIT = 0.7


@dataclass(frozen=True)
class Cell:
    """One number: where it stands, how strong its colour is (0 to 1), and what it says."""

    row: float
    column: float
    strength: float
    text: str
    colour: str


def draw_cells(
    axes: Axes, cells: Sequence[Cell], rows: Sequence[float], n_columns: int
) -> None:
    """Draw the cells, on an empty one in each place, and the numbers where there is room.

    Colours are let through: letters are readable on them, on white and on dark paper.

    Parameters
    ----------
    axes : Axes
        They get as many columns and rows as there are, from the top down.
    cells : sequence of Cell
        What is not empty.
    rows : sequence of float
        Where the rows are.
    n_columns : int
        How many there are.
    """
    from matplotlib.colors import to_rgba

    bottom = max(rows) + 0.5
    axes.set(xlim=(-0.5, n_columns - 0.5), ylim=(bottom, -0.5))
    axes.set_facecolor("none")
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0, labelsize=8, labelcolor=INK)
    empty, colours = to_rgba(LIGHT, 0.35), [_shade(cell) for cell in cells]
    axes.barh(rows, n_columns, 0.92, -0.5, color=empty, linewidth=0)
    lefts = [cell.column - 0.46 for cell in cells]
    axes.barh([cell.row for cell in cells], 0.92, 0.92, lefts, color=colours, linewidth=0)
    size = _letter_size(axes, cells, bottom + 0.5, n_columns)
    if size >= _SMALLEST_SIZE:
        place: dict[str, Any] = {"ha": "center", "va": "center", "size": size, "color": INK}
        for cell in cells:
            axes.text(cell.column, cell.row, cell.text, **place, parse_math=False)


def _shade(cell: Cell) -> tuple[float, float, float, float]:
    from matplotlib.colors import to_rgba

    return to_rgba(cell.colour, 0.12 + 0.48 * float(np.clip(cell.strength, 0, 1)))


def name_rows(axes: Axes, places: Sequence[float], names: Sequence[str]) -> None:
    """Names at the left, as small as the rows are low."""
    axes.set_yticks(places, names, **plain(*names))
    _fit_names(axes, "y", 1.2)


def name_columns(axes: Axes, names: Sequence[str], *, are_upright: bool = False) -> None:
    """Names above, as small as the columns are narrow; upright where they are long."""
    axes.xaxis.tick_top()
    style: dict[str, Any] = {
        "rotation": 90,
        "ha": "left",
        "va": "center",
        "rotation_mode": "anchor",
    }
    axes.set_xticks(range(len(names)), names, **plain(*names), **(style if are_upright else {}))
    longest = 1.2 if are_upright else _DIGIT * max(map(len, names)) + 0.4
    _fit_names(axes, "x", longest)


def _letter_size(axes: Axes, cells: Sequence[Cell], n_rows: float, n_columns: int) -> float:
    box = axes.get_window_extent()
    points = 72 / axes.figure.dpi
    longest = max((len(cell.text) for cell in cells), default=1)
    # Names beside the axes take some of their width yet.
    across = 0.8 * points * box.width / n_columns / (_DIGIT * longest)
    return float(min(0.62 * points * box.height / n_rows, across, _SIZE))


def _fit_names(axes: Axes, which: Literal["x", "y"], extent: float) -> None:
    """Letters as large as there is room for names ``extent`` times as large, or none at all."""
    box = axes.get_window_extent()
    low, high = axes.get_ylim() if which == "y" else axes.get_xlim()
    pixels = box.height if which == "y" else 0.85 * box.width
    size = min(72 / axes.figure.dpi * pixels / abs(high - low) / extent, _SIZE)
    is_readable = size >= _SMALLEST_SIZE
    axes.tick_params(axis=which, labelsize=size, labelleft=is_readable, labeltop=is_readable)
