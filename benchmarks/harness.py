"""What every benchmark shares: timing, columns to time on, and where results go.

Everything runs on one thread, rivals too: the machine is small and noisy, and a ratio within
one run is all that is claimed. A benchmark prints its table and writes out/bench/NAME.json;
benchmarks/write_docs.py makes docs/speed.md of those files.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

from setwise._support.progress import duration as seconds

OUT = Path("out/bench")


@dataclass(frozen=True)
class Timing:
    """Seconds of some runs of the same work."""

    median: float
    low: float
    high: float
    n_runs: int

    def __str__(self) -> str:
        return f"{seconds(self.median)} ({seconds(self.low)} - {seconds(self.high)})"


def timed(
    work: Callable[[], Any], *, repeats: int = 5, budget: float = 60.0
) -> tuple[Timing, Any]:
    """Median and quartiles of several runs after one warm-up, and what the work returned.

    Work whose warm-up takes more than ``budget`` seconds is not run again.
    """
    runs: list[float] = []

    def run() -> Any:
        started = time.perf_counter()
        result = work()
        runs.append(time.perf_counter() - started)
        return result

    with threadpool_limits(1):
        result = run()
        if runs[0] <= budget:
            runs.clear()
            while len(runs) < repeats and sum(runs) <= 2 * budget:
                result = run()
    low, high = (runs[0], runs[0]) if len(runs) < 2 else np.quantile(runs, [0.25, 0.75])
    return Timing(statistics.median(runs), float(low), float(high), len(runs)), result


def publish(
    name: str,
    title: str,
    notes: Sequence[str],
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    **data: Any,
) -> None:
    """Print a table and keep it, with the numbers behind it, as out/bench/NAME.json."""
    table = Table(title=title)
    for i, column in enumerate(columns):
        table.add_column(column, justify="right" if i else "left")
    for row in rows:
        table.add_row(*row)
    console = Console(width=140)
    console.print(table)
    for note in notes:
        console.print(f"- {note}", highlight=False)
    OUT.mkdir(parents=True, exist_ok=True)
    content = {"title": title, "notes": notes, "columns": columns, "rows": rows, **data}
    (OUT / f"{name}.json").write_text(json.dumps(content, indent=1))


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
