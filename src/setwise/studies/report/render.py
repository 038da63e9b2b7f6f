"""One HTML file of a study: nothing outside it is needed to read it."""

from __future__ import annotations

import base64
import hashlib
import os
import tempfile
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from setwise._support.extras import require
from setwise.studies.catalogue import shipped_studies
from setwise.studies.report import numbers
from setwise.studies.report.glance import at_a_glance
from setwise.studies.report.views import section_views
from setwise.studies.sections import StudyResult

if TYPE_CHECKING:
    from jinja2 import Environment

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
    environment = _environment()
    files = resources.files("setwise.studies.report")
    style = files.joinpath("style.css").read_text(encoding="utf-8")
    script = files.joinpath("report.js").read_text(encoding="utf-8")
    views = section_views(result, folder)
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
    page = render(result, folder)
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{file.name}.", suffix=".tmp", dir=file.parent)
    unfinished = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(page)
        unfinished.chmod(0o644)  # temporary files are for their owner alone
        unfinished.replace(file)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    return file


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
