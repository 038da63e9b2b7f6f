"""Load and faults on a server: readers, uploads, a writer, half-open connections, and kills.

``python benchmarks/soak.py --minutes 30 --write docs/reliability.md`` serves a gallery of
digits in a process of its own. Every ``--kill-every`` seconds that is ended, by SIGKILL twice
and by SIGTERM once, and started again. Once in each of its lives comes one of these, in turn:

- full: the disk of the gallery and its history is filled for three seconds (Linux, as root: it
  is a file system in memory);
- frozen: the process is stopped for three seconds (SIGSTOP);
- replaced: another process changes the gallery file;
- clock: the clock of the server jumps by up to a day, ahead or back, and so does the time of
  the gallery file, which another process replaces by its copy;
- locked: another process holds the lock of the gallery file for three seconds.

In every other life each ``fsync`` takes 0.3 s longer, as on a slow disk (where strace is). It
checks that

- after each start, and after each fault, the gallery has the sets that the writer was promised,
  or, where the answer to the last command was lost, those before or after that command;
- sampled answers are those of ``setwise.load`` on the very state that gave them;
- no request is answered with 500, SIGTERM ends with status 0, and all files are sound in the
  end.

It ends with 1 if something was found. Nothing is downloaded.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import runpy
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import contextmanager, suppress
from datetime import date
from pathlib import Path

import httpx

import setwise
from setwise._support.files import held
from setwise._support.text import free_name
from setwise.gallery.backup import verify
from setwise.gallery.journal import JOURNAL, file_digest, journal_of, read_entries

write_page_demo = runpy.run_path("examples/digits_page.py")["write_page_demo"]
# `setwise`, with a clock that is as many seconds ahead as a file says.
START = """
import sys, time
from pathlib import Path
now, jump = time.time, Path(sys.argv.pop(1))
time.time = lambda: now() + (float(jump.read_text() or 0) if jump.exists() else 0)
from setwise.cli import run
sys.argv[0] = "setwise"
run()
"""
SLOW_DISK = (
    "strace -D -f --seccomp-bpf -o /dev/null -e trace=fsync -e inject=fsync:delay_enter=300000"
)
# Kept states take some 2 MB each; the disk is to be full by a fault, not by them.
DISK_MB, FAULT_S, UNDO_BYTES, PATIENCE_S = 256, 3.0, 60_000_000, 180.0
TOKEN = "token-of-the-soak"
ODD = (httpx.TransportError, httpx.RemoteProtocolError)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def small_gallery(folder: Path) -> Path:
    """A gallery of digits that changes within a tenth of a second, and an inbox of albums."""
    gallery = write_page_demo(folder, n_gallery=3, n_probes=4)
    sets = setwise.load(gallery).gallery_.sets
    labels = [name.partition("/")[0] for name in sets.names]
    views = (("plain", "mean"), ("plain", "svd"))
    return (
        setwise.CVC((1, 2), representations=views, random_state=0)
        .fit(sets, labels)
        .save(gallery)
    )


class Soak:
    """The server, its clients, and what they have seen."""

    def __init__(self, folder: Path, disk: Path, seed: int) -> None:
        self.disk, self.has_own_disk = disk, os.path.ismount(disk)
        self.gallery = small_gallery(disk)
        self.journal = journal_of(self.gallery)
        self.albums = sorted((disk / "inbox").iterdir())
        self.port, self.random = free_port(), random.Random(seed)
        self.jump = folder / "jump"
        self.writing = threading.Lock()
        self.next_faults = [self.full, self.frozen, self.replaced, self.clock, self.locked]
        self.counts: Counter[str] = Counter()
        self.faults: list[str] = []
        self.memory: list[tuple[float, float]] = []  # seconds, MB
        self.fds: list[int] = []
        self.change_s: list[float] = []
        self.ask_s: list[float] = []
        self.lives: list[float] = []  # MB at the end of each
        self.is_over = threading.Event()
        self.is_up = threading.Event()
        self.promised: list[set[str]] = [set(setwise.load(self.gallery).gallery_.sets.names)]
        self.process: subprocess.Popen | None = None
        self.log = (folder / "soak.log").open("ab")

    def client(self) -> httpx.Client:
        headers = {"Authorization": f"Bearer {TOKEN}", "Prefer": "wait=60"}
        return httpx.Client(
            base_url=f"http://127.0.0.1:{self.port}", headers=headers, timeout=60
        )

    def fault(self, words: str) -> None:
        self.faults.append(words)
        print("FAULT", words, flush=True)

    def start(self) -> None:
        """Start the server, and compare the gallery with what was promised."""
        options = ["serve", str(self.gallery), "--port", str(self.port), "--no-browser"]
        is_slow = self.counts["starts"] % 2 == 1 and shutil.which("strace") is not None
        self.counts["lives with a slow disk"] += is_slow
        began = time.monotonic()
        self.process = subprocess.Popen(
            [*(SLOW_DISK.split() if is_slow else []), sys.executable, "-c", START,
             str(self.jump), *options, "--log-format", "json",
             "--limit", f"undo_bytes={UNDO_BYTES}"],
            env=os.environ | {"SETWISE_TOKEN": TOKEN},
            stdout=subprocess.DEVNULL,
            stderr=self.log,
        )  # fmt: skip
        with self.client() as client:
            while True:
                with suppress(*ODD):
                    if client.get("/readyz").status_code == 200:
                        break
                is_late = time.monotonic() - began > PATIENCE_S
                if self.process.poll() is not None or is_late:
                    ended = f"ended with {self.process.returncode} at its start"
                    self.fault(f"the server {'is not ready' if is_late else ended}")
                    self.is_over.set()
                    return
                time.sleep(0.1)
            self.counts["starts"] += 1
            self.counts["seconds to be ready, all starts"] += round(time.monotonic() - began)
            found = self.names(client)
        if found not in self.promised:
            differs = [sorted(found ^ one) for one in self.promised]
            self.fault(f"sets differ from what was promised: {differs}")
        self.promised = [found]
        self.is_up.set()

    def end(self) -> None:
        """End the server, twice of three times without a warning."""
        process, is_kind = self.process, self.counts["starts"] % 3 == 0
        self.is_up.clear()
        process.send_signal(signal.SIGTERM if is_kind else signal.SIGKILL)
        status = process.wait(timeout=60)
        self.counts["SIGTERM" if is_kind else "SIGKILL"] += 1
        if is_kind and status:
            self.fault(f"SIGTERM ended with status {status}")
        if self.memory:
            self.lives.append(self.memory[-1][1])

    def names(self, client: httpx.Client) -> set[str]:
        found = client.get("/api/v1/gallery").raise_for_status().json()
        return {one["name"] for group in found["classes"] for one in group["sets"]}

    def loop(self, work) -> threading.Thread:
        """A thread that works again and again while the server is up."""

        def run() -> None:
            client = self.client()
            while not self.is_over.is_set():
                if not self.is_up.wait(timeout=0.5):
                    continue
                try:
                    work(client)
                except ODD:
                    self.counts["requests lost with the server"] += 1
                    client.close()
                    client = self.client()
                except Exception as error:
                    self.fault(f"{work.__name__}: {type(error).__name__}: {error}")
            client.close()

        thread = threading.Thread(target=run, name=work.__name__)
        thread.start()
        return thread

    def checked(self, response: httpx.Response) -> httpx.Response:
        self.counts["requests"] += 1
        if response.status_code >= 500 and response.status_code != 503:
            self.fault(f"{response.request.url.path}: {response.status_code} {response.text}")
        self.counts["503"] += response.status_code == 503
        return response

    def read(self, client: httpx.Client) -> None:
        self.checked(client.get("/api/v1/gallery"))
        self.checked(client.get("/api/v1/history"))
        time.sleep(0.05)

    def measure(self, client: httpx.Client) -> None:
        text = self.checked(client.get("/metrics")).text
        values = dict(line.split() for line in text.splitlines() if line.startswith("process_"))
        memory = float(values["process_resident_memory_bytes"]) / 1e6
        self.memory.append((time.monotonic(), memory))
        self.fds.append(int(float(values["process_open_fds"])))
        time.sleep(1.0)

    def asked(self, client: httpx.Client, album: Path) -> dict | None:
        """The job of an album once it is answered; None if the server was busy."""
        files = [
            ("files", (f"{album.name}/{one.name}", one.read_bytes(), "image/png"))
            for one in sorted(album.iterdir())
        ]
        began = time.monotonic()
        sent = self.checked(client.post("/api/v1/identify", files=files))
        is_full = sent.status_code == 422 and "cannot store" in sent.text
        self.counts["uploads refused, disk full"] += is_full
        if sent.status_code == 503 or is_full:
            time.sleep(0.2)
            return None
        job = sent.raise_for_status().json()["id"]
        while True:
            found = self.checked(client.get(f"/api/v1/identify/{job}")).json()
            if "error" in found and found.get("state") is None:
                return None  # the server is another one meanwhile, and knows no such job
            if found["state"] == "done":
                self.counts["questions"] += 1
                self.ask_s.append(time.monotonic() - began)
                return found
            if found["state"] in ("failed", "cancelled"):
                if found["state"] == "failed" and "No space" not in found["error"]:
                    self.fault(f"a question failed: {found['error']}")
                return None
            time.sleep(0.05)

    def ask(self, client: httpx.Client) -> None:
        album = self.random.choice(self.albums)
        found = self.asked(client, album)
        if found is not None and self.random.random() < 0.1:
            self.compare(album, found)

    def compare(self, album: Path, found: dict) -> None:
        """Compare an answer with that of the library, on the very state that gave it."""
        revision, theirs = found["judged_by"], found["answers"][0]["probability"]
        for state in [*self.journal.glob(f"{revision}*.setwise"), self.gallery]:
            with suppress(setwise.errors.DataError, FileNotFoundError):  # pruned meanwhile
                if not file_digest(state).startswith(revision):
                    continue
                clf = setwise.load(state)
                (mine,) = clf.judge(self.photos(album, clf))
                if file_digest(state).startswith(revision):  # still
                    self.counts["answers compared"] += 1
                    if abs(mine.probability - theirs) > 1e-9:
                        self.fault(f"{album.name}: {theirs}, not {mine.probability}")
                    return

    def write(self, client: httpx.Client) -> None:
        """Change the gallery, and note what was promised."""
        with self.writing:
            self._write(client)

    def _write(self, client: httpx.Client) -> None:
        self.settle_promise()
        (before,) = self.promised
        choice = self.random.random()
        if choice < 0.5 or len(before) > 60:
            path, body, after = self.undo_or_forget(client, before)
        else:
            path, body, after = self.enroll(client, before)
        if not path:
            return
        self.promised = [before, *after]  # until the answer is there
        began = time.monotonic()
        answer = self.checked(client.post(path, json=body))
        self.change_s.append(time.monotonic() - began)
        if answer.status_code == 200:
            self.counts["changes"] += 1
            self.promised = [self.names(client)]
            if self.promised[0] not in after:
                self.fault(f"{path}: the gallery is not what the change should give")
        else:
            self.counts["changes refused"] += 1
            self.promised = [before]

    def undo_or_forget(self, client: httpx.Client, before: set[str]):
        overview = self.checked(client.get("/api/v1/gallery")).json()
        added = [
            one
            for group in overview["classes"]
            for one in group["sets"]
            if one["name"].startswith("set ") and group["n_sets"] > 1
        ]
        if added and self.random.random() < 0.7:
            one = self.random.choice(added)
            return "/api/v1/commands/forget", {"set_id": one["id"]}, [before - {one["name"]}]
        if overview["can_undo"] is None:
            return "", {}, []
        done = [one for one in read_entries(self.journal / JOURNAL) if one.state == "done"]
        state = self.journal / f"{done[-1].before}.setwise"
        after = set(setwise.load(state).gallery_.sets.names)
        return "/api/v1/commands/undo", {"revision": overview["revision"]}, [after]

    def enroll(self, client: httpx.Client, before: set[str]):
        album = self.random.choice(self.albums)
        job = self.asked(client, album)
        if job is None:
            return "", {}, []
        answer = job["answers"][0]
        after = [before | {free_name(answer["set"]["name"], before)}]
        body = {"job": job["id"], "label": answer["most_like"]}
        return "/api/v1/commands/enroll", body, after

    def block(self, client: httpx.Client) -> None:
        """Connections that stop in the middle, and an upload that never ends."""
        address = ("127.0.0.1", self.port)
        head = (
            b"POST /api/v1/identify HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 999999\r\n"
        )
        head += f"Authorization: Bearer {TOKEN}\r\n".encode()
        head += b"Content-Type: multipart/form-data; boundary=x\r\n\r\n--x\r\n"
        opened = []
        for sent in [b"GET / HT"] * 20 + [head]:
            with suppress(OSError):
                one = socket.create_connection(address, timeout=5)
                one.sendall(sent)
                opened.append(one)
        self.counts["half-open connections"] += len(opened)
        time.sleep(2.0)
        for one in opened:
            one.close()

    def fault_of_this_life(self) -> None:
        """One fault; after it the gallery is what was promised."""
        happens = self.next_faults.pop(0)
        self.next_faults.append(happens)
        happens()
        if happens.__name__ == "full" and not self.has_own_disk:
            return
        self.counts[f"fault: {happens.__name__}"] += 1
        with self.writing, self.client() as client:
            if not self.is_over.is_set() and self.names(client) not in self.promised:
                self.fault(f"after {happens.__name__} the gallery is not what was promised")

    def full(self) -> None:
        """No room for the gallery and its history for some seconds."""
        if not self.has_own_disk:
            return
        filler = self.disk / "filler"
        with suppress(OSError), filler.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(1 << 16))
        time.sleep(FAULT_S)
        filler.unlink()

    def frozen(self) -> None:
        """The process stands still for some seconds."""
        self.process.send_signal(signal.SIGSTOP)
        time.sleep(FAULT_S)
        self.process.send_signal(signal.SIGCONT)

    def replaced(self) -> None:
        """Another program, this one, adds an album, or forgets the last one."""
        with self.writing:
            self.settle_promise()
            with setwise.edit(self.gallery) as clf:
                sets = clf.gallery_.sets
                added = [name for name in sets.names if name.startswith("set ")]
                if len(added) > 10:
                    clf.forget(sets=[added[-1]])
                else:
                    clf.enroll(self.photos(self.albums[0], clf), [clf.classes_[0]])
                self.promised = [set(clf.gallery_.sets.names)]

    def clock(self) -> None:
        """The clock jumps, and the file comes back with another time."""
        ahead = self.random.choice((-1, 1)) * self.random.uniform(60, 86_400)
        self.jump.write_text(str(ahead))
        with self.writing, held(self.gallery):
            copy = self.gallery.with_name("copy")
            shutil.copyfile(self.gallery, copy)
            os.utime(copy, (time.time() + ahead,) * 2)
            copy.replace(self.gallery)

    def locked(self) -> None:
        """Another program holds the lock, and changes nothing."""
        with held(self.gallery):
            time.sleep(FAULT_S)

    def settle_promise(self) -> None:
        """Which of two states is there, if the answer to the last command was lost."""
        if len(self.promised) > 1:
            with self.client() as client:
                found = self.names(client)
            if found not in self.promised:
                self.fault("the gallery is neither that before the command nor that after it")
            self.promised = [found]

    def photos(self, album: Path, clf: setwise.CVC) -> setwise.SetBatch:
        shape = clf.gallery_.sets.image_shape
        return setwise.load_images(
            album, layout="single", size=shape[:2], colour=len(shape) == 3
        )

    def run(self, minutes: float, kill_every: float) -> None:
        end = time.monotonic() + 60 * minutes
        works = [self.read, self.read, self.ask, self.ask, self.write, self.measure, self.block]
        self.start()
        threads = [self.loop(work) for work in works]
        try:
            while time.monotonic() < end and not self.is_over.is_set():
                self.fault_of_this_life()
                if self.is_over.wait(min(kill_every, max(end - time.monotonic(), 0.1))):
                    break
                if time.monotonic() < end:
                    self.end()
                    self.start()
        finally:  # also after an error of this program, which the threads would outlive
            self.is_over.set()
            for thread in threads:
                thread.join()
        if self.process.poll() is None:
            self.process.terminate()
            if self.process.wait(timeout=60):
                self.fault("the last SIGTERM did not end with status 0")
        self.log.close()
        for finding in verify(self.gallery):
            if not finding.ok:
                self.fault(f"{finding.what}: {finding.detail}")

    def table(self, minutes: float) -> str:
        megabytes = [mb for _, mb in self.memory]
        rows = [("minutes", f"{minutes:g}"), *((k, str(v)) for k, v in self.counts.items())]
        rows += [
            ("seconds of a question, p50 and p95", percentiles(self.ask_s)),
            ("seconds of a change, p50 and p95", percentiles(self.change_s)),
            ("memory in MB: first, highest, last", f"{megabytes[0]:.0f}, {max(megabytes):.0f}, "
             f"{megabytes[-1]:.0f}"),
            ("memory in MB, each minute", ", ".join(f"{mb:.0f}" for mb in self.each_minute())),
            ("memory in MB, each life's last", ", ".join(f"{mb:.0f}" for mb in self.lives)),
            ("open files: fewest, most", f"{min(self.fds)}, {max(self.fds)}"),
            ("size of history in MB", f"{self.history_mb():.1f}"),
            ("**wrong answers, lost changes, 500s, damaged files**", f"**{len(self.faults)}**"),
        ]  # fmt: skip
        return "\n".join(["| what | |", "|---|---|", *(f"| {k} | {v} |" for k, v in rows)])

    def each_minute(self) -> list[float]:
        """Memory at the end of each minute, of whichever server lived then."""
        last = {int((seconds - self.memory[0][0]) // 60): mb for seconds, mb in self.memory}
        return list(last.values())

    def history_mb(self) -> float:
        return sum(one.stat().st_size for one in self.journal.glob("*")) / 1e6


def percentiles(seconds: list[float]) -> str:
    found = statistics.quantiles(seconds, n=20) if len(seconds) > 1 else [math.nan] * 19
    return f"{found[9]:.2f}, {found[18]:.2f}"


@contextmanager
def small_disk(folder: Path):
    """A disk of its own, which can be filled, where the system lets us have one."""
    folder.mkdir()
    options = ["-t", "tmpfs", "-o", f"size={DISK_MB}m", "setwise-soak", str(folder)]
    is_own = (
        bool(shutil.which("mount"))
        and not subprocess.run(["mount", *options], capture_output=True).returncode
    )
    try:
        yield folder
    finally:
        if is_own:
            subprocess.run(["umount", str(folder)], check=True)


def write_page(page: Path, mark: str, command: str, table: str) -> None:
    """Put the table between the two marks of a page."""
    begin, end = f"<!-- {mark}: begin -->\n", f"<!-- {mark}: end -->"
    before, _, rest = page.read_text("utf-8").partition(begin)
    words = (
        f"`{command}`, {date.today()}, {os.cpu_count()} cores, load {os.getloadavg()[2]:.0f}:"
    )
    page.write_text(
        f"{before}{begin}{words}\n\n{table}\n{end}{rest.partition(end)[2]}", "utf-8"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--kill-every", type=float, default=20.0, metavar="SECONDS")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put the table there")
    parser.add_argument("--mark", default="soak", help="between which comments of the page")
    given = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as name,
        small_disk(Path(name) / "disk") as disk,
    ):
        soak = Soak(Path(name), disk, given.seed)
        soak.run(given.minutes, given.kill_every)
        table = soak.table(given.minutes)
    print(table)
    if given.write and not soak.faults:
        write_page(given.write, given.mark, f"python {' '.join(sys.argv)}", table)
    return int(bool(soak.faults))


if __name__ == "__main__":
    sys.exit(main())
