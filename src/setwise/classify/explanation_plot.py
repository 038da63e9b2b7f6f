"""One picture of why a set got its label: five panels, one colour a class, one for the probe.

Everything is drawn on a figure of its own, never through pyplot: no window opens, and neither
the backend nor the settings of the caller change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from setwise.extras import require
from setwise.types import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from setwise.classify.explanation import CutStep, Explanation

__all__ = ["plot_explanation"]

# Left, bottom, width and height of a panel, as shares of the figure.
_Box: TypeAlias = tuple[float, float, float, float]

_PROBE = "#d81b60"
_INK, _GREY, _LIGHT = "#2b2f36", "#7a828c", "#dfe3e8"
# No reds: they belong to the probe. Classes beyond these are all drawn in the last colour.
_PALETTE = (
    *("#3f74b5", "#f0a030", "#4f9e58", "#8661b5", "#36a8a8"),
    *("#94704f", "#aeb030", "#84b8e6", "#9cd07f", "#5b6675"),
)
_OTHER_CLASS = "#b9c0c8"
_SIZE_INCHES = (14.0, 9.2)
_MOST_BARS, _MOST_ROWS, _MOST_CLUSTERS = 10, 16, 16
_MOST_STOPS = 16  # cuts beside each other in the tree; more are drawn several at a stop
_LONGEST_NAME = 16
# Asked in this order for characters that matplotlib's own font lacks.
_WIDE_FONTS = (
    *("Noto Sans CJK JP", "Noto Sans CJK SC", "Source Han Sans", "PingFang SC"),
    *("Hiragino Sans", "Microsoft YaHei", "Yu Gothic", "Malgun Gothic", "Arial Unicode MS"),
)


def plot_explanation(explanation: Explanation, path: str | Path | None = None) -> Figure:
    """Draw an explanation; needs the extra ``plot``.

    Parameters
    ----------
    explanation : Explanation
        What :meth:`setwise.CVC.explain` returned.
    path : str or Path, optional
        Where to save the picture too; the suffix says how (``.png``, ``.svg``, ``.pdf``).

    Returns
    -------
    matplotlib.figure.Figure
        Sets in the plane, votes and reliability of the vectors above; tree of cuts and
        class-cluster table below.
    """
    require("matplotlib", "plot")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=_SIZE_INCHES, dpi=100, facecolor="white")
    canvas = FigureCanvasAgg(figure)
    page = _Page.of(figure, explanation)
    _draw_header(page, canvas.get_renderer())
    _draw_sets(page, (0.03, 0.585, 0.285, 0.285))
    _draw_votes(page, (0.445, 0.585, 0.195, 0.285))
    _draw_reliability(page, (0.73, 0.585, 0.225, 0.285))
    _draw_tree(page, (0.03, 0.025, 0.61, 0.44))
    _draw_table(page, (0.755, 0.025, 0.22, 0.44))
    if path is not None:
        figure.savefig(Path(path), dpi=150, facecolor="white")
    return figure


@dataclass(frozen=True)
class _Page:
    """The figure, and how each class is called and coloured on all of its panels."""

    figure: Figure
    explanation: Explanation
    names: list[str]
    colours: list[str]
    family: list[str]
    answer: int

    @classmethod
    def of(cls, figure: Figure, explanation: Explanation) -> _Page:
        n_classes = len(explanation.classes)
        colours = [_OTHER_CLASS] * n_classes
        # Few classes keep their colours from probe to probe; of many, the likely ones have one.
        ranked = np.argsort(-explanation.probabilities, kind="stable")
        order = range(n_classes) if n_classes <= len(_PALETTE) else ranked
        for code, colour in zip(order, _PALETTE, strict=False):
            colours[int(code)] = colour
        family, names = _drawable([str(label) for label in explanation.classes])
        answer = int(np.flatnonzero(explanation.classes == explanation.label)[0])
        return cls(figure, explanation, names, colours, family, answer)

    def is_answer(self, code: int) -> bool:
        """Whether a class is the answer, where there is one."""
        return bool(code == self.answer) and not self.explanation.is_degenerate

    def weight(self, code: int) -> str:
        """Of the letters of a class's name."""
        return "bold" if self.is_answer(code) else "normal"

    def panel(self, box: _Box, title: str, note: str = "", *, hang: float = 0.0) -> Any:
        """Axes without frame or ticks, under a title and a line that says how to read them.

        ``hang`` is how far the title stands out to the left, as a share of the figure.
        """
        ax = self.figure.add_axes(box, facecolor="none")
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
        above = {"transform": ax.transAxes, "va": "bottom", "clip_on": False}
        left, height = -hang / box[2], box[3] * _SIZE_INCHES[1] * 72
        self.write(ax, left, 1 + 20 / height, title, size=10.5, weight="bold", **above)
        self.write(ax, left, 1 + 8 / height, note, size=7.5, color=_GREY, **above)
        return ax

    def write(self, ax: Any, x: float, y: float, text: str, **style: Any) -> Any:
        """Put down text as it is: no mathematics in it, and letters from any script."""
        style = {"size": 8.5, "color": _INK, "va": "center", **style}
        return ax.text(x, y, text, family=self.family, parse_math=False, **style)


