"""One HTML file of a study: nothing outside it is needed to read it."""

from __future__ import annotations

import base64
import hashlib
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setwise._support.extras import require
from setwise.errors import DataError
from setwise.studies.catalogue import shipped_studies
from setwise.studies.kinds.base import Section
from setwise.studies.report import numbers
from setwise.studies.report.glance import at_a_glance
from setwise.studies.report.pictures import Pictures
from setwise.studies.spec import Data
from setwise.studies.study import StudyResult

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["render", "write_report", "write_whole"]


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
    environment = _environment()
    files = resources.files("setwise.studies.report")
    style = files.joinpath("style.css").read_text(encoding="utf-8")
    script = files.joinpath("report.js").read_text(encoding="utf-8")
    views = _views(result, folder)
    return environment.get_template("report.html.jinja").render(
        result=result,
        study=result.study,
        facts=at_a_glance(result),
        views=views,
        pages=[page for view in views for page in view.pages],
        command=f"setwise reproduce {_study_name(result)}",
        style=style,
        script=script,
        script_hash=_hash_for_policy(script),
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


def write_whole(file: Path, text: str) -> Path:
    """Write a text file: all of it, or nothing.

    Raises
    ------
    DataError
        When it cannot be written, as on a full disk. What was there before is there still.
    """
    unfinished = None
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{file.name}.", suffix=".tmp", dir=file.parent)
        unfinished = Path(name)
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        unfinished.chmod(0o644)  # temporary files are for their owner alone
        unfinished.replace(file)
    except OSError as error:
        msg = (
            f"{file}: cannot be written: {error.strerror}. Expected a folder with room on its "
            "disk. Finished work is kept: make room, or name another folder, and run it again."
        )
        raise DataError(msg) from error
    finally:
        if unfinished is not None:
            unfinished.unlink(missing_ok=True)
    return file


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


def _environment() -> Environment:
    jinja2 = require("jinja2", "report")
    environment: Environment = jinja2.Environment(
        loader=jinja2.PackageLoader("setwise.studies.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        accuracy=numbers.accuracy,
        signed=numbers.signed,
        number=numbers.number,
        seconds=numbers.seconds,
        agreement=numbers.agreement,
        paragraphs=_paragraphs,
    )
    return environment


def _paragraphs(text: str) -> list[str]:
    """Text between empty lines."""
    return [part for part in (one.strip() for one in text.split("\n\n")) if part]


def _hash_for_policy(script: str) -> str:
    """By which the page's policy knows its one script, so that no other one runs."""
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return base64.b64encode(digest).decode("ascii")


def _study_name(result: StudyResult) -> str:
    """What ``setwise reproduce`` calls the study."""
    named = (name for name, one in shipped_studies().items() if one.title == result.study.title)
    return next(named, "STUDY.toml")
