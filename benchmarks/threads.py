"""Probes judged in a second on more and more threads, and in more and more processes.

    python benchmarks/threads.py [--most 16]

The default ensemble on ETH-80, all probes of one fold, eight times over, on the processor.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings

import joblib
import numpy as np
from joblib.externals.loky import get_reusable_executor

from datasets import load
from harness import WATCH, parsed, publish
from setwise import CVC, SetBatch

REPEATS, N_RUNS = 8, 3


def probes_per_second(clf: CVC, probes: SetBatch, n_runs: int) -> float:
    """The best of some runs, after one that starts the workers."""
    clf.predict(probes[np.arange(min(64, len(probes)))])
    took = []
    for _ in range(n_runs):
        WATCH.calibrate()
        started = time.perf_counter()
        clf.predict(probes)
        took.append(time.perf_counter() - started)
    return len(probes) / min(took)


def rates(
    kind: str, counts: list[int], *, repeats: int = REPEATS, n_runs: int = N_RUNS
) -> list[float]:
    """Probes per second on each number of workers."""
    data = load("eth80")
    gallery, probes = data.folds[0]
    clf = CVC(random_state=0).fit(data.sets[gallery], data.labels[gallery])
    many = SetBatch.join([data.sets[probes]] * repeats)
    found = []
    for n_jobs in counts:
        clf.n_jobs = n_jobs
        backend = "loky" if kind == "processes" and n_jobs > 1 else "threading"
        with joblib.parallel_config(backend, n_jobs=n_jobs):
            found.append(probes_per_second(clf, many, n_runs))
    # Waiting for joblib's processes makes their time count as this benchmark's own.
    get_reusable_executor().shutdown(wait=True)
    return found


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--most", type=int, default=os.cpu_count(), help="workers at most")
    most = parsed(parser).most
    warnings.simplefilter("ignore")  # workers that joblib restarts
    counts = [n for n in (1, 2, 4, 8, 16, 32, 64) if n <= most]
    records = {kind: rates(kind, counts) for kind in ("threads", "processes")}
    rows = [
        [kind, *(f"{rate / of_kind[0]:.2f}" for rate in of_kind), f"{of_kind[0]:.1f}"]
        for kind, of_kind in records.items()
    ]
    notes = [
        "the default ensemble on ETH-80; times one worker, which judges as many probes in a "
        "second as the last column says",
        'processes: within joblib.parallel_config("loky", n_jobs=8)',
    ]
    columns = ["workers", *map(str, counts), "probes/s on one"]
    publish("threads", "More workers", notes, columns, rows, counts=counts, records=records)


if __name__ == "__main__":
    main()
