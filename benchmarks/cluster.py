"""Sets judged per second by a Dask cluster of this machine: 1, 2 and 4 workers.

python benchmarks/cluster.py [--classes 600] [--probes 64]

Beside one thread, with which all answers are compared: they are equal. Synthetic identities of
512 numbers, 2 sets of 5 vectors per class. Workers are warm: they have judged them before.
Processor time is that of all processes that judge, so other work on the machine counts less.
"""

from __future__ import annotations

import argparse
import logging
import os
import time

import dask
import joblib
import numpy as np
from distributed import Client, LocalCluster

from harness import parsed, publish
from memory import identities
from setwise import CVC
from setwise.gallery import shortlist as large

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), 1)
SPAWN = "distributed.nanny.pre-spawn-environ"
NO_PROFILER = {"distributed.worker.profile.enabled": False}
CLUSTERS = (
    ("1 worker", 1, {}),
    ("1 worker, without Dask's profiler", 1, NO_PROFILER),
    ("2 workers, without it", 2, NO_PROFILER),
    ("4 workers, without it", 4, NO_PROFILER),
)


def judged(clf: CVC, probes: np.ndarray) -> tuple[float, np.ndarray]:
    start = time.perf_counter()
    shares = clf.predict_proba(probes)
    return time.perf_counter() - start, shares


def on_cluster(
    clf: CVC, probes: np.ndarray, n_workers: int, settings: dict[str, bool]
) -> tuple[float, float, np.ndarray]:
    """Seconds, seconds of processors of the workers, and the answers."""
    with (
        dask.config.set({SPAWN: dask.config.get(SPAWN) | ONE_THREAD} | settings),
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            memory_limit=None,
            dashboard_address=None,
            silence_logs=logging.ERROR,
        ) as workers,
        Client(workers) as client,
        joblib.parallel_config("dask", client=client),
    ):
        for _ in range(2):  # columns around the probes are made, as those of this process
            judged(clf, probes)
        began = sum(client.run(time.process_time).values())
        taken, shares = judged(clf, probes)
        return taken, sum(client.run(time.process_time).values()) - began, shares


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--classes", type=int, default=600)
    parser.add_argument("--probes", type=int, default=64)
    options = parsed(parser)
    large.MOST_TRIED = 20  # the fit is not what is measured
    sets, labels = identities(options.classes, 3, 5, 512, "float32")
    is_probe = np.arange(len(sets)) % 3 == 0
    clf = CVC().fit(sets[~is_probe], labels[~is_probe])
    probes = sets[is_probe][: options.probes]
    for _ in range(2):
        judged(clf, probes)
    began = time.process_time()
    alone, expected = judged(clf, probes)
    n, spent = len(probes), time.process_time() - began
    rows = [["one thread, no cluster", f"{n / alone:.1f}", "1.00", f"{1e3 * spent / n:.0f}"]]
    for name, n_workers, settings in CLUSTERS:
        taken, spent, shares = on_cluster(clf, probes, n_workers, settings)
        assert np.array_equal(shares, expected)
        rates = [f"{n / taken:.1f}", f"{alone / taken:.2f}"]
        rows.append([name, *rates, f"{1e3 * spent / n:.0f}"])
    title = "Sets judged per second by a Dask cluster of one machine"
    columns = ["who", "sets per second", "times one thread", "processor ms per set"]
    publish(
        "cluster",
        title,
        [
            f"this machine has {os.cpu_count()} cores: more workers than that gain nothing",
            f"{options.classes} classes, {len(probes)} probes; all answers equal bit for bit",
        ],
        columns,
        rows,
    )
    print(f"| {' | '.join(columns)} |\n|---|---:|---:|---:|")
    print("\n".join(f"| {' | '.join(row)} |" for row in rows))


if __name__ == "__main__":
    main()
