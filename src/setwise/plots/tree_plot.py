"""The tree of cuts as a picture: where the probe went, and what each cut took away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from setwise._support.types import IntArray
from setwise.plots.plot_page import SIZE_INCHES, Box, Page
from setwise.plots.style import GREY, LIGHT, PROBE

if TYPE_CHECKING:
    from setwise.classify.explanation import CutStep

__all__ = ["draw_tree"]

_MOST_STOPS = 16  # cuts beside each other in the tree; more are drawn several at a stop


@dataclass(frozen=True)
class _Stop:
    """What the tree draws at one place: a leaf, a cut, or several cuts that shed leaves.

    A cut *sheds* the parts without probe: nothing more happens to them, so they hang below
    the stop instead of taking branches of their own.
    """

    step: CutStep
    parent: int
    cuts: tuple[CutStep, ...]
    shed: tuple[CutStep, ...]
    column: int
    is_branching: bool = False
    row: float = 0.0


def _shedding(step: CutStep, by_node: dict[int, CutStep]) -> tuple[list[CutStep], CutStep]:
    """The cuts from ``step`` on that only shed, and the leaf or branching cut after them."""
    cuts: list[CutStep] = []
    while step.children:
        onwards = [by_node[i] for i in step.children if by_node[i].n_probe]
        if len(onwards) > 1:
            break
        cuts.append(step)
        step = onwards[0]
    return cuts, step


def _stops(tree: Sequence[CutStep], most_cuts: int) -> list[_Stop]:
    """The stops from the root on, parents first, upper children before lower ones.

    At most ``most_cuts`` cuts share a stop, except on the way to a leaf far down the tree,
    where as many do as make it end in the last column.
    """
    by_node = {step.node: step for step in tree}
    stops: list[_Stop] = []
    waiting = [(by_node[min(by_node)], -1)]
    while waiting:
        step, parent = waiting.pop()
        column = 0 if parent < 0 else stops[parent].column + 1
        cuts, end = _shedding(step, by_node)
        room = max(_MOST_STOPS - column, 1)
        run = most_cuts if end.children else max(-(-len(cuts) // room), 1)
        for some in (tuple(cuts[i : i + run]) for i in range(0, len(cuts), run)):
            stops.append(_Stop(some[0], parent, some, _shed(some, by_node), column))
            parent, column = len(stops) - 1, column + 1
        last = (end,) if end.children else ()
        stops.append(_Stop(end, parent, last, _shed(last, by_node), column, bool(last)))
        onwards = (by_node[i] for i in reversed(end.children))
        waiting += [(child, len(stops) - 1) for child in onwards if child.n_probe]
    return _in_rows(stops)


def _shed(cuts: Sequence[CutStep], by_node: dict[int, CutStep]) -> tuple[CutStep, ...]:
    children = (by_node[i] for cut in cuts for i in cut.children)
    return tuple(child for child in children if not child.n_probe)


def _in_rows(stops: list[_Stop]) -> list[_Stop]:
    """Give leaves a row each, all in the last column, and others the middle of theirs."""
    leaves = [i for i, stop in enumerate(stops) if not stop.cuts]
    rows: dict[int, list[float]] = {i: [float(row)] for row, i in enumerate(leaves)}
    last_column = max(stop.column for stop in stops)
    placed = list(stops)
    for i in reversed(range(len(stops))):
        row = float(np.mean(rows[i]))
        rows.setdefault(stops[i].parent, []).append(row)
        column = stops[i].column if stops[i].cuts else last_column
        placed[i] = replace(stops[i], row=row, column=column)
    return placed


def draw_tree(page: Page, box: Box) -> None:
    """The tree of cuts, root at the left, one row for each leaf that holds the probe."""
    tree = page.explanation.tree
    note = (
        "circle: classes in a cluster; pink: the probe; number: NCut (apart: no edges to cut); "
        "below: what a cut takes from the probe, and classes it is then rid of"
    )
    if len(tree) < 2:
        note = "the probe has no column here" if tree else "this clusterer makes no tree"
    ax = page.panel(box, "Tree of cuts", note)
    if len(tree) < 2:
        return
    # One unit is one point on paper, so that circles are round and text can be measured.
    width, height = (
        72 * inches * share for inches, share in zip(SIZE_INCHES, box[2:], strict=True)
    )
    ax.set(xlim=(0, width), ylim=(height, 0))
    for most_cuts in (1, 2, 3, 5, 8, 13, len(tree)):
        stops = _stops(tree, most_cuts)
        if max(stop.column for stop in stops) <= _MOST_STOPS:
            break
    sheet = _Sheet.of(page, ax, stops, width, height)
    for stop in stops:
        sheet.draw_flow(stop, stops)
    for stop in stops:
        sheet.draw_stop(stop)
    sheet.name_leaves(stops)


@dataclass(frozen=True)
class _Sheet:
    """Where the stops of a tree lie on paper, in points."""

    page: Page
    ax: Any
    step: float
    row: float
    top: float
    font: float
    n_columns: int
    n_probe: int

    @classmethod
    def of(cls, page: Page, ax: Any, stops: list[_Stop], width: float, height: float) -> _Sheet:
        n_rows = sum(not stop.cuts for stop in stops)
        row = min((height - 14) / n_rows, 110.0)
        step = (width - 170) / max(stop.column for stop in stops)
        root = stops[0].step
        font = float(np.clip(min(0.24 * row, 0.17 * step), 5, 7.5))
        top = 14 + 0.42 * row
        return cls(page, ax, step, row, top, font, root.n_columns, root.n_probe)

    def place(self, stop: _Stop) -> tuple[float, float]:
        return 20 + stop.column * self.step, self.top + stop.row * self.row

    def radius(self, n_columns: int) -> float:
        largest = min(0.36 * self.step, 0.32 * self.row, 15.0)
        return max(largest * float(np.sqrt(n_columns / self.n_columns)), 2.6)

    def draw_flow(self, stop: _Stop, stops: list[_Stop]) -> None:
        """The way of the probe's columns from the parent, as wide as there are columns."""
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path as Curve

        if stop.parent < 0:
            return
        (x0, y0), (x1, y1) = self.place(stops[stop.parent]), self.place(stop)
        # It turns close to the parent, where no text of the child is in the way.
        bend = min(0.55 * self.step, 60.0)
        points = [(x0, y0), (x0 + 0.7 * bend, y0), (x0 + 0.3 * bend, y1), (x0 + bend, y1)]
        codes = [Curve.MOVETO, Curve.CURVE4, Curve.CURVE4, Curve.CURVE4, Curve.LINETO]
        lw = 0.8 + 4.5 * stop.step.n_probe / self.n_probe
        flow = Curve([*points, (x1, y1)], codes)
        self.ax.add_patch(PathPatch(flow, fc="none", ec=PROBE, lw=lw, alpha=0.4, zorder=1))

    def draw_pie(
        self, x: float, y: float, counts: IntArray, n_probe: int, *, is_muted: bool = False
    ) -> float:
        """Classes in a cluster, and the probe in its own colour; return the radius."""
        from matplotlib.patches import Circle, Wedge

        total = int(counts.sum()) + n_probe
        radius, angle = self.radius(total), 90.0
        self.ax.add_patch(Circle((x, y), radius + 0.8, color="white", lw=0, zorder=2))
        shares = [
            (int(counts[code]), self.page.colours[code]) for code in np.flatnonzero(counts)
        ]
        for count, colour in [*shares, (n_probe, PROBE)]:
            turn = 360 * count / total
            alpha = 0.4 if is_muted else 1.0
            slice_ = Wedge(
                (x, y), radius, angle, angle + turn, fc=colour, lw=0, alpha=alpha, zorder=3
            )
            self.ax.add_patch(slice_)
            angle += turn
        return radius

    def draw_stop(self, stop: _Stop) -> None:
        x, y = self.place(stop)
        radius = self.draw_pie(x, y, stop.step.class_counts, stop.step.n_probe)
        if not stop.cuts or self.row < 16:
            return
        # Left of the ways up and down, where there are any.
        ha, shift = ("right", 2) if stop.is_branching else ("center", 0)
        self.write(x + shift, y - radius - 1.5, self.cut_text(stop), va="bottom", ha=ha)
        below = y + radius
        if stop.shed:
            counts = np.sum([step.class_counts for step in stop.shed], axis=0)
            small = self.radius(int(counts.sum()))
            below += 0.08 * self.row + small
            self.ax.plot([x, x], [y, below], color=LIGHT, lw=1, zorder=0)
            self.draw_pie(x, below, counts, 0, is_muted=True)
            below += small
        gone = list(dict.fromkeys(label for step in stop.cuts for label in step.fell_away))
        if below + self.font < y + 0.75 * self.row:
            text = self.names_that_fit(gone)
            self.write(x + shift, below + 1, text, va="top", ha=ha, color=GREY)

    def cut_text(self, stop: _Stop) -> str:
        if len(stop.cuts) > 1:
            return f"{len(stop.cuts)} cuts"
        cut = stop.cuts[0]
        return "apart" if cut.kind == "components" else f"{cut.ncut:.2f}"

    def names_that_fit(self, labels: list[Any]) -> str:
        """As many names as the width of a column holds, and how many more there are."""
        codes = np.flatnonzero(np.isin(self.page.explanation.classes, labels))
        letters = int(self.step / (0.6 * self.font))
        for n in range(len(codes), 0, -1):
            more = f" +{len(codes) - n}" if n < len(codes) else ""
            text = ", ".join(self.page.names[code] for code in codes[:n]) + more
            if len(text) <= letters:
                return text
        text = f"{len(codes)} classes"
        return text if len(codes) and len(text) <= letters else ""

    def name_leaves(self, stops: list[_Stop]) -> None:
        """Number, class and share of the probe of every leaf, in the order of the table."""
        leaves = [stop for stop in stops if not stop.cuts]
        x, _ = self.place(leaves[0])
        self.write(x + 4, 4, "cluster: its class, the probe's columns", size=7, color=GREY)
        for number, leaf in enumerate(leaves, start=1):
            x, y = self.place(leaf)
            x += self.radius(leaf.step.n_columns) + 5
            codes = np.flatnonzero(leaf.step.class_counts)
            names = ", ".join(self.page.names[code] for code in codes) or "probe alone"
            share = f"{leaf.step.n_probe} of {self.n_probe}"
            size = float(np.clip(0.6 * self.row, 5, 8.5))
            self.write(x, y, f"{number}", size=size, weight="bold")
            self.write(x + 2.2 * size, y, f"{names}  ·  {share}", size=size)

    def write(self, x: float, y: float, text: str, **style: Any) -> None:
        from matplotlib.patheffects import withStroke

        halo = [withStroke(linewidth=1.5, foreground="white")]
        style = {"size": self.font, "path_effects": halo, "zorder": 5, **style}
        self.page.write(self.ax, x, y, text, **style)
