"""What every benchmark shares: options, timing in turns, a watch on the machine, results.

Everything runs on one thread, rivals too, and contenders take turns: one round of everybody,
then the next, so that whatever slows the machine slows all of them. A benchmark prints its
table and keeps it for a record (benchmarks/records.py); nothing is kept when the machine was
busy with something else (benchmarks/quiet.py).
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

import records
from quiet import Watch
from setwise._support.progress import duration as seconds

WATCH = Watch()
EVEN_IF_BUSY = "--even-if-busy"


def parsed(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """The options of a benchmark, with the one that all of them share."""
    parser.add_argument(
        EVEN_IF_BUSY, action="store_true", help="show the table of a busy machine, unpublished"
    )
    return parser.parse_args()


@dataclass(frozen=True)
class Timing:
    """Seconds of some runs of the same work."""

    median: float
    low: float
    high: float
    n_runs: int

    @classmethod
    def of(cls, runs: Sequence[float]) -> Timing:
        """Median and quartiles of the seconds of some runs."""
        low, high = np.quantile(runs, [0.25, 0.75])
        return cls(statistics.median(runs), float(low), float(high), len(runs))

    def __str__(self) -> str:
        return f"{seconds(self.median)} ({seconds(self.low)} - {seconds(self.high)})"


def in_turns(
    contenders: Mapping[str, Callable[[], Any]], *, repeats: int = 5, budget: float = 60.0
) -> dict[str, tuple[Timing, Any]]:
    """Seconds of each contender, and what it returned; they take turns, after a warm-up each.

    Whose warm-up takes more than ``budget`` seconds is not run again, and whose runs have
    taken twice that is not run further. Who raises TimeoutError is left out of the result.
    """
    runs: dict[str, list[float]] = {}
    results: dict[str, Any] = {}

    def run(name: str) -> float:
        WATCH.calibrate()
        started = time.perf_counter()
        results[name] = contenders[name]()
        return time.perf_counter() - started

    with threadpool_limits(1):
        for name in contenders:
            try:
                runs[name] = [run(name)]
            except TimeoutError:
                continue
        again = [name for name, (warm_up,) in runs.items() if warm_up <= budget]
        runs |= {name: [] for name in again}
        for _ in range(repeats):
            for name in again:
                if sum(runs[name]) <= 2 * budget:
                    runs[name].append(run(name))
    WATCH.calibrate()
    return {name: (Timing.of(of_name), results[name]) for name, of_name in runs.items()}


def timed(
    work: Callable[[], Any], *, repeats: int = 5, budget: float = 60.0
) -> tuple[Timing, Any]:
    """As :func:`in_turns`, of one contender."""
    return in_turns({"": work}, repeats=repeats, budget=budget)[""]


def publish(
    name: str,
    title: str,
    notes: Sequence[str],
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    record: str = "speed",
    has_times: bool = True,
    **values: Any,
) -> None:
    """Print a table and keep it, with the numbers behind it, for a record.

    A table of times is not kept when the machine was busy meanwhile: that is said, and the
    process ends with exit code 1, or 0 where ``--even-if-busy`` says that it is known. A part
    of a table, whose name ends in "_part", is only printed.
    """
    table = Table(title=title)
    for i, column in enumerate(columns):
        table.add_column(column, justify="right" if i else "left")
    for row in rows:
        table.add_row(*row)
    console = Console(width=140)
    console.print(table)
    for note in notes:
        console.print(f"- {note}", highlight=False)
    if has_times and (disturbance := WATCH.disturbance()):
        print(
            f"{name}: not kept, for the machine was busy: {disturbance}. Run it again on a "
            f"quiet one, or with {EVEN_IF_BUSY} to look at the table alone.",
            file=sys.stderr,
        )
        if EVEN_IF_BUSY in sys.argv:
            return
        sys.exit(1)
    if not name.endswith("_part"):
        kept = records.Table(title, columns, rows, notes, values=values)
        records.keep(record, name, kept)


def face_like_sets(
    n_sets: int, *, n_classes: int, rng: np.random.Generator, n_features: int = 400,
    n_vectors: int = 20, rank: int = 10, noise: float = 0.2,
) -> tuple[list[np.ndarray], np.ndarray]:  # fmt: skip
    """Synthetic sets that are as correlated as faces: all share a mean direction.

    A class is a subspace of ``rank`` dimensions, a set of it a random sample of that subspace
    plus noise. Sets of a class come one after the other.
    """
    mean = rng.normal(size=n_features)
    mean /= np.linalg.norm(mean)
    labels = np.sort(np.arange(n_sets) % n_classes)
    subspaces = np.linalg.qr(rng.normal(size=(n_classes, n_features, rank)))[0]
    sets = []
    for label in labels:
        inside = subspaces[label] @ rng.normal(size=(rank, n_vectors)) / np.sqrt(rank)
        spread = rng.normal(size=(n_features, n_vectors)) / np.sqrt(n_features)
        sets.append((2.0 * mean[:, None] + inside + noise * spread).T)
    return sets, labels
