"""The page under load: questions, learning, a heap of photos, windows, kills, memory.

    python benchmarks/page_load.py                       all of it, about an hour
    python benchmarks/page_load.py questions learning    some of it
    python benchmarks/page_load.py things --photos 300   a smaller heap

Each part serves a gallery in a process of its own, prints rows of one Markdown table, and keeps
them for docs/benchmarks/page.json (`measure.py page` runs and commits all).
Photos are cut out of pictures that packages bring along (`page_photos.py`), heaps of people are
composed of the faces that come with scikit-image (`tests/faces/made_people.py`).
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from page_photos import write_albums, write_gallery, write_heap
from records import Table, keep

sys.path.insert(0, str(Path(__file__).parents[1]))  # for tests.*

START = "from setwise.cli import run; import sys; sys.argv[0] = 'setwise'; run()"
Files = list[tuple[str, tuple[str, bytes, str]]]


@dataclass
class Server:
    """`setwise serve` in a process of its own."""

    command: list[str]
    process: subprocess.Popen[str]
    address: str

    @property
    def memory_mb(self) -> float:
        """Resident memory."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    def client(self) -> httpx.Client:
        """A client that waits for its changes."""
        return httpx.Client(base_url=self.address, timeout=300, headers={"Prefer": "wait=120"})


