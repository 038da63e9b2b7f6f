"""Accuracy against the number of dimensionalities that are fused (Figs. 6 to 8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from setwise.plots.checked import finite
from setwise.plots.curves import CurveLike, draw_curves, end_label, limit_accuracy
from setwise.plots.labels import label_ends
from setwise.plots.style import PUBLISHED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_dimensions"]


def plot_dimensions(
    axes: Axes, curves: Sequence[CurveLike], published: Mapping[str, Any] | None = None
) -> Axes:
    """Draw how accuracy grows with the dimensionalities that are fused, one line a fusion.

    Bands are one standard deviation wide on either side. What the paper reports, for all
    dimensionalities, is a diamond at the right.

    Parameters
    ----------
    axes : Axes
        Where to draw.
    curves : sequence with ``name``, ``x``, ``mean`` and ``std``
        Percent, against the largest dimensionality.
    published : mapping, optional
        The paper's percentages by the name of the curve: numbers, or objects with ``mean``,
        which may be None. Other names are passed over.

    Returns
    -------
    Axes
        The same.
    """
    looks = draw_curves("plot_dimensions", axes, curves)
    marks = {}
    for curve in curves:
        value = (published or {}).get(curve.name)
        value = getattr(value, "mean", value)
        if value is not None:
            marks[curve.name] = float(finite("plot_dimensions", "published", value))
    limit_accuracy(axes, curves, list(marks.values()))
    labels = []
    for curve, look in zip(curves, looks, strict=True):
        said = {}
        if curve.name in marks:
            said = {"more": f"paper {marks[curve.name]:.1f}", "more_colour": PUBLISHED}
            _mark(axes, marks[curve.name], str(look["color"]))
        labels.append(end_label(curve, look, **said))
    axes.set(xlabel="dimensionalities fused: from 1 up to this", ylabel="accuracy (%)")
    label_ends(axes, labels, left=1.06 if marks else 1.03)
    return axes


def _mark(axes: Axes, height: float, colour: str) -> None:
    """A diamond beside the axes: framed like the paper's figures, filled like the line."""
    axes.plot(
        [1.03],
        [height],
        "D",
        markersize=6,
        markerfacecolor=colour,
        markeredgecolor=PUBLISHED,
        markeredgewidth=1.6,
        transform=axes.get_yaxis_transform(),
        clip_on=False,
        zorder=4,
    )
