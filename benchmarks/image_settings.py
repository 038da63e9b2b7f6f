"""Settings for images beside `CVC()`, as one calls them: accuracy and time, on five datasets.

    python benchmarks/image_settings.py [eth80 ...] [--jobs 2]

Features are pixels and edges, for no network may be installed. Times include them.
"""

from __future__ import annotations

import argparse
import time
from functools import partial

import numpy as np

from datasets import load
from records import Table, keep
from setwise import CVC

DATASETS = {
    "eth80-64": "ETH-80, 64x64",
    "eth80": "ETH-80, 20x20",
    "coil20": "COIL-20, 32x32",
    "yaleb": "Yale B, 24x21",
    "hands": "Tsukuba hands, 24x24",
}
SETTINGS = {
    "CVC()": CVC,
    "CVC.for_images()": partial(CVC.for_images, "pixels,edges"),
    "CVC.for_turntables()": CVC.for_turntables,
}


def measured(name: str, make: partial, jobs: int) -> tuple[list[float], float]:
    """Percent of each fold, and milliseconds per probe."""
    dataset, right, spent, n_probes = load(name), [], 0.0, 0
    for gallery, probes in dataset.folds:
        clf = make(random_state=0, n_jobs=jobs)
        clf.fit(dataset.sets[gallery], dataset.labels[gallery])
        started = time.perf_counter()
        labels = clf.predict(dataset.sets[probes])
        spent, n_probes = spent + time.perf_counter() - started, n_probes + len(probes)
        right.append(100 * float((labels == dataset.labels[probes]).mean()))
    return right, 1e3 * spent / n_probes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*", choices=[*DATASETS, []], metavar="DATASET")
    parser.add_argument("--jobs", type=int, default=2, help="threads")
    options = parser.parse_args()
    rows = []
    for name in options.datasets or DATASETS:
        row = [DATASETS[name]]
        for make in SETTINGS.values():
            percent, ms = measured(name, make, options.jobs)
            row += [f"{np.mean(percent):.2f} ± {np.std(percent):.2f}", f"{ms:.0f}"]
        print(*row, sep=" | ", flush=True)
        rows.append(row)
    columns = ["", *(column for title in SETTINGS for column in (title, "ms per probe"))]
    notes = [f"{options.jobs} threads; compare milliseconds within a row."]
    if not options.datasets:
        title = "Settings for images, % right, mean and standard deviation over the folds"
        keep("accuracy", "images", Table(title, columns, rows, notes))


if __name__ == "__main__":
    main()
