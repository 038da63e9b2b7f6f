"""The trials of somebody who runs `setwise serve` for others: each is what they would want."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

httpx = pytest.importorskip("httpx")
pytest.importorskip("fastapi", reason='needs pip install "setwise[serve]"')
from tests.page.page_server import album, photos, served, write_gallery  # noqa: E402
from typer.testing import CliRunner  # noqa: E402

import setwise  # noqa: E402
from setwise.cli import app  # noqa: E402
from setwise.page import Settings  # noqa: E402

RUN = [sys.executable, "-c", "from setwise.cli import run; run()"]
TOKEN = "token-of-the-operator"
PUBLIC = "https://photos.example.org"


@pytest.fixture(scope="module")
def gallery_file(tmp_path_factory):
    return write_gallery(tmp_path_factory.mktemp("operator") / "people.setwise")


class Service:
    """A process of `setwise serve`, its address, and what it wrote to stderr."""

    def __init__(self, process: subprocess.Popen, log: Path) -> None:
        self.process, self.log = process, log
        self.printed = process.stdout.readline()
        assert self.printed, log.read_text()
        (listening,) = self.lines("listening")
        self.port = listening["port"]
        self.client = httpx.Client(
            base_url=f"http://127.0.0.1:{self.port}",
            headers={"Authorization": f"Bearer {TOKEN}", "Prefer": "wait=60"}, timeout=60,
        )  # fmt: skip

    def wait_for(self, event: str) -> dict:
        """The last line of an event, once there is one."""
        deadline = time.monotonic() + 60
        while not self.lines(event) and time.monotonic() < deadline:
            time.sleep(0.05)
        return self.lines(event)[-1]

    def lines(self, event: str) -> list[dict]:
        found = [json.loads(line) for line in self.log.read_text().splitlines()]
        return [line for line in found if line["event"] == event]

    def ask(self, seed: int = 5) -> dict:
        job = self.client.post("/api/v1/identify", files=album(seed=seed)).json()["id"]
        while (found := self.client.get(f"/api/v1/identify/{job}").json())["state"] != "done":
            assert found["state"] in ("waiting", "working"), found
            time.sleep(0.05)
        return found

    def enroll(self, label: str = "flat", seed: int = 5) -> httpx.Response:
        body = {"job": self.ask(seed)["id"], "label": label}
        return self.client.post("/api/v1/commands/enroll", json=body)


@contextmanager
def service(gallery: Path, *options: str):
    log = gallery.with_suffix(".log")
    arguments = [*RUN, "serve", str(gallery), "--port", "0", "--no-browser", "--log-format",
                 "json", "--log-level", "info", *options]  # fmt: skip
    with log.open("w") as errors:
        process = subprocess.Popen(
            arguments, stdout=subprocess.PIPE, stderr=errors, text=True,
            env=os.environ | {"SETWISE_TOKEN": TOKEN},
        )  # fmt: skip
    one = None
    try:
        one = Service(process, log)
        yield one
    finally:
        if one is not None:
            one.client.close()
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture
def own(gallery_file, tmp_path):
    return Path(shutil.copy(gallery_file, tmp_path / "people.setwise"))


@pytest.fixture(scope="module")
def running(gallery_file, tmp_path_factory):
    """Behind a proxy, started as by systemd; for trials that leave it as it is."""
    folder = tmp_path_factory.mktemp("running")
    gallery = Path(shutil.copy(gallery_file, folder / "people.setwise"))
    with (
        pytest.MonkeyPatch.context() as patch,
        supervised(folder / "notify", patch) as told,
        service(gallery, "--public-url", PUBLIC) as one,
    ):
        one.told = told
        yield one


@contextmanager
def supervised(name: Path, patch: pytest.MonkeyPatch):
    """A socket as systemd has it; reading it gives what the service has said."""
    if not hasattr(socket, "AF_UNIX"):
        yield lambda: b"READY=1"
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as supervisor:
        supervisor.bind(str(name))
        supervisor.settimeout(60)
        patch.setenv("NOTIFY_SOCKET", str(name))
        yield lambda: supervisor.recv(100)


def test_1_health_readiness_and_metrics_are_there(running):
    assert running.told() == b"READY=1"
    for path, status in (("healthz", "ok"), ("readyz", "ready")):
        assert httpx.get(f"{running.client.base_url}/{path}").json() == {"status": status}
    assert "setwise_gallery_sets 9.0" in running.client.get("/metrics").text


def test_2_the_log_has_a_line_for_each_request_question_and_error(running):
    running.ask()
    running.client.get("/api/v1/nothing")
    lines = running.lines("request")
    assert {"time", "level", "request", "client", "who", "ms"} <= set(lines[-1])
    assert [line["status"] for line in lines if line["path"] == "/api/v1/nothing"] == [404]
    assert running.lines("question")[-1]["state"] == "done"


def refused(gallery: Path, *options: str):
    """How `setwise serve` ends that cannot start."""
    found = CliRunner().invoke(app, ["serve", str(gallery), "--no-browser", *options])
    assert found.exit_code == 1
    return found


def test_3_a_port_that_is_taken_is_one_sentence(own):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        found = refused(own, "--port", port)
    assert len(found.stderr.splitlines()) == 1
    assert f"port {port}" in found.stderr
    assert "choose another --port" in found.stderr
    assert "bug" not in found.stderr


def test_3_a_port_is_taken_before_the_gallery_is_read(own):
    """Two servers started at once: one of them says so, before it reads for a minute."""
    from setwise.cli.serve import _bound

    with _bound(Settings(own, port=0)) as first:
        found = refused(own, "--port", str(first.getsockname()[1]))
    assert "choose another --port" in found.stderr


def test_4_a_proxy_with_tls_is_answered(running):
    for host in ("photos.example.org", f"127.0.0.1:{running.port}"):
        headers = {"Host": host, "Origin": PUBLIC, "X-Forwarded-For": "203.0.113.9"}
        assert running.client.get("/api/v1/gallery", headers=headers).status_code == 200
        undone = running.client.post("/api/v1/commands/undo", json={}, headers=headers)
        assert undone.status_code == 422  # there is nothing to undo
    assert running.lines("request")[-1]["client"] == "203.0.113.9"


def test_5_the_token_is_shown_nowhere(running):
    assert httpx.get(f"{running.client.base_url}/api/v1/gallery").status_code == 401
    running.client.get(f"/?token={TOKEN}")
    if sys.platform == "linux":
        shown = Path(f"/proc/{running.process.pid}/cmdline").read_bytes()
        assert TOKEN.encode() not in shown
    assert TOKEN not in running.printed + running.log.read_text()
    assert running.printed.split(" is at ")[1].startswith(f"{PUBLIC}/ ")


def test_6_fourteen_clients_at_once_are_answered_or_told_when_to_come_back(running):
    found = []

    def ask(seed: int) -> None:
        with httpx.Client(base_url=running.client.base_url, timeout=60) as client:
            client.headers["Authorization"] = f"Bearer {TOKEN}"
            found.append(client.post("/api/v1/identify", files=album(seed=seed)))

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(14)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 14
    assert {one.status_code for one in found} <= {202, 503}
    assert all("retry-after" in one.headers for one in found if one.status_code == 503)
    for one in found:
        if one.status_code == 202:
            job = one.json()["id"]
            while running.client.get(f"/api/v1/identify/{job}").json()["state"] != "done":
                time.sleep(0.05)
    assert running.client.get("/readyz").status_code == 200


def test_7_a_gallery_of_embeddings_says_what_it_cannot_do(tmp_path):
    from setwise.evaluation.testing import separable_sets

    sets, labels = separable_sets()
    own = setwise.CVC(dims=(2,)).fit(sets, labels).save(tmp_path / "numbers.setwise")
    with served(Settings(Path(own))) as page:
        found = page.question(page.ask(album()))
    assert found["state"] == "failed"
    assert "plain numbers" in found["error"]


def test_8_to_11_a_service_that_is_changed_killed_and_stopped(own, tmp_path):
    """One after the other, as processes take their time to start."""
    before = own.read_bytes()
    with service(own) as one:
        changed = one.enroll()
        assert changed.status_code == 200, changed.text
        assert one.lines("change")[-1]["command"] == "enroll"
        one.process.kill()
    assert own.read_bytes() != before
    with service(own) as one:  # 10: what was changed before a kill can be undone after it
        assert one.client.post("/api/v1/commands/undo", json={}).status_code == 200
        assert own.read_bytes() == before
        assert one.lines("change")[-1]["who"] == "token"
        enroll_from_the_shell(own, tmp_path)  # 8, 9: it is noticed at once
        assert one.client.get("/api/v1/gallery").json()["n_sets"] == 10
        assert one.wait_for("gallery")["level"] == "info"
        stop_while_it_changes(one, own)  # 11
    assert len(setwise.load(own).gallery_.sets) == 11


def enroll_from_the_shell(own: Path, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "party"
    folder.mkdir(parents=True)
    for j, photo in enumerate(photos("flat", 4, seed=20)):
        (folder / f"{j}.png").write_bytes(photo)
    options = ["enroll", str(own), str(folder.parent), "--label", "flat", "--quiet"]
    assert CliRunner().invoke(app, options).exit_code == 0


def stop_while_it_changes(one: Service, own: Path) -> None:
    """SIGTERM answers what was asked, ends streams of events, and gives status 0."""
    answers, job = [], one.ask()["id"]

    def enroll() -> None:
        body = {"job": job, "label": "flat"}
        answers.append(one.client.post("/api/v1/commands/enroll", json=body))

    with one.client.stream("GET", "/api/v1/events") as stream:
        next(stream.iter_lines())
        thread = threading.Thread(target=enroll)
        thread.start()
        while not own.with_name(f".{own.name}.lock").exists() and thread.is_alive():
            time.sleep(0.005)
        one.process.send_signal(signal.SIGTERM)
        thread.join()
    assert one.process.wait(timeout=60) == 0
    assert answers[0].status_code == 200
    assert one.lines("stopped")


def test_12_a_damaged_file_is_named_at_the_start(own):
    whole = own.read_bytes()
    flipped = bytearray(whole)
    flipped[-1000] ^= 1
    for content in (whole[:5000], bytes(flipped)):
        own.write_bytes(content)
        found = refused(own, "--port", "0")
        assert len(found.stderr.splitlines()) == 1
        assert "people.setwise" in found.stderr


def test_12_a_file_that_is_damaged_later_is_not_ready_and_logged(own, caplog):
    caplog.set_level("INFO", logger="setwise")
    with served(Settings(own)) as page:
        own.write_bytes(own.read_bytes()[:5000])
        deadline = time.monotonic() + 60
        while "gallery" not in caplog.messages and time.monotonic() < deadline:
            time.sleep(0.05)
        assert page.get("/readyz").status_code == 503
        assert page.answered(album())["answers"][0]["label"] == "flat"  # as it was
    told = [record for record in caplog.records if record.getMessage() == "gallery"]
    assert [record.levelname for record in told] == ["ERROR"]


def test_13_files_of_every_earlier_version_are_served():
    folder = Path(__file__).parent / "data" / "galleries"
    for path in sorted(folder.glob("v*/*.setwise")):
        if path.stem == "faiss":
            pytest.importorskip("faiss")
        assert setwise.load(path).gallery_.n_classes > 1


@pytest.mark.skipif(sys.platform != "linux", reason="address space is limited on Linux")
def test_14_a_limit_on_memory_is_kept(own):
    limited = ["bash", "-c", 'ulimit -v 3000000; exec "$@"', "bash"]
    folder = own.parent / "album"
    folder.mkdir()
    for j, photo in enumerate(photos("flat", 4)):
        (folder / f"{j}.png").write_bytes(photo)
    arguments = [*limited, *RUN, "identify", str(own), str(folder), "--quiet"]
    found = subprocess.run(arguments, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert found.stdout.split("\t")[1] == "flat"
