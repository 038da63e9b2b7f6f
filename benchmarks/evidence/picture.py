"""Reliability of CVC's probabilities, as a picture: one line per section of the page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from evidence.figures import N_BINS, bins_of, calibration_error
from setwise.plots.style import GREY, INK, PALETTE, new_figure, tidy

# Bins of fewer answers would show chance.
FEWEST = 15


def draw_reliability(pooled: Mapping[str, tuple[np.ndarray, np.ndarray]], path: Path) -> None:
    """Draw share of right answers against probability.

    Parameters
    ----------
    pooled : dict of str to (probability, correct)
        Of every answer, by what the line is called.
    path : Path
        Where the picture goes.
    """
    figure = new_figure(6.4, 5.2)
    ax = figure.add_subplot()
    ax.plot([0, 1], [0, 1], color=GREY, lw=1, ls=(0, (4, 3)))
    for (title, (probability, correct)), colour in zip(pooled.items(), PALETTE, strict=False):
        bins = bins_of(probability)
        shown = [b for b in range(N_BINS) if (bins == b).sum() >= FEWEST]
        x = [probability[bins == b].mean() for b in shown]
        y = [correct[bins == b].mean() for b in shown]
        error = 100 * calibration_error(probability, correct)
        label = f"{title}: ECE {error:.1f} %, {len(correct):,} probes"
        ax.plot(x, y, marker="o", ms=5, lw=1.6, color=colour, label=label)
    ax.set(xlim=(0, 1.01), ylim=(0, 1.02), xlabel="probability that CVC gives its answer")
    ax.set_ylabel("share of these answers that are right")
    ax.set_title(
        "Above the dashed line: more often right than it says", loc="left", size=11, color=INK
    )
    ax.legend(frameon=False, fontsize=8.5, loc="lower right")
    tidy(ax)
    figure.savefig(path, dpi=150, facecolor="white")
