"""One probe against galleries of 1,000 to 100,000 columns: seconds, memory, exponent.

python benchmarks/growth.py [--sizes 1000 10000]

Synthetic face-like sets, ten of a class, ten columns each, one classifier (plain, centred).
Every size runs in a process of its own, so that its peak of memory is its own.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time

import numpy as np
from threadpoolctl import threadpool_limits

from harness import WATCH, face_like_sets, parsed, publish, seconds
from setwise import CVC
from setwise.graph import LassoGraph

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000)
N_COLUMNS, SETS_PER_CLASS, N_FEATURES, N_PROBES = 10, 10, 400, 15


def one_size(n_columns: int) -> dict[str, float]:
    """Fit a gallery of so many columns, ask it about some probes."""
    n_sets = n_columns // N_COLUMNS
    n_classes = n_sets // SETS_PER_CLASS
    rng = np.random.default_rng(0)
    # One set more of each class, from which the probes are taken.
    sets, labels = face_like_sets(n_sets + n_classes, n_classes=n_classes, rng=rng)
    is_probe = np.concatenate([[False], labels[1:] != labels[:-1]])
    is_probe[0] = True
    probes = rng.permutation(np.flatnonzero(is_probe))[:N_PROBES]
    gallery = np.flatnonzero(~is_probe)
    started = time.perf_counter()
    pairs = [("plain", "centred")]
    clf = CVC((N_COLUMNS,), representations=pairs, evidence="clusters", n_jobs=2)
    clf.fit([sets[i] for i in gallery], labels[gallery])
    fitting = time.perf_counter() - started
    clf.set_params(n_jobs=None)
    clf.predict([sets[probes[0]]])
    solution = clf.gallery_.layers[0].graph
    times, inserting, changed, right = [], [], [], 0
    with threadpool_limits(1):
        for i in probes:
            started = time.perf_counter()
            right += int(clf.predict([sets[i]])[0] == labels[i])
            times.append(time.perf_counter() - started)
            basis = clf.gallery_.bases(sets[i])[clf.layers_[0]]
            started = time.perf_counter()
            solution.insert(basis)
            inserting.append(time.perf_counter() - started)
            changed.append(len(solution.recoded(basis)[0]) - N_COLUMNS)
    return {
        "columns": n_columns,
        "fit": fitting,
        "probe": statistics.median(times),
        "low": float(np.quantile(times, 0.25)),
        "high": float(np.quantile(times, 0.75)),
        "insert": statistics.median(inserting),
        "changed": statistics.median(changed),
        "right": right,
        "n_probes": len(probes),
        "atoms": float(solution.codes.counts.mean()),
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "vectors": float(clf.gallery_.sets.vectors.nbytes),
        "estimate": LassoGraph().memory(N_FEATURES, n_columns),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--one", type=int)
    parser.add_argument("--quick", action="store_true", help="the smallest gallery")
    options = parsed(parser)
    if options.one:
        print(json.dumps(one_size(options.one)))
        return
    results = []
    chosen = options.sizes[:1] if options.quick else options.sizes
    for size in chosen:
        WATCH.calibrate()
        print(f"{size} columns", file=sys.stderr, flush=True)
        command = [sys.executable, __file__, "--one", str(size)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        results.append(json.loads(done.stdout.splitlines()[-1]))
        print(json.dumps(results[-1]), file=sys.stderr, flush=True)
    sizes, probe = [r["columns"] for r in results], [r["probe"] for r in results]
    exponent = np.polyfit(np.log(sizes), np.log(probe), 1)[0] if len(sizes) > 1 else np.nan
    publish(
        "growth" if tuple(chosen) == SIZES else "growth_part",
        "One probe against growing galleries",
        [
            f"fitted exponent of seconds per probe against columns: {exponent:.2f}",
            "synthetic face-like sets: ten columns per set, ten sets per class, 400 features; "
            "one classifier (plain, centred), one thread per probe, two for fitting",
            "memory: peak of the whole process; estimate: what fit() asks for before it starts "
            "(the gallery's own vectors come on top)",
            "inserting: the exact lasso graph with the probe; then come cuts and distances",
        ],
        [
            "columns",
            "fit",
            "a probe (quartiles)",
            "of it inserting",
            "columns solved again",
            "right",
            "peak memory",
            "vectors",
            "estimate",
        ],
        [
            [
                f"{r['columns']:,}",
                seconds(r["fit"]),
                f"{seconds(r['probe'])} ({seconds(r['low'])} - {seconds(r['high'])})",
                seconds(r["insert"]),
                f"{r['changed']:.0f}",
                f"{r['right']} of {r['n_probes']}",
                *(f"{r[name] / 2**30:.2f} GiB" for name in ("peak", "vectors", "estimate")),
            ]
            for r in results
        ],
        sizes=sizes,
        seconds={"setwise, one probe": probe},
        records=results,
        exponent=exponent,
    )


if __name__ == "__main__":
    main()
