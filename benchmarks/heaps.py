"""Groups of large heaps: seconds, their growth, and memory, of SetClusters on two threads.

    python benchmarks/heaps.py                         1,000, 10,000 and 100,000 made sets
    python benchmarks/heaps.py --sets 1000 10000       other numbers
    python benchmarks/heaps.py --vectors 1             single vectors

Each heap is grouped by a process of its own. Sets are made: ten to a class, of three vectors
around a centre, of 128 numbers.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from records import Table, keep
from setwise import SetBatch, SetClusters
from setwise.evaluation import GroupScores

N_SETS, N_FEATURES, OF_A_CLASS, NOISE = (1000, 10_000, 100_000), 128, 10, 0.7


def made_heap(n_sets: int, n_vectors: int) -> tuple[SetBatch, np.ndarray]:
    """Sets around random centres, and their classes."""
    rng = np.random.default_rng(0)
    classes = np.arange(n_sets) % max(2, n_sets // OF_A_CLASS)
    centres = rng.normal(size=(classes.max() + 1, N_FEATURES)).astype(np.float32)
    noise = rng.normal(size=(n_sets * n_vectors, N_FEATURES)).astype(np.float32)
    vectors = np.repeat(centres[classes], n_vectors, axis=0) + NOISE * noise
    return SetBatch(vectors, n_vectors * np.arange(n_sets + 1)), classes


def grouped(n_sets: int, n_vectors: int, n_jobs: int) -> dict[str, float]:
    """Group one heap in this process."""
    SetClusters(n_jobs=n_jobs).fit(made_heap(200, n_vectors)[0])  # compiles
    sets, classes = made_heap(n_sets, n_vectors)
    started, busy = time.perf_counter(), time.process_time()
    labels = SetClusters(n_jobs=n_jobs).fit_predict(sets)
    seconds, busy = time.perf_counter() - started, time.process_time() - busy
    scores = GroupScores.of(classes, labels)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    told = {"sets": n_sets, "seconds": seconds, "cpu": busy, "peak": peak}
    return told | {"f": scores.f, "precision": scores.precision}


def in_process(n_sets: int, n_vectors: int, n_jobs: int) -> dict[str, float]:
    """As :func:`grouped`, in a process of its own, whose memory is all that heap's."""
    line = [sys.executable, __file__, "--one", str(n_sets)]
    line += ["--vectors", str(n_vectors), "--jobs", str(n_jobs)]
    told = subprocess.run(line, check=True, stdout=subprocess.PIPE, text=True).stdout
    print(told, end="", flush=True)
    return json.loads(told)


def table(found: Sequence[dict[str, float]], n_vectors: int) -> Table:
    """A row for each heap."""
    exponents = [""] + [
        f"{np.log(b['cpu'] / a['cpu']) / np.log(b['sets'] / a['sets']):.2f}"
        for a, b in pairwise(found)
    ]
    rows = [
        [
            f"{one['sets']:,}",
            *(f"{one['seconds']:.0f}", f"{one['cpu']:.0f}", exponent),
            *(f"{one['peak']:.1f}", f"{one['f']:.3f}", f"{one['precision']:.3f}"),
        ]
        for one, exponent in zip(found, exponents, strict=True)
    ]
    columns = ["sets", "s", "s of one core", "exponent", "GiB", "F", "precision"]
    return Table(f"Groups of many sets, {n_vectors} vectors each", columns, rows)


def main() -> None:
    """Group heaps, and keep the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", type=int, nargs="+", default=N_SETS, help="sizes of heaps")
    parser.add_argument("--vectors", type=int, default=3, help="of each set")
    parser.add_argument("--jobs", type=int, default=2, help="threads")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(grouped(asked.one, asked.vectors, asked.jobs)))
        return
    found = [in_process(n, asked.vectors, asked.jobs) for n in asked.sets]
    print(f"kept {keep('heaps', 'growth', table(found, asked.vectors))}")


if __name__ == "__main__":
    main()
