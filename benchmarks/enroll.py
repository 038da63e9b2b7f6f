"""Enrolling and forgetting one set, against fitting again.

python benchmarks/enroll.py [--sizes 1000 10000]

Synthetic face-like sets of ten columns, one classifier (plain, centred); and the default
ensemble on ETH-80, half of which (the whitened view) learns from the gallery and is solved
again whenever that changes.
"""

from __future__ import annotations

import argparse
import copy
import sys
import time

import numpy as np
from threadpoolctl import threadpool_limits

from datasets import data_folder, load
from harness import Timing, face_like_sets, publish, seconds
from setwise import CVC, SetBatch

SIZES = (1_000, 3_000, 10_000)
N_CHANGES = 7


def rows_of(name: str, clf: CVC, sets: SetBatch, labels: np.ndarray) -> dict:
    """Time one fit on all sets but the last ones, and one change for each of these."""
    n = len(sets) - N_CHANGES
    started = time.perf_counter()
    clf.fit(sets[:n], labels[:n])
    fitting = time.perf_counter() - started
    enrolling, forgetting = [], []
    for i in range(n, n + N_CHANGES):
        changed = copy.copy(clf)  # what is fitted is replaced by a change, never modified
        started = time.perf_counter()
        changed.enroll(sets[i : i + 1], labels[i : i + 1])
        enrolling.append(time.perf_counter() - started)
        started = time.perf_counter()
        changed.forget(sets=[n])
        forgetting.append(time.perf_counter() - started)
    return {"name": name, "fit": fitting, "enroll": enrolling, "forget": forgetting}


def synthetic(n_columns: int) -> dict:
    n_sets = n_columns // 10 + N_CHANGES
    rng = np.random.default_rng(0)
    sets, labels = face_like_sets(n_sets, n_classes=n_columns // 100, rng=rng)
    order = rng.permutation(n_sets)
    batch = SetBatch.from_list([sets[i] for i in order])
    clf = CVC((10,), representations=[("plain", "centred")], evidence="clusters")
    clf.fit(batch[:60], labels[order[:60]]).enroll(batch[60:61], labels[order[60:61]])  # warm
    name = f"{n_columns:,} columns, one classifier, synthetic"
    return rows_of(name, clf, batch, labels[order])


def default_ensemble() -> dict:
    data = load("eth80")
    order = np.random.default_rng(0).permutation(len(data.sets))[: 40 + N_CHANGES]
    name = "40 sets of ETH-80, the whole default ensemble"
    return rows_of(name, CVC(random_state=0), data.sets[order], data.labels[order])


def spread(times: list[float]) -> Timing:
    low, middle, high = np.quantile(times, [0.25, 0.5, 0.75])
    return Timing(float(middle), float(low), float(high), len(times))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    options = parser.parse_args()
    results = []
    with threadpool_limits(1):
        for size in options.sizes:
            print(f"{size} columns", file=sys.stderr, flush=True)
            results.append(synthetic(size))
        if data_folder() is not None:
            results.append(default_ensemble())
    table = []
    for result in results:
        enroll, forget = spread(result["enroll"]), spread(result["forget"])
        table.append(
            [
                result["name"],
                seconds(result["fit"]),
                str(enroll),
                f"{result['fit'] / enroll.median:.0f}",
                str(forget),
                f"{result['fit'] / forget.median:.0f}",
            ]
        )
    publish(
        "enroll" if tuple(options.sizes) == SIZES else "enroll_part",
        "One set more, one set fewer, against fitting again",
        [
            "one thread; the result equals a fresh fit (tests/classify/test_enroll.py)",
            "the default ensemble's whitened view learns from the gallery: what it shows is "
            "solved again, and all looks are tried on the gallery's own sets again, as a fit "
            "does",
        ],
        ["gallery", "fit", "enroll one set", "times faster", "forget one set", "times faster"],
        table,
        records=results,
    )


if __name__ == "__main__":
    main()
