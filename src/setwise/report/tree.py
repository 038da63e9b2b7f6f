"""The tree of cuts as SVG: where the probe went, and what each cut took away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from setwise._support.extras import require
from setwise._support.types import IntArray
from setwise.classify.explanation import CutStep, Explanation
from setwise.plots.labels import one_line
from setwise.plots.style import GREY, INK, LIGHT, OTHER, PALETTE, PAPER, PROBE

if TYPE_CHECKING:
    from markupsafe import Markup

_MOST_STOPS = 16  # cuts beside each other in the tree; more are drawn several at a stop
# In points: the picture, each leaf that holds the probe, above all leaves, below, and margins.
_WIDTH, _LEAF, _ABOVE, _BELOW, _LEFT, _RIGHT = 625.0, 44.0, 14.0, 11.0, 20.0, 150.0
_MOST_HEIGHT = 630.0
_LONGEST_NAME = 16
# Width of a letter as a multiple of its size.
_LETTER = 0.6
_NOTE = (
    "circle: classes in a cluster; pink: the probe; number: NCut (apart: no edges to cut); "
    "below: what a cut takes from the probe, and classes it is then rid of"
)
_VARIABLES = {INK: "ink", GREY: "grey", LIGHT: "light", PAPER: "paper", PROBE: "ours"}


def tree_figure(why: Explanation, label: str) -> tuple[Markup, str]:
    """The tree of cuts as SVG, or empty text, and how to read it; ``label`` is its title.

    Colours are variables of the page: ``--ink``, ``--grey``, ``--light``, ``--paper``,
    ``--ours``.
    """
    markup = require("markupsafe", "report").Markup
    if len(why.tree) < 2:
        why_none = (
            "the probe has no column here" if why.tree else "this clusterer makes no tree"
        )
        return markup(""), why_none
    for most_cuts in (1, 2, 3, 5, 8, 13, len(why.tree)):
        stops = _stops(why.tree, most_cuts)
        if max(stop.column for stop in stops) <= _MOST_STOPS:
            break
    return markup(_Drawing.of(why, stops).svg(label)), _NOTE


@dataclass(frozen=True)
class _Stop:
    """One place of the drawing: a leaf, a cut, or several; parts without probe are *shed*."""

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

    At most ``most_cuts`` cuts share a stop, except on the way to a leaf far down the tree.
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


def _colours(why: Explanation) -> list[str]:
    """Few classes keep their colours from probe to probe; of many, the likely ones have one."""
    n_classes = len(why.classes)
    colours = [OTHER] * n_classes
    ranked = np.argsort(-why.probabilities, kind="stable")
    order = range(n_classes) if n_classes <= len(PALETTE) else ranked
    for code, colour in zip(order, PALETTE, strict=False):
        colours[int(code)] = colour
    return colours


@dataclass(frozen=True)
class _Drawing:
    """Where the stops of a tree lie, in points, and what was drawn: lines, discs, words."""

    why: Explanation
    stops: list[_Stop]
    colours: list[str]
    height: float
    step: float
    row: float
    font: float
    lines: list[str] = field(default_factory=list)
    discs: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, why: Explanation, stops: list[_Stop]) -> _Drawing:
        n_rows = sum(not stop.cuts for stop in stops)
        height = min(_ABOVE + _LEAF * max(n_rows, 2), _MOST_HEIGHT)
        row = min((height - _ABOVE) / n_rows, 110.0)
        step = (_WIDTH - _LEFT - _RIGHT) / max(stop.column for stop in stops)
        font = float(np.clip(min(0.24 * row, 0.17 * step), 5, 7.5))
        return cls(why, stops, _colours(why), height, step, row, font)

    def svg(self, label: str) -> str:
        for stop in self.stops:
            self.draw_flow(stop)
            self.draw_stop(stop)
        self.name_leaves()
        height = self.height + _BELOW
        head = (
            f'<svg class="plot" viewBox="0 0 {_WIDTH:g} {height:g}" width="100%" role="img" '
            f'aria-label="{escape(label)}" font-family="system-ui, sans-serif" '
            f'style="max-width: {_WIDTH * 96 / 72:g}px; {_fill(INK)}">'
        )
        return "".join([head, *self.lines, *self.discs, *self.words, "</svg>"])

    def place(self, stop: _Stop) -> tuple[float, float]:
        return _LEFT + stop.column * self.step, _ABOVE + (0.42 + stop.row) * self.row

    def radius(self, n_columns: int) -> float:
        largest = min(0.36 * self.step, 0.32 * self.row, 15.0)
        share = n_columns / self.stops[0].step.n_columns
        return max(largest * float(np.sqrt(share)), 2.6)

    def draw_flow(self, stop: _Stop) -> None:
        """The way of the probe's columns from the parent, as wide as there are columns."""
        if stop.parent < 0:
            return
        (x0, y0), (x1, y1) = self.place(self.stops[stop.parent]), self.place(stop)
        # It turns close to the parent, where no text of the child is in the way.
        bend = min(0.55 * self.step, 60.0)
        points = [(x0 + 0.7 * bend, y0), (x0 + 0.3 * bend, y1), (x0 + bend, y1)]
        curve = " ".join(f"{x:.1f} {y:.1f}" for x, y in points)
        width = 0.8 + 4.5 * stop.step.n_probe / self.stops[0].step.n_probe
        style = f"fill: none; {_stroke(PROBE)}; stroke-width: {width:.1f}; opacity: 0.4"
        way = f"M{x0:.1f} {y0:.1f}C{curve}L{x1:.1f} {y1:.1f}"
        self.lines.append(f'<path d="{way}" style="{style}"/>')

    def draw_pie(
        self, x: float, y: float, counts: IntArray, n_probe: int, *, is_muted: bool = False
    ) -> float:
        """Classes in a cluster, and the probe in its own colour; return the radius."""
        total = int(counts.sum()) + n_probe
        radius, turned = self.radius(total), 0.25
        self.discs.append(_circle(x, y, radius + 0.8, _fill(PAPER)))
        style = "; opacity: 0.4" if is_muted else ""
        present = np.flatnonzero(counts)
        slices = [(int(counts[code]), self.colours[code]) for code in present]
        for count, colour in [*slices, *[(n_probe, PROBE)] * (n_probe > 0)]:
            share = count / total
            self.discs.append(_slice(x, y, radius, turned, share, _fill(colour) + style))
            turned += share
        return radius

    def draw_stop(self, stop: _Stop) -> None:
        x, y = self.place(stop)
        radius = self.draw_pie(x, y, stop.step.class_counts, stop.step.n_probe)
        if not stop.cuts or self.row < 16:
            return
        # Left of the ways up and down, where there are any.
        where = (x + 2, "end") if stop.is_branching else (x, "middle")
        self.write(*where, y - radius - 1.5 - 0.24 * self.font, _cut_text(stop))
        below = y + radius
        if stop.shed:
            counts = np.sum([step.class_counts for step in stop.shed], axis=0)
            small = self.radius(int(counts.sum()))
            below += 0.08 * self.row + small
            line = f'x1="{x:.1f}" y1="{y:.1f}" x2="{x:.1f}" y2="{below:.1f}"'
            self.lines.insert(0, f'<line {line} style="{_stroke(LIGHT)}"/>')
            self.draw_pie(x, below, counts, 0, is_muted=True)
            below += small
        if below + self.font < y + 0.75 * self.row:
            gone = list(dict.fromkeys(label for step in stop.cuts for label in step.fell_away))
            self.write(*where, below + 1 + 0.76 * self.font, self.that_fit(gone), colour=GREY)

    def that_fit(self, labels: list[Any]) -> str:
        """As many names as the width of a column holds, and how many more there are."""
        gone = np.flatnonzero(np.isin(self.why.classes, labels)).tolist()
        names = [self.name(code) for code in gone]
        n_letters = int(self.step / (_LETTER * self.font))
        for n in range(len(names), 0, -1):
            more = f" +{len(names) - n}" if n < len(names) else ""
            text = ", ".join(names[:n]) + more
            if len(text) <= n_letters:
                return text
        text = f"{len(names)} classes"
        return text if names and len(text) <= n_letters else ""

    def name(self, code: int) -> str:
        return one_line(self.why.classes[code], _LONGEST_NAME)

    def name_leaves(self) -> None:
        """Number, class and share of the probe of every leaf, in the order of the table."""
        leaves = [stop for stop in self.stops if not stop.cuts]
        heading = "cluster: its class, the probe's columns"
        self.write(self.place(leaves[0])[0] + 4, "start", 6, heading, size=7, colour=GREY)
        size = float(np.clip(0.6 * self.row, 5, 8.5))
        n_probe = self.stops[0].step.n_probe
        for number, leaf in enumerate(leaves, start=1):
            x, y = self.place(leaf)
            x, y = x + self.radius(leaf.step.n_columns) + 5, y + 0.26 * size
            present = np.flatnonzero(leaf.step.class_counts).tolist()
            names = [self.name(code) for code in present]
            words = f"{', '.join(names) or 'probe alone'}  ·  {leaf.step.n_probe} of {n_probe}"
            self.write(x, "start", y, f"{number}", size=size, weight=700)
            self.write(x + 2.2 * size, "start", y, words, size=size)

    def write(
        self, x: float, anchor: str, y: float, text: str, *, size: float = 0.0,
        weight: int = 400, colour: str = INK,
    ) -> None:  # fmt: skip
        """Put down text from, around or up to ``x``, and inside the picture."""
        size = size or self.font
        width = _LETTER * size * len(text)
        if x < {"start": 0.0, "middle": width / 2, "end": width}[anchor]:
            x, anchor = 1.0, "start"
        style = f"font-size: {size:g}px; {_fill(colour)}"
        bold = f' font-weight="{weight}"' if weight != 400 else ""
        place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
        self.words.append(f'<text {place}{bold} style="{style}">{escape(text)}</text>')


