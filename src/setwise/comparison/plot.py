"""Accuracy against time, one point a method."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from sklearn.isotonic import isotonic_regression

from setwise.classify.plot_page import GREY, INK, LIGHT, PROBE
from setwise.extras import require
from setwise.types import FloatArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Point", "plot_accuracy_time"]

# name, seconds a probe, accuracy, and the low and high end of its interval
Point: TypeAlias = tuple[str, float, float, float, float]
_OURS, _OTHERS = PROBE, "#3f74b5"
# Height of a name in the column.
_LINE_INCHES = 0.22


def plot_accuracy_time(
    points: Sequence[Point],
    path: str | Path | None = None,
    *,
    title: str = "Accuracy against time",
    note: str = "",
) -> Figure:
    """Draw methods by accuracy and seconds a probe; the upper left corner is best.

    Names stand in a column on the right, in the order of accuracy, each tied to its point.
    CVC is drawn in red.

    Parameters
    ----------
    points : sequence of (name, seconds a probe, accuracy, low, high)
        Accuracies as shares.
    path : str or Path, optional
        Where to save the picture too; the suffix says how.
    title, note : str
        Above and below.
    """
    require("matplotlib", "plot")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    height = max(4.0, 0.23 * len(points) + 1.6)
    figure = Figure(figsize=(9.5, height), dpi=100, facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0.08, 0.9 / height, 0.62, 1.0 - 1.5 / height))
    ordered = sorted(points, key=lambda point: -point[2])
    _draw_points(axes, ordered)
    _draw_names(axes, ordered)
    figure.text(0.08, 1.0 - 0.35 / height, title, size=12, weight="bold", color=INK)
    figure.text(0.08, 0.15 / height, note, size=8, color=GREY)
    if path is not None:
        figure.savefig(Path(path), dpi=150, facecolor="white")
    return figure


def _colour(name: str) -> str:
    return _OURS if name.startswith("CVC") else _OTHERS


def _draw_points(axes: Any, points: Sequence[Point]) -> None:
    for name, seconds, accuracy, low, high in points:
        milliseconds = 1e3 * seconds
        colour = _colour(name)
        bar = [100 * low, 100 * high]
        axes.plot([milliseconds] * 2, bar, color=colour, alpha=0.25, linewidth=1.5)
        axes.plot(milliseconds, 100 * accuracy, "o", color=colour, markersize=6)
    axes.set_xscale("log")
    axes.set_xlabel("milliseconds a probe", color=INK)
    axes.set_ylabel("% of the probe sets right", color=INK)
    axes.grid(color=LIGHT, linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _draw_names(axes: Any, points: Sequence[Point]) -> None:
    """Names in a column, each as near to the height of its point as the others let it."""
    lowest, highest = axes.get_ylim()
    heights = np.array([(100 * point[2] - lowest) / (highest - lowest) for point in points])
    room = axes.get_window_extent().height / axes.figure.dpi / _LINE_INCHES
    places = _spread(heights, 1.0 / max(room, len(points) - 1, 1))
    for place, (name, seconds, accuracy, _, _) in zip(places, points, strict=True):
        axes.annotate(
            f"{name}  {100 * accuracy:.1f}",
            xy=(1e3 * seconds, 100 * accuracy),
            xytext=(1.06, place),
            textcoords="axes fraction",
            size=8.5,
            va="center",
            color=_colour(name),
            annotation_clip=False,
            # From the middle of the left edge, so that no line crosses a name.
            arrowprops={
                "arrowstyle": "-",
                "color": LIGHT,
                "linewidth": 0.7,
                "shrinkB": 4,
                "relpos": (0.0, 0.5),
            },
        )
    axes.set_ylim(lowest, highest)


def _spread(heights: FloatArray, gap: float) -> FloatArray:
    """Falling heights in [0, 1], moved as little as need be to lie ``gap`` apart."""
    steps = gap * np.arange(len(heights))
    places = isotonic_regression(heights + steps, increasing=False) - steps
    # Push what stands out at either end back in.
    places = np.minimum(places, 1.0 - steps)
    return np.maximum(places, steps[::-1])
