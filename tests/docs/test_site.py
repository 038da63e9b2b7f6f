"""The site builds without a warning, and no link inside of it leads nowhere."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
TOOLS = ("sphinx", "myst_parser", "numpydoc", "pydata_sphinx_theme", "sphinx_gallery")
TOOLS += ("sphinx_copybutton", "sphinx_design")


class Links(HTMLParser):
    """Where a page leads, and which anchors it has."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: set[str] = set()
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for key, value in attrs:
            if key in ("href", "src") and value:
                self.targets.add(value)
            elif key in ("id", "name") and value:
                self.anchors.add(value)


def read_links(page: Path) -> Links:
    links = Links()
    links.feed(page.read_text(encoding="utf-8"))
    return links


def broken_links(site: Path) -> list[str]:
    """Links to files or anchors that are not there; addresses of other sites are not asked."""
    files = (page for page in site.rglob("*.html") if "_static" not in page.parts)
    pages = {page.resolve(): read_links(page) for page in files}
    broken = []
    for page, links in pages.items():
        for target in links.targets:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            to = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            to = to / "index.html" if to.is_dir() else to
            anchors = pages[to].anchors if to in pages else None
            if not to.exists():
                broken.append(f"{page.name}: {target}")
            elif parts.fragment and anchors is not None and parts.fragment not in anchors:
                broken.append(f"{page.name}: {target} (no such anchor)")
    return broken


def scripts_from_elsewhere(site: Path) -> list[str]:
    """Whatever a browser would load from the network to show a page."""
    loads = re.compile(r"""<(?:script|img|link)[^>]*(?:src|href)=["'](?:https?:)?//[^"']+""")
    return [
        found
        for page in site.rglob("*.html")
        for found in loads.findall(page.read_text("utf-8"))
    ]


def test_links_that_lead_nowhere_are_found(tmp_path):
    (tmp_path / "a.html").write_text('<p id="x"><a href="b.html#y">', "utf-8")
    (tmp_path / "b.html").write_text('<a href="a.html#x"><img src="no.png">', "utf-8")
    assert sorted(broken_links(tmp_path)) == [
        "a.html: b.html#y (no such anchor)",
        "b.html: no.png",
    ]


def build(site: Path, doctrees: Path) -> None:
    for tool in TOOLS:
        pytest.importorskip(tool)
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-q", "-W", "--keep-going"]
    command += ["-d", str(doctrees), str(DOCS), str(site)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    assert len(list(site.rglob("*.html"))) > 200
    assert broken_links(site) == []


def test_the_site_builds_without_warnings_and_its_links_lead_somewhere(tmp_path, monkeypatch):
    monkeypatch.setenv("SETWISE_PLAIN_SITE", "1")  # without the theme, a third faster
    build(tmp_path / "site", tmp_path / "doctrees")


@pytest.mark.slow
def test_the_site_with_its_theme_loads_nothing_from_elsewhere(tmp_path):
    build(tmp_path / "site", tmp_path / "doctrees")
    assert scripts_from_elsewhere(tmp_path / "site") == []
