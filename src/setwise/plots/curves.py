"""Lines with a band of one standard deviation, named at their right ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from setwise.plots.checked import finite, same_length, some
from setwise.plots.labels import EndLabel, one_line
from setwise.plots.style import line_looks, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CurveLike", "draw_curves", "end_label", "limit_accuracy"]

# Beyond so many lines, bands would hide each other.
_MOST_BANDS = 6
_LEAST_SPAN = 8.0


class CurveLike(Protocol):
    """A line: ``mean`` and ``std`` at each ``x``."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def x(self) -> Sequence[float]:
        """Where it is known."""

    @property
    def mean(self) -> Sequence[float]:
        """Its height."""

    @property
    def std(self) -> Sequence[float]:
        """Half the height of its band."""


def draw_curves(owner: str, axes: Axes, curves: Sequence[CurveLike]) -> list[dict[str, Any]]:
    """Draw the lines, and their bands where they are few; return how each line looks."""
    some(owner, curves=curves)
    looks = line_looks([str(curve.name) for curve in curves])
    for curve, look in zip(curves, looks, strict=True):
        same_length(f"{owner}: {curve.name}", x=curve.x, mean=curve.mean, std=curve.std)
        some(f"{owner}: {curve.name}", x=curve.x)
        x, mean, std = (finite(owner, n, getattr(curve, n)) for n in ("x", "mean", "std"))
        if len(curves) <= _MOST_BANDS:
            band = {"color": look["color"], "alpha": 0.12, "linewidth": 0}
            axes.fill_between(x, mean - std, mean + std, **band)
            if len(x) == 1:  # which has no width
                axes.errorbar(x, mean, std, ecolor=look["color"], fmt="none", alpha=0.4)
        marker: dict[str, Any] = {"marker": "o", "markersize": 3.5} if len(x) <= 15 else {}
        axes.plot(x, mean, **look, **marker, label=str(curve.name), solid_capstyle="round")
    tidy(axes)
    at = sorted({float(value) for curve in curves for value in curve.x})
    axes.margins(x=0.02)
    if len(at) <= 12:
        axes.set_xticks(at, [f"{value:g}" for value in at])
    if len(at) == 1:
        axes.set_xlim(at[0] - 0.5, at[0] + 0.5)
    return looks


def limit_accuracy(axes: Axes, curves: Sequence[CurveLike], more: Sequence[float] = ()) -> None:
    """Limits that hold all lines and marks, and no more of bands than can be an accuracy."""
    low, high = axes.get_ylim()
    values = [*more, *(value for curve in curves for value in curve.mean)]
    low, high = min(low, *values, *values) - 0.5, max(high, *values, *values) + 0.5
    low, high = max(low, min(values) - 25, -1.5), min(high, 101.5)
    if high - low < _LEAST_SPAN:
        low = high - _LEAST_SPAN
    axes.set_ylim(low, high)
    axes.set_yticks([tick for tick in axes.get_yticks() if low <= tick <= min(high, 100)])


def end_label(curve: CurveLike, look: dict[str, Any], **more: Any) -> EndLabel:
    """The name and the last value of a line, in its colour."""
    last = int(np.argmax(curve.x))
    mean = float(curve.mean[last])
    text = f"{one_line(curve.name)}  {mean:.1f}"
    return EndLabel(float(curve.x[last]), mean, text, look["color"], **more)
