"""The pictures of a report: each is drawn by :mod:`setwise.plots` and becomes inline SVG."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from setwise._support.extras import require
from setwise.plots.accuracy_time import plot_accuracy_time
from setwise.plots.clusters import plot_distances, plot_distributions, plot_points
from setwise.plots.dimensions import plot_dimensions
from setwise.plots.gaussians import plot_by_size, plot_clouds, plot_switch_errors
from setwise.plots.outliers import plot_outliers
from setwise.plots.style import new_figure
from setwise.studies.report.inline_svg import inline
from setwise.studies.sections import (
    AccuracyRow,
    DistributionExample,
    DistributionsSection,
    FusionSection,
    GaussiansSection,
    MethodsSection,
    RobustnessSection,
)

if TYPE_CHECKING:
    from markupsafe import Markup

__all__ = [
    "accuracy_by_time",
    "dimensions",
    "distances",
    "distributions",
    "gaussians",
    "outliers",
    "points",
    "published_outliers",
]


def dimensions(section: FusionSection) -> Markup:
    """Accuracy by the largest dimensionality that is fused."""
    curves = [curve for curve in section.curves if curve.x]
    return _picture(
        (8.2, 4.0),
        f"{section.experiment.title}: accuracy by the largest dimensionality that is fused",
        lambda axes: plot_dimensions(axes, curves, section.experiment.published),
        is_drawn=bool(curves),
    )


def accuracy_by_time(section: MethodsSection) -> Markup:
    """Accuracy against the time to judge a probe, for the methods that were timed."""
    rows = [row for row in section.rows if row.probe_seconds]
    height = min(max(3.2, 0.21 * len(rows) + 0.8), 8.0)
    return _picture(
        (8.2, height),
        f"{section.experiment.title}: accuracy against the time to judge a probe",
        lambda axes: plot_accuracy_time(axes, [_point(row) for row in rows]),
        is_drawn=len(rows) > 1,
    )


def _point(row: AccuracyRow) -> tuple[str, float, float, float, float]:
    seconds = row.probe_seconds or 0.0
    error = row.standard_error
    ends = max(row.mean - error, 0.0), min(row.mean + error, 100.0)
    return row.name, seconds, row.mean / 100, ends[0] / 100, ends[1] / 100


def outliers(section: RobustnessSection, side: Literal["gallery", "probes"]) -> Markup:
    """Accuracy by the number of outliers in the gallery or in the probes."""
    curves = [curve for curve in getattr(section, side) if curve.x]
    shares = getattr(section, f"{side}_share")
    fitting = shares if curves and len(shares) == len(curves[0].x) else None
    ours = [curve.name for curve in curves if curve.name.startswith("CVC")]
    as_in_paper = [name for name in ours if "paper" in name] or ours
    paper = {name: published_outliers(section, side) for name in as_in_paper[:1]}
    return _picture(
        (8.2, 3.8),
        f"{section.experiment.title}: accuracy by the number of outliers in the {side}",
        lambda axes: plot_outliers(
            axes, curves, fitting, published={name: at for name, at in paper.items() if at}
        ),
        is_drawn=bool(curves),
    )


def published_outliers(
    section: RobustnessSection, side: Literal["gallery", "probes"]
) -> list[tuple[float, float]]:
    """What the paper reports for CVC: numbers of images, and accuracies.

    They are published under the side and the number: ``"gallery 2"``.
    """
    at = sorted({x for curve in getattr(section, side) for x in curve.x})
    said = [(x, section.experiment.published.get(f"{side} {x:g}")) for x in at]
    return [(x, one.mean) for x, one in said if one is not None and one.mean is not None]


def points(example: DistributionExample) -> Markup:
    """Images of the example in the plane, by set and cluster."""
    names = _row_names(example)
    return _picture(
        (4.8, 3.5),
        f"Images by their principal components, clustered by {example.clusterer}",
        lambda axes: plot_points(
            axes,
            example.points,
            example.point_clusters,
            [names[row] for row in example.point_rows],
            probe=names[-1] if len(names) - 1 in example.point_rows else None,
        ),
        is_drawn=bool(example.points),
    )


def distributions(example: DistributionExample) -> Markup:
    """How the images of each class, and of the probe, spread over the clusters."""
    height = 0.32 * len(example.table) + 1.0
    return _picture(
        (4.8, height),
        f"Shares of each class in the clusters of {example.clusterer}",
        lambda axes: plot_distributions(axes, example.table, _row_names(example)),
        is_drawn=bool(example.table),
    )


def distances(section: DistributionsSection) -> Markup:
    """Distances of the probe to each class, where all clusterers had the same sets."""
    examples = section.examples
    drawn = {(one.classes, one.truth) for one in examples}
    return _picture(
        (8.2, 0.42 * len(examples[0].classes) + 1.4 if examples else 2.0),
        "Distance of the probe to each class, one colour a clusterer",
        lambda axes: plot_distances(
            axes,
            {one.clusterer: one.distances for one in examples},
            examples[0].classes,
            examples[0].truth,
        ),
        is_drawn=len(drawn) == 1,
    )


def _row_names(example: DistributionExample) -> list[str]:
    """The classes, and a name for the probe that no class has."""
    probe = "probe"
    while probe in example.classes:
        probe += " "
    return [*example.classes, probe]


def gaussians(section: GaussiansSection) -> list[tuple[Markup, str]]:
    """The panels of Fig. 4, each with its caption."""
    example, size = section.example, (4.8, 3.2)
    panels = [
        _picture(
            size,
            "Two clouds of points, and those on the wrong side of the cut",
            lambda axes: plot_clouds(
                axes, example["points"], example["is_second"], example["is_wrong"]
            ),
            is_drawn=bool(example) and len(example["points"]) > 0,
        )
    ]
    attributes = (
        ("connectivity", "second smallest eigenvalue"),
        ("error", "points on the wrong side (%)"),
        ("switches", "sign switches a point"),
    )
    for attribute, label in attributes:
        panels.append(_by_size(section, attribute, label))
    panels.append(
        _picture(
            size,
            "Errors of points by how often they switched sides",
            lambda axes: plot_switch_errors(
                axes, section.switches, section.switches_from_start
            ),
            is_drawn=bool(section.switches)
            and len(section.switches) == len(section.switches_from_start),
        )
    )
    where = f"{example['size']} points each, {example['distance']:g} apart" if example else ""
    captions = (
        f"One draw: {where}",
        "Connectivity of the graph, by size and distance of the clouds",
        "Points on the wrong side of Algorithm 3's cut",
        "How often signs switch before they settle",
        "Error of the points that switched sides so often",
    )
    return [(panel, text) for panel, text in zip(panels, captions, strict=True) if panel]


def _by_size(section: GaussiansSection, attribute: str, label: str) -> Markup:
    return _picture(
        (4.8, 3.2),
        f"{label}, by the size of the clouds, one line a distance",
        lambda axes: plot_by_size(axes, section.rows, attribute, label),
        is_drawn=bool(section.rows),
    )


def _picture(
    size: tuple[float, float], label: str, draw: Callable[[Any], Any], *, is_drawn: bool
) -> Markup:
    """What ``draw`` makes of empty axes, as SVG; nothing where there is nothing to draw."""
    markupsafe = require("markupsafe", "report")
    if not is_drawn:
        return markupsafe.Markup("")
    figure = new_figure(*size)
    draw(figure.add_subplot())
    return inline(figure, label)