def _drawable(names: list[str]) -> tuple[list[str], list[str]]:
    """Fonts that can draw the names, and the names: short, on one line, of known letters."""
    from matplotlib.font_manager import fontManager, get_font

    family, path_of = ["DejaVu Sans"], {font.name: font.fname for font in fontManager.ttflist}
    known = set(get_font(path_of[family[0]]).get_charmap())
    for font in _WIDE_FONTS:
        if font in path_of and not known.issuperset(map(ord, "".join(names))):
            family.append(font)
            known |= set(get_font(path_of[font]).get_charmap())
    lines = (" ".join(name.split()) for name in names)
    short = (n if len(n) <= _LONGEST_NAME else n[: _LONGEST_NAME - 1] + "…" for n in lines)
    return family, ["".join(c if ord(c) in known else "□" for c in name) for name in short]


def _draw_header(page: _Page, renderer: Any) -> None:
    why = page.explanation
    if why.is_degenerate:
        headline = "No answer"
        line = "no member shares a cluster with any class: all are equally probable"
    else:
        headline = page.names[page.answer]
        chance = why.probabilities[page.answer]
        line = f"is the answer: probability {chance:.2f} among {len(why.classes)} classes"
    left, top = 0.03, 0.955
    title = page.write(page.figure, left, top, headline, size=19, weight="bold", va="baseline")
    box = title.get_window_extent(renderer)
    width = box.width / page.figure.bbox.width
    line += f"   ·   tree and table: member {why.shown}"
    page.write(
        page.figure, left + width + 0.012, top, line, size=10, color=_GREY, va="baseline"
    )


def _is_doubtful(support: FloatArray) -> Any:
    with np.errstate(invalid="ignore"):
        return support < 0.5


def _scatter_probe(ax: Any, points: FloatArray, support: FloatArray, size: float) -> None:
    """The probe's vectors: filled, hollow where they speak for others, crosses if for none."""
    doubtful, silent = _is_doubtful(support), np.isnan(support)
    kinds = [
        (~doubtful & ~silent, "o", _PROBE, "speaks for the answer"),
        (doubtful, "o", "white", "speaks for other classes"),
        (silent, "x", _PROBE, "says nothing"),
    ]
    for chosen, marker, face, label in kinds:
        if chosen.any():
            edge = (
                {} if marker == "x" else {"edgecolors": _PROBE if face == "white" else "white"}
            )
            x, y = points[chosen].T
            width = (
                0.7 if face == _PROBE and marker == "o" else float(np.clip(size / 25, 0.6, 1.6))
            )
            ax.scatter(
                x, y, s=size, marker=marker, c=face, linewidths=width, zorder=4, label=label,
                clip_on=False, **edge,
            )  # fmt: skip


def _draw_sets(page: _Page, box: _Box) -> None:
    why = page.explanation
    ax = page.panel(box, "Sets", "principal plane of the gallery; each point one vector")
    ax.spines[:].set(visible=True, color=_LIGHT)
    colours = np.array(page.colours)[why.gallery_point_classes]
    size = float(np.clip(4000 / max(len(colours), 1), 5, 22))
    # Shuffled, or the last class would lie on top of all others.
    order = np.random.default_rng(0).permutation(len(colours))
    x, y = why.gallery_points[order].T
    ax.scatter(x, y, s=size, c=colours[order], alpha=0.45, linewidths=0, zorder=2)
    probe_size = float(np.clip(2600 / len(why.probe_points), 14, 44))
    _scatter_probe(ax, why.probe_points, why.support, probe_size)
    ax.margins(0.06)
    ax.legend(
        loc="upper left", bbox_to_anchor=(-0.02, -0.01), ncols=3, frameon=False, fontsize=8,
        handletextpad=0.1, columnspacing=1.2, labelcolor=_INK, borderaxespad=0,
    )  # fmt: skip