def _cut_text(stop: _Stop) -> str:
    if len(stop.cuts) > 1:
        return f"{len(stop.cuts)} cuts"
    cut = stop.cuts[0]
    return "apart" if cut.kind == "components" else f"{cut.ncut:.2f}"


def _slice(x: float, y: float, radius: float, turned: float, share: float, style: str) -> str:
    """A slice of a pie that starts after so much of a turn from the right, clockwise."""
    if share >= 1:
        return _circle(x, y, radius, style)
    angles = 2 * np.pi * np.array([turned, turned + share])
    (x0, x1), (y0, y1) = x + radius * np.cos(angles), y + radius * np.sin(angles)
    arc = f"A{radius:.1f} {radius:.1f} 0 {int(share > 0.5)} 1 {x1:.1f} {y1:.1f}z"
    return f'<path d="M{x:.1f} {y:.1f}L{x0:.1f} {y0:.1f}{arc}" style="{style}"/>'


def _circle(x: float, y: float, radius: float, style: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" style="{style}"/>'


def _fill(colour: str) -> str:
    return f"fill: {_themed(colour)}"


def _stroke(colour: str) -> str:
    return f"stroke: {_themed(colour)}"


def _themed(colour: str) -> str:
    return f"var(--{_VARIABLES[colour]}, {colour})" if colour in _VARIABLES else colour
