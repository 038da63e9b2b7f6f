"""A figure as SVG inside a page that may hold many: short, and with ids of its own."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from setwise._support.extras import require
from setwise.plots.style import new_figure
from setwise.plots.svg import svg

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.figure import Figure

__all__ = ["inline", "picture"]

# Only marks of paths are looked at: letters may hold anything but the sign that opens a tag.
_PATH = re.compile(r'<path d="[^"]*"')
_FINER = re.compile(r"(\.\d)\d+| (?= )")
_LONELY = re.compile(r"<g>(<path [^<>]*/>)</g>")
_ID = re.compile(r'(?: id="| href="#|url\(#)(?=s[0-9a-f]{12}-)')
_BETWEEN_TAGS = re.compile(r">\s+<")
_FIRST_TEXT = re.compile(r"<g>\s*<text|<text|</svg>")


def inline(figure: Figure, label: str, *, below_text: str = "") -> Markup:
    """A figure as SVG, with coordinates no finer than can be seen.

    Pictures with different labels share no id, even where they show the same.

    ``label`` says what the picture shows, for readers who cannot see it; ``below_text`` are
    more elements, drawn on all but the text.
    """
    markupsafe = require("markupsafe", "report")
    own = f"p{hashlib.sha256(label.encode()).hexdigest()[:8]}-"
    drawn = _BETWEEN_TAGS.sub("><", svg(figure, label))
    drawn = _ID.sub(lambda found: found.group() + own, drawn)
    drawn = _PATH.sub(lambda path: _FINER.sub(r"\1", path.group()), drawn)
    drawn = _LONELY.sub(r"\1", drawn)
    if below_text:
        drawn = _FIRST_TEXT.sub(lambda found: below_text + found.group(), drawn, count=1)
    return markupsafe.Markup(drawn)  # all text in it is escaped


def picture(
    size: tuple[float, float], label: str, draw: Callable[[Any], Any], *, is_drawn: bool = True
) -> Markup:
    """What ``draw`` makes of empty axes, as SVG; nothing where there is nothing to draw.

    Parameters
    ----------
    size : (float, float)
        Width and height in inches.
    label : str
        What the picture shows, for readers who cannot see it.
    draw : callable
        Given axes, it draws.
    is_drawn : bool, default=True
        Whether there is anything to draw.
    """
    if not is_drawn:
        markup: Markup = require("markupsafe", "report").Markup("")
        return markup
    figure = new_figure(*size)
    draw(figure.add_subplot())
    return inline(figure, label)
