"""Pixels, edges and a network, alone and together: what each costs, and what it recognises.

    python benchmarks/network_features.py                      all datasets, all splits
    python benchmarks/network_features.py --only eth80-64 --splits 3
    python benchmarks/network_features.py --one                one gallery object per class
    python benchmarks/network_features.py --cost               images per second, and memory

Every feature is computed once per dataset and kept in out/, so that a second run is quick.
Markdown tables go to standard output, one word per cell to standard error meanwhile.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
import warnings
from hashlib import sha256
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import make_pipeline

from datasets import load
from setwise import CVC, SetBatch, Whitener
from setwise.baselines import FrameVote, MeanCosine
from setwise.features import HOG, Network, Pixels

DATASETS = ("eth80-64", "coil20", "yaleb", "hands")
FEATURES = {
    "pixels": (("pixels", Pixels(20)),),
    "edges": (("fine edges", HOG(64, cell=8)), ("coarse edges", HOG(64, cell=16))),
    "network": (("network", Network()),),
}
# The ways of looking of `CVC()`, and of `CVC.for_images()`, at each feature.
LOOKS = (("{}", "mean"), ("whitened {}", "svd"), ("{}", "centred"))
TOGETHER = (
    ("pixels",),
    ("edges",),
    ("network",),
    ("pixels", "edges"),
    ("pixels", "network"),
    ("edges", "network"),
    ("pixels", "edges", "network"),
)


class Columns(TransformerMixin, BaseEstimator):
    """Some of the features that were computed before."""

    def __init__(self, start: int = 0, stop: int = 0) -> None:
        self.start = start
        self.stop = stop

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return np.asarray(X)[:, self.start : self.stop]

    def __sklearn_is_fitted__(self) -> bool:
        return True


def computed(name: str, sets: SetBatch, folder: Path) -> dict[str, np.ndarray]:
    """What each feature makes of all images of a dataset, from out/ if it is there."""
    made = {}
    for title, feature in (view for views in FEATURES.values() for view in views):
        key = sha256(f"{feature!r} {sets.vectors.shape}".encode()).hexdigest()[:12]
        path = folder / f"network_features_{name}_{key}.npz"
        if not path.exists():
            started = time.perf_counter()
            vectors = feature.transform(sets).vectors
            spent = time.perf_counter() - started
            rate = len(vectors) / spent
            print(f"{name}, {title}: {rate:.0f} images/s", file=sys.stderr)
            folder.mkdir(parents=True, exist_ok=True)
            np.savez_compressed(path, vectors=vectors)
        made[title] = np.load(path)["vectors"].astype(np.float64)
    return made


def side_by_side(made: dict[str, np.ndarray]) -> tuple[np.ndarray, dict[str, Columns]]:
    """One row per image with all features, and where each of them is in it."""
    ends = np.cumsum([vectors.shape[1] for vectors in made.values()])
    places = {
        title: Columns(int(end) - vectors.shape[1], int(end))
        for (title, vectors), end in zip(made.items(), ends, strict=True)
    }
    return np.concatenate(list(made.values()), axis=1), places


def classifier(features: tuple[str, ...], places: dict[str, Columns]) -> CVC:
    """CVC that looks at some of the features, in each of the ways."""
    pairs = []
    for title in (title for name in features for title, _ in FEATURES[name]):
        for view, basis in LOOKS:
            is_whitened = view.startswith("whitened")
            step = make_pipeline(places[title], Whitener()) if is_whitened else places[title]
            pairs.append(((view.format(title), step), basis))
    return CVC(representations=tuple(pairs), random_state=0, n_jobs=2)


def contenders(places: dict[str, Columns]) -> dict[str, object]:
    """Name of each row of the table, and a classifier, with the columns it sees."""
    rows: dict[str, object] = {
        "FrameVote, cosine, network": FrameVote(metric="cosine"),
        "MeanCosine, network": MeanCosine(),
    }
    for features in TOGETHER:
        rows[f"CVC, {' + '.join(features)}"] = classifier(features, places)
    return rows


def one_each(fold, labels):
    """The first gallery set of each class, and all other sets of the dataset."""
    _, first = np.unique(labels[fold[0]], return_index=True)
    gallery = fold[0][np.sort(first)]
    return gallery, np.setdiff1d(np.arange(len(labels)), gallery)


def run(name: str, options) -> dict[str, str]:
    """A cell for each row: mean, and spread over splits, of the probes labelled rightly."""
    dataset = load(name)
    rows, places = side_by_side(computed(name, dataset.sets, options.out))
    every = dataset.sets.replaced(vectors=rows, image_shape=None)
    seen = places["network"]
    network = dataset.sets.replaced(vectors=seen.transform(rows), image_shape=None)
    folds = dataset.folds[: options.splits]
    if options.one:
        folds = [one_each(fold, dataset.labels) for fold in folds]
    cells = {}
    for title, model in contenders(places).items():
        sets = every if isinstance(model, CVC) else network
        started = time.perf_counter()
        right = [accuracy(model, sets, dataset.labels, *fold) for fold in folds]
        spent = time.perf_counter() - started
        percent = 100 * np.array(right)
        cells[title] = f"{percent.mean():.2f} ± {percent.std():.2f}"
        words = f"{name}, {len(folds)} splits, {title}: {cells[title]}, {spent:.0f} s"
        print(words, file=sys.stderr)
    return cells


def accuracy(model, sets: SetBatch, labels, gallery, probes) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(sets[gallery], labels[gallery])
        return float((model.predict(sets[probes]) == labels[probes]).mean())


def cost(feature_name: str, n_images: int) -> None:
    """Images of 64 x 64 per second, and the peak of memory of a process of its own."""
    feature = FEATURES[feature_name][0][1]
    images = np.random.default_rng(0).integers(0, 256, (n_images, 64, 64)).astype(np.float64)
    feature.transform(images[:4])
    started = time.perf_counter()
    feature.transform(images[4:])
    rate = (n_images - 4) / (time.perf_counter() - started)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"| {feature_name} | {rate:.0f} | {1e3 / rate:.2f} | {peak:.0f} |", flush=True)


def costs(n_images: int) -> None:
    """A table, each row measured by a process of its own."""
    print(
        "| feature | images/s | ms per image | peak memory, MiB |\n|---|---|---|---|",
        flush=True,
    )
    for name in FEATURES:
        command = [sys.executable, __file__, "--cost-of", name, "--images", str(n_images)]
        subprocess.run(command, check=True, env=os.environ)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", metavar="DATASET", default=DATASETS)
    parser.add_argument("--splits", type=int, default=None, help="the first so many alone")
    parser.add_argument("--one", action="store_true", help="one gallery set per class")
    parser.add_argument("--cost", action="store_true", help="time and memory instead")
    parser.add_argument("--cost-of", choices=FEATURES, help=argparse.SUPPRESS)
    parser.add_argument("--images", type=int, default=516, help="for --cost")
    parser.add_argument("--out", type=Path, default=Path("out"))
    options = parser.parse_args()
    if options.cost_of:
        cost(options.cost_of, options.images)
        return
    if options.cost:
        costs(options.images)
        return
    tables = {name: run(name, options) for name in options.only}
    print(f"| | {' | '.join(tables)} |\n|---|{'---|' * len(tables)}")
    for title in next(iter(tables.values())):
        print(f"| {title} | {' | '.join(cells[title] for cells in tables.values())} |")


if __name__ == "__main__":
    main()
