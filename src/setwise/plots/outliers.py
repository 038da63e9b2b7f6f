"""Accuracy against outliers (Fig. 9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from setwise.plots.checked import finite, same_length
from setwise.plots.curves import CurveLike, draw_curves, end_label, limit_accuracy
from setwise.plots.labels import label_ends
from setwise.plots.style import PUBLISHED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_outliers"]


def plot_outliers(
    axes: Axes,
    curves: Sequence[CurveLike],
    shares: Sequence[float] | None = None,
    *,
    published: Mapping[str, Sequence[tuple[float, float]]] | None = None,
) -> Axes:
    """Draw how accuracy falls with the images of other sets mixed in, one line a method.

    Parameters
    ----------
    axes : Axes
        Where to draw.
    curves : sequence with ``name``, ``x``, ``mean`` and ``std``
        Percent, against the number of images taken of each set.
    shares : sequence of float, optional
        For each ``x`` of the curves, the outliers in percent of the images that were there
        before.
    published : mapping, optional
        What the paper reports, by the name of the curve: pairs of ``x`` and percent, drawn as
        diamonds. Other names are passed over.

    Returns
    -------
    Axes
        The same.
    """
    looks = draw_curves("plot_outliers", axes, curves)
    marks = []
    for curve, look in zip(curves, looks, strict=True):
        for pair in (published or {}).get(curve.name, ()):
            x, height = finite("plot_outliers", "published", pair)
            marks.append(float(height))
            # Under the line's own markers, which may be at the same place.
            edge: dict[str, Any] = {
                "markeredgecolor": PUBLISHED,
                "markeredgewidth": 1.6,
                "zorder": 1.9,
            }
            axes.plot([x], [height], "D", markersize=8, markerfacecolor=look["color"], **edge)
    limit_accuracy(axes, curves, marks)
    label = "outliers from each gallery set"
    if shares is not None:
        at = curves[0].x
        same_length("plot_outliers", x=at, shares=shares)
        finite("plot_outliers", "shares", shares)
        named = [f"{x:g} ({share:.0f} %)" for x, share in zip(at, shares, strict=True)]
        axes.set_xticks(at, named, parse_math=False)
        label = "outliers from each gallery set (in % of the images)"
    axes.set(xlabel=label, ylabel="accuracy (%)")
    more = {"more": "◆ paper", "more_colour": PUBLISHED}
    label_ends(
        axes,
        [
            end_label(curve, look, **(more if curve.name in (published or {}) else {}))
            for curve, look in zip(curves, looks, strict=True)
        ],
    )
    return axes
