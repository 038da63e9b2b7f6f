"""Few labels: sets judged together, beside the same gallery judging each set alone.

    python benchmarks/together.py --jobs 16               all that is missing
    python benchmarks/together.py --only COIL --splits 2  rows by name, few splits
    python benchmarks/together.py --write-only            the tables from what is there

Every split is kept below out/measured, so that a run that is stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed, parallel_config
from scipy.stats import wilcoxon
from sklearn.semi_supervised import LabelSpreading

from datasets import data_folder
from evidence.figures import mean_and_error
from records import Table, keep, measured_folder
from setwise import CVC
from setwise._support.files import write_whole

RATE = 0.05
UNKNOWN = -9
METHODS = ("alone", "together", "label spreading")
OF_STRANGERS = (
    *("alone", "together", "alone, let in", "together, let in"),
    *("alone, nearest", "together, nearest", "label spreading"),
)

# Kinds of rows, each a table of the record.
KINDS = {
    "even": "One or two labelled sets of each class",
    "many": "Several labelled sets of each class",
    "uneven": "Classes of uneven sizes, one labelled set of each",
    "strangers": "Half of the classes unknown, one labelled set of each other class",
}


@dataclass(frozen=True)
class Row:
    """One protocol."""

    name: str
    file: str
    n_labelled: int  # of each class
    n_splits: int
    kind: str = "even"  # one of KINDS


ROWS = (
    Row("ETH-80 EfficientNet, 1 per class", "eth80_efficientnet", 1, 20),
    Row("ETH-80 20x20, 1 per class", "eth80_20x20", 1, 20),
    Row("COIL-20 32x32, 1 per class", "coil20_32x32", 1, 20),
    Row("Yale B pixels, 1 per class", "yaleb_24x21", 1, 10),
    Row("Yale B ArcFace, 1 per class", "yaleb_arcface", 1, 10),
    Row("hands, 1 per class", "tsukuba_hand_24x24", 1, 10),
    Row("ETH-80 EfficientNet, 2 per class", "eth80_efficientnet", 2, 10),
    Row("ETH-80 20x20, 2 per class", "eth80_20x20", 2, 10),
    Row("COIL-20 32x32, 2 per class", "coil20_32x32", 2, 10),
    Row("ETH-80 EfficientNet, 5 per class", "eth80_efficientnet", 5, 10, "many"),
    Row("ETH-80 20x20, 5 per class", "eth80_20x20", 5, 10, "many"),
    Row("vowels, 10 per class", "japanese_vowels", 10, 4, "many"),
    *(
        Row(f"{name}, {kind}", file, 1, n, kind)
        for kind in ("uneven", "strangers")
        for name, file, n in (
            ("ETH-80 EfficientNet", "eth80_efficientnet", 10),
            ("ETH-80 20x20", "eth80_20x20", 10),
            ("COIL-20 32x32", "coil20_32x32", 10),
            ("Yale B pixels", "yaleb_24x21", 6),
            ("Yale B ArcFace", "yaleb_arcface", 6),
        )
    ),
)


def sets_of(file: str) -> tuple[list[np.ndarray], np.ndarray]:
    """Sets and classes of one file of the data folder."""
    with np.load(data_folder() / f"{file}.npz") as arrays:
        vectors = arrays["images"] if "images" in arrays else arrays["features"]
        vectors = vectors.reshape(len(vectors), -1).astype(np.float64)
        index, labels = arrays["set_index"], arrays["set_labels"]
    return [vectors[index == i] for i in range(len(labels))], labels


def split_of(row: Row, labels: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Labelled sets, and unlabelled ones."""
    rng = np.random.default_rng(seed)
    classes = np.unique(labels)
    known = (
        rng.permutation(classes)[: len(classes) // 2] if row.kind == "strangers" else classes
    )
    chosen, others = [], []
    for label in classes:
        members = rng.permutation(np.flatnonzero(labels == label))
        if label in known:
            chosen += list(members[: row.n_labelled])
        rest = members[row.n_labelled :]
        n_kept = rng.integers(0, len(rest) + 1) if row.kind == "uneven" else len(rest)
        others += list(rest[:n_kept])
    return np.sort(chosen), np.sort(others)


def kept_in(row: Row, seed: int) -> Path:
    """The file of one split."""
    return (
        measured_folder()
        / "splits"
        / f"{row.name.replace(' ', '_').replace(',', '')}-{seed}.json"
    )


def measured(row: Row, seed: int) -> None:
    """Measure one split, in percent, and keep it in its file."""
    warnings.filterwarnings("ignore")
    sets, labels = sets_of(row.file)
    gallery, probes = split_of(row, labels, seed)
    unknown = RATE if row.kind == "strangers" else None
    clf = CVC(random_state=0, n_jobs=1, unknown=unknown, unknown_label=UNKNOWN)
    clf.fit([sets[i] for i in gallery], labels[gallery])
    batch, truth = [sets[i] for i in probes], labels[probes]
    is_known = np.isin(truth, labels[gallery])
    found = {}
    for name in ("alone", "together"):
        answers = clf.judge(batch, together=name == "together")
        said = np.array([answer.label for answer in answers])
        nearest = np.array([answer.nearest for answer in answers])
        found[name] = percent((said == truth)[is_known])
        if not is_known.all():
            found[f"{name}, nearest"] = percent((nearest == truth)[is_known])
            found[f"{name}, let in"] = percent((said != UNKNOWN)[~is_known])
    means = np.array([unit_mean(sets[i]) for i in [*gallery, *probes]])
    some = np.concatenate([labels[gallery], np.full(len(probes), -1)])
    spread = LabelSpreading(kernel="knn", max_iter=1000).fit(means, some)
    said = spread.transduction_[len(gallery) :]
    found["label spreading"] = percent((said == truth)[is_known])
    write_whole(kept_in(row, seed), json.dumps(found))


def percent(values: np.ndarray) -> float:
    """Share of the true values."""
    return 100 * float(values.mean())


def unit_mean(vectors: np.ndarray) -> np.ndarray:
    """Mean of unit vectors, scaled to unit length."""
    mean = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).mean(axis=0)
    return mean / np.linalg.norm(mean)


