import re
import warnings
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from setwise.plots import new_figure
from setwise.report.parts import EndLabel, label_ends, one_line, plain
from setwise_paper.figures.style import GREY, INK, LIGHT, OURS, PAPER, PUBLISHED
from setwise_paper.figures.svg import _own_font, svg

matplotlib = pytest.importorskip("matplotlib")

NASTY = ["<script>alert(1)</script>", "\"double\" & 'single'", "$x_1$", "日本語", "a\x00b"]


class Reader(HTMLParser):
    """Elements, and the text between them, as a browser would find them."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.texts, self.attributes = set(), [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes.append(dict(attrs))

    def handle_data(self, data):
        self.texts.append(data)


def a_figure(height=0.5):
    figure = new_figure(4, 3)
    axes = figure.subplots()
    axes.plot([0, 1], [0, height], "o-", color=INK)
    axes.axhline(0.2, color=GREY)
    axes.axhline(0.3, color=LIGHT)
    axes.axhline(0.4, color=OURS)
    axes.axhline(0.45, color=PUBLISHED)
    axes.bar([0.5], [0.1], color="white")
    axes.text(0.5, 0.1, "on a dark cell", color="white")
    axes.text(0.2, 0.1, "in black", color="black", weight="bold")
    return figure


def table_of(names):
    figure = new_figure(5, 4)
    axes = figure.subplots()
    for i, name in enumerate(names):
        axes.text(0.5, i / len(names), one_line(name, 20), **plain(name))
    return figure


def test_same_figure_same_bytes():
    first = svg(a_figure(), "a line")
    assert first == svg(a_figure(), "a line")
    figure = a_figure()
    assert svg(figure) == svg(figure)
    assert first != svg(a_figure(0.6), "a line")


def test_it_is_one_element_without_preamble():
    text = svg(a_figure(), "a line")
    assert text.startswith("<svg ")
    assert text.endswith("</svg>")
    for unwanted in ("<?xml", "<!DOCTYPE", "<!--", "metadata", "rdf", "http", "<style", "ns0"):
        assert unwanted not in text
    root = ElementTree.fromstring(text)
    assert root.attrib["viewBox"] == "0 0 288 216"
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-label"] == "a line"
    assert root.attrib["width"] == "100%"
    assert "height" not in root.attrib


def test_colours_are_the_page_s():
    text = svg(a_figure())
    root = ElementTree.fromstring(text)
    for name, colour in {
        "ink": INK,
        "grey": GREY,
        "light": LIGHT,
        "ours": OURS,
        "published": PUBLISHED,
        "paper": PAPER,
    }.items():
        assert f"var(--{name}, {colour})" in text
        assert not re.search(rf"(?<!, ){colour}", text) or colour == PAPER
    styles = {one.text: one.attrib["style"] for one in root.iter("text")}
    assert "fill: #ffffff" in styles["on a dark cell"]
    # What is black in matplotlib has no fill of its own, and takes the ink of the root.
    assert "fill" not in styles["in black"]
    assert f"fill: var(--ink, {INK})" in root.attrib["style"]


def test_letters_are_the_page_s():
    root = ElementTree.fromstring(svg(a_figure()))
    styles = {one.text: one.attrib["style"] for one in root.iter("text")}
    assert all("DejaVu" not in style and "font-size" in style for style in styles.values())
    assert "font-weight: 700" in styles["in black"]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("8px 'DejaVu Sans', sans-serif", {"font-size": "8px"}),
        (
            "italic 700 8.5px 'A'",
            {"font-style": "italic", "font-weight": "700", "font-size": "8.5px"},
        ),
    ],
)
def test_fonts_as_older_matplotlib_says_them(said, kept):
    assert _own_font({"font": said, "text-anchor": "end"}) == {"text-anchor": "end", **kept}


def test_names_come_out_as_they_are_and_make_no_elements():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = svg(table_of(NASTY), '"><script>alert(2)</script>')
    assert "<script" not in text
    page = Reader(f"<html><body>{text}</body></html>")
    assert page.tags <= {
        "html",
        "body",
        "svg",
        "g",
        "defs",
        "path",
        "use",
        "text",
        "clippath",
        "rect",
    }
    for name in (
        "\"double\" & 'single'",
        "$x_1$",
        "日本語",
        "a\ufffdb",
        "<script>alert(1)</s…",
    ):
        assert page.texts.count(name) == 1
    assert {"aria-label": '"><script>alert(2)</script>'}.items() <= page.attributes[2].items()


def test_labels_of_lines_come_out_as_they_are():
    figure = new_figure(5, 4)
    ends = [EndLabel(0.5, i / 5, f"{one_line(name)}  90.0") for i, name in enumerate(NASTY)]
    label_ends(figure.subplots(), ends)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        page = Reader(svg(figure))
    assert "script" not in page.tags
    for name in (*NASTY[:4], "a\ufffdb"):
        assert f"{name}  90.0" in page.texts


def test_two_pictures_on_a_page_share_no_id():
    first, second = svg(a_figure()), svg(a_figure(0.6))
    ids = [set(re.findall(r'\bid="([^"]+)"', text)) for text in (first, second)]
    assert ids[0]
    assert not ids[0] & ids[1]
    for text, own in zip((first, second), ids, strict=True):
        used = re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', text)
        assert {one or other for one, other in used} == own


def test_settings_come_back_even_after_a_failure(monkeypatch):
    before = dict(dict.items(matplotlib.rcParams))
    figure = a_figure()
    monkeypatch.setattr(figure, "draw", lambda renderer: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        svg(figure)
    assert dict(dict.items(matplotlib.rcParams)) == before


def test_the_figure_can_still_be_saved_otherwise(tmp_path):
    figure = a_figure()
    svg(figure)
    figure.savefig(tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 1000
