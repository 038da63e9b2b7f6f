"""Seconds that users notice: importing, compiling once, and one probe of ETH-80.

python benchmarks/latency.py [--quick]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from functools import partial

import numpy as np

from datasets import data_folder, load
from harness import WATCH, in_turns, parsed, publish
from setwise import CVC

COMPILE = """
import time, numpy as np
from setwise import CVC
rng = np.random.default_rng(0)
sets = [rng.normal(size=(8, 30)) for _ in range(6)]
started = time.process_time()  # compiling is one thread; others must not count
pairs = [(view, basis) for view in ("plain", "whitened") for basis in ("svd", "dictionary")]
CVC((2,), representations=pairs, weights=None).fit(sets, [0, 0, 1, 1, 2, 2]).predict(sets)
from setwise.cut import exact_fiedler
import scipy.sparse as sp
exact_fiedler(sp.csr_array(np.ones((400, 400)) - np.eye(400)))
print(time.process_time() - started)
"""
MEMBERS = {
    "one layer, plain centred, d = 10": {"representations": [("plain", "centred")]},
    "one layer, plain svd, d = 10": {"representations": [("plain", "svd")]},
    "one layer, whitened centred, d = 10": {"representations": [("whitened", "centred")]},
}


def seconds_of(code: str, **environment: str) -> float:
    """The number a fresh interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return float(done.stdout)


def cold_import(n_runs: int) -> float:
    """Seconds of `import setwise`, the median of some fresh interpreters."""
    code = (
        "import time; t = time.perf_counter(); import setwise; print(time.perf_counter() - t)"
    )
    return statistics.median(seconds_of(code) for _ in range(n_runs))


def compiling() -> float:
    """Seconds that the first use takes longer than the second, with an empty cache."""
    with tempfile.TemporaryDirectory() as cache:
        first = seconds_of(COMPILE, NUMBA_CACHE_DIR=cache)
        return first - seconds_of(COMPILE, NUMBA_CACHE_DIR=cache)


def classifiers() -> dict[str, CVC]:
    """What a row is measured of, unfitted."""
    alone = {
        name: CVC((10,), evidence="clusters", random_state=0, **parameters)
        for name, parameters in MEMBERS.items()
    }
    return {
        **alone,
        "one layer, the paper's setting, d = 10": CVC.as_in_paper(dims=(10,), random_state=0),
        "whole default ensemble": CVC(random_state=0),
    }


def per_probe(n_probes: int) -> dict[str, list[float]]:
    """Median and largest milliseconds of one probe of each classifier, probe by probe."""
    data = load("eth80")
    gallery, probes = data.folds[0]
    fitted = {
        name: clf.fit(data.sets[gallery], data.labels[gallery])
        for name, clf in classifiers().items()
    }
    times: dict[str, list[float]] = {name: [] for name in fitted}
    for i in map(int, probes[:n_probes]):
        works = {name: partial(clf.predict, data.sets[[i]]) for name, clf in fitted.items()}
        for name, (timing, _) in in_turns(works, repeats=3).items():
            times[name].append(1e3 * timing.median)
    return {f"{name} (ms per probe)": [np.median(t), max(t)] for name, t in times.items()}


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two probes, nothing compiled")
    options = parsed(parser)
    WATCH.calibrate()
    rows = {"cold `import setwise` (ms)": [1e3 * cold_import(1 if options.quick else 5)]}
    if not options.quick:
        rows["compiling, once (CPU s)"] = [compiling()]
    if data_folder() is not None:
        rows |= per_probe(2 if options.quick else 40)
    publish(
        "latency_part" if options.quick else "latency",
        "What users wait for",
        [
            "ETH-80, first of ten splits; CVC.predict of one probe with its basis, one thread; "
            "of each probe the median of three runs, classifiers in turns"
        ],
        ["what", "median", "largest"],
        [[name, *(f"{value:.1f}" for value in values)] for name, values in rows.items()],
        records=rows,
    )


if __name__ == "__main__":
    main()
