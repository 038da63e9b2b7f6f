"""Several servers that read one gallery, behind one proxy: questions answered per second.

    python benchmarks/replicas.py [--servers 1 2] [--questions 60]

Starts nginx (from the distribution) with the balancing of docs/operating.md, and each server as
`setwise serve --read-only`. Clients ask about albums of digits, each on connections of its own,
as many at once as there are places. Every answer is compared with that of one server. Processor
time is that of the servers, and depends less on other work on the machine.
"""

from __future__ import annotations

import argparse
import os
import runpy
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import psutil

write_page_demo = runpy.run_path("examples/digits_page.py")["write_page_demo"]
START = "from setwise.cli import run; import sys; sys.argv[0] = 'setwise'; run()"
NGINX = """
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 512; }}
http {{
  access_log off; client_max_body_size 52m; client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u;
  scgi_temp_path {folder}/s;
  upstream setwise {{ hash $http_x_client consistent; {servers} }}
  server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://setwise;
    proxy_set_header Host localhost; proxy_request_buffering on; }} }}
}}
"""


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def answers(address: str) -> bool:
    try:
        return httpx.get(f"{address}/readyz").status_code == 200
    except httpx.TransportError:
        return False


@contextmanager
def service(gallery: Path, n_servers: int) -> Iterator[tuple[str, list[psutil.Process]]]:
    """The address of the proxy, and the servers behind it."""
    ports, proxy = [free_port() for _ in range(n_servers)], free_port()
    folder = Path(tempfile.mkdtemp(dir=gallery.parent))
    servers = " ".join(f"server 127.0.0.1:{port};" for port in ports)
    config = folder / "nginx.conf"
    config.write_text(NGINX.format(folder=folder, servers=servers, port=proxy))
    options = ["--read-only", "--no-browser", "--log-level", "error"]
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", START, "serve", str(gallery), "--port", str(port), *options],
            stdout=subprocess.DEVNULL,
        )
        for port in ports
    ]
    nginx = subprocess.Popen(["nginx", "-p", str(folder), "-c", str(config)])
    try:
        while not all(answers(f"http://127.0.0.1:{port}") for port in [*ports, proxy]):
            time.sleep(0.2)
        yield f"http://127.0.0.1:{proxy}", [psutil.Process(one.pid) for one in processes]
    finally:
        for one in (nginx, *processes):
            one.terminate()
            one.wait()


def ask(address: str, album: Path, client: str) -> tuple[float, int]:
    """The probability of an album's answer, and how often the queue was full."""
    files = [
        ("files", (f"{album.name}/{one.name}", one.read_bytes(), "image/png"))
        for one in sorted(album.iterdir())
    ]
    n_busy, headers = 0, {"X-Client": client}
    with httpx.Client(base_url=address, headers=headers, timeout=120) as http:
        while (sent := http.post("/api/v1/identify", files=files)).status_code == 503:
            n_busy += 1
            time.sleep(0.1)
        job = sent.raise_for_status().json()["id"]
        while (found := http.get(f"/api/v1/identify/{job}").json())["state"] != "done":
            time.sleep(0.02)
    return found["answers"][0]["probability"], n_busy


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--servers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--questions", type=int, default=60)
    given = parser.parse_args()
    if not shutil.which("nginx"):
        sys.exit("replicas: needs nginx, as in `apt-get install nginx-light`")
    load = os.getloadavg()[0]
    print(
        "| servers | questions per second | processor ms per question | 503 | memory of each |"
    )
    print("|---:|---:|---:|---:|---:|")
    expected: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name:
        gallery = write_page_demo(Path(name))
        albums = sorted((Path(name) / "inbox").iterdir())
        asked = [albums[i % len(albums)] for i in range(given.questions)]
        for n in given.servers:
            with service(gallery, n) as (address, processes), ThreadPoolExecutor(6) as threads:
                clients = [f"client {i % 12}" for i in range(len(asked))]

                def one(i: int, to: str = address, names: list[str] = clients):
                    return ask(to, asked[i], names[i])

                list(threads.map(one, range(12)))  # warm
                began, spent = time.perf_counter(), cpu(processes)
                found = list(threads.map(one, range(len(asked))))
                taken, spent = time.perf_counter() - began, cpu(processes) - spent
                memory = max(process.memory_info().rss for process in processes) / 1e6
            for album, (probability, _) in zip(asked, found, strict=True):
                assert abs(expected.setdefault(album.name, probability) - probability) < 1e-9
            n_busy = Counter(busy for _, busy in found)
            refused = sum(busy * times for busy, times in n_busy.items())
            print(
                f"| {n} | {len(asked) / taken:.1f} | {1e3 * spent / len(asked):.0f} "
                f"| {refused} | {memory:.0f} MB |",
                flush=True,
            )
    print(f"\nload {load:.0f} before, {os.cpu_count()} cores; all answers equal")


def cpu(processes: list[psutil.Process]) -> float:
    times = [process.cpu_times() for process in processes]
    return sum(one.user + one.system for one in times)


if __name__ == "__main__":
    main()