def _draw_votes(page: _Page, box: _Box) -> None:
    why = page.explanation
    agree = sum(vote.label == why.label for vote in why.votes)
    snr = f"{why.snr:.3g}" if np.isfinite(why.snr) else "∞"
    title = f"Votes: {agree} of {len(why.votes)} for {page.names[page.answer]}, SNR {snr}"
    note = "probability, and members that voted for the class"
    ax = page.panel(box, "Votes: none" if why.is_degenerate else title, note, hang=0.09)
    ranked = np.argsort(-why.probabilities, kind="stable")
    shown = ranked[:_MOST_BARS]
    ax.set(xlim=(0, 1.3), ylim=(max(len(shown), 6) - 0.4, -0.6))
    for row, code in enumerate(shown):
        chance = float(why.probabilities[code])
        ax.barh(
            row,
            chance,
            0.62,
            color=page.colours[code],
            alpha=1 if page.is_answer(code) else 0.55,
        )
        _name_row(page, ax, row, code, weight=page.weight(code))
        n_votes = int(sum(vote.label == why.classes[code] for vote in why.votes))
        votes = f"  ·  {n_votes} vote{'' if n_votes == 1 else 's'}" if n_votes else ""
        page.write(ax, chance + 0.02, row, f"{chance:.2f}{votes}", weight=page.weight(code))
    ax.plot([0, 0], [-0.5, len(shown) - 0.5], color=_GREY, lw=0.8)
    if len(ranked) > len(shown):
        others = ranked[_MOST_BARS:]
        chance = why.probabilities[others].sum()
        rest = f"{len(others)} more classes, {chance:.2f} together"
        page.write(ax, 0.02, len(shown) - 0.25, rest, size=7.5, color=_GREY)


def _name_row(page: _Page, ax: Any, row: float, code: int, **style: Any) -> None:
    """Colour and name of a class at the left of a row."""
    inside = ax.get_yaxis_transform()
    ax.plot(
        [-0.03], [row], "s", ms=6, color=page.colours[code], transform=inside, clip_on=False
    )
    page.write(ax, -0.06, row, page.names[code], ha="right", transform=inside, **style)


def _draw_reliability(page: _Page, box: _Box) -> None:
    why = page.explanation
    n = len(why.support)
    n_doubtful = int(_is_doubtful(why.support).sum())
    note = f"how far their clusters speak for the answer; {n_doubtful} of {n} below one half"
    ax = page.panel(box, "Vectors of the probe", note, hang=0.025)
    numbers = np.arange(1, n + 1)
    _draw_switches(page, ax, numbers)
    ax.set(
        xlim=(0.3, n + 0.7), ylim=(-0.03, 1.03), yticks=[0, 0.5, 1], xlabel="vector, in order"
    )
    stride = max(1, round(n / 8))
    ax.set_xticks(np.arange(1, n + 1, stride))
    ax.tick_params(length=0, labelsize=8, labelcolor=_GREY)
    ax.xaxis.label.set(size=8, color=_GREY)
    ax.axhline(0.5, color=_GREY, lw=0.8, ls=(0, (4, 3)), zorder=1)
    ax.axhline(0, color=_LIGHT, lw=0.8, zorder=1)
    ax.axhline(1, color=_LIGHT, lw=0.8, zorder=1)
    # Silent vectors have no height: their crosses stand on the ground.
    heights = np.where(np.isnan(why.support), 0.0, why.support)
    size = float(np.clip(2600 / n, 6, 44))
    _scatter_probe(ax, np.column_stack([numbers, heights]), why.support, size)


def _draw_switches(page: _Page, ax: Any, numbers: IntArray) -> None:
    """Sign switches as pale bars behind, on a scale of their own at the right."""
    switches = page.explanation.sign_switches
    most = float(switches.max(initial=0.0))
    if not most > 0:
        return
    ax.bar(numbers, 0.4 * switches / most, 0.7, color="#e9ecf0", zorder=0)
    right = {"transform": ax.get_yaxis_transform(), "size": 8, "color": _GREY}
    page.write(ax, 1.01, 0.4, f"{most:.2g}", **right)
    page.write(ax, 1.01, 0.0, "0", **right)
    page.write(ax, 1.01, 0.2, "sign\nswitches", **right | {"size": 6.5})


