"""Pictures of the records: calibration, accuracy against time, seconds against size."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt

from records import Table
from setwise.evaluation import plot_accuracy_time
from setwise.plots.style import GREY, INK, PALETTE, new_figure, tidy

Records = Mapping[str, Mapping[str, Table]]
Drawing = Callable[[Records, Path], None]
# Datasets on which all methods are compared.
COMPARED = ("eth80", "yaleb", "coil20", "hands", "vowels")
# Tables of speed.json with times by size, and the titles of their panels.
BY_SIZE = {"growth": "one probe", "lasso_graph": "the lasso graph", "cut": "one cut"}


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


def draw_speed(records: Records, path: Path) -> None:
    """Seconds against size, a panel for each table that has both."""
    known = {name: records["speed"][name] for name in BY_SIZE if name in records["speed"]}
    panels = {
        name: found for name, table in known.items() if (found := list(curves(table.values)))
    }
    if not panels:
        return
    figure, axes = plt.subplots(
        1, len(panels), figsize=(5.2 * len(panels), 4.6), squeeze=False, layout="constrained"
    )
    for ax, (name, found) in zip(axes[0], panels.items(), strict=True):
        others = iter(mpl.color_sequences["Dark2"] + mpl.color_sequences["Set2"])
        for contender, sizes, times in found:
            is_ours = contender.startswith("setwise")
            style = {"lw": 2.6, "zorder": 3} if is_ours else {"lw": 1.3, "ls": "--"}
            colour = {} if is_ours else {"color": next(others)}
            ax.plot(sizes, times, marker="o", ms=4, label=contender, **style, **colour)
        ax.set(xscale="log", yscale="log", title=BY_SIZE[name])
        ax.set_xlabel(known[name].values.get("x_label", "columns"))
        ticks = sorted({n for _, sizes, _ in found for n in sizes})
        ax.set_xticks(ticks, [f"{n:,}" for n in ticks])
        ax.minorticks_off()
        ax.grid(which="major", color="0.9")
        ax.spines[["top", "right"]].set_visible(False)
        # Below the axes, where no curve can be.
        ax.legend(fontsize=8, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.14))
    axes[0, 0].set_ylabel("seconds, one thread")
    figure.savefig(path, dpi=150)
    plt.close(figure)


def curves(values: Mapping[str, Any]) -> Iterator[tuple[str, list[float], list[float]]]:
    """Name, sizes and seconds of every contender with at least two sizes.

    ``seconds`` are of one contender, or a list for each by its name, with None where it was not
    run.
    """
    sizes, times = values.get("sizes"), values.get("seconds")
    if not isinstance(sizes, list) or not isinstance(times, dict | list):
        return
    for name, of_sizes in times.items() if isinstance(times, dict) else [("setwise", times)]:
        measured = [(n, t) for n, t in zip(sizes, of_sizes, strict=False) if t is not None]
        if len(measured) > 1:
            yield name, *map(list, zip(*measured, strict=True))


# Pictures by their place in the repository, with the record that they show.
PICTURES: dict[str, tuple[str, Drawing]] = {
    "docs/reliability.png": ("evidence", draw_calibration),
    "docs/rivals_eth80.png": ("reproduced", rivals("ETH-80, ten splits", COMPARED[:1])),
    "docs/rivals_all.png": ("reproduced", rivals("Mean of five datasets", COMPARED)),
    "docs/speed.png": ("speed", draw_speed),
}
