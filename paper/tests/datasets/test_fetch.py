"""Getting files: every way in which a download goes wrong, against a server of our own."""

from __future__ import annotations

import errno
import hashlib
import itertools
import logging
import os
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from urllib.request import Request

import numpy as np
import pytest
from tests.io.datasets.local_server import Site, answering, serving

from setwise.errors import DataError, ParameterError
from setwise_paper.datasets import download as downloading
from setwise_paper.datasets import paced, registry
from setwise_paper.datasets.sources import fetch
from setwise_paper.datasets.sources import cache_folder
from setwise_paper.datasets.known import load
from setwise_paper.datasets.sources import SOURCES, RemoteFile

CONTENT = np.random.default_rng(0).bytes(300_000)
NAME = "sets.mat"
REAL = Path(
    os.environ.get("SETWISE_DATA") or Path(__file__).resolve().parents[4] / "shared" / "data"
)


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def site():
    with serving(Site({NAME: CONTENT})) as running:
        yield running


def blob_id(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def register(monkeypatch, **known) -> None:
    """Make ``made`` a dataset of one file whose content is CONTENT."""
    file = RemoteFile(NAME, "http://127.0.0.1:9/never-asked", **known)
    made = replace(SOURCES["eth80"], name="made", files=(file,))
    monkeypatch.setitem(registry.SOURCES, "made", made)


@pytest.fixture
def made(monkeypatch):
    register(monkeypatch, sha256=hashlib.sha256(CONTENT).hexdigest(), size=len(CONTENT))


def left_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {".setwise-lock"}


# --- what goes right


def test_a_file_arrives_whole_and_alone(made, site, tmp_path):
    (path,) = fetch("made", tmp_path, mirror=site.address)
    assert path == tmp_path / NAME
    assert path.read_bytes() == CONTENT
    assert left_in(tmp_path) == {NAME}


def test_the_mirror_may_lack_its_last_slash(made, site, tmp_path):
    fetch("made", tmp_path, mirror=site.address.rstrip("/"))
    assert [path for path, _ in site.seen] == [f"/{NAME}"]


def test_what_is_here_and_right_is_not_fetched(made, site, tmp_path):
    (tmp_path / NAME).write_bytes(CONTENT)
    fetch("made", tmp_path, mirror=site.address)
    assert site.seen == []


def test_what_is_here_and_right_needs_no_writing(made, tmp_path):
    (tmp_path / NAME).write_bytes(CONTENT)
    fetch("made", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [NAME], "a read-only folder will do"


def test_what_is_here_and_wrong_is_fetched_again_saying_so(made, site, tmp_path, caplog):
    (tmp_path / NAME).write_bytes(CONTENT[:-1] + b"!")
    fetch("made", tmp_path, mirror=site.address)
    assert (tmp_path / NAME).read_bytes() == CONTENT
    assert "is not the known file" in caplog.text


def test_what_is_here_and_wrong_stays_until_the_right_one_is_here(made, site, tmp_path):
    (tmp_path / NAME).write_bytes(b"old")
    site.flips = 7
    with pytest.raises(DataError, match="not the known file"):
        fetch("made", tmp_path, mirror=site.address)
    assert (tmp_path / NAME).read_bytes() == b"old"


def test_a_git_blob_id_is_a_checksum(monkeypatch, site, tmp_path):
    register(monkeypatch, git_blob=blob_id(CONTENT))
    (path,) = fetch("made", tmp_path, mirror=site.address)
    assert path.read_bytes() == CONTENT


def test_the_git_blob_id_is_gits():
    # `printf 'hello\n' | git hash-object --stdin`
    assert blob_id(b"hello\n") == "ce013625030ba8dba906f756967f9e9ca394464a"


def test_progress_is_told_in_bytes(made, site, tmp_path):
    told = []
    fetch("made", tmp_path, mirror=site.address, progress=lambda *step: told.append(step))
    assert told[0] == (f"fetch {NAME}", 0, len(CONTENT))
    assert told[-1] == (f"fetch {NAME}", len(CONTENT), len(CONTENT))
    assert [done for _, done, _ in told] == sorted({done for _, done, _ in told})


def test_a_length_that_is_not_told_does_no_harm(made, site, tmp_path):
    site.says_length = False
    fetch("made", tmp_path, mirror=site.address)
    assert (tmp_path / NAME).read_bytes() == CONTENT


def test_the_environment_names_the_folder(made, site, tmp_path, monkeypatch):
    monkeypatch.setenv("SETWISE_DATA", str(tmp_path / "deep" / "folder"))
    (path,) = fetch("made", mirror=site.address)
    assert path == tmp_path / "deep" / "folder" / NAME


def test_without_the_environment_it_is_the_users_cache(monkeypatch, tmp_path, made, site):
    monkeypatch.delenv("SETWISE_DATA", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert fetch("made", mirror=site.address) == [tmp_path / "setwise" / NAME]


@pytest.mark.parametrize(
    ("platform", "variable", "named", "by_default"),
    [
        ("linux", "XDG_CACHE_HOME", "named/setwise", "home/.cache/setwise"),
        ("darwin", None, None, "home/Library/Caches/setwise"),
        ("win32", "LOCALAPPDATA", "named/setwise/Cache", "home/AppData/Local/setwise/Cache"),
    ],
)
def test_the_cache_is_where_the_system_has_caches(
    monkeypatch, tmp_path, platform, variable, named, by_default
):
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    if variable is not None:
        monkeypatch.setenv(variable, str(tmp_path / "named"))
        assert cache_folder() == tmp_path / named
        monkeypatch.delenv(variable)
    assert cache_folder() == tmp_path / by_default


# --- what breaks off


@pytest.mark.parametrize("says_length", [True, False])
def test_a_truncated_file_is_refused_and_then_continued(made, site, tmp_path, says_length):
    site.stops_after, site.says_length = 2 * downloading.CHUNK, says_length
    with pytest.raises(DataError, match=r"131,072 of 300,000 bytes.*run it again to go on"):
        fetch("made", tmp_path, mirror=site.address)
    assert NAME not in left_in(tmp_path)
    site.stops_after = None
    (path,) = fetch("made", tmp_path, mirror=site.address)
    assert path.read_bytes() == CONTENT
    assert site.ranges == [None, "bytes=131072-"]
    assert site.seen[1][1]["If-Range"] == '"one"'
    assert left_in(tmp_path) == {NAME}


def test_an_interrupted_fetch_is_continued(made, site, tmp_path):
    def interrupt(what, done, total):
        if done > 150_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch("made", tmp_path, mirror=site.address, progress=interrupt)
    have = (tmp_path / f"{NAME}.part").stat().st_size
    assert 150_000 < have < len(CONTENT)
    told = []
    fetch("made", tmp_path, mirror=site.address, progress=lambda *step: told.append(step))
    assert site.ranges == [None, f"bytes={have}-"]
    assert told[0] == (f"fetch {NAME}", have, len(CONTENT))
    assert (tmp_path / NAME).read_bytes() == CONTENT


def test_a_server_without_ranges_starts_anew(made, site, tmp_path):
    (tmp_path / f"{NAME}.part").write_bytes(CONTENT[:1000])
    site.knows_ranges = False
    fetch("made", tmp_path, mirror=site.address)
    assert (tmp_path / NAME).read_bytes() == CONTENT
    assert site.ranges == ["bytes=1000-"]


def test_a_file_that_changed_meanwhile_is_not_glued(made, site, tmp_path):
    (tmp_path / f"{NAME}.part").write_bytes(b"x" * 1000)
    (tmp_path / f"{NAME}.part.tag").write_text('"older"')
    fetch("made", tmp_path, mirror=site.address)
    assert (tmp_path / NAME).read_bytes() == CONTENT
    assert len(site.seen) == 1


def test_without_checksum_or_mark_nothing_is_continued(monkeypatch, site, tmp_path):
    register(monkeypatch)
    (tmp_path / f"{NAME}.part").write_bytes(b"x" * 1000)
    fetch("made", tmp_path, mirror=site.address, accept_unverified=True)
    assert site.ranges == [None]
    assert (tmp_path / NAME).read_bytes() == CONTENT


@pytest.mark.parametrize("size", [None, len(CONTENT)])
def test_all_arrived_but_not_yet_checked(monkeypatch, site, tmp_path, size):
    register(monkeypatch, sha256=hashlib.sha256(CONTENT).hexdigest(), size=size)
    (tmp_path / f"{NAME}.part").write_bytes(CONTENT)
    fetch("made", tmp_path, mirror=site.address)
    assert (tmp_path / NAME).read_bytes() == CONTENT
    assert site.ranges == ([] if size else [f"bytes={len(CONTENT)}-"])


def test_a_part_longer_than_the_file_is_dropped(monkeypatch, site, tmp_path):
    register(monkeypatch, sha256=hashlib.sha256(CONTENT).hexdigest())
    (tmp_path / f"{NAME}.part").write_bytes(CONTENT + b"more")
    fetch("made", tmp_path, mirror=site.address)
    assert (tmp_path / NAME).read_bytes() == CONTENT
    assert site.ranges == [f"bytes={len(CONTENT) + 4}-", None]


# --- what is not right


@pytest.mark.parametrize("known", ["sha256", "git_blob"])
def test_a_wrong_byte_is_refused_and_nothing_is_left(monkeypatch, site, tmp_path, known):
    right = {"sha256": hashlib.sha256(CONTENT).hexdigest(), "git_blob": blob_id(CONTENT)}
    register(monkeypatch, **{known: right[known]})
    site.flips = 123_456
    with pytest.raises(DataError, match=f"{NAME}.*{right[known]}, received .*Run it again"):
        fetch("made", tmp_path, mirror=site.address)
    assert left_in(tmp_path) == set()


def test_a_wrong_beginning_does_not_stay_for_ever(made, site, tmp_path):
    (tmp_path / f"{NAME}.part").write_bytes(b"x" * 1000)
    with pytest.raises(DataError, match="not the known file"):
        fetch("made", tmp_path, mirror=site.address)
    fetch("made", tmp_path, mirror=site.address)
    assert (tmp_path / NAME).read_bytes() == CONTENT


def test_too_long_as_announced(made, site, tmp_path):
    site.surplus = b"more"
    with pytest.raises(DataError, match=r"announces 300,004 bytes. Expected 300,000"):
        fetch("made", tmp_path, mirror=site.address)
    assert NAME not in left_in(tmp_path)


def test_a_wrong_answer_does_not_cost_what_is_here(made, site, tmp_path):
    part = tmp_path / f"{NAME}.part"
    part.write_bytes(CONTENT[:1000])
    site.knows_ranges, site.files[NAME] = False, b"<html>please log in</html>"
    with pytest.raises(DataError, match=r"announces 26 bytes"):
        fetch("made", tmp_path, mirror=site.address)
    assert part.read_bytes() == CONTENT[:1000]


def test_too_long_without_saying_so_is_cut_off(made, site, tmp_path):
    site.surplus, site.says_length = b"x" * 500_000, False
    with pytest.raises(DataError, match="more than 300,000 bytes"):
        fetch("made", tmp_path, mirror=site.address)
    assert left_in(tmp_path) == set()


@pytest.mark.parametrize(
    ("says_length", "message"),
    [
        (True, "announces 300,000 bytes. Expected at most 1,000"),
        (False, "more than 1,000 bytes"),
    ],
)
def test_what_is_too_large_is_cut_off(monkeypatch, site, tmp_path, says_length, message):
    register(monkeypatch)
    monkeypatch.setattr(downloading, "LARGEST", 1000)
    site.says_length = says_length
    with pytest.raises(DataError, match=message):
        fetch("made", tmp_path, mirror=site.address, accept_unverified=True)
    assert left_in(tmp_path) == set()


def test_without_a_checksum_it_is_refused_before_anything_is_asked(monkeypatch, site, tmp_path):
    register(monkeypatch)
    with pytest.raises(DataError, match=r"no checksum is known.*accept_unverified"):
        fetch("made", tmp_path, mirror=site.address)
    assert site.seen == []


def test_without_a_checksum_the_one_received_is_told(monkeypatch, site, tmp_path, caplog):
    register(monkeypatch)
    fetch("made", tmp_path, mirror=site.address, accept_unverified=True)
    assert hashlib.sha256(CONTENT).hexdigest() in caplog.text


def test_accepting_the_unverified_does_not_skip_a_known_checksum(made, site, tmp_path):
    site.flips = 5
    with pytest.raises(DataError, match="not the known file"):
        fetch("made", tmp_path, mirror=site.address, accept_unverified=True)


# --- the network


def test_a_file_that_is_not_there(made, site, tmp_path):
    site.files.clear()
    with pytest.raises(DataError, match=f"{NAME}.*answers 404.*Is the address right"):
        fetch("made", tmp_path, mirror=site.address)


def test_a_refused_connection(made, tmp_path):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # bound and not listening: nobody else gets the port
        port = unused.getsockname()[1]
        with pytest.raises(DataError, match="refuses the connection"):
            fetch("made", tmp_path, mirror=f"http://127.0.0.1:{port}/")


def test_no_such_host(made, tmp_path, monkeypatch):
    def unknown(*args, **kwargs):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(DataError, match=r"no host nowhere\.invalid, or no network"):
        fetch("made", tmp_path, mirror="http://nowhere.invalid/")


def test_a_silent_server(made, site, tmp_path, monkeypatch):
    monkeypatch.setattr(paced, "TIMEOUT_S", 0.2)
    site.delay_s = 0.6
    with pytest.raises(DataError, match=r"silent for 0\.2 seconds"):
        fetch("made", tmp_path, mirror=site.address)


@pytest.mark.parametrize("address", ["file:///etc/passwd", "ftp://host/", "host/folder", ""])
def test_a_mirror_of_another_scheme(made, tmp_path, address):
    with pytest.raises(ParameterError, match="mirror must be an address that begins with http"):
        fetch("made", tmp_path, mirror=address)


@pytest.mark.parametrize("host", ["[::1", "a b", "127.0.0.1:x", "127.0.0.1:99999", "\u2100"])
def test_an_address_that_is_none(made, tmp_path, host):
    with pytest.raises(DataError, match="cannot be fetched"):
        fetch("made", tmp_path, mirror=f"http://{host}/")


def test_an_address_of_another_scheme(tmp_path):
    with pytest.raises(DataError, match="expected an address of http or https"):
        downloading.download(RemoteFile(NAME, ""), "file:///etc/passwd", tmp_path / "part")


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://127.0.0.1/x"])
def test_a_redirect_to_another_scheme(made, site, tmp_path, target):
    site.redirect = target
    with pytest.raises(DataError, match=r"not allowed|away from http"):
        fetch("made", tmp_path, mirror=site.address)
    assert left_in(tmp_path) == set()
    assert len(site.seen) == 1


def test_a_redirect_in_circles(made, site, tmp_path):
    site.redirect = "/again"
    with pytest.raises(DataError, match=r"answers 302 .*infinite loop"):
        fetch("made", tmp_path, mirror=site.address)


def test_https_stays_https():
    request = Request("https://a/x")
    rest = (request, None, 302, "Found", {})
    with pytest.raises(ConnectionError, match="leads to 'http://b/x', away from https"):
        paced._Redirects().redirect_request(*rest, "http://b/x")
    assert paced._Redirects().redirect_request(*rest, "https://b/x").type == "https"


# --- hostile servers


HEAD = b"HTTP/1.1 200 OK\r\nConnection: close\r\n"
OF_KNOWN_LENGTH = HEAD + b"Content-Length: %d\r\n" % len(CONTENT)


CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.fixture
def ticking(monkeypatch):
    """A clock on which every look takes a second."""
    monkeypatch.setattr(paced, "_clock", itertools.count().__next__)


def test_a_length_that_is_no_number_is_no_length(made, tmp_path):
    def script(write):
        write(HEAD + "Content-Length: ²\r\n\r\n".encode("latin-1") + CONTENT)

    with answering(script) as address:
        fetch("made", tmp_path, mirror=address)
    assert (tmp_path / NAME).read_bytes() == CONTENT


def test_the_servers_words_are_quoted(made, tmp_path):
    def script(write):
        write(b"HTTP/1.1 404 \x1b]0;title\x07\x1b[2J\r\nContent-Length: 0\r\n\r\n")

    with answering(script) as address, pytest.raises(DataError) as error:
        fetch("made", tmp_path, mirror=address)
    assert str(error.value).isprintable()
    assert r"answers 404 '\x1b]0;title" in str(error.value)


@pytest.mark.parametrize("mark", [b"\x0cMon", b"a\tb", b"\xe9", b"x" * 10_000])
def test_a_mark_that_cannot_be_sent_back_is_not_kept(made, site, tmp_path, mark):
    def script(write):
        write(OF_KNOWN_LENGTH + b"Last-Modified: " + mark + b"\r\n\r\n" + CONTENT[:1000])

    with answering(script) as address, pytest.raises(DataError, match="1,000 of 300,000"):
        fetch("made", tmp_path, mirror=address)
    assert left_in(tmp_path) == {f"{NAME}.part"}
    fetch("made", tmp_path, mirror=site.address)
    assert site.ranges == ["bytes=1000-"]
    assert (tmp_path / NAME).read_bytes() == CONTENT


@pytest.mark.parametrize("mark", [b"\x0cMon", b"\xff", b"two\nlines", b""])
def test_a_bad_mark_kept_earlier_does_no_harm(made, site, tmp_path, mark):
    (tmp_path / f"{NAME}.part").write_bytes(CONTENT[:1000])
    (tmp_path / f"{NAME}.part.tag").write_bytes(mark)
    fetch("made", tmp_path, mirror=site.address)
    assert "If-Range" not in site.seen[0][1]
    assert left_in(tmp_path) == {NAME}


def test_a_link_that_drops_early_gets_on_all_the_same(made, site, tmp_path):
    site.stops_after = 30_000
    for n_tries in range(1, 10):
        with pytest.raises(DataError, match=f"after {30 * n_tries},000 of 300,000 bytes"):
            fetch("made", tmp_path, mirror=site.address)
    fetch("made", tmp_path, mirror=site.address)
    assert (tmp_path / NAME).read_bytes() == CONTENT


def test_a_drip_is_given_up_and_what_came_is_kept(made, site, tmp_path, ticking):
    def script(write):
        write(OF_KNOWN_LENGTH + b"\r\n")
        for i in range(len(CONTENT)):
            write(CONTENT[i : i + 1])
            time.sleep(0.001)

    message = r"only \d+ bytes of the file came in 6\d seconds.*run it again to go on"
    with answering(script) as address, pytest.raises(DataError, match=message):
        fetch("made", tmp_path, mirror=address)
    came = (tmp_path / f"{NAME}.part").read_bytes()
    assert 0 < len(came) < 10_000
    assert came == CONTENT[: len(came)]


def test_a_slow_but_steady_server_is_borne_with(monkeypatch, made, site, tmp_path, ticking):
    monkeypatch.setattr(paced, "PATIENCE_S", 3.0)
    monkeypatch.setattr(downloading, "CHUNK", 1500)  # per look at the clock, or more
    fetch("made", tmp_path, mirror=site.address)
    assert (tmp_path / NAME).read_bytes() == CONTENT


ENDLESS = {
    "continue": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "redirect": (b"HTTP/1.1 302 Found\r\nLocation: /x\r\n\r\n", b"x" * 1000),
    "sizes of chunks": (CHUNKED, b"1;" + b"x" * 999 + b"\r\nx\r\n"),
}


@pytest.mark.parametrize("kind", ENDLESS)
def test_talk_without_end_is_given_up(made, tmp_path, monkeypatch, kind):
    monkeypatch.setattr(paced, "MOST_OVERHEAD", 50_000)
    head, again = ENDLESS[kind]

    def script(write):
        write(head)
        while True:  # until the other side hangs up
            write(again)

    message = r"only [\d,]+ of [\d,]+ bytes received are of the file"
    with answering(script) as address, pytest.raises(DataError, match=message):
        fetch("made", tmp_path, mirror=address)


def test_slow_talk_without_end_is_given_up_too(made, tmp_path, ticking):
    def script(write):
        while True:
            write(b"HTTP/1.1 100 Continue\r\n\r\n")
            time.sleep(0.001)

    message = "only 0 bytes of the file came in 6[0-9] seconds"
    with answering(script) as address, pytest.raises(DataError, match=message):
        fetch("made", tmp_path, mirror=address)


@pytest.mark.parametrize("is_whole", [True, False])
def test_chunks_are_put_together(made, site, tmp_path, is_whole):
    def script(write):
        write(CHUNKED)
        for i in range(0, 300_000 if is_whole else 100_000, 1000):
            write(b"3e8\r\n" + CONTENT[i : i + 1000] + b"\r\n")
        write(b"0\r\n\r\n" if is_whole else b"3e8\r\nx")

    with answering(script) as address:
        if is_whole:
            fetch("made", tmp_path, mirror=address)
            assert (tmp_path / NAME).read_bytes() == CONTENT
            return
        with pytest.raises(DataError, match="run it again to go on"):
            fetch("made", tmp_path, mirror=address)
    assert (tmp_path / f"{NAME}.part").read_bytes() == CONTENT[:100_000] + b"x"


def test_what_is_no_http_at_all(made, tmp_path):
    with (
        answering(lambda write: write(b"\x1b[2Jhello\r\n")) as address,
        pytest.raises(DataError, match="cannot be fetched") as error,
    ):
        fetch("made", tmp_path, mirror=address)
    assert str(error.value).isprintable()


# --- asking


def test_unknown_names_are_refused_with_a_hint(tmp_path):
    with pytest.raises(ParameterError, match=r"'eht80'.*Did you mean 'eth80'"):
        fetch("eht80", tmp_path)


@pytest.mark.parametrize("name", ["youtube", "cambridge"])
def test_what_cannot_be_downloaded(name, tmp_path):
    with pytest.raises(DataError, match=f"cannot be downloaded. Bring your own.*load_{name}"):
        fetch(name, tmp_path)


def test_a_folder_that_cannot_be_written(made, tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(DataError, match=r"Cannot write to .*file"):
        fetch("made", tmp_path / "file")


def test_a_disk_that_refuses(made, site, tmp_path):
    (tmp_path / f"{NAME}.part").mkdir()  # as good as a full disk: nothing can be written
    with pytest.raises(DataError, match=f"{NAME}: cannot be written to"):
        fetch("made", tmp_path, mirror=site.address)


def test_one_that_waits_finds_the_file_of_the_other(made, site, tmp_path, caplog):
    fcntl = pytest.importorskip("fcntl")
    caplog.set_level(logging.INFO)
    with (tmp_path / ".setwise-lock").open("ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(fetch, "made", tmp_path, mirror=site.address)
            while "Another process fetches" not in caplog.text:
                time.sleep(0.01)
            (tmp_path / NAME).write_bytes(CONTENT)
            fcntl.flock(other, fcntl.LOCK_UN)
            assert waiting.result(timeout=30) == [tmp_path / NAME]
    assert site.seen == []


def test_a_file_system_without_locks(made, site, tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")

    def refuse(*args):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(DataError, match=r"cannot be locked: No locks.*local disk"):
        fetch("made", tmp_path, mirror=site.address)


def test_two_processes_take_turns(site, tmp_path):
    site.delay_s = 0.3
    code = f"""
import hashlib
import itertools
from dataclasses import replace
from setwise_paper.datasets import paced, registry
from setwise_paper.datasets.sources import fetch
file = registry.RemoteFile({NAME!r}, "", sha256={hashlib.sha256(CONTENT).hexdigest()!r})
made = replace(registry.SOURCES["eth80"], name="made", files=(file,))
registry.SOURCES["made"] = made
fetch("made", {str(tmp_path)!r}, mirror={site.address!r})
"""
    both = [subprocess.Popen([sys.executable, "-W", "error", "-c", code]) for _ in range(2)]
    assert [process.wait(60) for process in both] == [0, 0]
    assert (tmp_path / NAME).read_bytes() == CONTENT
    assert len(site.seen) == 1, "the second found the first one's file"
    assert left_in(tmp_path) == {NAME}


def test_nothing_is_said_on_the_way(made, site, tmp_path, capfd, caplog):
    caplog.set_level(logging.INFO)
    fetch("made", tmp_path, mirror=site.address)
    said = capfd.readouterr()
    assert said.out == said.err == ""


# --- the real file


@pytest.fixture
def real_site():
    path = REAL / "originals" / "demo-ETH.mat"
    if not path.is_file():
        pytest.skip(f"{path} is absent: real datasets found neither there nor in $SETWISE_DATA")
    with serving(Site({"demo-ETH.mat": path.read_bytes()})) as running:
        yield running


@pytest.fixture
def only_the_sets(monkeypatch):
    known = SOURCES["eth80"]
    monkeypatch.setitem(registry.SOURCES, "eth80", replace(known, files=known.files[:1]))


def test_the_real_file_has_its_checksum(real_site, only_the_sets, tmp_path):
    (path,) = fetch("eth80", tmp_path, mirror=real_site.address)
    assert path.stat().st_size == 2_131_127
    data = load("eth80", tmp_path)
    assert len(data.sets) == 80
    assert "ten random splits" in data.note


def test_the_real_file_is_continued(real_site, only_the_sets, tmp_path):
    real_site.stops_after = 16 * downloading.CHUNK
    with pytest.raises(DataError, match="1,048,576 of 2,131,127 bytes"):
        fetch("eth80", tmp_path, mirror=real_site.address)
    real_site.stops_after = None
    fetch("eth80", tmp_path, mirror=real_site.address)
    assert real_site.ranges == [None, "bytes=1048576-"]


def test_the_real_file_corrupted_is_refused(real_site, only_the_sets, tmp_path):
    real_site.flips = 2_000_000
    with pytest.raises(DataError, match=r"expected sha256 a7466514.*, received"):
        fetch("eth80", tmp_path, mirror=real_site.address)
    assert left_in(tmp_path) == set()


def test_the_splits_are_missed_where_the_mirror_has_only_the_sets(real_site, tmp_path):
    with pytest.raises(DataError, match=r"random_index_eth80\.mat.*404"):
        fetch("eth80", tmp_path, mirror=real_site.address)
    assert left_in(tmp_path) == {"demo-ETH.mat"}, "what came is kept"
