"""Accuracy against time, one point per method, on a figure of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from setwise.plots.accuracy_time import Point
from setwise.plots.accuracy_time import plot_accuracy_time as draw_accuracy_time
from setwise.plots.labels import plain
from setwise.plots.style import GREY, INK, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_accuracy_time"]


def plot_accuracy_time(
    points: Sequence[Point],
    path: str | Path | None = None,
    *,
    title: str = "Accuracy against time",
    note: str = "",
) -> Figure:
    """Draw methods by accuracy and seconds per probe; the upper left corner is best.

    Names stand in a column on the right, in the order of accuracy, each tied to its point.
    CVC is drawn in red. See :func:`setwise.plots.plot_accuracy_time` for axes of your own.

    Parameters
    ----------
    points : sequence of (name, seconds per probe, accuracy, low, high)
        Accuracies as shares.
    path : str or Path, optional
        Where to save the picture too; the suffix says how.
    title, note : str
        Above and below.
    """
    figure = new_figure(9.5, max(4.0, 0.23 * len(points) + 1.6))
    figure.set_facecolor("white")
    draw_accuracy_time(figure.subplots(), points)
    left = {"x": 0.01, "ha": "left", **plain(title, note)}
    figure.suptitle(title, **left, size=12, weight="bold", color=INK)
    figure.supxlabel(note, **left, size=8, color=GREY)
    if path is not None:
        figure.savefig(Path(path), dpi=150, facecolor="white")
    return figure
