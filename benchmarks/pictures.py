"""Pictures of the records: calibration, and accuracy against time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from records import Table
from setwise.evaluation import plot_accuracy_time
from setwise.plots.style import GREY, INK, PALETTE, new_figure, tidy

Records = Mapping[str, Mapping[str, Table]]
Drawing = Callable[[Records, Path], None]
# Datasets on which all methods are compared.
COMPARED = ("eth80", "yaleb", "coil20", "hands", "vowels")


def draw_calibration(records: Records, path: Path) -> None:
    """Share of right answers against probability, a line per kind of task."""
    figure = new_figure(6.4, 5.2)
    ax = figure.add_subplot()
    ax.plot([0, 1], [0, 1], color=GREY, lw=1, ls=(0, (4, 3)))
    sections = records["evidence"]["reliability"].values["sections"]
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


def rivals(title: str, studies: Sequence[str]) -> Drawing:
    """A drawing of accuracy against time, of the methods that all of some studies have."""

    def draw(records: Records, path: Path) -> None:
        found = [records["reproduced"][f"{study}-methods"].values["rows"] for study in studies]
        by_name = [{row["name"]: row for row in rows} for rows in found]
        points = []
        for name in by_name[0]:
            rows = [of_study[name] for of_study in by_name if name in of_study]
            if len(rows) == len(studies):
                points.append((name, *_average(rows)))
        note = "Bars: one standard error over the folds. One thread a method."
        plot_accuracy_time(points, path, title=title, note=note)

    return draw


def _average(rows: Sequence[Mapping[str, float]]) -> tuple[float, float, float, float]:
    """Seconds per probe (geometric), accuracy, and one standard error below and above it."""
    seconds = math.exp(sum(math.log(row["probe_seconds"]) for row in rows) / len(rows))
    mean = sum(row["mean"] for row in rows) / len(rows) / 100
    variance = sum(row["std"] ** 2 / row["n_folds"] for row in rows)
    error = math.sqrt(variance) / len(rows) / 100
    return seconds, mean, mean - error, mean + error


# Pictures by their place in the repository, with the record that they show.
PICTURES: dict[str, tuple[str, Drawing]] = {
    "docs/reliability.png": ("evidence", draw_calibration),
    "docs/rivals_eth80.png": ("reproduced", rivals("ETH-80, ten splits", COMPARED[:1])),
    "docs/rivals_all.png": ("reproduced", rivals("Mean of five datasets", COMPARED)),
}
