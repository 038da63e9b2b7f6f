"""One self-contained HTML file: nothing outside it is needed to read it."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping
from importlib import resources
from typing import TYPE_CHECKING, Any

from setwise._support.extras import require
from setwise.report.words import number

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["render_page"]

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
