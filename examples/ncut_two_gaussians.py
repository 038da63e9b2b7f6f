"""Figure 4 of the paper: what the algebraic connectivity and the sign switches tell.

Two clouds of normal points in 3-D, covariance 2 I, their centres d apart. The graph is
Gaussian (eq. 5) with Sigma = 2 I, the clouds' own, which the paper leaves open. It is cut by
Algorithm 3 (DFVC) and, for comparison, by the exact Fiedler vector.

    python examples/ncut_two_gaussians.py [out/ncut_two_gaussians.png] [--repeats 2]
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from setwise.cut import dfvc, exact_fiedler
from setwise.datasets import make_gaussian_pair
from setwise.graph import GaussianGraph
from setwise.types import BoolArray, FloatArray, IntArray

VARIANCE = 2.0
DISTANCES = range(2, 8)
SIZES = range(100, 501, 25)  # points in a cloud
EXAMPLE = (5, 200)  # d and n of panel (a)

COLOUR = {d: colormaps["viridis"](0.88 * (d - 2) / 5) for d in DISTANCES}
FIRST, SECOND, WRONG = "#4477aa", "#ddaa33", "#bb2222"


@dataclass(frozen=True)
class Trial:
    """One draw of the clouds and its cuts."""

    d: int
    n: int
    points: FloatArray
    side: BoolArray
    wrong: BoolArray
    connectivity: float
    switches: IntArray
    later_switches: IntArray
    exact_error: float


def run(d: int, n: int, rng: np.random.Generator) -> Trial:
    points = make_gaussian_pair(n, d, variance=VARIANCE, random_state=rng).vectors.T
    adjacency = GaussianGraph(sigma=VARIANCE).adjacency(points).toarray()
    found = dfvc(adjacency)
    side = aligned(found.vector >= 0)
    # The start vector knows nothing of the clouds: half of the points leave its sign at once.
    at_first = dfvc(adjacency, max_changes=-1.0, max_iter=1).sign_switches
    return Trial(
        d=d,
        n=n,
        points=points,
        side=side,
        wrong=side != in_second(n),
        connectivity=found.connectivity,
        switches=found.sign_switches,
        later_switches=found.sign_switches - at_first,
        exact_error=np.mean(aligned(exact_fiedler(adjacency).vector >= 0) != in_second(n)),
    )


def in_second(n: int) -> BoolArray:
    return np.arange(2 * n) >= n


def aligned(side: BoolArray) -> BoolArray:
    """Sides named after the cloud they hold most of."""
    return side if np.mean(side == in_second(len(side) // 2)) >= 0.5 else ~side


def trials(n_repeats: int) -> Iterator[Trial]:
    for d in DISTANCES:
        for n in SIZES:
            for repeat in range(n_repeats):
                yield run(d, n, np.random.default_rng([d, n, repeat]))


def pooled_error(done: list[Trial], attribute: str) -> tuple[list[float], list[int]]:
    """Error, and number, of the points that switched 0, 1, and 2 or more times."""
    wrong = np.concatenate([t.wrong for t in done])
    times = np.minimum(np.concatenate([getattr(t, attribute) for t in done]), 2)
    count = np.bincount(times, minlength=3)
    n_wrong = np.bincount(times, weights=wrong, minlength=3)
    return (n_wrong / np.maximum(count, 1)).tolist(), count.tolist()


def draw_example(axes: Axes, trial: Trial) -> None:
    x, y = trial.points[:2]
    for is_second, colour in ((False, FIRST), (True, SECOND)):
        of_cloud = in_second(trial.n) == is_second
        axes.scatter(x[of_cloud], y[of_cloud], s=9, color=colour, alpha=0.75, linewidths=0)
    axes.scatter(
        *(x[trial.wrong], y[trial.wrong]),
        **{"s": 34, "facecolors": "none", "edgecolors": WRONG, "label": "wrong side"},
    )
    axes.set(xlabel="$x_1$", ylabel="$x_2$", aspect="equal", ylim=(-5.2, 6.8))
    axes.set_xticks(range(-3, 10, 3))
    axes.legend(loc="upper right", frameon=False, handletextpad=0.1, borderaxespad=0.1)


def draw_curves(axes: Axes, done: list[Trial], attribute: str, factor: float = 1.0) -> None:
    for d in DISTANCES:
        means = [
            factor
            * np.mean([np.mean(getattr(t, attribute)) for t in done if (t.d, t.n) == (d, n)])
            for n in SIZES
        ]
        axes.plot(SIZES, means, color=COLOUR[d], linewidth=1.8, label=f"$d = {d}$")
    axes.set(xlabel="points in each cloud", xlim=(SIZES[0], SIZES[-1]))
    axes.set_ylim(bottom=0)
    axes.locator_params(axis="y", nbins=5)


def draw_switches(axes: Axes, done: list[Trial]) -> None:
    width, names = 0.38, ("0", "1", "2 or more")
    series = (
        (-1, "switches", "counted from the start vector on", "#555555"),
        (1, "later_switches", "counted from the first iterate on", "#66aacc"),
    )
    for offset, attribute, label, colour in series:
        error, count = pooled_error(done, attribute)
        x = np.arange(3) + offset * width / 2
        axes.bar(x, 100 * np.array(error), 0.92 * width, color=colour, label=label)
        for position, height, n_points in zip(x, error, count, strict=True):
            shown = f"{n_points / 1000:.3g} k" if n_points >= 1000 else f"{n_points}"
            axes.text(position, 100 * height + 1.5, shown, ha="center", fontsize=8)
    axes.set_xticks(range(3), names)
    axes.set_yticks(range(0, 101, 20))
    axes.set(xlabel="sign switches of the point", ylabel="error (%)", ylim=(0, 125))
    axes.legend(loc="upper left", frameon=False, borderaxespad=0.1, labelspacing=0.3)


def draw(done: list[Trial]) -> Figure:
    figure = Figure(figsize=(11.5, 6.6), layout="constrained")
    panels = figure.subplot_mosaic("abc;dek", width_ratios=[1, 1, 1])
    draw_example(panels["a"], next(t for t in done if (t.d, t.n) == EXAMPLE))
    draw_curves(panels["b"], done, "connectivity")
    panels["b"].set_ylabel(r"algebraic connectivity $\lambda_2$")
    draw_curves(panels["c"], done, "wrong", 100)
    panels["c"].set_ylabel("error (%)")
    draw_curves(panels["d"], done, "later_switches")
    panels["d"].set_ylabel("sign switches per point")
    draw_switches(panels["e"], done)
    titles = {
        "a": f"Two clouds, $d = {EXAMPLE[0]}$, cut by DFVC",
        "b": "Connectivity: set by $d$, not by size",
        "c": "Error follows the connectivity",
        "d": "Fewer switches where the cut is good",
        "e": "Points that switch are more often wrong",
    }
    for name, title in titles.items():
        panels[name].set_title(f"({name})  {title}", loc="left", fontsize=10.5)
        panels[name].spines[["top", "right"]].set_visible(False)
    draw_key(panels["k"], panels["b"])
    return figure


def draw_key(axes: Axes, curves: Axes) -> None:
    axes.axis("off")
    handles, labels = curves.get_legend_handles_labels()
    axes.legend(
        *(handles, labels),
        **{"loc": "upper left", "title": "(b-d)  distance of the centres", "alignment": "left"},
        **{"ncols": 2, "frameon": False, "fontsize": 10, "title_fontsize": 10},
    )
    axes.text(
        *(0.03, 0.52),
        "Means over draws. In (d) the switches away from\n"
        "the start vector, about one for every other point,\n"
        "are not counted. Numbers on the bars of (e) are\n"
        "points, all draws together.",
        **{"transform": axes.transAxes, "va": "top", "fontsize": 9.5, "linespacing": 1.5},
    )


def print_table(done: list[Trial]) -> None:
    print(" d   lambda_2 (min - max over n)   error   exact error   switches per point")
    for d in DISTANCES:
        of_d = [t for t in done if t.d == d]
        by_size = [np.mean([t.connectivity for t in of_d if t.n == n]) for n in SIZES]
        print(
            f"{d:2d}   {np.mean(by_size):8.4f} ({min(by_size):.4f} - {max(by_size):.4f})"
            f"   {np.mean([t.wrong.mean() for t in of_d]):9.2%}"
            f"   {np.mean([t.exact_error for t in of_d]):11.2%}"
            f"   {np.mean([t.later_switches.mean() for t in of_d]):18.3f}"
        )
    for attribute in ("switches", "later_switches"):
        error, count = pooled_error(done, attribute)
        parts = (f"{e:.2%} of {n}" for e, n in zip(error, count, strict=True))
        print(f"error of points with 0, 1, 2+ {attribute.replace('_', ' ')}:", *parts, sep="  ")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "path", nargs="?", type=Path, default=Path("out/ncut_two_gaussians.png")
    )
    parser.add_argument("--repeats", type=int, default=2, help="draws for each d and size")
    arguments = parser.parse_args()
    done = list(trials(arguments.repeats))
    print_table(done)
    arguments.path.parent.mkdir(parents=True, exist_ok=True)
    draw(done).savefig(arguments.path, dpi=160)
    print(f"figure: {arguments.path}")


if __name__ == "__main__":
    main()
