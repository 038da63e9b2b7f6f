"""Colours, lines and legends of the figures: those of setwise, so that both fit on one page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from setwise.report.parts import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# A page replaces some of these by its own colours.
PROBE = OURS = "#d81b60"
PUBLISHED = "#786900"  # numbers of the paper
INK, GREY, LIGHT, PAPER = "#2b2f36", "#7a828c", "#dfe3e8", "#ffffff"
# No reds: they belong to the probe.
PALETTE = (
    *("#3f74b5", "#e0930f", "#1eb4b4", "#9687ff", "#a8552a"),
    *("#7fb2d9", "#4f9e58", "#8d8f2e", "#7cc47a", "#5b6675"),
)
OTHER = "#b9c0c8"  # all that come after the palette
_DASHES = ("solid", (0, (4, 1.5)), (0, (1.2, 1.2)))
# Legends start below tick labels and the label of an axis.
_BELOW_INCHES = 0.48


def line_looks(names: Sequence[str]) -> list[dict[str, Any]]:
    """Colour, dashes and width of each line: CVC stands out, and no two look the same."""
    looks: list[dict[str, Any]] = []
    seen: Counter[bool] = Counter()
    for name in names:
        is_ours = name.startswith("CVC")
        colours = (OURS,) if is_ours else PALETTE
        turn, place = divmod(seen[is_ours], len(colours))
        seen[is_ours] += 1
        dashes, width = _DASHES[turn % len(_DASHES)], 2.2 if is_ours else 1.5
        looks.append({"color": colours[place], "linestyle": dashes, "linewidth": width})
    return looks


def add_legend(axes: Axes, **settings: Any) -> Any:
    """A legend without frame whose names are drawn as they are, below the axes by default."""
    from matplotlib.transforms import ScaledTranslation

    below = ScaledTranslation(0, -_BELOW_INCHES, axes.figure.dpi_scale_trans)
    style = {"frameon": False, "fontsize": 8, "labelcolor": INK, "borderaxespad": 0.0}
    if "loc" not in settings:
        place = {"bbox_to_anchor": (0.0, 0.0), "bbox_transform": axes.transAxes + below}
        style |= {"loc": "upper left", "alignment": "left", "ncols": 6, **place}
    legend = axes.legend(**{**style, **settings})
    for text in [*legend.get_texts(), legend.get_title()]:
        text.set(**plain(text.get_text()))
    return legend
