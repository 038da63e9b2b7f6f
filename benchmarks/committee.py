"""The committee beside each of its members: accuracy, members dropped, and cost against CVC.

    python benchmarks/committee.py                       a quick look: some folds, some probes
    python benchmarks/committee.py eth80 --folds 0 1 2

Prints one table per dataset and writes out/committee.json. One thread.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
from sklearn.base import clone

from datasets import load
from setwise import Committee
from setwise.baselines.committee import default_members

# dataset -> folds, and every how many-th probe
QUICK = {"eth80": ((0, 1, 2), 1), "coil20": ((0, 3), 1), "vowels": ((0,), 5)}


def timed(work) -> tuple[object, float]:
    """What the work gives, and its seconds."""
    started = time.perf_counter()
    return work(), time.perf_counter() - started


def measure(clf, sets, labels, gallery, probes) -> dict:
    """Accuracy, seconds to fit, and seconds per probe, the first one not counted."""
    _, fit_seconds = timed(lambda: clf.fit(sets[gallery], labels[gallery]))
    clf.predict(sets[probes[:1]])
    answers, seconds = timed(lambda: clf.predict(sets[probes]))
    return {
        "right": (answers == labels[probes]).tolist(),
        "fit_seconds": fit_seconds,
        "seconds_per_probe": seconds / len(probes),
    }


def run(name: str, folds, step: int) -> dict:
    """All members and the committee on some folds of a dataset."""
    data = load(name)
    methods = {"committee": Committee(random_state=0), **dict(default_members())}
    results: dict[str, list] = {method: [] for method in methods}
    for fold in folds:
        gallery, probes = data.folds[fold]
        for method, prototype in methods.items():
            clf = clone(prototype)
            row = measure(clf, data.sets, data.labels, gallery, probes[::step])
            if method == "committee":
                row |= {
                    "weights": dict(clf.weights_),
                    "inverse_temperature": clf.inverse_temperature_,
                }
                row |= {"accuracy": dict(clf.gallery_accuracy_ or {})}
                sure = clf.predict_proba(data.sets[probes[::step]]).max(axis=1)
                row |= {"sure": sure.round(4).tolist()}
            results[method].append(row)
    return results


def show(name: str, results: dict) -> None:
    """One table: a row per method."""
    print(
        f"\n{name}\n{'':16}{'% right':>8}  {'by fold':24}{'fit':>9}{'probe':>10}  (times CVC's)"
    )
    cvc = results["cvc"]
    for method, rows in results.items():
        by_fold = [100 * np.mean(row["right"]) for row in rows]
        every = 100 * np.mean(np.concatenate([row["right"] for row in rows]))
        ratios = [
            sum(row[key] for row in rows) / sum(row[key] for row in cvc)
            for key in ("fit_seconds", "seconds_per_probe")
        ]
        folds = " ".join(f"{percent:.2f}" for percent in by_fold)
        print(f"{method:16}{every:8.2f}  {folds:24}{ratios[0]:9.3f}{ratios[1]:10.3f}")
    for row in results["committee"]:
        dropped = [member for member, weight in row["weights"].items() if not weight]
        tried = ", ".join(f"{member} {share:.2f}" for member, share in row["accuracy"].items())
        said, right = np.mean(row["sure"]), np.mean(row["right"])
        beta = row["inverse_temperature"]
        print(f"dropped {dropped}; inverse temperature {beta:.2f}; says {said:.2f}, "
              f"is {right:.2f}; left out: {tried or 'nothing'}")  # fmt: skip


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*", default=list(QUICK), metavar="DATASET")
    parser.add_argument("--folds", type=int, nargs="+")
    parser.add_argument("--step", type=int, help="take every so many-th probe only")
    parser.add_argument("--out", type=Path, default=Path("out/committee.json"))
    options = parser.parse_args()
    results = {}
    for name in options.datasets:
        folds, step = QUICK.get(name, ((0,), 1))
        results[name] = run(name, options.folds or folds, options.step or step)
        show(name, results[name])
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
