"""Accuracy as lines with a band of one standard deviation, named at their right ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from setwise.plots import tidy
from setwise.report.parts import EndLabel, label_ends, one_line
from setwise_paper.accuracy import Curve
from setwise_paper.figures.style import PUBLISHED, line_looks
from setwise_paper.spec import Published

if TYPE_CHECKING:
    from matplotlib.axes import Axes


NOTHING: Mapping[str, Any] = MappingProxyType({})
# Beyond so many lines, bands would hide each other.
_MOST_BANDS = 6
_LEAST_SPAN = 8.0
_DIAMOND = {"marker": "D", "markeredgecolor": PUBLISHED, "markeredgewidth": 1.6}


def plot_dimensions(
    axes: Axes, curves: Sequence[Curve], published: Mapping[str, Published] = NOTHING
) -> Axes:
    """Draw how accuracy grows with the dimensionalities that are fused (Figs. 6 to 8)."""
    styles = _draw_curves(axes, curves)
    marks = {
        curve.name: float(published[curve.name].mean or 0)
        for curve in curves
        if curve.name in published and published[curve.name].mean is not None
    }
    _limit_accuracy(axes, curves, list(marks.values()))
    labels = []
    for curve, style in zip(curves, styles, strict=True):
        more = {}
        if curve.name in marks:
            more = {"more": f"paper {marks[curve.name]:.1f}", "more_colour": PUBLISHED}
            beside: dict[str, Any] = {
                "transform": axes.get_yaxis_transform(),
                "clip_on": False,
                "zorder": 4,
            }
            diamond = {**_DIAMOND, "markersize": 6, "markerfacecolor": style["color"]}
            axes.plot([1.03], [marks[curve.name]], **diamond, **beside, linestyle="none")
        labels.append(_end_label(curve, style, **more))
    axes.set(xlabel="dimensionalities fused: from 1 up to this", ylabel="accuracy (%)")
    label_ends(axes, labels, left=1.06 if marks else 1.03)
    return axes


def plot_outliers(
    axes: Axes,
    curves: Sequence[Curve],
    shares: Sequence[float] | None = None,
    *,
    published: Mapping[str, Sequence[tuple[float, float]]] = NOTHING,
) -> Axes:
    """Draw how accuracy falls with the images of other sets mixed in (Fig. 9)."""
    styles = _draw_curves(axes, curves)
    marks = []
    for curve, style in zip(curves, styles, strict=True):
        for x, height in published.get(curve.name, ()):
            marks.append(height)
            # Under the line's own markers, which may be at the same place.
            diamond = {**_DIAMOND, "markersize": 8, "markerfacecolor": style["color"]}
            axes.plot([x], [height], **diamond, linestyle="none", zorder=1.9)
    _limit_accuracy(axes, curves, marks)
    label = "outliers from each gallery set"
    if shares is not None:
        at = curves[0].x
        named = [f"{x:g} ({share:.0f} %)" for x, share in zip(at, shares, strict=True)]
        axes.set_xticks(at, named, parse_math=False)
        label = "outliers from each gallery set (in % of the images)"
    axes.set(xlabel=label, ylabel="accuracy (%)")
    more = {"more": "◆ paper", "more_colour": PUBLISHED}
    label_ends(
        axes,
        [
            _end_label(curve, style, **(more if curve.name in published else {}))
            for curve, style in zip(curves, styles, strict=True)
        ],
    )
    return axes


def _draw_curves(axes: Axes, curves: Sequence[Curve]) -> list[dict[str, Any]]:
    """Draw the lines, and their bands where they are few; return the style of each line."""
    styles = line_looks([curve.name for curve in curves])
    for curve, style in zip(curves, styles, strict=True):
        x, mean, std = (np.asarray(values) for values in (curve.x, curve.mean, curve.std))
        if len(curves) <= _MOST_BANDS:
            band = {"color": style["color"], "alpha": 0.12, "linewidth": 0}
            axes.fill_between(x, mean - std, mean + std, **band)
            if len(x) == 1:  # which has no width
                axes.errorbar(x, mean, std, ecolor=style["color"], fmt="none", alpha=0.4)
        marker: dict[str, Any] = {"marker": "o", "markersize": 3.5} if len(x) <= 15 else {}
        axes.plot(x, mean, **style, **marker, label=curve.name, solid_capstyle="round")
    tidy(axes)
    at = sorted({value for curve in curves for value in curve.x})
    axes.margins(x=0.02)
    if len(at) <= 12:
        axes.set_xticks(at, [f"{value:g}" for value in at])
    if len(at) == 1:
        axes.set_xlim(at[0] - 0.5, at[0] + 0.5)
    return styles


def _limit_accuracy(axes: Axes, curves: Sequence[Curve], more: Sequence[float]) -> None:
    """Limits that hold all lines and marks, and no more of bands than can be an accuracy."""
    low, high = axes.get_ylim()
    values = [*more, *(value for curve in curves for value in curve.mean)]
    low, high = min(low, *values, *values) - 0.5, max(high, *values, *values) + 0.5
    low, high = max(low, min(values) - 25, -1.5), min(high, 101.5)
    if high - low < _LEAST_SPAN:
        low = high - _LEAST_SPAN
    axes.set_ylim(low, high)
    axes.set_yticks([tick for tick in axes.get_yticks() if low <= tick <= min(high, 100)])


def _end_label(curve: Curve, style: Mapping[str, Any], **more: Any) -> EndLabel:
    """The name and the last value of a line, in its colour."""
    last = int(np.argmax(curve.x))
    text = f"{one_line(curve.name)}  {curve.mean[last]:.1f}"
    return EndLabel(curve.x[last], curve.mean[last], text, style["color"], **more)
