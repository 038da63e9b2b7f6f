"""Seconds that users notice: importing, compiling once, and one probe of ETH-80.

python benchmarks/latency.py
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time

from threadpoolctl import threadpool_limits

from datasets import data_folder, load
from harness import publish
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
    "one member, plain centred, d = 10": {"representations": [("plain", "centred")]},
    "one member, plain svd, d = 10": {"representations": [("plain", "svd")]},
    "one member, whitened centred, d = 10": {"representations": [("whitened", "centred")]},
}


def seconds_of(code: str, **environment: str) -> float:
    """The number a fresh interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return float(done.stdout)


def cold_import() -> float:
    """Seconds of `import setwise`, the median of five fresh interpreters."""
    code = (
        "import time; t = time.perf_counter(); import setwise; print(time.perf_counter() - t)"
    )
    return statistics.median(seconds_of(code) for _ in range(5))


def compiling() -> float:
    """Seconds that the first use takes longer than the second, with an empty cache."""
    with tempfile.TemporaryDirectory() as cache:
        first = seconds_of(COMPILE, NUMBA_CACHE_DIR=cache)
        return first - seconds_of(COMPILE, NUMBA_CACHE_DIR=cache)


def per_probe(clf: CVC, probes, repeats: int = 3) -> tuple[float, float]:
    """Median and largest milliseconds of one probe in one thread."""
    clf.predict(probes[:1])
    times = []
    for _ in range(repeats):
        for i in range(len(probes)):
            started = time.perf_counter()
            clf.predict(probes[i : i + 1])
            times.append(1e3 * (time.perf_counter() - started))
    return statistics.median(times), max(times)


def main() -> None:
    """Measure, print and keep."""
    rows: dict[str, list[float]] = {}
    rows["cold `import setwise` (ms)"] = [1e3 * cold_import()]
    rows["compiling, once (CPU s)"] = [compiling()]
    if data_folder() is not None:
        data = load("eth80")
        gallery, probes = data.folds[0]
        sets, labels = data.sets[gallery], data.labels[gallery]
        with threadpool_limits(1):
            for name, parameters in MEMBERS.items():
                clf = CVC((10,), evidence="clusters", random_state=0, **parameters).fit(
                    sets, labels
                )
                rows[f"{name} (ms per probe)"] = list(per_probe(clf, data.sets[probes]))
            clf = CVC.as_in_paper(dims=(10,), random_state=0).fit(sets, labels)
            rows["one member, the paper's setting, d = 10 (ms per probe)"] = list(
                per_probe(clf, data.sets[probes])
            )
            clf = CVC(random_state=0).fit(sets, labels)
            rows[f"whole default ensemble, {len(clf.members_)} members (ms)"] = list(
                per_probe(clf, data.sets[probes], repeats=1)
            )
    publish(
        "latency",
        "What users wait for",
        ["ETH-80, first of ten splits; CVC.predict of one probe with its basis, one thread"],
        ["what", "median", "largest"],
        [[name, *(f"{value:.1f}" for value in values)] for name, values in rows.items()],
        records=rows,
    )


if __name__ == "__main__":
    main()
