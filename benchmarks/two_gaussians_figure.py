"""Figure 4 of the paper: what the algebraic connectivity and the sign switches tell.

The study `gaussians`, its tables, and its panels on one page: two clouds of normal points in
3-D, cut by Algorithm 3 (DFVC) and, for comparison, by the exact Fiedler vector. What is done
is kept in a folder, so that running it again is quick.

    python benchmarks/two_gaussians_figure.py [out/ncut_two_gaussians.png]
"""

import argparse
from pathlib import Path

from matplotlib.figure import Figure

from setwise.plots import new_figure
from setwise_paper.figures.gaussians import plot_by_size, plot_clouds, plot_switch_errors
from setwise_paper.kinds.gaussians import GaussiansSection
from setwise_paper.reproduction import reproduce
from setwise_paper.study import study_named

NOTE = """(b-d): d is the distance of the centres. Means over
draws. In (d) the switches away from the start
vector, about one for every other point, are not
counted. Numbers on the bars of (e) are points,
all draws together."""


def draw(found: GaussiansSection) -> Figure:
    """All panels of the figure."""
    figure = new_figure(11.5, 6.6)
    panels = figure.subplot_mosaic("abc;dek")
    shown = found.example
    plot_clouds(panels["a"], shown["points"], shown["is_second"], shown["is_wrong"])
    plot_by_size(panels["b"], found.rows, "connectivity", "algebraic connectivity")
    plot_by_size(panels["c"], found.rows, "error", "error (%)")
    plot_by_size(panels["d"], found.rows, "switches", "sign switches per point")
    plot_switch_errors(panels["e"], found.switches, found.switches_from_start)
    titles = {
        "a": f"Two clouds, d = {shown['distance']:g}, cut by DFVC",
        "b": "Connectivity: set by d, not by size",
        "c": "Error follows the connectivity",
        "d": "Fewer switches where the cut is good",
        "e": "Points that switch are more often wrong",
    }
    for name, title in titles.items():
        panels[name].set_title(f"({name})  {title}", loc="left", fontsize=10.5)
    panels["k"].axis("off")
    panels["k"].text(*(0.0, 0.95), NOTE, va="top", fontsize=9.5, linespacing=1.5)
    return figure


def main() -> None:
    """Run the study, print its tables, draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "path", nargs="?", type=Path, default=Path("out/ncut_two_gaussians.png")
    )
    path = parser.parse_args().path
    name, study = study_named("gaussians")
    (found,) = reproduce(study, Path("out/reproduce") / name, n_jobs=-1).result.sections
    for table in found.tables():
        print(f"{table.to_markdown()}\n")
    path.parent.mkdir(parents=True, exist_ok=True)
    draw(found).savefig(path, dpi=160, facecolor="white")
    print(f"figure: {path}")


if __name__ == "__main__":
    main()
