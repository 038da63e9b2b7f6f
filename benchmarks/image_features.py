"""Pixels, HOG and LBP in one ensemble: what galleries choose, and what probes say of it.

    python benchmarks/image_features.py               ETH-80 at 64 x 64: the table of the docs
    python benchmarks/image_features.py --galleries   how `CVC.for_images` was chosen
    python benchmarks/image_features.py --default     `CVC.for_images()` beside `CVC()`

The first two judge every set once with every look and fuse the verdicts in every way asked
for. Galleries are asked about their own sets, left out in turn; probes are never looked at
there. Writes out/image_features.json.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from functools import partial
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table
from sklearn.pipeline import make_pipeline

from datasets import load
from setwise import CVC, Whitener
from setwise.features import HOG, LBP, Pixels
from setwise.gallery import Fusion, fuse
from setwise.gallery.trials import Trials

FUSIONS = ("pool", "mode", "sum", "coefficient")
FEATURES = {
    "pixels": Pixels(20),
    "HOG 8": HOG(64, cell=8),
    "HOG 16": HOG(64, cell=16),
    "LBP": LBP(64, patch=16),
}
VIEWS = tuple(FEATURES.items()) + tuple(
    (f"whitened {name}", make_pipeline(feature, Whitener()))
    for name, feature in FEATURES.items()
)
CENTRED, WHITENED = ("{}", "centred"), ("whitened {}", "svd")
KINDS = {"centred": (CENTRED,), "whitened": (WHITENED,), "both": (CENTRED, WHITENED)}
TABLE = {
    "HOG 8": (("HOG 8",), "centred"),
    "HOG 16": (("HOG 16",), "centred"),
    "LBP": (("LBP",), "centred"),
    "pixels": (("pixels",), "centred"),
    "pixels, HOG 16, LBP": (("pixels", "HOG 16", "LBP"), "centred"),
    "pixels, HOG 8, HOG 16, LBP": (("pixels", "HOG 8", "HOG 16", "LBP"), "centred"),
    "pixels, HOG 8, HOG 16": (("pixels", "HOG 8", "HOG 16"), "centred"),
}


def looks_of(features: tuple[str, ...], kind: str) -> list[tuple[str, str]]:
    """Pairs of view and basis."""
    return [(view.format(f), basis) for f in features for view, basis in KINDS[kind]]


def candidates() -> dict[str, tuple[tuple[str, ...], str]]:
    """Every choice of features, in every kind of look."""
    return {
        f"{', '.join(features)}; {kind}": (features, kind)
        for n in range(1, len(FEATURES) + 1)
        for features in itertools.combinations(FEATURES, n)
        for kind in KINDS
    }


def judged(dataset, gallery, probes, kinds: str, *, own: bool, jobs: int):
    """The solved gallery of all pairs, what its layers say of each set, and the classes."""
    by_name = dict(VIEWS)
    pairs = [((v, by_name[v]), basis) for v, basis in looks_of(tuple(FEATURES), kinds)]
    clf = CVC(representations=pairs, weights=None, random_state=0, n_jobs=jobs)
    clf.fit(dataset.sets[gallery], dataset.labels[gallery])
    solved = clf.gallery_
    if own:
        trials = Trials.of(solved, np.arange(len(gallery)), jobs)
        return solved, trials.score_matrices, solved.codes
    score_matrices = [answer.score_matrix for answer in clf.judge(dataset.sets[probes])]
    return solved, score_matrices, np.searchsorted(clf.classes_, dataset.labels[probes])


def accuracies(solved, score_matrices, truth, looks) -> list[float]:
    """Share of right answers of some pairs, for each fusion."""
    parts = [member.layer.representation for member in solved.members]
    chosen = np.array([(part.view.name, part.basis.name) in looks for part in parts])
    answers = [
        [fuse(score_matrix.of_members(chosen), Fusion.of(f, "benchmark")).code for f in FUSIONS]
        for score_matrix in score_matrices
    ]
    return (np.array(answers) == truth[:, None]).mean(axis=0).tolist()


def run(name: str, chosen: dict, kinds: str, console: Console, *, own: bool, jobs: int) -> dict:
    """Accuracy of each choice on each fold, by fusion."""
    dataset = load(name)
    found: dict[str, list] = {title: [] for title in chosen}
    for gallery, probes in track(dataset.folds, name, console=console, transient=True):
        seen = judged(dataset, gallery, probes, kinds, own=own, jobs=jobs)
        for title, (features, kind) in chosen.items():
            found[title].append(accuracies(*seen, looks_of(features, kind)))
    return found


def show(title: str, found: dict, console: Console, most: int) -> None:
    """One row a choice, the best mean first where only some are shown."""
    rows = {name: 100 * np.array(folds) for name, folds in found.items()}
    names = sorted(rows, key=lambda n: -rows[n].mean())[:most] if most else list(rows)
    table = Table(title=title)
    for column in ("", *FUSIONS):
        table.add_column(column, justify="right" if column else "left")
    for name in names:
        figures = zip(rows[name].mean(axis=0), rows[name].std(axis=0), strict=True)
        table.add_row(name, *(f"{mean:.2f} ± {std:.2f}" for mean, std in figures))
    console.print(table)


SETTINGS = {
    "CVC()": CVC,
    "CVC.for_images()": partial(CVC.for_images, ("pixels", "edges")),
    "CVC.for_turntables()": CVC.for_turntables,
}


def default(names: tuple[str, ...], console: Console, jobs: int) -> dict:
    """The settings for images beside `CVC()`, as anybody would call them."""
    results = {}
    table = Table(title="% of the probes labelled rightly; ms per probe, features included")
    for column in ("", *(part for title in SETTINGS for part in (title, "ms"))):
        table.add_column(column, justify="right" if column else "left")
    for name in names:
        dataset, row = load(name), [name]
        for title, make in SETTINGS.items():
            right, spent, n_probes = [], 0.0, 0
            for gallery, probes in track(dataset.folds, name, console=console, transient=True):
                clf = make(random_state=0, n_jobs=jobs)
                clf.fit(dataset.sets[gallery], dataset.labels[gallery])
                started = time.perf_counter()
                labels = clf.predict(dataset.sets[probes])
                spent, n_probes = spent + time.perf_counter() - started, n_probes + len(probes)
                right.append(float((labels == dataset.labels[probes]).mean()))
            percent, ms = 100 * np.array(right), 1e3 * spent / n_probes
            results[f"{name}, {title}"] = {"right": right, "ms": ms}
            row += [f"{percent.mean():.2f} ± {percent.std():.2f}", f"{ms:.0f}"]
            console.print(f"{name}, {title}: {row[-2]}, {row[-1]} ms")
        table.add_row(*row)
    console.print(table)
    return results


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*", metavar="DATASET")
    parser.add_argument("--galleries", action="store_true", help="ask the galleries")
    parser.add_argument("--default", action="store_true", help="settings as called")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("out/image_features.json"))
    options = parser.parse_args()
    console = Console(width=110)
    results = json.loads(options.out.read_text()) if options.out.exists() else {}
    if options.default:
        names = options.datasets or ["eth80-64", "eth80", "coil20", "yaleb", "hands"]
        results["default"] = default(tuple(names), console, options.jobs)
    elif options.galleries:
        for name in options.datasets or ["eth80-64", "coil20"]:
            found = run(name, candidates(), "both", console, own=True, jobs=options.jobs)
            results[f"galleries of {name}"] = found
            show(f"{name}: % of the gallery's own sets recognised", found, console, 20)
    else:
        for name in options.datasets or ["eth80-64"]:
            found = run(name, TABLE, "centred", console, own=False, jobs=options.jobs)
            results[f"probes of {name}"] = found
            show(f"{name}: % of the probes labelled rightly", found, console, 0)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
