"""What the templates of the sections are given: numbers, pictures and anchors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from setwise.studies.report import figures
from setwise.studies.report.confusion import confusion_table
from setwise.studies.report.pictures import Pictures
from setwise.studies.report.probe_page import ProbePage, probe_pages
from setwise.studies.sections import (
    AccuracyRow,
    CloudRow,
    Curve,
    DistributionsSection,
    FusionSection,
    GaussiansSection,
    MethodsSection,
    RobustnessSection,
    Section,
    StudyResult,
)
from setwise.studies.spec import Data

__all__ = ["SectionView", "section_views"]


@dataclass(frozen=True)
class SectionView:
    """One section of a report.

    Attributes
    ----------
    number : int
        From 1.
    section : Section
        The numbers.
    extra : dict
        What else its template asks for.
    pages : tuple of ProbePage
        Pages of wrong probes that belong to it.
    """

    number: int
    section: Section
    extra: Mapping[str, Any]
    pages: tuple[ProbePage, ...] = ()

    @property
    def id(self) -> str:
        """Its anchor."""
        return f"section-{self.section.experiment.name}"

    @property
    def name(self) -> str:
        """What other anchors of it end in."""
        return self.section.experiment.name

    @property
    def template(self) -> str:
        """Which template shows it."""
        return f"sections/{self.section.experiment.kind}.html.jinja"


def section_views(result: StudyResult, folder: Path | None) -> tuple[SectionView, ...]:
    """One view a section, in order; data is read only where images are shown, and once.

    Parameters
    ----------
    result : StudyResult
        What to show.
    folder : Path, optional
        Where the datasets are.
    """
    known: dict[str, Pictures] = {}

    def pictures_of(data: Data) -> Pictures:
        key = repr(data)
        if key not in known:
            known[key] = Pictures.of(data, folder)
        return known[key]

    return tuple(
        _view(number, section, pictures_of)
        for number, section in enumerate(result.sections, start=1)
    )


def _view(
    number: int, section: Section, pictures_of: Callable[[Data], Pictures]
) -> SectionView:
    if isinstance(section, MethodsSection):
        return _methods(number, section, pictures_of)
    if isinstance(section, FusionSection):
        extra: Mapping[str, Any] = {"curves": figures.dimensions(section)}
    elif isinstance(section, RobustnessSection):
        extra = _robustness(section)
    elif isinstance(section, DistributionsSection):
        extra = _distributions(section)
    else:
        extra = _gaussians(section)
    return SectionView(number, section, extra)


def _methods(
    number: int, section: MethodsSection, pictures_of: Callable[[Data], Pictures]
) -> SectionView:
    experiment, rows = section.experiment, section.rows
    shows_sets = bool(section.confusion or section.wrong)
    pictures = pictures_of(experiment.data) if shows_sets else Pictures.none()
    pages = probe_pages(experiment.name, section.wrong, pictures)
    published = [row.published for row in rows if row.published is not None]
    extra = {
        "has_means": any(one.mean is not None for one in published),
        "has_seconds": any(one.seconds is not None for one in published),
        "has_fit": any(row.fit_seconds is not None for row in rows),
        "ratios": _ratios(rows) if experiment.is_timed else [],
        "has_times": any(row.probe_seconds is not None for row in rows),
        # A few probes tell times, and next to nothing of accuracy.
        "time_figure": "" if experiment.is_timed else figures.accuracy_by_time(section),
        "confusion": (
            None
            if section.confusion is None
            else confusion_table(section.confusion, pictures.of_classes)
        ),
        "cards": _cards(section, pages, pictures),
        "classes_of_truth": sorted({one.truth for one in section.wrong}),
        "classes_of_answer": sorted({one.answer for one in section.wrong}),
        "why_no_images": pictures.why_none,
    }
    return SectionView(number, section, extra, pages)


def _ratios(rows: Sequence[AccuracyRow]) -> list[tuple[float | None, float | None]]:
    """Times over those of the first row, ours and the paper's: what machines agree in."""
    ours = [row.probe_seconds for row in rows]
    paper = [None if row.published is None else row.published.seconds for row in rows]
    return [
        (_ratio(mine, ours[0]), _ratio(theirs, paper[0]))
        for mine, theirs in zip(ours, paper, strict=True)
    ]


def _ratio(value: float | None, to: float | None) -> float | None:
    return None if value is None or not to else value / to


def _cards(
    section: MethodsSection, pages: Sequence[ProbePage], pictures: Pictures
) -> list[Mapping[str, Any]]:
    """The wrong probes, each with its page where it is explained."""
    page_of = {id(page.wrong): page for page in pages}
    return [
        {
            "wrong": one,
            "page": page_of.get(id(one)),
            "thumbnail": pictures.one(one.index, pictures.size(one.index) // 2),
        }
        for one in section.wrong
    ]


def _robustness(section: RobustnessSection) -> Mapping[str, Any]:
    sides: tuple[tuple[Literal["gallery", "probes"], str, Any, Any], ...] = (
        ("gallery", "Outliers in the gallery", section.gallery, section.gallery_share),
        ("probes", "Outliers in the probes", section.probes, section.probes_share),
    )
    return {
        "sides": [
            {
                "title": title,
                "curves": curves,
                "columns": _columns(curves, shares),
                "figure": figures.outliers(section, side),
                "paper": dict(figures.published_outliers(section, side)),
            }
            for side, title, curves, shares in sides
            if curves
        ]
    }


def _columns(curves: Sequence[Curve], shares: Sequence[float]) -> list[tuple[float, float]]:
    """Images taken of each set, and outliers in percent; every ``x`` that any curve has."""
    at = sorted({x for curve in curves for x in curve.x})
    return [(x, float(share)) for x, share in zip(at, shares, strict=False)]


def _distributions(section: DistributionsSection) -> Mapping[str, Any]:
    return {
        "distances": figures.distances(section),
        "examples": [
            {
                "example": example,
                "points": figures.points(example),
                "distribution": figures.distributions(example),
                "nearest_first": _nearest_first(example.classes, example.distances),
            }
            for example in section.examples
        ],
    }


def _nearest_first(
    classes: Sequence[str], distances: Sequence[float | None]
) -> list[tuple[str, float | None]]:
    pairs = list(zip(classes, distances, strict=True))
    return sorted(pairs, key=lambda pair: (pair[1] is None, pair[1]))


def _gaussians(section: GaussiansSection) -> Mapping[str, Any]:
    return {
        "panels": figures.gaussians(section),
        "by_distance": _by_distance(section.rows),
        "sizes": sorted({row.size for row in section.rows}),
    }


def _by_distance(rows: Sequence[CloudRow]) -> list[dict[str, float]]:
    """The mean over all sizes, for each distance."""
    found = []
    for distance in sorted({row.distance for row in rows}):
        same = [row for row in rows if row.distance == distance]
        means = {
            name: float(np.mean([getattr(row, name) for row in same]))
            for name in ("connectivity", "error", "exact_error", "switches")
        }
        found.append({"distance": distance, **means})
    return found
