"""The site builds without a warning, and no link inside of it leads nowhere."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import unquote, urlsplit

import pytest
from tests.report.browser import browsing, resize

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


@pytest.fixture(scope="module")
def themed(tmp_path_factory):
    """The site as readers see it."""
    folder = tmp_path_factory.mktemp("themed")
    build(folder / "site", folder / "doctrees")
    return folder / "site"


@pytest.mark.slow
def test_the_site_with_its_theme_loads_nothing_from_elsewhere(themed):
    assert scripts_from_elsewhere(themed) == []


@pytest.fixture(scope="module")
def reader(themed, tmp_path_factory):
    """A browser, and the address of the site."""
    pytest.importorskip("selenium")
    handler = partial(SimpleHTTPRequestHandler, directory=str(themed))
    with (
        browsing(tmp_path_factory.mktemp("profile")) as driver,
        ThreadingHTTPServer(("127.0.0.1", 0), handler) as server,
    ):
        Thread(target=server.serve_forever, daemon=True).start()
        yield driver, f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("word", "page"),
    [
        ("unknown", "howto/unknowns.html"),
        ("stranger", "howto/unknowns.html"),
        ("group", "howto/groups.html"),
        ("burst", "howto/camera_traps.html"),
        ("embedding", "howto/embeddings.html"),
    ],
)
def test_the_search_finds_the_page_that_tells_how(reader, word, page):
    driver, address = reader
    driver.get(f"{address}search.html?q={word}")
    found = "return document.querySelector('ul.search li a')?.getAttribute('href')"
    for _ in range(100):
        if first := driver.execute_script(found):
            break
        time.sleep(0.1)
    assert first.split("?")[0].split("#")[0] == page


CUT_OFF = """
const cut = (e) => e.scrollWidth > e.clientWidth + 1 &&
  !['auto', 'scroll'].includes(getComputedStyle(e).overflowX);
const wide = document.documentElement.scrollWidth > innerWidth;
return [wide, [...document.querySelectorAll('.highlight pre')].filter(cut).length];
"""


@pytest.mark.slow
@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("page", ["index", "start", "command", "evidence_table", "api/index"])
def test_nothing_is_cut_off(reader, width, page):
    driver, address = reader
    resize(driver, width)
    driver.get(f"{address}{page}.html")
    assert driver.execute_script(CUT_OFF) == [False, 0]
