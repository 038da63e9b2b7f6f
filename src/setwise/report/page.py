"""One self-contained HTML file: nothing outside it is needed to read it."""

from __future__ import annotations

import base64
import hashlib
import os
import tempfile
from collections.abc import Callable, Mapping
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setwise._support.extras import require
from setwise.errors import DataError
from setwise.report.words import number

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["render_page", "write_whole"]

_HERE = "setwise.report"


def render_page(
    template: str,
    *packages: str,
    filters: Mapping[str, Callable[..., Any]] | None = None,
    styles: tuple[str, ...] = (),
    **content: Any,
) -> str:
    """A template as a page, with styles and script inside; its policy lets no other script run.

    Parameters
    ----------
    template : str
        Its name; it extends ``page.html.jinja``.
    *packages : str
        Packages that are asked for templates before this one is.
    filters : dict, optional
        More filters for the templates.
    styles : tuple of str
        More style sheets of this package, beside ``style.css``.
    **content
        What the template shows. Everything is escaped.
    """
    style = "\n".join(_text(name) for name in ("style.css", *styles))
    script = _text("report.js")
    return (
        _environment(packages, filters or {})
        .get_template(template)
        .render(style=style, script=script, script_hash=_hash_for_policy(script), **content)
    )


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


def _environment(
    packages: tuple[str, ...], filters: Mapping[str, Callable[..., Any]]
) -> Environment:
    jinja2 = require("jinja2", "report")
    environment: Environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(one) for one in (*packages, _HERE)]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update({"number": number, **filters})
    return environment


def _text(name: str) -> str:
    return resources.files(_HERE).joinpath(name).read_text(encoding="utf-8")


def _hash_for_policy(script: str) -> str:
    """By which the page's policy knows its one script, so that no other one runs."""
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return base64.b64encode(digest).decode("ascii")
