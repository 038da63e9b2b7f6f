"""One picture of why a set got its label: five panels, one colour a class, one for the probe.

Everything is drawn on a figure of its own, never through pyplot: no window opens, and neither
the backend nor the settings of the caller change.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from setwise._support.extras import require
from setwise._support.types import FloatArray, IntArray
from setwise.plots.plot_page import SIZE_INCHES, Box, Page, probe_clusters
from setwise.plots.style import GREY, INK, LIGHT, PROBE
from setwise.plots.tree_plot import draw_tree

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from setwise.classify.explanation import Explanation

__all__ = ["plot_explanation"]

_MOST_BARS, _MOST_ROWS, _MOST_CLUSTERS = 10, 16, 16


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

    figure = Figure(figsize=SIZE_INCHES, dpi=100, facecolor="white")
    canvas = FigureCanvasAgg(figure)
    page = Page.of(figure, explanation)
    _draw_header(page, canvas.get_renderer())
    _draw_sets(page, (0.03, 0.585, 0.285, 0.285))
    _draw_votes(page, (0.445, 0.585, 0.195, 0.285))
    _draw_reliability(page, (0.73, 0.585, 0.225, 0.285))
    draw_tree(page, (0.03, 0.025, 0.61, 0.44))
    _draw_table(page, (0.755, 0.025, 0.22, 0.44))
    if path is not None:
        figure.savefig(Path(path), dpi=150, facecolor="white")
    return figure


def _draw_header(page: Page, renderer: Any) -> None:
    why = page.explanation
    if not why.is_informed:
        headline = "No answer"
        line = "nothing is shared with any class: all are equally probable"
    elif why.is_known is False:
        headline = "Unknown"
        line = f"too far from all classes; most like {page.names[page.answer]}"
    else:
        headline = page.names[page.answer]
        chance = why.probabilities[page.answer]
        line = f"is the answer: probability {chance:.2f} among {len(why.classes)} classes"
    left, top = 0.03, 0.955
    title = page.write(page.figure, left, top, headline, size=19, weight="bold", va="baseline")
    box = title.get_window_extent(renderer)
    width = box.width / page.figure.bbox.width
    line += f"   ·   tree and table: member {why.shown}"
    page.write(page.figure, left + width + 0.012, top, line, size=10, color=GREY, va="baseline")


def _is_doubtful(support: FloatArray) -> Any:
    with np.errstate(invalid="ignore"):
        return support < 0.5


def _scatter_probe(ax: Any, points: FloatArray, support: FloatArray, size: float) -> None:
    """The probe's vectors: filled, hollow where they speak for others, crosses if for none."""
    doubtful, silent = _is_doubtful(support), np.isnan(support)
    kinds = [
        (~doubtful & ~silent, "o", PROBE, "speaks for the answer"),
        (doubtful, "o", "white", "left out, or speaks for others"),
        (silent, "x", PROBE, "says nothing"),
    ]
    for chosen, marker, face, label in kinds:
        if chosen.any():
            edge = (
                {} if marker == "x" else {"edgecolors": PROBE if face == "white" else "white"}
            )
            x, y = points[chosen].T
            width = (
                0.7 if face == PROBE and marker == "o" else float(np.clip(size / 25, 0.6, 1.6))
            )
            ax.scatter(
                x, y, s=size, marker=marker, c=face, linewidths=width, zorder=4, label=label,
                clip_on=False, **edge,
            )  # fmt: skip


def _draw_sets(page: Page, box: Box) -> None:
    why = page.explanation
    ax = page.panel(box, "Sets", "principal plane of the gallery; each point one vector")
    ax.spines[:].set(visible=True, color=LIGHT)
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
        handletextpad=0.1, columnspacing=1.2, labelcolor=INK, borderaxespad=0,
    )  # fmt: skip