def _draw_table(page: _Page, box: _Box) -> None:
    why = page.explanation
    probe = why.class_cluster[-1]
    # In the order of the leaves of the tree, so that both have the same numbers.
    with_probe = np.flatnonzero(probe > 0)
    largest = np.argsort(-probe[with_probe], kind="stable")[:_MOST_CLUSTERS]
    numbers = np.sort(largest)
    shown = why.class_cluster[:, with_probe[numbers]]
    rest = why.class_cluster.sum(axis=1) - shown.sum(axis=1)
    ranked = np.argsort(-why.probabilities, kind="stable")
    rows = [int(code) for code in ranked if shown[code].any()][:_MOST_ROWS]
    rows = rows or [int(code) for code in ranked[:3]]
    note = "% of the columns of each row by cluster" + (
        ", numbered as in the tree" if why.tree else ""
    )
    ax = page.panel(box, "Classes and clusters", note, hang=0.1)
    bottom, size = len(rows) + 0.2, float(np.clip(100 / (len(numbers) + 1), 5.5, 8.5))
    ax.set(xlim=(-0.5, len(numbers) + 0.5), ylim=(max(bottom, 9) + 0.5, -1.0))
    for column, text in enumerate([*(str(number + 1) for number in numbers), "rest"]):
        page.write(ax, column, -0.75, text, size=min(size, 8), color=_GREY, ha="center")
    for row, code in enumerate(rows):
        _name_row(page, ax, row, code, weight=page.weight(code))
        _draw_row(page, ax, row, shown[code], rest[code], page.colours[code], size)
    probe_name = {"ha": "right", "color": _PROBE, "weight": "bold"}
    page.write(ax, -0.06, bottom, "probe", transform=ax.get_yaxis_transform(), **probe_name)
    _draw_row(page, ax, bottom, shown[-1], rest[-1], _PROBE, size)


def _draw_row(
    page: _Page,
    ax: Any,
    row: float,
    shares: FloatArray,
    rest: float,
    colour: str,
    size: float,
) -> None:
    """One row of the table: a cell a cluster in shades of ``colour``, and the rest in grey."""
    from matplotlib.colors import to_rgb

    for column, share in enumerate([*map(float, shares), float(rest)]):
        is_rest = column == len(shares)
        strength = 0.25 + 0.75 * min(share, 1.0) if share > 0 and not is_rest else 0.0
        shade = 1 - strength * (1 - np.array(to_rgb(colour)))
        is_dark = shade @ (0.3, 0.59, 0.11) < 0.55
        ax.bar(column, 0.92, 0.94, row - 0.46, color=[shade if strength else "#f5f6f8"])
        if share >= 0.005:
            ink = _GREY if is_rest else "white" if is_dark else _INK
            page.write(ax, column, row, f"{100 * share:.0f}", size=size, ha="center", color=ink)


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


def _draw_tree(page: _Page, box: _Box) -> None:
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
        72 * inches * share for inches, share in zip(_SIZE_INCHES, box[2:], strict=True)
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

    page: _Page
    ax: Any
    step: float
    row: float
    top: float
    font: float
    n_columns: int
    n_probe: int

    @classmethod
    def of(
        cls, page: _Page, ax: Any, stops: list[_Stop], width: float, height: float
    ) -> _Sheet:
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
        self.ax.add_patch(PathPatch(flow, fc="none", ec=_PROBE, lw=lw, alpha=0.4, zorder=1))

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
        for count, colour in [*shares, (n_probe, _PROBE)]:
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
            self.ax.plot([x, x], [y, below], color=_LIGHT, lw=1, zorder=0)
            self.draw_pie(x, below, counts, 0, is_muted=True)
            below += small
        gone = list(dict.fromkeys(label for step in stop.cuts for label in step.fell_away))
        if below + self.font < y + 0.75 * self.row:
            text = self.names_that_fit(gone)
            self.write(x + shift, below + 1, text, va="top", ha=ha, color=_GREY)

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
        self.write(x + 4, 4, "cluster: its class, the probe's columns", size=7, color=_GREY)
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