def started(*options: object, port: int = 0) -> Server:
    """A server that answers."""
    command = ["serve", *map(str, options), "--no-browser", "--log-level", "error"]
    process = subprocess.Popen(
        [sys.executable, "-c", START, *command, "--port", str(port)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    found = re.search(r"http://\S+?(?=/ )", process.stdout.readline())
    assert found, "the server did not start"
    return Server(command, process, found[0])


@contextmanager
def serving(*options: object) -> Iterator[Server]:
    """A server, ended in the end."""
    server = started(*options)
    try:
        yield server
    finally:
        server.process.terminate()
        server.process.wait()


ROWS: dict[str, list[tuple[str, str]]] = {}


def row(part: str, what: str, found: str) -> None:
    """Print one row of the table of a part."""
    ROWS.setdefault(part, []).append((what, found))
    print(f"| {part} | {what} | {found} |", flush=True)


def keep_part(part: str) -> None:
    """Keep the table of a part, with how busy the machine was."""
    load = f"{os.getloadavg()[2]:.1f} on {os.cpu_count()} cores"
    notes = [f"Load of the machine in the last 15 minutes: {load}."]
    keep("page", part, Table(part, ("what", "found"), ROWS[part], notes))


def albums(inbox: Path) -> list[Files]:
    """What a browser sends, one album per folder."""
    return [
        [("files", (f"{folder.name}/{p.name}", p.read_bytes(), "image/jpeg"))
         for p in sorted(folder.iterdir())]
        for folder in sorted(inbox.iterdir())
    ]  # fmt: skip


def ask(client: httpx.Client, files: Files) -> float:
    """Seconds from sending an album to having its answer."""
    began = time.perf_counter()
    while (sent := client.post("/api/v1/identify", files=files)).status_code == 503:
        time.sleep(0.02)
    address = f"/api/v1/identify/{sent.raise_for_status().json()['id']}"
    while (found := client.get(address).json())["state"] in ("waiting", "working"):
        time.sleep(0.03)
    assert found["state"] == "done", found["error"]
    client.delete(address)
    return time.perf_counter() - began


def quantiles(seconds: list[float]) -> str:
    """Median and 95th percentile in words."""
    p95 = statistics.quantiles(seconds, n=20)[18]
    return f"p50 {statistics.median(seconds):.2f} s, p95 {p95:.2f} s"


def overview(client: httpx.Client) -> dict[str, Any]:
    """The gallery as the page sees it."""
    found: dict[str, Any] = client.get("/api/v1/gallery").raise_for_status().json()
    return found


def settled(client: httpx.Client) -> None:
    """Wait until nothing goes on behind the page."""
    while (now := overview(client))["is_learning"] or now["weak_state"] == "computing":
        time.sleep(0.2)


def questions(root: Path, options: argparse.Namespace) -> None:
    """Albums of about seven photos, by one client and by eight."""
    sent = albums(root / "inbox")
    with serving(root / "things.setwise") as server:
        with server.client() as client:
            settled(client)
            for files in sent[:4]:
                ask(client, files)

        def client_asks(i: int, n_asks: int) -> list[float]:
            with server.client() as client:
                return [ask(client, sent[(i + k) % len(sent)]) for k in range(n_asks)]

        for n_clients in (1, 8):
            began = time.perf_counter()
            each = options.asks // n_clients
            with ThreadPoolExecutor(n_clients) as pool:
                found = pool.map(client_asks, range(n_clients), [each] * n_clients)
                seconds = [one for asked in found for one in asked]
            rate = len(seconds) / (time.perf_counter() - began)
            what = f"{n_clients} client{'s' * (n_clients > 1)}, {len(seconds)} albums"
            row("questions", what, f"{quantiles(seconds)}, {rate:.1f} albums/s")


def learning(root: Path, options: argparse.Namespace) -> None:
    """A question while nothing goes on, and while a change is being learnt."""
    sent = albums(root / "inbox")[2:5]
    gallery = root / "learning.setwise"
    gallery.write_bytes((root / "things.setwise").read_bytes())
    with serving(gallery) as server, server.client() as client:
        settled(client)
        for files in sent:
            ask(client, files)
        idle = [ask(client, sent[k % 3]) for k in range(options.asks)]
        row("learning", "a question, idle", quantiles(idle))
        before, during, changes = server.memory_mb, list[float](), list[float]()
        while len(during) < options.asks:
            one = overview(client)["classes"][0]["sets"][0]
            began = time.perf_counter()
            body = {"set_id": one["id"], "images": [0]}
            client.post("/api/v1/commands/remove_photos", json=body).raise_for_status()
            changes.append(time.perf_counter() - began)
            time.sleep(0.8)  # people look; then learning begins
            while overview(client)["is_learning"]:
                during.append(ask(client, sent[len(during) % 3]))
            client.post("/api/v1/commands/undo", json={}).raise_for_status()
        row("learning", "a question while it learns", quantiles(during))
        row("learning", f"a change, of {len(changes)}, until it is there", quantiles(changes))
        settled(client)
        time.sleep(2)
        words = f"{before:.0f} MB before, {server.memory_mb:.0f} MB after"
        row("learning", "memory of the server", words)


def things(root: Path, options: argparse.Namespace) -> None:
    """From a heap of whole photos to a gallery: how long, how large, how smooth."""
    write_heap(root / "heaps" / "things", options.photos)
    _heap(root, "things", "photos", options.photos)


def people(root: Path, options: argparse.Namespace) -> None:
    """The same of photos of one to three people each."""
    from tests.faces.made_people import FOUND, photo

    rng = np.random.default_rng(0)
    for number in range(options.photos):
        who = rng.choice(len(FOUND), size=rng.integers(1, 4), replace=False).tolist()
        path = root / "heaps" / "people" / f"day {number // 40}" / f"{number:04d}.jpg"
        photo(path, [(one, number) for one in who], side=int(rng.integers(110, 260)))
    _heap(root, "people", "faces", options.photos)


def _heap(root: Path, name: str, kind: str, n_photos: int) -> None:
    """Sort a heap, look around in it, and make the gallery."""
    empty = _empty_memory(root, kind)
    os.environ["XDG_CACHE_HOME"] = str(root / "cache")  # nothing was seen before
    gallery, folder = root / f"heap of {name}.setwise", root / "heaps"
    with serving(gallery, "--photos", folder) as server, server.client() as client:
        _sort(client, folder / name, kind, n_photos)
        _look_around(server, f"{n_photos} photos", name)
        _make(client, gallery, name)
        settled(client)
        time.sleep(5)
        size, used = gallery.stat().st_size / 1e6, server.memory_mb - empty
        words = f"{used:.0f} MB more than an empty page, a file of {size:.0f} MB"
        row(name, "memory with the gallery", f"{words}: {used / size:.1f} times")


def _empty_memory(root: Path, kind: str) -> float:
    """Memory of a server without a gallery that has read and answered something."""
    tiny = root / "tiny"
    write_heap(tiny, 12)
    with serving(root / "tiny.setwise", "--photos", root) as server, server.client() as client:
        client.post("/api/v1/start", json={"folder": str(tiny), "kind": kind})
        while client.get("/api/v1/start").json()["state"] == "reading":
            time.sleep(0.1)
        return server.memory_mb


def _sort(client: httpx.Client, folder: Path, kind: str, n_photos: int) -> None:
    began, first = time.perf_counter(), None
    body = {"folder": str(folder), "kind": kind}
    client.post("/api/v1/start", json=body).raise_for_status()
    while True:
        now = client.get("/api/v1/start").json()
        if now["stacks"] and first is None:
            first = time.perf_counter() - began
        if now["state"] == "ready":
            break
        assert now["state"] == "reading", now["error"]
        time.sleep(0.25)
    minutes = (time.perf_counter() - began) / 60
    words = f"first stack {first:.1f} s, all {len(now['stacks'])} stacks {minutes:.1f} min"
    row(folder.name, f"{n_photos} photos", f"{words}, {len(now['unsure'])} unsure")


def _make(client: httpx.Client, gallery: Path, name: str) -> None:
    began = time.perf_counter()
    client.post("/api/v1/start/gallery", json={}).raise_for_status()
    while client.get("/api/v1/gallery").status_code != 200:
        error = client.get("/api/v1/start").json().get("error")
        assert not error, error
        time.sleep(0.2)
    row(name, "the gallery is made", f"{time.perf_counter() - began:.1f} s")


SCROLL = """
const done = arguments[arguments.length - 1], frames = [];
let last = null, n = 0;
const step = (now) => {
  if (last !== null) frames.push(now - last);
  last = now;
  window.scrollBy(0, 12);
  if (++n < 300) requestAnimationFrame(step);
  else done(frames);
};
requestAnimationFrame(step);
"""


def _look_around(server: Server, what: str, name: str) -> None:
    """Scroll through the stacks, and say how long frames take."""
    with window(server) as driver:
        driver.get(server.address)
        while not driver.execute_script(
            "return document.querySelectorAll('.person-stack').length > 1"
        ):
            time.sleep(0.1)
        time.sleep(2)
        frames = driver.execute_async_script(SCROLL)
        late = sum(ms > 50 for ms in frames)
        words = f"median {statistics.median(frames):.0f} ms, longest {max(frames):.0f} ms"
        row(name, f"{what}: scrolling", f"{words}, {late} of {len(frames)} above 50 ms")


@contextmanager
def window(server: Server) -> Iterator[Any]:
    """A browser without a screen."""
    from tests.report.browser import browsing

    with tempfile.TemporaryDirectory() as profile, browsing(profile) as driver:
        driver.set_script_timeout(120)
        yield driver


def windows(root: Path, options: argparse.Namespace) -> None:
    """Eight windows of one browser: one stream, and all follow a change."""
    gallery = root / "windows.setwise"
    gallery.write_bytes((root / "things.setwise").read_bytes())
    counts = "return document.querySelector('#view-gallery .counts')?.textContent"
    with serving(gallery) as server, server.client() as client, window(server) as driver:
        settled(client)
        for i in range(8):
            if i:
                driver.switch_to.new_window("window")
            driver.get(server.address)
        n_sets = overview(client)["n_sets"]
        one = overview(client)["classes"][0]["sets"][0]
        client.post("/api/v1/commands/forget", json={"set_id": one["id"]}).raise_for_status()
        began = time.perf_counter()
        for handle in driver.window_handles:
            driver.switch_to.window(handle)
            while f"{n_sets - 1} albums" not in (driver.execute_script(counts) or ""):
                time.sleep(0.02)
        seconds = time.perf_counter() - began
        text = client.get("/metrics").text
        streams = re.search(r"^setwise_event_streams (\S+)", text, re.MULTILINE)
        n_streams = float(streams[1]) if streams else float("nan")
        words = f"all follow a change within {seconds:.1f} s, {n_streams:.0f} stream of events"
        row("windows", "8 windows of one browser", words)


def journey(root: Path, options: argparse.Namespace) -> None:
    """The first run in a browser: from a heap to people who are recognised."""
    from tests.page.browser.journey import first_run, write_people
    from tests.page.browser.window import Window

    os.environ["XDG_CACHE_HOME"] = str(root / "cache of the journey")  # nothing was seen before
    photos = write_people(root / "journey")
    with (
        serving(root / "family.setwise", "--photos", photos) as server,
        window(server) as driver,
    ):
        driver.get(server.address)
        done = first_run(Window(driver, server.address), photos)
    words = f"{done.clicks} clicks, {done.keys} keys, {done.seconds:.1f} s"
    row("journey", "five photos of four people, three named, and a new album", words)


def kills(root: Path, options: argparse.Namespace) -> None:
    """A server that is killed at random points, by a client that sends until it is answered."""
    from page_kills import kill_often

    gallery = root / "kills.setwise"
    gallery.write_bytes((root / "things.setwise").read_bytes())
    words = kill_often(gallery, albums(root / "inbox")[0], options.kills)
    row("kills", f"{options.kills} kills at random points", words)


def memory(root: Path, options: argparse.Namespace) -> None:
    """Requests of all kinds, and what the server holds after each tenth of them."""
    sent = albums(root / "inbox")
    with serving(root / "things.setwise") as server, server.client() as client:
        settled(client)
        sets = [one["id"] for group in overview(client)["classes"] for one in group["sets"]]
        found = [server.memory_mb]
        for i in range(options.requests):
            if i % 20 == 0:
                ask(client, sent[i // 20 % len(sent)])
            elif i % 5 == 0:
                overview(client)
            elif i % 7 == 0:
                text = ("files", ("x.txt", b"x", "text/plain"))
                client.post("/api/v1/identify", files=[text])
            else:
                client.get(f"/api/v1/sets/{sets[i % len(sets)]}/images/{i % 8}")
            if (i + 1) % max(1, options.requests // 10) == 0:
                found.append(server.memory_mb)
        words = ", ".join(f"{mb:.0f}" for mb in found)
        row("memory", f"{options.requests} requests, MB every tenth", words)


PARTS: dict[str, Callable[[Path, argparse.Namespace], None]] = {
    one.__name__: one
    for one in (journey, questions, learning, windows, things, people, kills, memory)
}


def main() -> None:
    """Make photos, serve, measure, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], help="all by default")
    parser.add_argument("--asks", type=int, default=80, help="albums asked about per row")
    parser.add_argument("--photos", type=int, default=3000, help="of each heap")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--requests", type=int, default=2000, help="for the memory")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_gallery(write_albums(root))
        print("| part | what | found |\n|---|---|---|", flush=True)
        for name in options.parts or PARTS:
            PARTS[name](root, options)
            keep_part(name)


if __name__ == "__main__":
    main()
