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
from matplotlib.figure import Figure

from setwise.cut import dfvc, exact_fiedler
from setwise.datasets import make_gaussian_pair
from setwise.graph import GaussianGraph
from setwise.plots import new_figure, plot_by_size, plot_clouds, plot_switch_errors
from setwise.types import BoolArray, FloatArray, IntArray

VARIANCE = 2.0
DISTANCES = range(2, 8)
SIZES = range(100, 501, 25)  # points in a cloud
EXAMPLE = (5, 200)  # d and n of panel (a)

NOTE = """(b-d): d is the distance of the centres. Means over
draws. In (d) the switches away from the start
vector, about one for every other point, are not
counted. Numbers on the bars of (e) are points,
all draws together."""


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


@dataclass(frozen=True)
class CloudRow:
    """All draws at one distance and size."""

    distance: int
    size: int
    connectivity: float
    error: float
    switches: float


@dataclass(frozen=True)
class SwitchRow:
    """All points that switched sides equally often; the last row, so often or more."""

    switches: int
    n_points: int
    error: float


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


def cloud_row(done: list[Trial], d: int, n: int) -> CloudRow:
    """What the panels show of all draws at one distance and size; errors in percent."""
    here = [t for t in done if (t.d, t.n) == (d, n)]
    return CloudRow(
        distance=d,
        size=n,
        connectivity=np.mean([t.connectivity for t in here]),
        error=100 * np.mean([t.wrong.mean() for t in here]),
        switches=np.mean([t.later_switches.mean() for t in here]),
    )


def switch_rows(done: list[Trial], attribute: str) -> list[SwitchRow]:
    errors, counts = pooled_error(done, attribute)
    return [
        SwitchRow(*row) for row in zip(range(3), counts, 100 * np.array(errors), strict=True)
    ]


def draw(done: list[Trial]) -> Figure:
    figure = new_figure(11.5, 6.6)
    panels = figure.subplot_mosaic("abc;dek")
    shown = next(t for t in done if (t.d, t.n) == EXAMPLE)
    plot_clouds(panels["a"], shown.points.T, in_second(shown.n), shown.wrong)
    rows = [cloud_row(done, d, n) for d in DISTANCES for n in SIZES]
    plot_by_size(panels["b"], rows, "connectivity", "algebraic connectivity")
    plot_by_size(panels["c"], rows, "error", "error (%)")
    plot_by_size(panels["d"], rows, "switches", "sign switches per point")
    by_switches = (switch_rows(done, name) for name in ("later_switches", "switches"))
    plot_switch_errors(panels["e"], *by_switches)
    titles = {
        "a": f"Two clouds, d = {EXAMPLE[0]}, cut by DFVC",
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
    draw(done).savefig(arguments.path, dpi=160, facecolor="white")
    print(f"figure: {arguments.path}")


if __name__ == "__main__":
    main()
