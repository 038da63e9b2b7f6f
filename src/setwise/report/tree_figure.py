"""The tree of cuts for a page: the one that explanations draw, in a tenth of the letters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from setwise._support.extras import require
from setwise.classify.explanation import Explanation
from setwise.plots.plot_page import SIZE_INCHES, Page
from setwise.plots.style import PAPER, PROBE, new_figure
from setwise.plots.tree_plot import draw_tree
from setwise.report.inline_svg import inline

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes

__all__ = ["tree_figure"]

# Width of a tree, as a share of the page of an explanation.
_WIDTH = 0.62
# Height of a leaf that holds the probe, and of what is above all of them, in points.
_LEAF, _ABOVE_LEAVES = 44.0, 14.0
_THEMED = {PAPER: f"var(--paper, {PAPER})", PROBE: f"var(--ours, {PROBE})"}


def tree_figure(why: Explanation, label: str) -> tuple[Markup, str]:
    """The tree of cuts of an explanation, and how to read it; empty where it has no tree."""
    markupsafe = require("markupsafe", "report")
    figure = new_figure(*SIZE_INCHES)
    n_leaves = sum(step.n_probe > 0 and not step.children for step in why.tree)
    share = min((_ABOVE_LEAVES + _LEAF * max(n_leaves, 2)) / (72 * SIZE_INCHES[1]), 0.95)
    draw_tree(Page.of(figure, why), (0.0, 0.0, _WIDTH, share))
    (axes,) = figure.axes
    title, note = axes.texts[:2]
    words = note.get_text()
    if len(why.tree) < 2:
        return markupsafe.Markup(""), words
    for text in (title, note):  # the page says both
        text.remove()
    for artist in axes.get_children():
        artist.set_clip_on(False)  # all lies inside, and need not say so
    for text in axes.texts:
        text.set_path_effects([])  # else letters would become outlines; the page has a halo
    # The tree is drawn in points, whatever the figure: cut away what is not the tree.
    width, height, below = _WIDTH * SIZE_INCHES[0], share * SIZE_INCHES[1], _LEAF / 4 / 72
    figure.set_layout_engine("none")
    figure.set_size_inches(width, height + below)
    axes.set_position((0.0, below / (height + below), 1.0, height / (height + below)))
    return inline(figure, label, below_text=_round_marks(axes)), words


def _round_marks(axes: Axes) -> str:
    """Circles and slices as SVG; they are taken off the axes, which writes each as curves."""
    patches = require("matplotlib.patches", "report")
    marks = []
    for patch in sorted(axes.patches, key=lambda one: one.get_zorder()):
        if isinstance(patch, patches.Wedge):
            marks.append(_slice(patch))
        elif isinstance(patch, patches.Circle):
            marks.append(_circle(patch.center, patch.radius, _fill(patch)))
        else:
            continue
        patch.remove()
    return "".join(marks)


def _slice(wedge: Any) -> str:
    """A slice of a pie; nothing where the probe has no column in a cluster."""
    turn = wedge.theta2 - wedge.theta1
    if turn <= 0:
        return ""
    if turn >= 360:
        return _circle(wedge.center, wedge.r, _fill(wedge))
    angles = np.deg2rad([wedge.theta1, wedge.theta2])
    (x0, x1) = wedge.center[0] + wedge.r * np.cos(angles)
    (y0, y1) = wedge.center[1] + wedge.r * np.sin(angles)
    corner = f"M{wedge.center[0]:.1f} {wedge.center[1]:.1f}L{x0:.1f} {y0:.1f}"
    # Heights grow downwards in a tree as they do in SVG, so that angles grow clockwise.
    arc = f"A{wedge.r:.1f} {wedge.r:.1f} 0 {int(turn > 180)} 1 {x1:.1f} {y1:.1f}z"
    return f'<path d="{corner}{arc}"{_fill(wedge)}/>'


def _circle(center: tuple[float, float], radius: float, fill: str) -> str:
    return f'<circle cx="{center[0]:.1f}" cy="{center[1]:.1f}" r="{radius:.1f}"{fill}/>'


def _fill(patch: Any) -> str:
    colours = require("matplotlib.colors", "report")
    colour = colours.to_hex(patch.get_facecolor())
    alpha = patch.get_alpha()
    faint = "" if alpha is None or alpha == 1 else f' opacity="{alpha:g}"'
    return f' style="fill: {_THEMED.get(colour, colour)}"{faint}'
