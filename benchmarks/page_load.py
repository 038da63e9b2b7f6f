"""How fast the page answers, with one client and with eight, and whether its memory stays flat.

``python benchmarks/page_load.py`` serves a gallery of digits in a process of its own, asks it
about albums of 12 photos, and prints a Markdown table. Nothing is downloaded.
"""

from __future__ import annotations

import argparse
import runpy
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx

write_page_demo = runpy.run_path("examples/digits_page.py")["write_page_demo"]
START = "from setwise.cli import run; import sys; sys.argv[0] = 'setwise'; run()"
PHOTOS_PER_ALBUM = 12


def albums(inbox: Path) -> list[list[tuple[str, tuple[str, bytes, str]]]]:
    """What a browser sends, one album per set of the inbox."""
    return [
        [
            ("files", (f"{folder.name}/{file.name}", file.read_bytes(), "image/png"))
            for file in sorted(folder.iterdir())
        ]
        for folder in sorted(inbox.iterdir())
    ]


def ask(client: httpx.Client, files: list) -> float:
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


def memory_mb(pid: int) -> float:
    """Resident memory of a process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def measure(
    address: str, sent: list, n_clients: int, n_asks: int
) -> tuple[float, float, float]:
    """Median and 95th percentile of the seconds per answer, and photos per second."""

    def client_asks(i: int) -> list[float]:
        with httpx.Client(base_url=address, timeout=120) as client:
            return [ask(client, sent[(i + k) % len(sent)]) for k in range(n_asks // n_clients)]

    began = time.perf_counter()
    with ThreadPoolExecutor(n_clients) as pool:
        seconds = [one for found in pool.map(client_asks, range(n_clients)) for one in found]
    rate = len(seconds) * PHOTOS_PER_ALBUM / (time.perf_counter() - began)
    cuts = statistics.quantiles(seconds, n=20)
    return statistics.median(seconds), cuts[18], rate


def flood(address: str, pid: int, sent: list, n_requests: int) -> list[float]:
    """Resident memory at the start and after each tenth of many requests of all kinds."""
    memory = [memory_mb(pid)]
    with httpx.Client(base_url=address, timeout=120) as client:
        found = client.get("/api/v1/gallery").json()
        sets = [one["id"] for group in found["classes"] for one in group["sets"]]
        for i in range(n_requests):
            if i % 20 == 0:
                ask(client, sent[i // 20 % len(sent)])
            elif i % 5 == 0:
                client.get("/api/v1/gallery")
            elif i % 7 == 0:
                client.post(
                    "/api/v1/identify", files=[("files", ("x.txt", b"x", "text/plain"))]
                )
            else:
                client.get(f"/api/v1/sets/{sets[i % len(sets)]}/images/{i % 12}")
            if (i + 1) % (n_requests // 10) == 0:
                memory.append(memory_mb(pid))
    return memory


def main() -> None:
    """Serve, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--asks", type=int, default=80, help="albums asked about per row")
    parser.add_argument("--requests", type=int, default=2000, help="for the memory")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        gallery = write_page_demo(folder)
        sent = albums(gallery.parent / "inbox")
        command = ["serve", str(gallery), "--port", "0", "--no-browser"]
        server = subprocess.Popen(
            [sys.executable, "-c", START, *command], stdout=subprocess.PIPE, text=True
        )
        try:
            address = server.stdout.readline().split(" is at ")[1].split()[0]
            measure(address, sent, 1, 8)  # warm
            print("| clients | albums | p50 | p95 | photos/s |\n|---|---|---|---|---|")
            for n_clients in (1, 8):
                p50, p95, rate = measure(address, sent, n_clients, options.asks)
                cells = (n_clients, options.asks, f"{p50:.2f} s", f"{p95:.2f} s", f"{rate:.0f}")
                print("| " + " | ".join(map(str, cells)) + " |")
            memory = flood(address, server.pid, sent, options.requests)
            print(f"\nResident memory over {options.requests} requests, in MB, every tenth:")
            print(", ".join(f"{mb:.0f}" for mb in memory))
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
