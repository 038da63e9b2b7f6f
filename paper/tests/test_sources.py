"""Public datasets: their registry, and fetching one from a server of this test."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from typer.testing import CliRunner

from setwise.errors import DataError, ParameterError
from setwise_paper.commands import data_app
from setwise_paper.datasets import SOURCES, RemoteFile, fetch
from setwise_paper.datasets.sources import cache_folder

CONTENT = bytes(range(256)) * 1000
SHA256 = hashlib.sha256(CONTENT).hexdigest()
BLOB = hashlib.sha1(b"blob %d\0" % len(CONTENT) + CONTENT).hexdigest()
FILES = [file for one in SOURCES.values() for file in one.files]


@contextmanager
def serving(content: bytes, status: int = 200):
    """The address of a server that has ``sets.mat``, and a list of what it was asked for."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", asked
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def register(monkeypatch):
    """``register(sha256=...)`` makes ``made`` a dataset of one file."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    def known(**checks):
        file = RemoteFile("sets.mat", "http://127.0.0.1:9/never-asked", **checks)
        monkeypatch.setitem(
            SOURCES, "made", replace(SOURCES["eth80"], name="made", files=(file,))
        )

    known(sha256=SHA256, size=len(CONTENT))
    return known


def test_every_source_says_what_a_user_must_know():
    assert {"eth80", "honda", "mobo", "youtube", "cambridge", "yaleb"} <= set(SOURCES)
    for name, one in SOURCES.items():
        assert one.name == name
        assert all((one.title, one.licence, one.protocol, one.note))
    assert json.loads(json.dumps(SOURCES["eth80"].to_dict()))["files"][0]["size"] == 2_131_127


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_addresses_name_a_commit_and_have_checksums(file):
    assert re.match(r"https://(raw\.githubusercontent|github)\.com/", file.address)
    assert re.search(r"/[0-9a-f]{40}[/.]", file.address)
    assert file.sha256 is None or re.fullmatch("[0-9a-f]{64}", file.sha256)
    assert file.git_blob is None or re.fullmatch("[0-9a-f]{40}", file.git_blob)
    assert file.is_verifiable == (file.name != "CroppedYale.tar.gz")


@pytest.mark.parametrize("known", [{"sha256": SHA256}, {"git_blob": BLOB}])
def test_a_file_arrives_whole_and_once(register, tmp_path, known):
    register(**known)
    told = []
    with serving(CONTENT) as (mirror, asked):
        for _ in range(2):
            (path,) = fetch(
                "made", tmp_path, mirror=mirror, progress=lambda *one: told.append(one)
            )
    assert path.read_bytes() == CONTENT
    assert [one.name for one in tmp_path.iterdir()] == ["sets.mat"]
    assert asked == ["/sets.mat"], "a right file is not fetched again"
    assert told[-1] == ("fetch sets.mat", len(CONTENT), len(CONTENT))


def test_a_wrong_file_is_refused_and_what_was_there_stays(register, tmp_path, caplog):
    before = b"something else"
    (tmp_path / "sets.mat").write_bytes(before)
    with (
        serving(b"\1" + CONTENT[1:]) as (mirror, _),
        pytest.raises(DataError, match="not the known file: expected sha256"),
    ):
        fetch("made", tmp_path, mirror=mirror)
    assert "is not the known file" in caplog.text
    assert (tmp_path / "sets.mat").read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["sets.mat"]
    with serving(CONTENT) as (mirror, _):
        fetch("made", tmp_path, mirror=mirror)
    assert (tmp_path / "sets.mat").read_bytes() == CONTENT


def test_a_wrong_length_and_a_broken_network_leave_nothing(register, tmp_path):
    for content, status in ((CONTENT + b"x" * 200_000, 200), (CONTENT[:-1], 200), (b"", 404)):
        with serving(content, status) as (mirror, _), pytest.raises(DataError, match="sets"):
            fetch("made", tmp_path, mirror=mirror)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(
        DataError, match=r"^sets\.mat: cannot be fetched from http://127[^\n]*$"
    ):
        fetch("made", tmp_path)  # from its own address, which refuses
    (tmp_path / "file").write_text("")
    with serving(CONTENT) as (mirror, _), pytest.raises(DataError, match="sets"):
        fetch("made", tmp_path / "file" / "below", mirror=mirror)


def test_without_a_checksum_only_by_request_and_with_a_warning(register, tmp_path, caplog):
    register()
    with serving(CONTENT) as (mirror, asked):
        with pytest.raises(DataError, match="no checksum is known"):
            fetch("made", tmp_path, mirror=mirror)
        assert not asked
        fetch("made", tmp_path, mirror=mirror, accept_unverified=True)
    assert SHA256 in caplog.text


def test_where_files_go(register, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("SETWISE_DATA", raising=False)
    with serving(CONTENT) as (mirror, _):
        assert fetch("made", mirror=mirror) == [cache_folder() / "sets.mat"]
        monkeypatch.setenv("SETWISE_DATA", str(tmp_path / "mine"))
        assert fetch("made", mirror=mirror) == [tmp_path / "mine" / "sets.mat"]


def test_what_cannot_be_asked_for(tmp_path):
    with pytest.raises(ParameterError, match="Did you mean 'eth80'"):
        fetch("eth81", tmp_path)
    with pytest.raises(DataError, match="Bring your own copy"):
        fetch("cambridge", tmp_path)
    with pytest.raises(ParameterError, match="begins with http"):
        fetch("eth80", tmp_path, mirror="ftp://somewhere/")


def call(*arguments):
    return CliRunner().invoke(data_app, [*map(str, arguments)])


def test_the_command_lists_and_fetches(register, tmp_path):
    listed = call("list")
    assert all(one.title in listed.stdout for one in SOURCES.values())
    assert "licence: MIT" in listed.stdout
    assert {row["name"] for row in json.loads(call("list", "--json").stdout)} == set(SOURCES)
    with serving(CONTENT) as (mirror, _):
        found = call("fetch", "made", "--folder", tmp_path, "--mirror", mirror)
    assert (found.exit_code, found.stdout.strip()) == (0, str(tmp_path / "sets.mat"))
    again = call("fetch", "made", "--folder", tmp_path, "--json")
    assert json.loads(again.stdout) == [str(tmp_path / "sets.mat")]
    refused = call("fetch", "yaleb", "--folder", tmp_path)
    assert (refused.exit_code, len(refused.stderr.splitlines())) == (1, 1)
    assert "--accept-unverified" in refused.stderr
