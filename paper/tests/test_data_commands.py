"""``setwise data``: what is known, and fetching it only when asked."""

import hashlib
import json
from dataclasses import replace

import pytest
from tests.io.datasets.local_server import Site, serving
from typer.testing import CliRunner

from setwise.cli import app
from setwise_paper.datasets import SOURCES, RemoteFile

CONTENT = bytes(range(256)) * 100


def run(*arguments):
    return CliRunner().invoke(app, ["data", *map(str, arguments)])


@pytest.fixture
def mirror(monkeypatch):
    """The address of a server that has the one file of the dataset ``made``."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    file = RemoteFile("made.mat", "http://127.0.0.1:9/", hashlib.sha256(CONTENT).hexdigest())
    made = replace(SOURCES["eth80"], name="made", files=(file,))
    monkeypatch.setitem(SOURCES, "made", made)
    with serving(Site({"made.mat": CONTENT})) as site:
        yield site.address


def test_list_says_where_from_and_under_which_licence():
    found = run("list")
    assert found.exit_code == 0
    for source in SOURCES.values():
        assert source.title in found.stdout
        assert f"licence: {source.licence}" in found.stdout
    assert {row["name"] for row in json.loads(run("list", "--json").stdout)} == set(SOURCES)


def test_fetch_puts_the_file_where_it_is_asked_to(mirror, tmp_path):
    found = run("fetch", "made", "--folder", tmp_path, "--mirror", mirror)
    assert found.exit_code == 0
    assert found.stdout.strip() == str(tmp_path / "made.mat")
    assert (tmp_path / "made.mat").read_bytes() == CONTENT
    again = run("fetch", "made", "--folder", tmp_path, "--json")
    assert json.loads(again.stdout) == [str(tmp_path / "made.mat")]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("eth81",), "Did you mean 'eth80'"),
        (("cambridge",), "Bring your own copy"),
        (("yaleb",), "no checksum is known"),
    ],
)
def test_what_cannot_be_fetched_gets_one_line(arguments, words, tmp_path):
    found = run("fetch", *arguments, "--folder", tmp_path)
    assert found.exit_code == 1
    assert words in found.stderr
    assert len(found.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []
