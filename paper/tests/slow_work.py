"""Cheap and deterministic work for tests of the runner: what it did is told in a side log."""

import json
import logging
import os
import signal
import sys
import time
from dataclasses import asdict
from functools import partial
from pathlib import Path

import numpy as np

from setwise_paper.runner import run_items
from setwise_paper.store import RESULTS, Store, _read
from setwise_paper.worker import Item


class Draw(Item):
    """A matrix of random numbers; nothing that takes long to import is needed for it."""

    kind: str = "draw"
    size: int
    draw: int

    def perform(self, folder=None):
        return draw(self)


def items(n_items: int) -> dict[str, Item]:
    """Items by key, as mere data."""
    return {f"item{i}": Draw(size=10 + i, draw=i) for i in range(n_items)}


def draw(item, log=None, seconds=0.0, slow_from=0):
    """Numbers that depend on the item alone; the log gets when, what and where."""
    start = time.monotonic()
    time.sleep(seconds if item.draw >= slow_from else 0.0)
    rng = np.random.default_rng(item.draw)
    matrix = rng.standard_normal((item.size, item.size))
    if log is not None:
        note(log, f"{item.draw} {start} {time.monotonic()} {os.getpid()}")
    return {"draw": item.draw, "numbers": matrix[0].tolist(), "sum": float(matrix.sum())}


def draw_at_once(item, log, folder, these=(1, 2)):
    """As `draw`; each of these items waits until all of them have begun."""
    (folder / f"{item.draw} has begun").touch()
    until = time.monotonic() + 60
    while item.draw in these and not all((folder / f"{k} has begun").exists() for k in these):
        if time.monotonic() > until:
            raise TimeoutError(f"of the items {these}, not all have begun")
        time.sleep(0.01)
    return draw(item, log, 0.02)


def draw_but_one(item, culprit, way="raise"):
    """As `draw`, but for one item, which fails in one way or another."""
    if item.draw == culprit:
        if way == "nan":
            return {"a": float("nan")}
        if way == "none":
            return None
        if way == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if way == "exit":
            raise SystemExit(3)
        raise RuntimeError(f"item {culprit}\nis \udcff bad")
    return draw(item)


def interrupt_at_two(item, log, parent):
    """The second item takes long; the third presses Ctrl-C."""
    if item.draw == 2:
        os.kill(parent, signal.SIGINT)
    return draw(item, log, {1: 1.5, 2: 0.3}.get(item.draw, 0.0))


def count_blas_threads(item):
    """The most threads that NumPy's BLAS or SciPy's would use; others load their own."""
    import scipy.linalg
    from threadpoolctl import threadpool_info

    scipy.linalg.inv(np.eye(item.size))
    libraries = [one for one in threadpool_info() if one["user_api"] == "blas"]
    pools = [
        one["num_threads"]
        for one in libraries
        if "numpy" in one["filepath"] or "scipy" in one["filepath"]
    ]
    # Others are at it meanwhile, and must not reset it.
    time.sleep(0.02)
    return {"threads": max(pools), "process": os.getpid()}


def note(log, line):
    """Append a line at once, so that no other process gets in between."""
    descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    try:
        os.write(descriptor, f"{line}\n".encode())
    finally:
        os.close(descriptor)


def main(folder, log, settings):
    """Run items as a program of its own does; what to do is told in JSON."""
    told = json.loads(settings)
    perform = partial(draw, log=log, **told.pop("draw", {}))
    work = items(told.pop("n_items"))
    logging.basicConfig(level="WARNING")
    with Store(folder) as store:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        outcome = run_items(work, store, perform, **told)
    sys.stdout.write(json.dumps(asdict(outcome)) + "\n")


def noted(log):
    """The lines of the log: (draw, start, end, process)."""
    path = Path(log)
    if not path.exists():
        return []
    fields = [line.split() for line in path.read_text().splitlines()]
    return [(int(a), float(b), float(c), int(d)) for a, b, c, d in fields]


def read_records(folder: Path) -> dict:
    """The last result of each item by key, or its last failure where it has no result."""
    records = {}
    for record in _read(Path(folder) / RESULTS)[0]:
        known = records.get(record.key)
        if record.is_finished or known is None or not known.is_finished:
            records[record.key] = record
    return records
