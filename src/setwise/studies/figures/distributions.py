"""Shares of sets in clusters as a table of coloured cells (Figs. 1 and 3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from setwise._support.types import FloatArray
from setwise.plots.labels import one_line, plain
from setwise.plots.style import GREY, INK, LIGHT, PALETTE, PROBE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_distributions"]

_LONGEST_NAME = 20
_SIZE, _SMALLEST_SIZE = 8.5, 4.5
# A digit is about so much of its size wide.
_DIGIT = 0.7


def plot_distributions(
    axes: Axes, table: Sequence[Sequence[float]], row_names: Sequence[str]
) -> Axes:
    """Draw how the images of each set spread over the clusters, in percent.

    Clusters stand in the order of the classes that have most of them, so that a good
    clustering goes down the diagonal; their numbers count from 1 as in ``table``. The probe
    stands apart below, in red. ``table[row][cluster]`` are shares; the last row is the probe's.
    """
    shares = np.asarray(table, dtype=float)
    last = len(shares) - 1
    order = _down_the_diagonal(shares)
    heights = np.arange(len(shares)) + 0.3 * (np.arange(len(shares)) == last)
    _draw_cells(axes, shares[:, order], heights)
    names = [one_line(name, _LONGEST_NAME) for name in row_names]
    axes.set_yticks(heights, names, **plain(*names))
    _fit_names(axes, "y", 1.2)
    axes.get_yticklabels()[last].set(color=PROBE, weight="bold")
    axes.xaxis.tick_top()
    axes.set_xticks(range(len(order)), [f"{cluster + 1}" for cluster in order])
    _fit_names(axes, "x", _DIGIT * len(f"{len(order)}") + 0.4)
    axes.set_xlabel("% of the images of a row by cluster", size=9, color=GREY)
    axes.xaxis.set_label_position("top")
    return axes


def _down_the_diagonal(shares: FloatArray) -> list[int]:
    """Clusters by the class with the largest share; those of the probe alone come last."""
    classes = shares[:-1] if len(shares) > 1 else shares
    home = np.where(classes.any(axis=0), classes.argmax(axis=0), len(shares))
    return [int(i) for i in np.lexsort((-classes.max(axis=0), home))]


def _draw_cells(axes: Axes, shares: FloatArray, heights: FloatArray) -> None:
    """A coloured cell on an empty one for each share above zero, with the number if it fits.

    Colours are let through: letters are readable on them, on white and on dark paper.
    """
    from matplotlib.colors import to_rgba

    n_columns, bottom = shares.shape[1], float(heights.max()) + 0.5
    axes.set(xlim=(-0.5, n_columns - 0.5), ylim=(bottom, -0.5))
    axes.set_facecolor("none")
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0, labelsize=8, labelcolor=INK)
    axes.barh(heights, n_columns, 0.92, -0.5, color=to_rgba(LIGHT, 0.35), linewidth=0)
    size = _letter_size(axes, bottom + 0.5, n_columns)
    place: dict[str, Any] = {"ha": "center", "va": "center", "size": size, "color": INK}
    for row, column in np.argwhere(shares > 0):
        share, height = float(shares[row, column]), float(heights[row])
        colour = to_rgba(PROBE if row == len(shares) - 1 else PALETTE[0], 0.12 + 0.48 * share)
        axes.barh(height, 0.92, 0.92, column - 0.46, color=colour, linewidth=0)
        if size >= _SMALLEST_SIZE:
            axes.text(column, height, f"{100 * share:.0f}", **place, parse_math=False)


def _letter_size(axes: Axes, n_rows: float, n_columns: int) -> float:
    box = axes.get_window_extent()
    points = 72 / axes.figure.dpi
    # Up to three digits; names beside the axes take some of their width yet.
    across = 0.8 * points * box.width / n_columns / (_DIGIT * 3)
    return float(min(0.62 * points * box.height / n_rows, across, _SIZE))


def _fit_names(axes: Axes, which: Literal["x", "y"], extent: float) -> None:
    """Letters as large as there is room for names ``extent`` times as large, or none at all."""
    box = axes.get_window_extent()
    low, high = axes.get_ylim() if which == "y" else axes.get_xlim()
    pixels = box.height if which == "y" else 0.85 * box.width
    size = min(72 / axes.figure.dpi * pixels / abs(high - low) / extent, _SIZE)
    is_readable = size >= _SMALLEST_SIZE
    axes.tick_params(axis=which, labelsize=size, labelleft=is_readable, labeltop=is_readable)
