"""Limits on size, count, time and concurrency."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, suppress

import httpx
import pytest
from tests.page.page_server import album, served, settings_for, uploaded

from setwise.page import Limits, guard, identify
from setwise.page.jobs import Job, Queue, QueueFullError, StoppedError


def test_fifty_megabytes_are_refused_before_they_are_read(shared_page):
    """The answer comes while not a single byte of the body was sent."""
    port = int(shared_page.address.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        head = (
            "POST /api/v1/identify HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            "Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 60000000\r\n\r\n"
        )
        connection.sendall(head.encode())
        answer = "".join(part.decode() for part in iter(lambda: connection.recv(65536), b""))
    assert answer.startswith("HTTP/1.1 413")
    assert "too much at once" in answer


def chunks(n_bytes: int, sent: list[int]):
    yield b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.png"\r\n\r\n'
    while sent[0] < n_bytes:
        sent[0] += 100_000
        yield bytes(100_000)


def test_a_body_without_a_length_is_counted_while_it_comes(gallery_file, tmp_path):
    sent = [0]
    limits = Limits(upload_bytes=1_000_000)
    with served(settings_for(gallery_file, tmp_path, limits)) as page:
        headers = {"Content-Type": "multipart/form-data; boundary=x"}
        try:
            found = httpx.post(
                f"{page.address}/api/v1/identify",
                content=chunks(300_000_000, sent),
                headers=headers,
            )
            assert found.status_code == 413
        except httpx.TransportError:
            pass  # closed while the client was still sending
        assert sent[0] < 100_000_000
        assert not uploaded(page)
        assert page.overview()["n_sets"] == 9


def test_json_bodies_are_small(shared_page):
    body = {"job": "x" * 2_000_000, "label": "y"}
    assert shared_page.post("/api/v1/commands/enroll", body).status_code == 413


def test_too_many_files_are_refused(gallery_file, tmp_path):
    with served(settings_for(gallery_file, tmp_path, Limits(files=5))) as page:
        refused = page.client.post("/api/v1/identify", files=album(n_images=6))
        assert refused.status_code == 413
        assert "more than 5 files" in refused.json()["error"]
        assert page.answered(album(n_images=5))["n_images"] == 5


class Slow:
    """Stands for work that takes until it is let go."""

    def __init__(self, monkeypatch) -> None:
        self.go = threading.Event()
        self.original = identify.load_images
        monkeypatch.setattr(identify, "load_images", self)

    def __call__(self, *arguments, progress, **options):
        while not self.go.wait(0.01):
            progress("load", 0, 1)
        return self.original(*arguments, progress=progress, **options)


def test_a_full_queue_says_so_and_when_to_come_back(gallery_file, tmp_path, monkeypatch):
    limits = Limits(workers=1, waiting=2)
    slow = Slow(monkeypatch)
    with served(settings_for(gallery_file, tmp_path, limits)) as page:
        asks = [page.ask(album())]
        while page.get(f"/api/v1/identify/{asks[0]}").json()["state"] != "working":
            time.sleep(0.01)
        asks += [page.ask(album(seed=seed)) for seed in (1, 2)]
        refused = page.client.post("/api/v1/identify", files=album())
        assert refused.status_code == 503
        assert int(refused.headers["retry-after"]) > 0
        assert page.get("/api/v1/gallery").status_code == 200  # others are not held up
        slow.go.set()
        assert [page.question(ask)["state"] for ask in asks] == ["done"] * 3
        page.answered(album())


def test_work_that_takes_too_long_fails_and_the_next_goes_on(
    gallery_file, tmp_path, monkeypatch
):
    slow = Slow(monkeypatch)
    with served(settings_for(gallery_file, tmp_path, Limits(seconds=0.3, workers=1))) as page:
        failed = page.question(page.ask(album()))
        assert failed["state"] == "failed"
        assert "longer than" in failed["error"]
        slow.go.set()
        page.state.queue.limits = Limits()
        assert page.answered(album())["answers"][0]["label"] == "flat"


def test_a_question_can_be_stopped_while_it_waits_and_while_it_is_worked_on(
    gallery_file, tmp_path, monkeypatch
):
    slow = Slow(monkeypatch)
    with served(settings_for(gallery_file, tmp_path, Limits(workers=1))) as page:
        working, waiting = page.ask(album()), page.ask(album())
        while page.get(f"/api/v1/identify/{working}").json()["state"] != "working":
            time.sleep(0.01)
        for ask in (waiting, working):
            assert page.client.delete(f"/api/v1/identify/{ask}").status_code == 204
            assert page.get(f"/api/v1/identify/{ask}").json()["state"] == "cancelled"
        slow.go.set()
        page.answered(album())
        assert len(uploaded(page)) == 1


def test_uploads_to_a_killed_server_are_removed_by_the_next(
    gallery_file, tmp_path, monkeypatch
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    old = tmp_path / f"setwise-page-{ended.pid}-abc"
    living = tmp_path / f"setwise-page-{os.getppid()}-abc"
    for folder in (old, living):
        folder.mkdir()
        (folder / "photo.png").touch()
    (tmp_path / "link").mkdir()
    (tmp_path / f"setwise-page-{ended.pid}-link").symlink_to(tmp_path / "link")
    with served(settings_for(gallery_file, tmp_path)):
        assert not old.exists()
        assert living.exists()
        assert (tmp_path / "link").exists()


def test_streams_are_bounded(gallery_file, tmp_path):
    with served(settings_for(gallery_file, tmp_path, Limits(streams=1))) as page:
        with page.client.stream("GET", "/api/v1/events") as first:
            lines = first.iter_lines()
            next(lines)
            with page.client.stream("GET", "/api/v1/events") as second:
                assert second.status_code == 503
            lines.close()
        for _ in range(100):
            if page.state.n_streams == 0:
                break
            time.sleep(0.05)
        assert page.state.n_streams == 0


def port_of(page) -> int:
    return int(page.address.rpartition(":")[2])


def test_half_open_connections_shut_no_one_out(gallery_file, tmp_path, monkeypatch):
    for name, value in (("HEAD_S", 1.0), ("MOST_WAITING", 5), ("MOST_CONNECTIONS", 8)):
        monkeypatch.setattr(guard, name, value)
    with served(settings_for(gallery_file, tmp_path)) as page:
        address = ("127.0.0.1", port_of(page))
        with ExitStack() as stack:
            waiting = [
                stack.enter_context(socket.create_connection(address, timeout=10))
                for _ in range(12)
            ]
            for one in waiting:
                with suppress(OSError):
                    one.sendall(b"GET / HT")
            with page.new_client() as client:
                assert client.get("/api/v1/history").status_code == 200  # while they wait
            for one in waiting:
                with suppress(ConnectionError):
                    assert one.recv(100) == b""  # closed by the server


def test_heads_of_later_requests_have_a_time_limit_too(gallery_file, tmp_path, monkeypatch):
    monkeypatch.setattr(guard, "HEAD_S", 0.3)
    with (
        served(settings_for(gallery_file, tmp_path)) as page,
        socket.create_connection(("127.0.0.1", port_of(page)), timeout=10) as one,
    ):
        one.sendall(b"GET /api/v1/history HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert one.recv(65536).startswith(b"HTTP/1.1 200")
        one.sendall(b"GET / HT")  # ends the time that an idle connection may stay
        with suppress(ConnectionError):
            assert b"HTTP" not in b"".join(iter(lambda: one.recv(65536), b""))


def endless_upload(page) -> socket.socket:
    one = socket.create_connection(("127.0.0.1", port_of(page)), timeout=10)
    one.sendall(
        b"POST /api/v1/identify HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000000\r\n"
        b"Content-Type: multipart/form-data; boundary=x\r\n\r\n--x\r\n"
    )
    return one


def test_uploads_that_never_end_take_no_place_in_the_queue(gallery_file, tmp_path):
    limits = Limits(waiting=1, workers=1, uploads=2)
    with served(settings_for(gallery_file, tmp_path, limits)) as page:
        endless = [endless_upload(page) for _ in range(4)]
        assert page.answered(album())["answers"][0]["label"] == "flat"
        assert endless[0].recv(100).startswith(b"HTTP/1.1 408")  # the oldest gives way
        for one in endless:
            one.close()


@pytest.mark.parametrize("path", ["/api/v1/identify", "/api/v1/commands/undo"])
def test_bodies_that_never_end_have_a_time_limit(gallery_file, tmp_path, path):
    with served(settings_for(gallery_file, tmp_path, Limits(seconds=0.3))) as page:
        with socket.create_connection(("127.0.0.1", port_of(page)), timeout=10) as one:
            kind = (
                "multipart/form-data; boundary=x" if "identify" in path else "application/json"
            )
            head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {kind}\r\n"
            one.sendall(f"{head}Content-Length: 100\r\n\r\n".encode())
            status = one.recv(12)
        assert status in (b"HTTP/1.1 408", b"HTTP/1.1 400")


# ------------------------------------------------------------------------- the queue alone


def over(work: Queue, job: Job) -> Job:
    while not job.is_over:
        time.sleep(0.005)
    return job


@pytest.fixture
def work():
    made = Queue(Limits(workers=1, kept=3, kept_bytes=1000))
    made.start()
    yield made
    made.close()


def quick(job: Job) -> str:
    for step in job.steps:
        with job.at(step, 1):
            pass
    return "answer"


def test_answers_are_forgotten_beyond_their_number_and_bytes(work):
    jobs = [over(work, work.add(quick, list)) for _ in range(5)]
    assert [work.get(job.id) is not None for job in jobs] == [False, False, True, True, True]
    jobs[4].n_bytes = 900
    jobs[3].n_bytes = 200
    assert work.get(jobs[3].id) is None
    assert work.get(jobs[4].id).result == "answer"


def test_an_error_inside_is_not_told_to_clients(work, caplog):
    def fail(job: Job) -> None:
        msg = "secret"
        raise KeyError(msg)

    job = over(work, work.add(fail, list))
    assert job.state == "failed"
    assert "secret" not in job.error
    assert "secret" in caplog.text


def test_a_full_queue_takes_no_more_jobs():
    work = Queue(Limits(waiting=1))
    work.add(quick, list)
    with pytest.raises(QueueFullError):
        work.check_room()
    with pytest.raises(QueueFullError):
        work.add(quick, list)
    work.close()


def test_the_estimate_learns_from_what_was_done(work):
    job = Job("x", quick, list, 60.0)
    for name, total in (("reading", 10), ("looking", 1), ("comparing", 1)):
        job.steps[name].total = total
    assert work.estimate(job) is None
    work.pace = {"reading": 0.5, "looking": 2.0, "comparing": 1.0}
    assert work.estimate(job) == pytest.approx(8.0)
    job.steps["reading"].state = "done"
    assert work.estimate(job) == pytest.approx(3.0)
    job.end("done")
    assert work.estimate(job) == 0


def test_work_that_nobody_wants_stops_at_its_next_word():
    job = Job("x", quick, list, 60.0)
    job.state = "working"
    job.began = time.monotonic()
    told = job.report("reading")
    told("load", 1, 2)
    job.end("cancelled")
    with pytest.raises(StoppedError):
        told("load", 2, 2)
