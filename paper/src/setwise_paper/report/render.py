"""A study as one HTML file that needs nothing outside it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from setwise.report.parts import render_page
from setwise_paper.accuracy import accuracy, agreement, p_text, seconds, signed
from setwise_paper.kinds.base import Section
from setwise_paper.report.parts import Pictures, at_a_glance
from setwise_paper.spec import Data
from setwise_paper.study import StudyResult, shipped_studies
from setwise_paper.support import write_whole


def render(result: StudyResult, folder: Path | None = None) -> str:
    """A study as one HTML page, with its pictures, styles and script inside."""
    views = _views(result, folder)
    return render_page(
        "report.html.jinja",
        "setwise_paper",
        filters=_FILTERS,
        result=result,
        study=result.study,
        facts=at_a_glance(result),
        views=views,
        pages=[page for view in views for page in view.pages],
        command=f"setwise reproduce {_study_name(result)}",
    )


def write_report(
    result: StudyResult, path: str | os.PathLike[str], folder: Path | None = None
) -> Path:
    """Write the page of :func:`render` to a file: all of it, or nothing."""
    return write_whole(Path(path), render(result, folder))


@dataclass(frozen=True)
class SectionView:
    """One section of a report: its number from 1, and what its template asks for."""

    number: int
    section: Section
    extra: Mapping[str, Any]

    @property
    def id(self) -> str:
        """Its anchor."""
        return f"section-{self.name}"

    @property
    def name(self) -> str:
        """What anchors of it end in."""
        return self.section.experiment.name

    @property
    def pages(self) -> Sequence[Any]:
        """Pages of wrong probes that belong to it."""
        pages: Sequence[Any] = self.extra.get("pages", ())
        return pages


def _views(result: StudyResult, folder: Path | None) -> list[SectionView]:
    """One view per section; data is read only where images are shown, and once."""
    known: dict[str, Pictures] = {}

    def pictures_of(data: Data) -> Pictures:
        key = repr(data)
        if key not in known:
            known[key] = Pictures.of(data, folder)
        return known[key]

    return [
        SectionView(number, section, section.for_template(pictures_of))
        for number, section in enumerate(result.sections, start=1)
    ]


def _paragraphs(text: str) -> list[str]:
    """Text between empty lines."""
    return [part for part in (one.strip() for one in text.split("\n\n")) if part]


def _study_name(result: StudyResult) -> str:
    """What ``setwise reproduce`` calls the study."""
    named = (name for name, one in shipped_studies().items() if one.title == result.study.title)
    return next(named, "STUDY.toml")


_FILTERS: dict[str, Callable[..., Any]] = {
    "accuracy": accuracy,
    "signed": signed,
    "seconds": seconds,
    "agreement": agreement,
    "p_value": p_text,
    "paragraphs": _paragraphs,
}
