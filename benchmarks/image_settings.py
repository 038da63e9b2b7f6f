"""Settings for images, with and without a network: accuracy on five datasets.

    python benchmarks/image_settings.py [eth80-64 ...] [--jobs 2]

Pixels, edges (HOG in cells of 8 and 16) and `Network()`, alone and together, as
`CVC.for_images` takes them; beside them `CVC()` on pixels, `CVC.for_turntables()`, and the
cosine of means of the network's vectors.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline

from datasets import Dataset, load
from records import Table
from setwise import CVC
from setwise.baselines import MeanCosine
from setwise.features import Network

# Title and dataset; with "one", one gallery set of each class is known.
ROWS = {
    "ETH-80, 64x64, five objects per class": ("eth80-64", ""),
    "ETH-80, 64x64, one object per class": ("eth80-64", "one"),
    "COIL-20, 32x32": ("coil20", ""),
    "Yale B, 24x21": ("yaleb", ""),
    "Tsukuba hands, 24x24": ("hands", ""),
}


def for_images(features: str) -> Callable[[int], Any]:
    return lambda jobs: CVC.for_images(features, random_state=0, n_jobs=jobs)


SETTINGS: dict[str, Callable[[int], Any]] = {
    "pixels: `CVC()`": lambda jobs: CVC(random_state=0, n_jobs=jobs),
    "pixels, edges": for_images("pixels,edges"),
    "network": for_images("network"),
    "pixels, edges, network": for_images("pixels,edges,network"),
    "`for_turntables()`": lambda jobs: CVC.for_turntables(random_state=0, n_jobs=jobs),
    "network, mean cosine": lambda jobs: make_pipeline(Network(), MeanCosine()),
}


def folds_of(dataset: Dataset, which: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """The folds of a dataset, or those with one gallery set per class and all others asked."""
    if which != "one":
        return dataset.folds
    folds = []
    for gallery, _ in dataset.folds:
        _, first = np.unique(dataset.labels[gallery], return_index=True)
        chosen = gallery[np.sort(first)]
        folds.append((chosen, np.setdiff1d(np.arange(len(dataset.labels)), chosen)))
    return folds


def percent_right(dataset: Dataset, which: str, make: Callable[[int], Any], jobs: int) -> str:
    """Mean and standard deviation over the folds."""
    right = []
    for gallery, probes in folds_of(dataset, which):
        clf = make(jobs).fit(dataset.sets[gallery], dataset.labels[gallery])
        said = clf.predict(dataset.sets[probes])
        right.append(100 * float((said == dataset.labels[probes]).mean()))
    return f"{np.mean(right):.2f} ± {np.std(right):.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("datasets", nargs="*", help="some of the datasets; nothing is kept")
    parser.add_argument("--jobs", type=int, default=2, help="threads")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for title, (name, which) in ROWS.items():
        if options.datasets and name not in options.datasets:
            continue
        dataset = load(name)
        cells = [
            percent_right(dataset, which, make, options.jobs) for make in SETTINGS.values()
        ]
        rows.append([title, *cells])
        print(*rows[-1], sep=" | ", flush=True)
    title = "% of probe sets labelled correctly, mean and standard deviation over the folds"
    print(title, Table(title, ["", *SETTINGS], rows).markdown(), sep="\n\n")


if __name__ == "__main__":
    main()
