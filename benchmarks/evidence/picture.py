"""Reliability of CVC's probabilities, as a picture: one line per section of the evidence."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from setwise.plots.style import GREY, INK, PALETTE, new_figure, tidy


def draw_reliability(sections: Mapping[str, Mapping[str, Any]], path: Path) -> None:
    """Draw share of right answers against probability, from the bins of each section."""
    figure = new_figure(6.4, 5.2)
    ax = figure.add_subplot()
    ax.plot([0, 1], [0, 1], color=GREY, lw=1, ls=(0, (4, 3)))
    for (title, known), colour in zip(sections.items(), PALETTE, strict=False):
        label = f"{title}: ECE {100 * known['error']:.1f} %, {known['n_probes']:,} probes"
        style = {"marker": "o", "ms": 5, "lw": 1.6, "color": colour, "label": label}
        ax.plot(known["probability"], known["right"], **style)
    ax.set(xlim=(0, 1.01), ylim=(0, 1.02), xlabel="probability that CVC gives its answer")
    ax.set_ylabel("share of these answers that are right")
    title = "Above the dashed line: more often right than it says"
    ax.set_title(title, loc="left", size=11, color=INK)
    ax.legend(frameon=False, fontsize=8.5, loc="lower right")
    tidy(ax)
    figure.savefig(path, dpi=150, facecolor="white")
