"""A figure as SVG inside an HTML page that may hold many."""

from __future__ import annotations

import hashlib
import io
import re
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from markupsafe import Markup

from setwise.plots import new_figure
from setwise_paper.figures.style import GREY, INK, LIGHT, OURS, PAPER, PUBLISHED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The page may set these, and so make the picture dark.
_VARIABLES = {
    INK: "--ink",
    GREY: "--grey",
    LIGHT: "--light",
    OURS: "--ours",
    PUBLISHED: "--published",
}
_NAMESPACE = re.compile(r"\{[^}]*\}")
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
# Digits of coordinates that are too fine to be seen, and needless spaces.
_FINER = re.compile(r"(\.\d)\d+| (?= )")
# "bold 8px 'DejaVu Sans', sans-serif", as matplotlib before 3.10 writes all about a font.
_FONT = re.compile(r"(?:(?P<style>italic|oblique) )?(?:(?P<weight>\d+|bold) )?(?P<size>\S+px)")


def picture(
    size: tuple[float, float], label: str, draw: Callable[[Any], Any], *, is_drawn: bool = True
) -> Markup:
    """What ``draw`` puts on empty axes, as SVG; an empty text unless ``is_drawn``.

    ``size`` is in inches. ``label`` says what the picture shows, for readers who cannot see it.
    """
    if not is_drawn:
        return Markup()
    figure = new_figure(*size)
    draw(figure.add_subplot())
    return Markup(svg(figure, label))  # noqa: S704 (all text in it is escaped)


def svg(figure: Figure, label: str = "") -> str:
    """A figure as an ``<svg>`` element for a page of HTML.

    Same figure, same characters. Text stays text, in a sans-serif font of the reader's system.
    The picture fills the width around it, up to its own size. Colours are variables of the
    page, where it sets them: ``--ink``, ``--grey``, ``--light``, ``--paper``, ``--ours`` and
    ``--published``. Two pictures of other content or other labels share no id. ``label`` says
    what is shown, for readers who cannot see it.
    """
    root = _drawn(figure)
    for parent in list(root.iter()):
        for child in list(parent):
            if _plain_name(child.tag) in ("metadata", "style"):  # its rules would hold outside
                parent.remove(child)
    for element in root.iter():
        _clean(element)
    _rename_ids(root, label)
    width, height = (float(x) for x in root.attrib["viewBox"].split()[2:])
    root.attrib = {
        "class": "plot",
        "viewBox": f"0 0 {width:g} {height:g}",
        "width": "100%",
        "role": "img",
        "aria-label": label,
        "font-family": "system-ui, sans-serif",
        "style": (
            f"max-width: {width * 96 / 72:g}px; fill: {_themed(INK)}; "
            "stroke-linejoin: round; stroke-linecap: butt"
        ),
    }
    return ElementTree.tostring(root, encoding="unicode", short_empty_elements=True)


def _drawn(figure: Figure) -> ElementTree.Element:
    import matplotlib

    file = io.BytesIO()
    settings = {"svg.hashsalt": "setwise", "svg.fonttype": "none", "svg.image_inline": True}
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        # The reader's browser has letters that no font here has.
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from")
        figure.savefig(file, format="svg", metadata={"Date": None}, facecolor="none")
    # Matplotlib wrote it a moment ago: all foreign text in it is escaped.
    return ElementTree.fromstring(file.getvalue())  # noqa: S314


def _plain_name(name: str) -> str:
    return _NAMESPACE.sub("", name)


def _clean(element: ElementTree.Element) -> None:
    """Names without namespaces, which HTML does not know; short paths; the page's colours."""
    element.tag = _plain_name(element.tag)
    element.attrib = {_plain_name(name): value for name, value in element.attrib.items()}
    if element.tag == "path":
        element.attrib["d"] = _FINER.sub(r"\1", " ".join(element.attrib["d"].split()))
    if element.tag != "text":
        element.text = None
    element.tail = None
    if "style" in element.attrib:
        pairs = (
            pair.split(":", 1) for pair in element.attrib["style"].split(";") if ":" in pair
        )
        style = _own_font({name.strip(): value.strip() for name, value in pairs})
        for name in ("fill", "stroke"):
            if name in style:
                style[name] = _themed(style[name], is_text=element.tag == "text")
        element.attrib["style"] = "; ".join(f"{name}: {value}" for name, value in style.items())


def _own_font(style: dict[str, str]) -> dict[str, str]:
    """The style without a family of fonts: the page has one."""
    found = _FONT.match(style.pop("font", ""))
    style.pop("font-family", None)
    if found:
        style |= {f"font-{name}": value for name, value in found.groupdict().items() if value}
    return style


def _themed(colour: str, *, is_text: bool = False) -> str:
    if colour == PAPER and not is_text:  # white letters stand on something dark
        return f"var(--paper, {PAPER})"
    return f"var({_VARIABLES[colour]}, {colour})" if colour in _VARIABLES else colour


def _rename_ids(root: ElementTree.Element, label: str) -> None:
    """Keep only ids that something refers to, under names that no other picture has."""
    content = ElementTree.tostring(root) + label.encode()
    prefix = f"s{hashlib.sha256(content).hexdigest()[:12]}-"
    used = {one for element in root.iter() for one in _references(element)}
    for element in root.iter():
        name = element.attrib.pop("id", None)
        if name in used:
            element.attrib["id"] = prefix + str(name)
        for key, value in element.attrib.items():
            if key == "href" and value.startswith("#"):
                element.attrib[key] = f"#{prefix}{value[1:]}"
            else:
                element.attrib[key] = _REFERENCE.sub(rf"url(#{prefix}\1)", value)


def _references(element: ElementTree.Element) -> list[str]:
    found = [one for value in element.attrib.values() for one in _REFERENCE.findall(value)]
    target = element.attrib.get("href", "")
    return [*found, target[1:]] if target.startswith("#") else found
