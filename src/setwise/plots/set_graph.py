"""The graph of sets as a picture: sets as points, and lines between similar ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.plots.style import GREY, INK, OTHER, PALETTE, PAPER

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_set_graph(
    axes: Axes,
    points: FloatArray,
    lines: tuple[IntArray, IntArray, FloatArray],
    groups: Sequence[Any],
    *,
    is_marked: BoolArray | None = None,
    names: Sequence[Any] | None = None,
) -> Axes:
    """Draw sets as points in the colours of their groups.

    Parameters
    ----------
    axes : Axes
        Its frame is taken away.
    points : array of shape (n_sets, 2)
        Place of each set, see :meth:`setwise.together.SetGraph.layout`.
    lines : (starts, ends, weights)
        Pairs of sets, and their affinities from 0 to 1.
    groups : sequence of labels, one per set
        Named in the middle of their points; None for none, in grey.
    is_marked : array of bool, optional
        Sets with a ring, such as labelled ones.
    names : sequence of labels, optional
        Groups to name; all by default.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.plots import new_figure, plot_set_graph
    >>> axes = new_figure(4, 3).add_subplot()
    >>> line = np.array([0]), np.array([1]), np.array([1.0])
    >>> plot_set_graph(axes, np.eye(2), line, ["anna", "bert"]).texts[0].get_text()
    'anna'
    """
    from matplotlib.collections import LineCollection

    starts, ends, weights = lines
    order = np.argsort(weights, kind="stable")
    pairs = np.stack([points[starts], points[ends]], axis=1)[order]
    alphas = 0.08 + 0.6 * np.clip(weights[order], 0.0, 1.0)
    widths = 0.4 + 1.6 * np.clip(weights[order], 0.0, 1.0)
    axes.add_collection(
        LineCollection(list(pairs), colors=GREY, alpha=alphas, linewidths=widths)
    )
    known = sorted({one for one in groups if one is not None}, key=str)
    colours = {one: PALETTE[i % len(PALETTE)] for i, one in enumerate(known)}
    fill = [colours.get(one, OTHER) for one in groups]
    axes.scatter(
        points[:, 0], points[:, 1], s=46, c=fill, edgecolors=PAPER, linewidths=0.8, zorder=3
    )
    if is_marked is not None:
        ring = points[is_marked]
        axes.scatter(
            ring[:, 0],
            ring[:, 1],
            s=150,
            facecolors="none",
            edgecolors=INK,
            linewidths=1.6,
            zorder=4,
        )
    _name_groups(axes, points, groups, known if names is None else names)
    axes.set_axis_off()
    axes.margins(0.08)
    return axes


def _name_groups(
    axes: Axes, points: FloatArray, groups: Sequence[Any], names: Sequence[Any]
) -> None:
    """Write each name below the points of its group."""
    reach = float(np.ptp(points[:, 1])) or 1.0
    for name in names:
        own = points[[one == name for one in groups]]
        middle = np.median(own, axis=0)
        near = own[np.linalg.norm(own - middle, axis=1) <= 0.2 * reach]
        low = (near if len(near) else own)[:, 1].min()
        axes.annotate(
            str(name),
            (float(middle[0]), float(low)),
            xytext=(0, -9),
            textcoords="offset points",
            ha="center",
            va="top",
            fontsize=9,
            color=INK,
            zorder=5,
            bbox={"facecolor": PAPER, "alpha": 0.75, "edgecolor": "none", "pad": 1},
            parse_math=False,
        )
