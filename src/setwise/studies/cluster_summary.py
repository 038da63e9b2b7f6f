"""What came out of the experiments that cluster points: Figs. 1, 3 and 4."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from setwise.studies.items import GaussiansItem
from setwise.studies.plan import Finished, Result
from setwise.studies.sections import (
    CloudRow,
    DistributionExample,
    DistributionRow,
    DistributionsSection,
    GaussiansSection,
    SwitchRow,
)
from setwise.studies.spec import Distributions, Gaussians

__all__ = ["summarise_distributions", "summarise_gaussians"]


def _median(values: Iterable[float | None]) -> float | None:
    """The median where None stands for infinity."""
    found = float(np.median([np.inf if value is None else value for value in values]))
    return found if np.isfinite(found) else None


def summarise_distributions(
    experiment: Distributions, finished: Sequence[Finished]
) -> DistributionsSection:
    """Distances and SNR of each clusterer over all draws, and its first draw to look at."""
    rows, examples = [], []
    for clusterer in experiment.clusterers:
        mine = [result for one, result in finished if one.label == clusterer]
        if not mine:
            continue
        published = experiment.published.get(clusterer)
        rows.append(
            DistributionRow(
                clusterer=clusterer,
                accuracy=100.0 * float(np.mean([r["answer"] == r["truth"] for r in mine])),
                median_snr=_median(r["snr"] for r in mine),
                median_distance=_median(
                    min((d for d in r["distances"] if d is not None), default=None)
                    for r in mine
                ),
                mean_clusters=float(np.mean([r["n_clusters"] for r in mine])),
                n_draws=len(mine),
                published_snr=None if published is None else published.snr,
                published_distance=None if published is None else published.distance,
            )
        )
        examples.append(_example(clusterer, mine[0]))
    return DistributionsSection(experiment, tuple(rows), tuple(examples))


def _example(clusterer: str, result: Result) -> DistributionExample:
    return DistributionExample(
        clusterer=clusterer,
        classes=tuple(result["classes"]),
        truth=result["truth"],
        answer=result["answer"],
        table=tuple(map(tuple, result["table"])),
        distances=tuple(result["distances"]),
        snr=result["snr"],
        points=tuple((x, y, z) for x, y, z in result["points"]),
        point_rows=tuple(result["point_rows"]),
        point_clusters=tuple(result["point_clusters"]),
    )


def summarise_gaussians(
    experiment: Gaussians, finished: Sequence[Finished]
) -> GaussiansSection:
    """Connectivity, errors and switches by distance and size; errors by switches over all."""
    by_place: dict[tuple[float, int], list[Result]] = {}
    for one, result in finished:
        if isinstance(one.item, GaussiansItem):
            by_place.setdefault((one.item.distance, one.item.size), []).append(result)
    results = [result for _, result in finished]
    return GaussiansSection(
        experiment,
        tuple(_cloud_row(*place, by_place[place]) for place in sorted(by_place)),
        _switch_rows(results, ""),
        _switch_rows(results, "_from_start"),
        _cloud_example(by_place),
    )


def _cloud_row(distance: float, size: int, results: Sequence[Result]) -> CloudRow:
    mean = {
        what: float(np.mean([result[what] for result in results]))
        for what in ("connectivity", "error", "exact_error", "switches")
    }
    return CloudRow(
        distance=distance,
        size=size,
        connectivity=mean["connectivity"],
        error=100.0 * mean["error"],
        exact_error=100.0 * mean["exact_error"],
        switches=mean["switches"],
    )


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
    shown = {
        place: result
        for place, results in by_place.items()
        for result in results
        if "points" in result
    }
    if not shown:
        return {}
    distances = sorted({distance for distance, _ in shown})
    distance = distances[len(distances) // 2]
    size = min((size for d, size in shown if d == distance), key=lambda size: abs(size - 200))
    example = shown[distance, size]
    return {
        "distance": distance,
        "size": size,
        **{what: example[what] for what in ("points", "is_second", "is_wrong")},
    }
