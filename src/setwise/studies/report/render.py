"""One HTML file of a study: nothing outside it is needed to read it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from setwise._support.whole_file import write_whole
from setwise.report.album_page import render_page
from setwise.studies.catalogue import shipped_studies
from setwise.studies.kinds.base import Section
from setwise.studies.report import numbers
from setwise.studies.report.glance import at_a_glance
from setwise.studies.report.pictures import Pictures
from setwise.studies.spec import Data
from setwise.studies.study import StudyResult

__all__ = ["render", "write_report"]


def render(result: StudyResult, folder: Path | None = None) -> str:
    """A study as one HTML page, with its pictures, styles and script inside.

    Parameters
    ----------
    result : StudyResult
        What to show.
    folder : Path, optional
        Where the datasets are, for the images; they are looked for as
        :func:`setwise.io.datasets.load` does by default. Where they are not found, the page has
        none and says why.

    Returns
    -------
    str
        The page. It asks the network for nothing, and can be read without JavaScript.
    """
    views = _views(result, folder)
    return render_page(
        "report.html.jinja",
        "setwise.studies.report",
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
    """Write the page of :func:`render` to a file: all of it, or nothing.

    Parameters
    ----------
    result : StudyResult
        What to show.
    path : path
        Of the HTML file. Folders above it are made; a file that is there is replaced.
    folder : Path, optional
        Where the datasets are.

    Returns
    -------
    Path
        The file.
    """
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
    "accuracy": numbers.accuracy,
    "signed": numbers.signed,
    "seconds": numbers.seconds,
    "agreement": numbers.agreement,
    "paragraphs": _paragraphs,
}
