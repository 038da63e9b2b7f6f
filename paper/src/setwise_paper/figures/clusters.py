"""Clusters of a few sets: images in the plane, distances, and shares (Figs. 1 and 3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from setwise.plots import tidy
from setwise.report.parts import one_line, plain
from setwise_paper.figures.style import GREY, INK, LIGHT, OTHER, PALETTE, PROBE, add_legend
from setwise_paper.support import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_MARKERS = "os^DvPX<>*ph"
_LONGEST_NAME = 20


def plot_points(
    axes: Axes,
    points: Sequence[Sequence[float]],
    groups: Sequence[Hashable],
    names: Sequence[str],
    *,
    probe: str | None = None,
) -> Axes:
    """Draw images in the plane: the marker tells the set, the colour the cluster."""
    places = np.asarray(points)
    sizes = Counter(groups)
    largest = [group for group, _ in sizes.most_common(len(PALETTE))]
    colour_of = dict(zip(largest, PALETTE, strict=False))
    colours = np.array([colour_of.get(group, OTHER) for group in groups])
    of_set = np.array([str(name) for name in names])
    area = float(np.clip(5000 / len(places), 8, 30))
    sets = [name for name in dict.fromkeys(of_set) if name != probe]
    marker_of = {name: _MARKERS[min(i, len(_MARKERS) - 1)] for i, name in enumerate(sets)}
    for name, marker in marker_of.items():
        here = of_set == name
        x, y = places[here, :2].T
        axes.scatter(x, y, s=area, marker=marker, c=colours[here], alpha=0.75, linewidths=0)
    if probe is not None:
        x, y = places[of_set == probe, :2].T
        edge: dict[str, Any] = {"edgecolors": PROBE, "linewidths": 1.3, "zorder": 3}
        axes.scatter(x, y, s=1.5 * area, marker="o", c=colours[of_set == probe], **edge)
    tidy(axes, grid="none")
    axes.set(xticks=[], yticks=[], xlabel="first component", ylabel="second component")
    _add_set_legend(axes, marker_of, probe)
    _add_cluster_legend(axes, {group: sizes[group] for group in largest}, len(sizes))
    return axes


def _add_set_legend(axes: Axes, marker_of: Mapping[str, str], probe: str | None) -> None:
    handles = [
        _dot(marker=marker, color=GREY, label=one_line(name, _LONGEST_NAME))
        for name, marker in list(marker_of.items())[: len(_MARKERS) - 1]
    ]
    n_more = len(marker_of) - len(handles)
    if n_more:
        name = list(marker_of)[-1] if n_more == 1 else f"{n_more} more sets"
        handles.append(_dot(marker=_MARKERS[-1], color=GREY, label=one_line(name)))
    if probe is not None:
        edge = {"markeredgecolor": PROBE, "markeredgewidth": 1.3}
        handles.append(_dot(marker="o", color="none", label=one_line(probe), **edge))
    legend = add_legend(
        axes, handles=handles, loc="upper left", bbox_to_anchor=(1.02, 1.0), handletextpad=0.1
    )
    axes.add_artist(legend)  # or the next legend would take its place
    legend.set_clip_on(False)


def _add_cluster_legend(axes: Axes, sizes: Mapping[Hashable, int], n_clusters: int) -> None:
    """How many images each cluster has, below the axes."""
    handles = [
        _dot(marker="s", color=colour, label=f"{size}")
        for colour, size in zip(PALETTE, sizes.values(), strict=False)
    ]
    if n_clusters > len(sizes):
        rest = f"{n_clusters - len(sizes)} more clusters"
        handles.append(_dot(marker="s", color=OTHER, label=rest))
    n = f"each of {n_clusters} clusters" if n_clusters > 1 else "1 cluster"
    style = {"handletextpad": 0.0, "columnspacing": 0.8, "title_fontproperties": {"size": 8}}
    legend = add_legend(axes, handles=handles, title=f"images in {n}", **style)
    legend.get_title().set_color(INK)


def _dot(**style: Any) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], linestyle="none", markersize=5.5, **style)


def plot_distances(
    axes: Axes,
    distances_by_clusterer: Mapping[str, Sequence[float | None]],
    class_names: Sequence[str],
    truth: str,
) -> Axes:
    """Draw how far the probe is from each class, one colour per clusterer."""
    rows_of = {
        name: np.array([np.inf if one is None else one for one in distances])
        for name, distances in distances_by_clusterer.items()
    }
    known = np.concatenate([row[np.isfinite(row)] for row in rows_of.values()])
    end = float(known.max(initial=0.0)) or 1.0
    true_row = list(class_names).index(truth)
    axes.axhspan(true_row - 0.5, true_row + 0.5, color=LIGHT, alpha=0.45, linewidth=0)
    steps = np.linspace(-0.32, 0.32, len(rows_of)) if len(rows_of) > 1 else [0.0]
    for i, (name, row) in enumerate(rows_of.items()):
        shown = np.where(np.isfinite(row), row, 1.15 * end)
        heights = np.arange(len(row)) + steps[i]
        _draw_clusterer(axes, name, row, (shown, heights), PALETTE[i % len(PALETTE)])
    _finish_distances(
        axes,
        class_names,
        true_row,
        end,
        has_infinite=len(known) < sum(map(len, rows_of.values())),
    )
    return axes


def _draw_clusterer(
    axes: Axes, name: str, row: FloatArray, at: tuple[FloatArray, FloatArray], colour: str
) -> None:
    shown, heights = at
    is_near = np.isfinite(row) & (row == row.min())
    style: dict[str, Any] = {"s": 26, "linewidths": 1.2, "edgecolors": colour, "zorder": 3}
    far = np.isfinite(row) & ~is_near
    axes.scatter(shown[is_near], heights[is_near], c=colour, label=name, **style)
    axes.scatter(shown[far], heights[far], facecolors="none", **style)
    infinite = ~np.isfinite(row)
    axes.scatter(shown[infinite], heights[infinite], s=20, marker="x", c=colour, linewidths=1.2)


def _finish_distances(
    axes: Axes, class_names: Sequence[str], true_row: int, end: float, *, has_infinite: bool
) -> None:
    names = [one_line(name, _LONGEST_NAME) for name in class_names]
    tidy(axes, grid="x")
    for row in range(1, len(names)):
        axes.axhline(row - 0.5, color=LIGHT, linewidth=0.6, zorder=0.5)
    axes.set(
        ylim=(len(names) - 0.5, -0.5),
        xlim=(-0.04 * end, (1.22 if has_infinite else 1.05) * end),
    )
    axes.set_yticks(range(len(names)), names, **plain(*names))
    axes.tick_params(axis="y", length=0)
    axes.get_yticklabels()[true_row].set(color=PROBE, weight="bold")
    if has_infinite:
        ticks = [tick for tick in axes.get_xticks() if 0 <= tick <= 1.02 * end]
        axes.set_xticks([*ticks, 1.15 * end], [*(f"{tick:g}" for tick in ticks), "∞"])
        axes.axvline(1.075 * end, color=GREY, linewidth=0.7, linestyle=(0, (3, 3)))
    note = " (∞: no cluster shared)" if has_infinite else ""
    axes.set_xlabel(f"Bhattacharyya distance of the probe{note}")
    add_legend(axes, handletextpad=0.1)


_SIZE, _SMALLEST_SIZE = 8.5, 4.5
# A digit is about so much of its size wide.
_DIGIT = 0.7


def plot_distributions(
    axes: Axes, table: Sequence[Sequence[float]], row_names: Sequence[str]
) -> Axes:
    """Draw how the images of each set spread over the clusters, in percent."""
    shares = np.asarray(table, dtype=float)
    last = len(shares) - 1
    order = _down_the_diagonal(shares)
    heights = np.arange(len(shares)) + 0.3 * (np.arange(len(shares)) == last)
    _draw_cells(axes, shares[:, order], heights)
    names = [one_line(name, _LONGEST_NAME) for name in row_names]
    axes.set_yticks(heights, names, **plain(*names))
    _fit_names(axes, "y", 1.2)
    axes.get_yticklabels()[last].set(color=PROBE, weight="bold")
    axes.xaxis.tick_top()
    axes.set_xticks(range(len(order)), [f"{cluster + 1}" for cluster in order])
    _fit_names(axes, "x", _DIGIT * len(f"{len(order)}") + 0.4)
    axes.set_xlabel("% of the images of a row by cluster", size=9, color=GREY)
    axes.xaxis.set_label_position("top")
    return axes


def _down_the_diagonal(shares: FloatArray) -> list[int]:
    """Clusters by the class with the largest share; those of the probe alone come last."""
    classes = shares[:-1] if len(shares) > 1 else shares
    home = np.where(classes.any(axis=0), classes.argmax(axis=0), len(shares))
    return [int(i) for i in np.lexsort((-classes.max(axis=0), home))]


def _draw_cells(axes: Axes, shares: FloatArray, heights: FloatArray) -> None:
    """A coloured cell on an empty one for each share above zero, with the number if it fits."""
    from matplotlib.colors import to_rgba

    n_columns, bottom = shares.shape[1], float(heights.max()) + 0.5
    axes.set(xlim=(-0.5, n_columns - 0.5), ylim=(bottom, -0.5))
    axes.set_facecolor("none")
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0, labelsize=8, labelcolor=INK)
    axes.barh(heights, n_columns, 0.92, -0.5, color=to_rgba(LIGHT, 0.35), linewidth=0)
    size = _letter_size(axes, bottom + 0.5, n_columns)
    place: dict[str, Any] = {"ha": "center", "va": "center", "size": size, "color": INK}
    for row, column in np.argwhere(shares > 0):
        share, height = float(shares[row, column]), float(heights[row])
        colour = to_rgba(PROBE if row == len(shares) - 1 else PALETTE[0], 0.12 + 0.48 * share)
        axes.barh(height, 0.92, 0.92, column - 0.46, color=colour, linewidth=0)
        if size >= _SMALLEST_SIZE:
            axes.text(column, height, f"{100 * share:.0f}", **place, parse_math=False)


def _letter_size(axes: Axes, n_rows: float, n_columns: int) -> float:
    box = axes.get_window_extent()
    points = 72 / axes.figure.dpi
    # Up to three digits; names beside the axes take some of their width yet.
    across = 0.8 * points * box.width / n_columns / (_DIGIT * 3)
    return float(min(0.62 * points * box.height / n_rows, across, _SIZE))


def _fit_names(axes: Axes, which: Literal["x", "y"], extent: float) -> None:
    """Letters as large as there is room for names ``extent`` times as large, or none at all."""
    box = axes.get_window_extent()
    low, high = axes.get_ylim() if which == "y" else axes.get_xlim()
    pixels = box.height if which == "y" else 0.85 * box.width
    size = min(72 / axes.figure.dpi * pixels / abs(high - low) / extent, _SIZE)
    is_readable = size >= _SMALLEST_SIZE
    axes.tick_params(axis=which, labelsize=size, labelleft=is_readable, labeltop=is_readable)
