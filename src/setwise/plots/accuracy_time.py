"""Accuracy against time, one point per method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from setwise._support.types import FloatArray
from setwise.errors import reject
from setwise.plots.labels import EndLabel, label_ends, one_line
from setwise.plots.style import OURS, PALETTE, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Point", "plot_accuracy_time"]

# name, seconds per probe, accuracy, and the low and high end of its interval
Point: TypeAlias = tuple[str, float, float, float, float]


def plot_accuracy_time(axes: Axes, points: Sequence[Point]) -> Axes:
    """Draw methods by accuracy and seconds per probe; the upper left corner is best.

    Names stand in a column on the right, each tied to its point, in the order of accuracy but
    where the lines would cross. CVC is drawn in red. Axes should be about 0.2 inches high for
    each name.

    Parameters
    ----------
    axes : Axes
        Where to draw.
    points : sequence of (name, seconds per probe, accuracy, low, high)
        Accuracies as shares.

    Examples
    --------
    >>> from setwise.plots import new_figure, plot_accuracy_time
    >>> axes = new_figure(6, 3).add_subplot()
    >>> points = [("CVC", 0.1, 0.95, 0.9, 0.98), ("mean cosine", 1e-4, 0.8, 0.7, 0.88)]
    >>> plot_accuracy_time(axes, points) is axes
    True
    """
    numbers = np.array([point[1:] for point in points], dtype=float).reshape(-1, 4)
    _check(points, numbers)
    labels = []
    for (name, *_), (seconds, *shares) in zip(points, numbers, strict=True):
        colour = OURS if str(name).startswith("CVC") else PALETTE[0]
        accuracy, low, high = (100 * share for share in shares)
        milliseconds = 1e3 * seconds
        axes.plot([milliseconds] * 2, [low, high], color=colour, alpha=0.25, linewidth=1.5)
        axes.plot(milliseconds, accuracy, "o", color=colour, markersize=6)
        text = f"{one_line(name)}  {accuracy:.1f}"
        labels.append(EndLabel(milliseconds, accuracy, text, colour))
    axes.set(xscale="log", xlabel="milliseconds per probe", ylabel="% of the probe sets right")
    tidy(axes)
    _plain_times(axes)
    _limit_shares(axes)
    label_ends(axes, labels, left=1.06)
    return axes


def _check(points: Sequence[Point], numbers: FloatArray) -> None:
    if not len(points):
        reject("plot_accuracy_time: points is empty. Expected at least one point to draw.")
    is_wrong = ~np.isfinite(numbers).all(axis=1) | ~(numbers[:, 0] > 0)
    if is_wrong.any():
        wrong = int(is_wrong.argmax())
        seconds, accuracy = numbers[wrong, :2]
        reject(
            f"plot_accuracy_time: {points[wrong][0]} takes {seconds:g} seconds per probe and "
            f"has an accuracy of {accuracy:g}. Expected finite numbers, more than 0 seconds."
        )


def _limit_shares(axes: Axes) -> None:
    """Limits and ticks that end where percentages do, with room for a point on the border."""
    low, high = axes.get_ylim()
    room = 0.03 * (high - low)
    low, high = max(low, -room), min(high, 100 + room)
    ticks = [tick for tick in axes.get_yticks() if max(low, 0) <= tick <= min(high, 100)]
    axes.set_yticks(ticks)
    axes.set_ylim(low, high)


def _plain_times(axes: Axes) -> None:
    """Ticks at 1, 10, 100, ..., and in between where these alone would be few."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axes.dataLim.intervalx
    if high / low < 3:
        axes.set_xlim(low / 2, high * 2)
    steps = (1.0,) if high / low > 300 else (1.0, 2.0, 5.0)
    axes.xaxis.set_major_locator(LogLocator(subs=steps))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
