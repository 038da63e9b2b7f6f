"""NCut on two clouds of normal points (Fig. 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from setwise.plots import tidy
from setwise.report.parts import EndLabel, label_ends
from setwise_paper.figures.style import GREY, INK, PALETTE, PROBE, add_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# From near to far, none so dark or so pale that it is lost on black or white.
_RAMP = ("#6a5acd", "#2a9d8f", "#e0a12c")


def plot_clouds(
    axes: Axes,
    points: Sequence[Sequence[float]],
    is_second: Sequence[bool],
    is_wrong: Sequence[bool],
) -> Axes:
    """Draw two clouds, and circles around points that a cut puts on the wrong side."""
    places = np.asarray(points)
    second, wrong = np.asarray(is_second, dtype=bool), np.asarray(is_wrong, dtype=bool)
    area = float(np.clip(3600 / len(places), 4, 16))
    for cloud, colour in ((~second, PALETTE[0]), (second, PALETTE[1])):
        x, y = places[cloud, :2].T
        axes.scatter(x, y, s=area, color=colour, alpha=0.75, linewidths=0)
    circle: dict[str, Any] = {
        "s": 4 * area,
        "facecolors": "none",
        "edgecolors": PROBE,
        "linewidths": 1.0,
    }
    label = f"wrong side: {wrong.sum()} of {len(wrong)}"
    x, y = places[wrong, :2].T
    axes.scatter(x, y, **circle, label=label)
    tidy(axes, grid="none")
    axes.set_aspect("equal", adjustable="datalim")
    axes.set(xlabel="first coordinate", ylabel="second coordinate")
    add_legend(axes, handletextpad=0.1)
    return axes


def plot_by_size(axes: Axes, rows: Sequence[Any], attribute: str, label: str) -> Axes:
    """Draw something about two clouds against their size, one line per distance."""
    values = np.array([getattr(row, attribute) for row in rows], dtype=float)
    distances = sorted({float(row.distance) for row in rows})
    ends = []
    for distance, colour in zip(distances, _ramp(len(distances)), strict=True):
        line = sorted(
            (float(row.size), float(value))
            for row, value in zip(rows, values, strict=True)
            if row.distance == distance
        )
        marker: dict[str, Any] = {"marker": "o", "markersize": 3.5} if len(line) <= 6 else {}
        axes.plot(*zip(*line, strict=True), color=colour, linewidth=1.8, **marker)
        ends.append(EndLabel(*line[-1], f"d = {distance:g}", colour))
    tidy(axes)
    axes.set(xlabel="points in each cloud", ylabel=label)
    axes.set_ylim(min(0.0, 1.05 * float(values.min())), 1.06 * float(values.max()) or 1.0)
    axes.locator_params(axis="y", nbins=5)
    sizes = sorted({row.size for row in rows})
    if len(sizes) <= 6:
        axes.set_xticks(sizes, [f"{size:g}" for size in sizes])
    label_ends(axes, ends)
    return axes


def _ramp(n_colours: int) -> list[str]:
    from matplotlib.colors import LinearSegmentedColormap, to_hex

    ramp = LinearSegmentedColormap.from_list("near to far", list(_RAMP))
    return [to_hex(ramp(share)) for share in np.linspace(0, 1, n_colours)]


def plot_switch_errors(
    axes: Axes, switches: Sequence[Any], switches_from_start: Sequence[Any]
) -> Axes:
    """Draw how often points are on the wrong side that switched sides 0, 1, ... times."""
    width = 0.38
    series = (
        (-1, switches_from_start, "counted from the start vector on", GREY),
        (1, switches, "counted from the first iterate on", PALETTE[0]),
    )
    highest = 0.0
    for side, rows, label, colour in series:
        errors = np.array([row.error for row in rows], dtype=float)
        places = np.arange(len(rows)) + side * width / 2
        axes.bar(places, errors, 0.92 * width, color=colour, label=label)
        highest = max(highest, float(errors.max()))
        for place, error, row in zip(places, errors, rows, strict=True):
            above: dict[str, Any] = {
                "xytext": (0, 2),
                "textcoords": "offset points",
                "ha": "center",
            }
            axes.annotate(_count(row.n_points), (place, error), **above, size=7.5, color=INK)
    tidy(axes, grid="y")
    names = [f"{row.switches}" for row in switches]
    axes.set_xticks(range(len(names)), [*names[:-1], f"{names[-1]} or more"])
    axes.set(xlabel="sign switches of the point", ylabel="error (%)")
    axes.set_ylim(0, 1.12 * highest or 1.0)
    add_legend(axes, labelspacing=0.3, ncols=1)
    return axes


def _count(n_points: int) -> str:
    return f"{n_points / 1000:.3g} k" if n_points >= 1000 else f"{n_points}"
