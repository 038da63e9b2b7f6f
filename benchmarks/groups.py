"""Groups without labels: SetClusters beside rivals, rated by classes that none is shown.

    python benchmarks/groups.py --jobs 16               all that is missing
    python benchmarks/groups.py --only COIL --splits 3  rows by name, few splits
    python benchmarks/groups.py --write-only            the tables from what is there

Split 0 is all sets of a dataset, each other one a random four fifths of its classes and of
their sets. Every split is kept below out/measured, so that a run that is stopped goes on.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed, parallel_config
from scipy.stats import wilcoxon

from evidence.figures import mean_and_error
from records import Table, keep, measured_folder
from setwise._support.files import write_whole
from setwise.evaluation import compare_groups
from setwise.evaluation.groups import GROUPERS
from together import cell, sets_of

ROWS = {
    "ETH-80 EfficientNet": "eth80_efficientnet",
    "ETH-80 20x20": "eth80_20x20",
    "COIL-20 32x32": "coil20_32x32",
    "COIL-20 EfficientNet": "coil20_efficientnet",
    "Yale B ArcFace": "yaleb_arcface",
    "Yale B pixels": "yaleb_24x21",
}
N_SPLITS, SHARE = 11, 0.8
TOLD = "average linkage, told K"
OURS = "SetClusters"


def chosen_sets(labels: np.ndarray, seed: int) -> np.ndarray:
    """Indices of the sets of one split."""
    if seed == 0:
        return np.arange(len(labels))
    rng = np.random.default_rng(seed)
    classes = np.unique(labels)
    kept = rng.permutation(classes)[: round(SHARE * len(classes))]
    own = [rng.permutation(np.flatnonzero(labels == label)) for label in kept]
    return np.sort(np.concatenate([one[: max(2, round(SHARE * len(one)))] for one in own]))


def kept_in(row: str, seed: int) -> Path:
    """The file of one split."""
    return measured_folder() / "splits" / f"groups_{row.replace(' ', '_')}-{seed}.json"


def measured(row: str, seed: int) -> None:
    """Measure one split, and keep it in its file."""
    warnings.filterwarnings("ignore")
    sets, labels = sets_of(ROWS[row])
    some = chosen_sets(labels, seed)
    found = compare_groups([sets[i] for i in some], labels[some])
    told = {"n_classes": found.n_classes}
    of_method = {one.pop("method"): one for one in found.to_dict()["methods"]}
    write_whole(kept_in(row, seed), json.dumps(told | {"methods": of_method}))


def splits_of(row: str) -> list[dict[str, Any]]:
    """The splits of a row that have been measured, that of all sets first."""
    paths = (kept_in(row, seed) for seed in range(N_SPLITS))
    return [json.loads(path.read_text()) for path in paths if path.is_file()]


def table_of_all(lines: dict[str, dict[str, Any]]) -> Table:
    """B-cubed figures of each dataset as a whole."""
    rows = []
    for name, line in lines.items():
        f = {method: one["f"] for method, one in line["methods"].items()}
        best, ours = best_of(f), line["methods"][OURS]
        cells = [f"**{f[m]:.3f}**" if f[m] == f[best] else f"{f[m]:.3f}" for m in GROUPERS]
        about = f"{line['n_classes']}", f"{ours['n_groups']} + {ours['n_left_out']}"
        rows.append([name, *about, f"{ours['precision']:.3f}", f"{ours['recall']:.3f}", *cells])
    columns = ["", "classes", "groups + left out", "precision", "recall", *GROUPERS]
    return Table("Groups of all sets: B-cubed F", columns, rows)


def best_of(means: dict[str, float], *but: str) -> str:
    """The best method of those that are not told the number of classes."""
    return max((m for m in GROUPERS if m not in (TOLD, *but)), key=means.__getitem__)


def table_of_parts(lines: dict[str, list[dict[str, Any]]]) -> Table:
    """B-cubed F, mean ± standard error over random parts, and a test beside the best rival."""
    rows = []
    for name, splits in lines.items():
        f = {method: [one["methods"][method]["f"] for one in splits] for method in GROUPERS}
        means = {method: float(np.mean(values)) for method, values in f.items()}
        best, rival = best_of(means), best_of(means, OURS)
        precision = [one["methods"][OURS]["precision"] for one in splits]
        cells = [percent(f[method], is_best=method == best) for method in GROUPERS]
        p = f"{test_of(f[OURS], f[rival]):.2g}"
        rows.append([name, f"{len(splits)}", percent(precision), *cells, p])
    columns = ["", "parts", "precision", *GROUPERS, "p"]
    return Table("Groups of random parts: B-cubed F, in percent", columns, rows)


def percent(values: Sequence[float], is_best: bool = False) -> str:
    """Mean ± standard error of shares."""
    return cell(mean_and_error([100 * value for value in values]), is_best)


def test_of(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Two-sided p of a paired Wilcoxon test; 1 where nothing differs."""
    return float(wilcoxon(ours, theirs).pvalue) if list(ours) != list(theirs) else 1.0


def keep_tables() -> None:
    """Keep both tables, of the rows that have been measured."""
    whole = {row: splits_of(row)[0] for row in ROWS if kept_in(row, 0).is_file()}
    parts = {row: splits_of(row)[1:] for row in whole if len(splits_of(row)) > 2}
    if whole:
        print(f"kept {keep('together', 'groups', table_of_all(whole))}")
    if parts:
        print(f"kept {keep('together', 'group-parts', table_of_parts(parts))}")


def measure(only: str, n_splits: int, n_jobs: int) -> None:
    """Measure the splits that are missing, those of large datasets first."""
    rows = [row for row in reversed(ROWS) if only.lower() in row.lower()]
    missing = [
        (row, seed)
        for seed in range(min(n_splits, N_SPLITS))
        for row in rows
        if not kept_in(row, seed).is_file()
    ]
    started = time.perf_counter()
    with parallel_config("loky", inner_max_num_threads=1):
        jobs = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
            delayed(measured)(row, seed) for row, seed in missing
        )
        for done, _ in enumerate(jobs, start=1):
            minutes = (time.perf_counter() - started) / 60
            print(f"{done} of {len(missing)}, {minutes:.1f} min", flush=True)


def main() -> None:
    """Measure, and keep the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="rows whose name contains this text")
    parser.add_argument("--jobs", type=int, default=1, help="splits at a time")
    parser.add_argument("--splits", type=int, default=N_SPLITS, help="at most so many of each")
    parser.add_argument("--write-only", action="store_true", help="measure nothing")
    asked = parser.parse_args()
    if not asked.write_only:
        measure(asked.only, asked.splits, asked.jobs)
    keep_tables()


if __name__ == "__main__":
    main()
