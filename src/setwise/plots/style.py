"""Colours, figures and axes that all pictures share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from setwise._support.extras import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PROBE = "#d81b60"  # the set that is judged
OURS = PROBE  # CVC, among other methods
INK, GREY, LIGHT, PAPER = "#2b2f36", "#7a828c", "#dfe3e8", "#ffffff"
# No reds: they belong to the probe. The first four and OURS differ for all common kinds of
# colour blindness, on white and on dark; labels tell the others apart too.
PALETTE = (
    *("#3f74b5", "#e0930f", "#1eb4b4", "#9687ff", "#a8552a"),
    *("#7fb2d9", "#4f9e58", "#8d8f2e", "#7cc47a", "#5b6675"),
)
OTHER = "#b9c0c8"  # all that come after the palette


def new_figure(width_inches: float, height_inches: float) -> Figure:
    """An empty figure without background, whose axes make room for what is beside them.

    Examples
    --------
    >>> from setwise.plots import new_figure
    >>> new_figure(4, 3).get_size_inches().tolist()
    [4.0, 3.0]
    """
    require("matplotlib", "plot")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    colours: dict[str, Any] = {"facecolor": "none", "edgecolor": "none"}
    size = (width_inches, height_inches)
    figure = Figure(figsize=size, dpi=100, layout="constrained", **colours)
    FigureCanvasAgg(figure)
    return figure


def tidy(axes: Axes, *, grid: Literal["both", "x", "y", "none"] = "both") -> Axes:
    """The axes with two thin lines for a frame, before a light grid.

    Examples
    --------
    >>> from setwise.plots import new_figure, tidy
    >>> axes = tidy(new_figure(4, 3).add_subplot(), grid="y")
    >>> axes.spines["top"].get_visible()
    False
    """
    axes.set_facecolor("none")
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set(color=GREY, linewidth=0.6)
    axes.tick_params(which="both", color=GREY, width=0.6, length=2)
    axes.tick_params(labelsize=8, labelcolor=INK, length=3)
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set(size=9, color=INK, parse_math=False)
    axes.set_axisbelow(True)
    axes.grid(visible=False)
    if grid != "none":
        axes.grid(visible=True, axis=grid, color=LIGHT, linewidth=0.6)
    return axes
