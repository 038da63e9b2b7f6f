"""Fit the cost model to measurements: writes src/setwise/classify/cost.json.

python benchmarks/cost_model.py [--check]

Galleries of synthetic identities are solved and asked, on one thread; the coefficients are the
non-negative ones with the least relative error. Run it on a quiet machine (some 4 minutes).
With --check nothing is written: one fresh size of each kind is measured, and compared.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.optimize import nnls

from harness import parsed, publish, seconds
from memory import identities
from setwise import CVC
from setwise.classify import cost
from setwise.classify.cost import calibration_seconds, cost_of, fit_terms, probe_terms
from setwise.gallery import shortlist as large
from setwise.gallery.memory import GalleryShape
from setwise.index import ExactIndex

PLACE = Path(__file__).parents[1] / "src/setwise/classify/cost.json"
# Classes, sets per class, vectors per set, features.
SHAPES = {
    "whole": [
        (10, 2, 5, 64), (30, 2, 10, 128), (60, 2, 5, 512), (30, 4, 10, 256), (120, 2, 5, 128),
        (80, 2, 8, 512), (150, 2, 5, 256),
    ],
    "large": [
        (300, 2, 5, 128), (600, 2, 5, 512), (400, 4, 5, 256), (400, 2, 12, 256),
        (3000, 2, 5, 256), (8000, 2, 5, 128), (4000, 2, 5, 512),
    ],
}  # fmt: skip
FRESH = {"whole": (100, 2, 6, 300), "large": (2000, 2, 6, 300)}
N_PROBES, N_TRIED = 5, 12


def shape_of(n_classes: int, n_sets: int, n_vectors: int, n_features: int) -> GalleryShape:
    sizes = np.full(n_classes * n_sets, n_vectors)
    return GalleryShape(n_classes, sizes, n_features, n_sets)


def measured(shape: tuple[int, int, int, int]) -> tuple[float, float]:
    """Seconds of a fit with few trials, and of a probe."""
    n_classes, n_sets, n_vectors, n_features = shape
    sets, labels = identities(n_classes, n_sets + 1, n_vectors, n_features, "float32")
    is_probe = np.arange(len(sets)) % (n_sets + 1) == 0
    start = time.perf_counter()
    clf = CVC().fit(sets[~is_probe], labels[~is_probe])
    fit = time.perf_counter() - start
    probes = np.flatnonzero(is_probe)
    chosen = probes[np.linspace(0, len(probes) - 1, N_PROBES).astype(int)]
    return fit, statistics.median(
        best(lambda i=i: clf.predict_proba(sets[[i]])) for i in chosen
    )


def best(work: Callable[[], object]) -> float:
    """Seconds of the quickest of three runs: others may be at work on this machine too."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def index_seconds() -> float:
    """Of the exact index, for a million numbers: too little to be seen in small galleries."""
    rows = np.random.default_rng(0).standard_normal((80_000, 256), dtype=np.float32)
    index = ExactIndex().build(rows, np.arange(len(rows)))
    return best(lambda: index.nearest(rows[0], 256)) / (rows.size / 1e6)


def fitted(terms: list[dict[str, float]], times: list[float]) -> dict[str, float]:
    """Coefficients with the least relative error, none of them negative."""
    names = list(terms[0])
    table = np.array([[row[name] for name in names] for row in terms])
    values, _ = nnls(table / np.array(times)[:, None], np.ones(len(times)))
    return dict(zip(names, values.tolist(), strict=True))


def model(kind: str) -> dict[str, dict[str, float]]:
    how, fit_rows, probe_rows, fits, probes = CVC().describe(), [], [], [], []
    for shape in SHAPES[kind]:
        fit, probe = measured(shape)
        print(kind, shape, f"fit {fit:.2f} s, probe {1000 * probe:.0f} ms", file=sys.stderr)
        gallery = shape_of(*shape)
        fit_rows.append(fit_terms(how, gallery, probe, N_TRIED))
        probe_rows.append(probe_terms(how, gallery))
        fits.append(fit)
        probes.append(probe)
    index = index_seconds()
    searched = [index * row.pop("index") for row in probe_rows]
    rest = [taken - part for taken, part in zip(probes, searched, strict=True)]
    return {"fit": fitted(fit_rows, fits), "probe": fitted(probe_rows, rest) | {"index": index}}


def check() -> None:
    rows, slowness = [], cost.machine_slowness()
    cost.N_TRIED = N_TRIED
    cost.fit_terms.__defaults__ = (N_TRIED,)
    for kind, shape in FRESH.items():
        fit, probe = measured(shape)
        expected = cost_of(CVC().describe(), shape_of(*shape), slowness=slowness)
        for what, is_so, said in (
            ("fit", fit, expected.fit_seconds),
            ("probe", probe, expected.probe_seconds),
        ):
            row = [
                f"{kind} {shape}",
                what,
                seconds(is_so),
                seconds(said),
                f"{said / is_so:.2f}",
            ]
            rows.append(row)
    publish(
        "cost_model",
        "The cost model on sizes that it was not fitted to",
        [f"this machine takes {slowness:.2f} times as long as the one it was fitted on"],
        ["gallery", "what", "measured", "expected", "ratio"],
        rows,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    options = parsed(parser)
    large.MOST_TRIED = N_TRIED
    measured((20, 2, 5, 32))  # imported and compiled
    measured((260, 2, 5, 32))
    if options.check:
        check()
        return
    before = calibration_seconds()
    document = {kind: model(kind) for kind in SHAPES}
    calibration = min(before, calibration_seconds())
    text = json.dumps({"calibration_seconds": calibration, **document}, indent=1)
    PLACE.write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