def _draw_votes(page: Page, box: Box) -> None:
    why = page.explanation
    agree = sum(vote.label == why.label for vote in why.votes)
    snr = f"{why.snr:.3g}" if np.isfinite(why.snr) else "∞"
    title = f"Votes: {agree} of {len(why.votes)} for {page.names[page.answer]}, SNR {snr}"
    note = "probability, and voices that spoke for the class"
    ax = page.panel(box, title if why.is_informed else "Votes: none", note, hang=0.09)
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
    ax.plot([0, 0], [-0.5, len(shown) - 0.5], color=GREY, lw=0.8)
    if len(ranked) > len(shown):
        others = ranked[_MOST_BARS:]
        chance = why.probabilities[others].sum()
        rest = f"{len(others)} more classes, {chance:.2f} together"
        page.write(ax, 0.02, len(shown) - 0.25, rest, size=7.5, color=GREY)


def _name_row(page: Page, ax: Any, row: float, code: int, **style: Any) -> None:
    """Colour and name of a class at the left of a row."""
    inside = ax.get_yaxis_transform()
    ax.plot(
        [-0.03], [row], "s", ms=6, color=page.colours[code], transform=inside, clip_on=False
    )
    page.write(ax, -0.06, row, page.names[code], ha="right", transform=inside, **style)


def _draw_reliability(page: Page, box: Box) -> None:
    why = page.explanation
    n = len(why.support)
    n_doubtful = int(_is_doubtful(why.support).sum())
    note = (
        f"how far clusters and edges speak for the answer; {n_doubtful} of {n} below one half"
    )
    ax = page.panel(box, "Vectors of the probe", note, hang=0.025)
    numbers = np.arange(1, n + 1)
    _draw_switches(page, ax, numbers)
    ax.set(
        xlim=(0.3, n + 0.7), ylim=(-0.03, 1.03), yticks=[0, 0.5, 1], xlabel="vector, in order"
    )
    stride = max(1, round(n / 8))
    ax.set_xticks(np.arange(1, n + 1, stride))
    ax.tick_params(length=0, labelsize=8, labelcolor=GREY)
    ax.xaxis.label.set(size=8, color=GREY)
    ax.axhline(0.5, color=GREY, lw=0.8, ls=(0, (4, 3)), zorder=1)
    ax.axhline(0, color=LIGHT, lw=0.8, zorder=1)
    ax.axhline(1, color=LIGHT, lw=0.8, zorder=1)
    # Silent vectors have no height: their crosses stand on the ground.
    heights = np.where(np.isnan(why.support), 0.0, why.support)
    size = float(np.clip(2600 / n, 6, 44))
    _scatter_probe(ax, np.column_stack([numbers, heights]), why.support, size)


def _draw_switches(page: Page, ax: Any, numbers: IntArray) -> None:
    """Sign switches as pale bars behind, on a scale of their own at the right."""
    switches = page.explanation.sign_switches
    most = float(switches.max(initial=0.0))
    if not most > 0:
        return
    ax.bar(numbers, 0.4 * switches / most, 0.7, color="#e9ecf0", zorder=0)
    right = {"transform": ax.get_yaxis_transform(), "size": 8, "color": GREY}
    page.write(ax, 1.01, 0.4, f"{most:.2g}", **right)
    page.write(ax, 1.01, 0.0, "0", **right)
    page.write(ax, 1.01, 0.2, "sign\nswitches", **right | {"size": 6.5})


def _draw_table(page: Page, box: Box) -> None:
    why = page.explanation
    numbers, shown, rest = probe_clusters(why, _MOST_CLUSTERS)
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
        page.write(ax, column, -0.75, text, size=min(size, 8), color=GREY, ha="center")
    for row, code in enumerate(rows):
        _name_row(page, ax, row, code, weight=page.weight(code))
        _draw_row(page, ax, row, shown[code], rest[code], page.colours[code], size)
    probe_name = {"ha": "right", "color": PROBE, "weight": "bold"}
    page.write(ax, -0.06, bottom, "probe", transform=ax.get_yaxis_transform(), **probe_name)
    _draw_row(page, ax, bottom, shown[-1], rest[-1], PROBE, size)


def _draw_row(
    page: Page,
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
            ink = GREY if is_rest else "white" if is_dark else INK
            page.write(ax, column, row, f"{100 * share:.0f}", size=size, ha="center", color=ink)