def splits_of(row: Row) -> list[dict[str, float]]:
    """The splits of a row that have been measured."""
    paths = (kept_in(row, seed) for seed in range(row.n_splits))
    return [json.loads(path.read_text()) for path in paths if path.is_file()]


def test_of(splits: Sequence[dict[str, float]]) -> float:
    """Two-sided p of together against alone."""
    alone, both = (np.array([one[name] for one in splits]) for name in ("alone", "together"))
    return float(wilcoxon(both, alone).pvalue) if (alone != both).any() else 1.0


def line_of(row: Row) -> dict[str, Any] | None:
    """One line of a table; None where no split has been measured."""
    splits = splits_of(row)
    if not splits:
        return None
    values = {key: mean_and_error([one[key] for one in splits]) for key in splits[0]}
    about = {"row": row.name, "kind": row.kind, "splits": len(splits), "of": row.n_splits}
    return about | values | {"p": test_of(splits)}


def cell(value: tuple[float, float | None], is_best: bool = False) -> str:
    """Mean ± standard error; the best is bold."""
    mean, error = value
    text = f"{mean:.1f}" if error is None else f"{mean:.1f} ± {error:.1f}"
    return f"**{text}**" if is_best else text


def table(kind: str, lines: Sequence[dict[str, Any]]) -> Table:
    """The rows of one kind; the best of each is bold."""
    columns = OF_STRANGERS if kind == "strangers" else METHODS
    rows = []
    for line in lines:
        n, of = line["splits"], line["of"]
        best = max(line[name][0] for name in METHODS) if columns == METHODS else None
        cells = [cell(line[name], line[name][0] == best) for name in columns]
        count = f"{n}" if n == of else f"{n} of {of}"
        rows.append([line["row"], count, *cells, f"{line['p']:.2g}"])
    return Table(KINDS[kind], ["", "splits", *columns, "p"], rows)


def keep_tables() -> None:
    """Keep a table of each kind of rows that has been measured."""
    lines = [line for line in map(line_of, ROWS) if line is not None]
    for kind in KINDS:
        if own := [line for line in lines if line["kind"] == kind]:
            print(f"kept {keep('together', kind, table(kind, own))}")


def measure(only: str, n_splits: int | None, n_jobs: int) -> None:
    """Measure the splits that are missing, those of large rows first."""
    rows = [row for row in ROWS if only.lower() in row.name.lower()]
    if not rows:
        sys.exit(f"--only {only}: no such row. There are: {'; '.join(r.name for r in ROWS)}")
    n_sets = {file: len(sets_of(file)[0]) for file in {row.file for row in rows}}
    missing = [
        (row, seed)
        for row in sorted(rows, key=lambda row: -n_sets[row.file])
        for seed in range(min(row.n_splits, n_splits or row.n_splits))
        if not kept_in(row, seed).is_file()
    ]
    print(f"{len(missing)} splits to measure", flush=True)
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
    parser.add_argument("--splits", type=int, help="at most so many splits of each row")
    parser.add_argument("--fresh", action="store_true", help="forget what was measured")
    parser.add_argument("--write-only", action="store_true", help="measure nothing")
    asked = parser.parse_args()
    if asked.fresh:
        for path in (measured_folder() / "splits").glob("*.json"):
            path.unlink()
    try:
        if not asked.write_only:
            measure(asked.only, asked.splits, asked.jobs)
    except KeyboardInterrupt:
        sys.exit("stopped; what is finished is kept, the same command goes on")
    keep_tables()


if __name__ == "__main__":
    main()
