"""NCut on two clouds of normal points: connectivity, errors and sign switches (Fig. 4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from setwise.cut import dfvc, exact_fiedler
from setwise.graph import GaussianGraph
from setwise_paper.figures.gaussians import plot_by_size, plot_clouds, plot_switch_errors
from setwise_paper.figures.svg import picture
from setwise_paper.kinds.base import Experiment, PicturesOf, Section, Words
from setwise_paper.plan import Finished, Planned, Planner, Result
from setwise_paper.spec import Count
from setwise_paper.support import BoolArray, IntArray, seed_for
from setwise_paper.worker import Item

MOST_SWITCHES = 2  # points that switched more often are counted with these
MEASURES = ("connectivity", "error", "exact_error", "switches")


class Gaussians(Experiment):
    """Two clouds of normal points, at several distances and of several sizes."""

    kind: Literal["gaussians"] = "gaussians"
    distances: Annotated[tuple[Annotated[float, Field(ge=0)], ...], Field(min_length=1)] = (
        2,
        3,
        4,
        5,
        6,
        7,
    )
    sizes: Annotated[tuple[Count, ...], Field(min_length=1)] = tuple(range(100, 501, 25))
    variance: Annotated[float, Field(gt=0)] = 2.0
    n_draws: Count = 2

    def plan(self, planner: Planner) -> Iterator[Planned]:
        """An item for every draw, distance and size."""
        for draw, seed, distance, size in product(
            range(self.n_draws), self.seeds, self.distances, self.sizes
        ):
            what: dict[str, Any] = {"distance": distance, "size": size}
            item = GaussiansItem(variance=self.variance, draw=draw, seed=seed, **what)
            yield planner.planned(item, f"{distance:g}", draw)

    def summarise(self, finished: Sequence[Finished]) -> GaussiansSection:
        """Measures by distance and size; errors by switches over all."""
        by_place: dict[tuple[float, int], list[Result]] = {}
        for planned, result in finished:
            if isinstance(planned.item, GaussiansItem):
                place = planned.item.distance, planned.item.size
                by_place.setdefault(place, []).append(result)
        results = [result for _, result in finished]
        return GaussiansSection(
            self,
            tuple(_cloud_row(*place, by_place[place]) for place in sorted(by_place)),
            _switch_rows(results, ""),
            _switch_rows(results, "_from_start"),
            _cloud_example(by_place),
        )


class GaussiansItem(Item):
    """One cut of one draw of two clouds."""

    kind: Literal["gaussians"] = "gaussians"
    distance: float
    size: int
    variance: float
    draw: int
    seed: int

    def perform(self, folder: Path | None = None) -> dict[str, Any]:
        """Draw two clouds, cut their graph by Algorithm 3 and exactly, and count mistakes."""
        points = _points(self)
        adjacency = GaussianGraph(sigma=self.variance).adjacency(points).toarray()
        is_second = np.arange(2 * self.size) >= self.size
        cut = dfvc(adjacency)
        is_wrong = _align(cut.vector >= 0, is_second) != is_second
        exact = _align(exact_fiedler(adjacency).vector >= 0, is_second) != is_second
        # The start vector knows nothing: half of the points leave its sign at once.
        at_first = dfvc(adjacency, max_changes=-1.0, max_iter=1).sign_switches
        later = cut.sign_switches - at_first
        counts, errors = _by_switches(later, is_wrong)
        all_counts, all_errors = _by_switches(cut.sign_switches, is_wrong)
        result: dict[str, Any] = {
            **{"connectivity": float(cut.connectivity), "error": float(is_wrong.mean())},
            **{"exact_error": float(exact.mean()), "switches": float(later.mean())},
            **{"counts": counts, "errors": errors},
            **{"counts_from_start": all_counts, "errors_from_start": all_errors},
        }
        if self.draw == 0:
            result["points"] = points[:2].T.round(3).tolist()
            result |= {"is_second": is_second.tolist(), "is_wrong": is_wrong.tolist()}
        return result


def _points(item: GaussiansItem) -> Any:
    """All points as columns, the first cloud first."""
    distance, variance = item.distance, item.variance
    what = (f"{distance:g}", item.size, f"{variance:g}", item.draw)
    seed = seed_for(item.seed, "gaussians", *what)
    normal = np.random.default_rng(seed).standard_normal((3, 2 * item.size))
    points = np.sqrt(variance) * normal
    points[0, item.size :] += distance
    return points


def _align(side: BoolArray, is_second: BoolArray) -> BoolArray:
    """Sides named after the cloud they hold most of."""
    return side if np.mean(side == is_second) >= 0.5 else ~side


def _by_switches(switches: IntArray, is_wrong: BoolArray) -> tuple[list[int], list[float]]:
    """How many points switched 0, 1, and 2 or more times, and which share of them is wrong."""
    times = np.minimum(switches, MOST_SWITCHES)
    counts = np.bincount(times, minlength=MOST_SWITCHES + 1)
    n_wrong = np.bincount(times, weights=is_wrong, minlength=MOST_SWITCHES + 1)
    return counts.tolist(), (n_wrong / np.maximum(counts, 1)).tolist()


def _cloud_row(distance: float, size: int, results: Sequence[Result]) -> CloudRow:
    mean = {what: float(np.mean([result[what] for result in results])) for what in MEASURES}
    percent = {what: 100.0 * mean[what] for what in ("error", "exact_error")}
    return CloudRow(distance, size, **(mean | percent))


def _switch_rows(results: Sequence[Result], kind: str) -> tuple[SwitchRow, ...]:
    """Points of all draws together, by how often they switched."""
    counts = np.array([result[f"counts{kind}"] for result in results])
    wrong = (counts * np.array([result[f"errors{kind}"] for result in results])).sum(axis=0)
    points = counts.sum(axis=0)
    return tuple(
        SwitchRow(times, int(n_points), float(100.0 * n_wrong / max(n_points, 1)))
        for times, (n_points, n_wrong) in enumerate(zip(points, wrong, strict=True))
    )


def _cloud_example(by_place: Mapping[tuple[float, int], Sequence[Result]]) -> dict[str, Any]:
    """The draw to look at: the middle distance, and a size that can be seen through."""
    every = ((place, one) for place, results in by_place.items() for one in results)
    shown = {place: result for place, result in every if "points" in result}
    if not shown:
        return {}
    distances = sorted({distance for distance, _ in shown})
    distance = distances[len(distances) // 2]
    size = min((size for d, size in shown if d == distance), key=lambda size: abs(size - 200))
    example = shown[distance, size]
    points = {what: example[what] for what in ("points", "is_second", "is_wrong")}
    return {"distance": distance, "size": size, **points}


@dataclass(frozen=True)
class CloudRow:
    """All draws of two clouds at one distance and size; shares in percent."""

    distance: float
    size: int
    connectivity: float
    error: float
    exact_error: float
    switches: float


@dataclass(frozen=True)
class SwitchRow:
    """Points that switched sides equally often; the last row is *so often or more*."""

    switches: int
    n_points: int
    error: float


@dataclass(frozen=True)
class GaussiansSection(Section):
    """NCut on two clouds."""

    experiment: Gaussians
    rows: tuple[CloudRow, ...]
    switches: tuple[SwitchRow, ...]
    switches_from_start: tuple[SwitchRow, ...]
    example: Mapping[str, Any]

    template: ClassVar[str] = "sections/gaussians.html.jinja"
    pictured: ClassVar[tuple[str, ...]] = ("example",)

    def by_distance(self) -> list[dict[str, float]]:
        """The mean of each measure over all sizes, and the range of the connectivity."""
        content = []
        for distance in sorted({row.distance for row in self.rows}):
            rows = [asdict(row) for row in self.rows if row.distance == distance]
            means = {name: sum(row[name] for row in rows) / len(rows) for name in MEASURES}
            connectivities = [row["connectivity"] for row in rows]
            ends = {"lowest": min(connectivities), "highest": max(connectivities)}
            content.append({"distance": distance, **means, **ends})
        return content

    def tabulate(self) -> Iterator[Words]:
        """By distance, and by how often points switched sides."""
        columns = ("distance", "connectivity (by size)", "error", "exact error", "switches")
        rows = [
            (
                "{distance:g}".format(**row),
                "{connectivity:.4f} ({lowest:.4f} - {highest:.4f})".format(**row),
                "{error:.2f} %".format(**row),
                "{exact_error:.2f} %".format(**row),
                "{switches:.3f}".format(**row),
            )
            for row in self.by_distance()
        ]
        yield self.experiment.title, columns, rows
        by_switches = [
            (
                f"{row.switches}{' or more' if row is self.switches[-1] else ''}",
                f"{row.n_points}",
                f"{row.error:.2f} %",
            )
            for row in self.switches
        ]
        yield "Error of points by sign switches", ("switches", "points", "error"), by_switches

    def for_template(self, pictures_of: PicturesOf) -> Mapping[str, Any]:
        """The panels of the figure, and the table by distance."""
        return {
            "panels": self.panels(),
            "by_distance": self.by_distance(),
            "sizes": sorted({row.size for row in self.rows}),
        }

    def panels(self) -> list[tuple[Any, str]]:
        """The panels of Fig. 4, each with its caption."""
        example, from_start = self.example, self.switches_from_start
        panels = []
        if example and len(example["points"]):
            shown = [example[name] for name in ("points", "is_second", "is_wrong")]
            panels.append(
                (
                    "Two clouds of points, and those on the wrong side of the cut",
                    lambda axes: plot_clouds(axes, *shown),
                    f"One draw: {example['size']} points each, {example['distance']:g} apart",
                )
            )
        if self.rows:
            panels += [self._by_size(*one) for one in PANELS_BY_SIZE]
        if self.switches and len(self.switches) == len(from_start):
            panels.append(
                (
                    "Errors of points by how often they switched sides",
                    lambda axes: plot_switch_errors(axes, self.switches, from_start),
                    "Error of the points that switched sides so often",
                )
            )
        return [(picture((4.8, 3.2), label, draw), text) for label, draw, text in panels]

    def _by_size(self, measure: str, label: str, caption: str) -> tuple[str, Any, str]:
        return (
            f"{label}, by the size of the clouds, one line per distance",
            lambda axes: plot_by_size(axes, self.rows, measure, label),
            caption,
        )


# Measure, what its axis says, and the caption.
PANELS_BY_SIZE = (
    ("connectivity", "second smallest eigenvalue", "Connectivity, by size and distance"),
    ("error", "points on the wrong side (%)", "Points that Algorithm 3 puts wrong"),
    ("switches", "sign switches per point", "How often signs switch before they settle"),
)
