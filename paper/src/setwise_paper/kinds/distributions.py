"""Class-cluster distributions, distances and SNR of clusterers (Figs. 1 and 3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import product
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field
from scipy import linalg

from setwise.classify import (
    bhattacharyya,
    class_cluster_distributions,
    class_cluster_histogram,
    signal_to_noise,
)
from setwise.cluster import PROBE, Clusterer
from setwise.cut import CutRule
from setwise.errors import reject
from setwise.evaluation.leakage import check_leakage
from setwise.features import unit_rows
from setwise.graph import LassoGraph
from setwise.sets import SetBatch
from setwise_paper.data import StudyData, read_data
from setwise_paper.figures.clusters import plot_distances, plot_distributions, plot_points
from setwise_paper.figures.svg import picture
from setwise_paper.kinds.base import Experiment, PicturesOf, Section, Words
from setwise_paper.plan import Finished, Planned, Planner, Result
from setwise_paper.spec import Count, Data, Strict
from setwise_paper.support import FloatArray, IntArray, check_known, seed_for
from setwise_paper.worker import Item

# What the paper does to the columns of its sets is done to the images themselves here.
ALPHA, CUT = 0.01, "paper"


class PublishedSignal(Strict):
    """What the paper reports for one clusterer: its SNR, and the smallest distance."""

    snr: float | None = None
    distance: float | None = None


class Distributions(Experiment):
    """Several clusterers on the same few sets, image by image."""

    kind: Literal["distributions"] = "distributions"
    data: Data
    clusterers: Annotated[tuple[str, ...], Field(min_length=1)]
    n_classes: Annotated[int, Field(ge=2)] = 5
    n_draws: Count = 10
    published: dict[str, PublishedSignal] = Field(default_factory=dict)

    def plan(self, planner: Planner) -> Iterator[Planned]:
        """Every clusterer on every draw."""
        for draw, seed, clusterer in product(range(self.n_draws), self.seeds, self.clusterers):
            same: dict[str, Any] = {"data": self.data, "n_classes": self.n_classes}
            item = DistributionsItem(clusterer=clusterer, draw=draw, seed=seed, **same)
            yield planner.planned(item, clusterer, draw, self.data)

    def summarise(self, finished: Sequence[Finished]) -> DistributionsSection:
        """Distances and SNR of each clusterer over all draws, and its first draw to look at."""
        by_name: dict[str, list[Result]] = {}
        for planned, result in finished:
            by_name.setdefault(planned.label, []).append(result)
        names = [name for name in self.clusterers if name in by_name]
        return DistributionsSection(
            self,
            tuple(_row(name, by_name[name], self.published.get(name)) for name in names),
            tuple(DistributionExample.of(name, by_name[name][0]) for name in names),
        )


class DistributionsItem(Item):
    """One clusterer on one draw of a few sets, image by image."""

    kind: Literal["distributions"] = "distributions"
    data: Data
    clusterer: str
    n_classes: int
    draw: int
    seed: int

    def perform(self, folder: Path | None = None) -> dict[str, Any]:
        """Cluster the images of one set of each of some classes, and of a probe, together."""
        check_known("distributions", "clusterer", self.clusterer, Clusterer.known())
        data = read_data(self.data, folder)
        drawn, truth = _draw_sets(self, data)
        images = data.sets if data.images is None else data.images
        places = np.arange(len(drawn))
        where = f"{self.data.name}, draw {self.draw}"
        check_leakage(images[drawn], places[:-1], places[-1:], where=where)
        sets = data.sets[drawn]
        units = unit_rows(sets.vectors)
        clusters = _clustered(self, sets, units)
        rows = np.repeat(np.arange(len(drawn)), sets.sizes)
        histogram = class_cluster_histogram(rows, clusters, len(drawn))
        table = class_cluster_distributions(histogram)
        distances = bhattacharyya(table[:-1], table[-1])
        classes = [str(label) for label in data.labels[drawn[:-1]]]
        is_reached = bool(np.isfinite(distances).any())
        return {
            "classes": classes,
            "truth": truth,
            "answer": classes[int(distances.argmin())] if is_reached else "",
            "table": table.round(6).tolist(),
            "distances": [_finite(distance) for distance in distances],
            "snr": _finite(signal_to_noise(distances)),
            "points": _principal(units).round(4).tolist(),
            "point_rows": rows.tolist(),
            "point_clusters": clusters.tolist(),
            "n_clusters": table.shape[1],
        }


def _draw_sets(item: DistributionsItem, data: StudyData) -> tuple[IntArray, str]:
    """A random set of each of some random classes and, last, another set of one of them."""
    rng = np.random.default_rng(seed_for(item.seed, item.data.name, "draw", item.draw))
    classes, counts = np.unique(data.labels, return_counts=True)
    with_two = classes[counts > 1]
    if len(classes) < item.n_classes or len(with_two) == 0:
        reject(
            f"distributions: {item.data.name} has {len(classes)} classes, {len(with_two)} of "
            f"them with two sets or more. Expected at least {item.n_classes}, and 1 for the "
            "probe: ask for fewer classes, or for other data."
        )
    truth = rng.choice(with_two)
    others = rng.choice(classes[classes != truth], item.n_classes - 1, replace=False)
    # Where classes tie, the first is the answer: the right one must not be first each time.
    chosen = rng.permutation([truth, *others])
    sets = [int(rng.choice(np.flatnonzero(data.labels == label))) for label in chosen]
    of_truth = np.flatnonzero(data.labels == truth)
    sets.append(int(rng.choice(of_truth[~np.isin(of_truth, sets)])))
    return np.array(sets), str(truth)


def _clustered(item: DistributionsItem, sets: SetBatch, units: FloatArray) -> IntArray:
    """The cluster of each image, where the images themselves are the columns of CVC."""
    first = int(sets.offsets[-2])  # of the probe's images
    graph = LassoGraph(alpha=ALPHA).solve(units[:first].T)
    clusterer = Clusterer.of(item.clusterer, "distributions")
    seed = seed_for(item.seed, item.data.name, "clusterer", item.clusterer, item.draw)
    clustering = clusterer.start(
        graph.insert(units[first:].T),
        lambda: units.T,
        cut=CutRule.of(CUT, "distributions"),
        seed=seed,
    )
    classes = np.repeat([*range(item.n_classes), PROBE], sets.sizes)
    return np.asarray(clustering.under(classes).labels)


def _principal(units: FloatArray) -> FloatArray:
    """The three largest principal components of each image; zeros where there are fewer."""
    centred = units - units.mean(axis=0)
    U, s, _ = linalg.svd(centred, full_matrices=False)
    points = (U * s)[:, :3]
    # The sign of a component is arbitrary: its largest entry is made positive.
    largest = np.abs(points).argmax(axis=0)
    points = points * np.where(points[largest, np.arange(points.shape[1])] < 0, -1.0, 1.0)
    return np.pad(points, ((0, 0), (0, 3 - points.shape[1])))


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _median(values: Iterable[float | None]) -> float | None:
    """The median where None stands for infinity."""
    return _finite(np.median([np.inf if value is None else value for value in values]))


def _row(
    clusterer: str, results: Sequence[Result], published: PublishedSignal | None
) -> DistributionRow:
    nearest = (min((d for d in r["distances"] if d is not None), default=None) for r in results)
    return DistributionRow(
        clusterer=clusterer,
        accuracy=100.0 * float(np.mean([r["answer"] == r["truth"] for r in results])),
        median_snr=_median(r["snr"] for r in results),
        median_distance=_median(nearest),
        mean_clusters=float(np.mean([r["n_clusters"] for r in results])),
        n_draws=len(results),
        published_snr=None if published is None else published.snr,
        published_distance=None if published is None else published.distance,
    )


@dataclass(frozen=True)
class DistributionExample:
    """One clusterer on the draw that is shown."""

    clusterer: str
    classes: tuple[str, ...]
    truth: str
    answer: str
    table: tuple[tuple[float, ...], ...]
    distances: tuple[float | None, ...]
    snr: float | None
    points: tuple[tuple[float, float, float], ...]
    point_rows: tuple[int, ...]
    point_clusters: tuple[int, ...]

    @classmethod
    def of(cls, clusterer: str, result: Result) -> DistributionExample:
        """The example that an item found."""
        names = [one.name for one in fields(cls) if one.name != "clusterer"]
        return cls(clusterer, **{name: _tuples(result[name]) for name in names})

    @property
    def row_names(self) -> list[str]:
        """The classes, and a name for the probe that no class has."""
        probe = "probe"
        while probe in self.classes:
            probe += " "
        return [*self.classes, probe]

    @property
    def nearest_first(self) -> list[tuple[str, float | None]]:
        """The classes and their distances, in the order of these."""
        pairs = list(zip(self.classes, self.distances, strict=True))
        return sorted(pairs, key=lambda pair: (pair[1] is None, pair[1]))

    def draw_points(self) -> Any:
        """The images in the plane, by set and cluster."""
        names = self.row_names
        return picture(
            (4.8, 3.5),
            f"Images by their principal components, clustered by {self.clusterer}",
            lambda axes: plot_points(
                axes,
                self.points,
                self.point_clusters,
                [names[row] for row in self.point_rows],
                probe=names[-1] if len(names) - 1 in self.point_rows else None,
            ),
            is_drawn=bool(self.points),
        )

    def draw_distribution(self) -> Any:
        """How the images of each class, and of the probe, spread over the clusters."""
        return picture(
            (4.8, 0.32 * len(self.table) + 1.0),
            f"Shares of each class in the clusters of {self.clusterer}",
            lambda axes: plot_distributions(axes, self.table, self.row_names),
            is_drawn=bool(self.table),
        )


@dataclass(frozen=True)
class DistributionRow:
    """One clusterer over all draws."""

    clusterer: str
    accuracy: float
    median_snr: float | None
    median_distance: float | None
    mean_clusters: float
    n_draws: int
    published_snr: float | None = None
    published_distance: float | None = None


@dataclass(frozen=True)
class DistributionsSection(Section):
    """Several clusterers: all of their draws in numbers, and one draw to look at."""

    experiment: Distributions
    rows: tuple[DistributionRow, ...]
    examples: tuple[DistributionExample, ...]

    template: ClassVar[str] = "sections/distributions.html.jinja"
    pictured: ClassVar[tuple[str, ...]] = ("examples",)

    def tabulate(self) -> Iterator[Words]:
        """A row per clusterer."""
        columns = (
            *("clusterer", "right", "SNR", "paper's SNR"),
            *("distance", "paper's distance", "clusters"),
        )
        rows = [
            (
                row.clusterer,
                f"{row.accuracy:.0f} %",
                _signal(row.median_snr),
                "" if row.published_snr is None else f"{row.published_snr:.3g}",
                _signal(row.median_distance),
                "" if row.published_distance is None else f"{row.published_distance:.3g}",
                f"{row.mean_clusters:.1f}",
            )
            for row in self.rows
        ]
        title = f"{self.experiment.title}: medians over {self.experiment.n_draws} draws"
        yield title, columns, rows

    def for_template(self, pictures_of: PicturesOf) -> Mapping[str, Any]:
        """The figures."""
        return {"distances": self.draw_distances()}

    def draw_distances(self) -> Any:
        """Distances of the probe to each class, where all clusterers had the same sets."""
        examples = self.examples
        drawn = {(one.classes, one.truth) for one in examples}
        return picture(
            (8.2, 0.42 * len(examples[0].classes) + 1.4 if examples else 2.0),
            "Distance of the probe to each class, one colour per clusterer",
            lambda axes: plot_distances(
                axes,
                {one.clusterer: one.distances for one in examples},
                examples[0].classes,
                examples[0].truth,
            ),
            is_drawn=len(drawn) == 1,
        )


def _tuples(value: Any) -> Any:
    return tuple(_tuples(one) for one in value) if isinstance(value, list) else value


def _signal(value: float | None) -> str:
    return "∞" if value is None else f"{value:.3g}"
