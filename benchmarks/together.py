"""Few labels: sets judged together, beside the same gallery judging each set alone.

``make together`` runs every row and writes out/bench/together.json and together.md. A split is
computed once: a run that is stopped goes on where it was. ``--only`` runs rows whose name
contains a text, ``--scale 1000 10000`` measures how long the graph of so many sets takes.

In each split some sets of every class are labelled, chosen by the number of the split; the rest
are unlabelled and are judged. *Uneven* keeps a random number of the unlabelled sets of each
class, between none and all. *Strangers* has labels for one half of the classes alone. Each
interval is one standard error over the splits, which share sets; p is of a paired Wilcoxon
test on the splits.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import wilcoxon

from datasets import data_folder
from setwise import CVC, SetBatch
from setwise.together import relate

OUT = Path("out/bench/together")
RATE = 0.05


@dataclass(frozen=True)
class Row:
    """One protocol."""

    name: str
    file: str
    n_labelled: int  # of each class
    n_splits: int
    kind: str = "even"  # even, uneven or strangers
    goal: float | None = None


ROWS = (
    Row("ETH-80 EfficientNet, 1 per class", "eth80_efficientnet", 1, 20, goal=96.0),
    Row("ETH-80 20x20, 1 per class", "eth80_20x20", 1, 20, goal=86.0),
    Row("COIL-20 32x32, 1 per class", "coil20_32x32", 1, 10, goal=87.0),
    Row("Yale B pixels, 1 per class", "yaleb_24x21", 1, 6, goal=92.0),
    Row("Yale B ArcFace, 1 per class", "yaleb_arcface", 1, 6, goal=99.8),
    Row("ETH-80 EfficientNet, 2 per class", "eth80_efficientnet", 2, 10, goal=98.8),
    Row("ETH-80 20x20, 2 per class", "eth80_20x20", 2, 10, goal=90.0),
    Row("ETH-80 EfficientNet, 5 per class", "eth80_efficientnet", 5, 6),
    Row("ETH-80 20x20, 5 per class", "eth80_20x20", 5, 6),
    Row("COIL-20 32x32, 2 per class", "coil20_32x32", 2, 6),
    Row("hands, 5 per class", "tsukuba_hand_24x24", 5, 6),
    Row("vowels, 10 per class", "japanese_vowels", 10, 3),
    *(
        Row(f"{name}, {kind}", file, 1, n, kind)
        for kind in ("uneven", "strangers")
        for name, file, n in (
            ("ETH-80 EfficientNet", "eth80_efficientnet", 10),
            ("ETH-80 20x20", "eth80_20x20", 10),
            ("COIL-20 32x32", "coil20_32x32", 6),
            ("Yale B pixels", "yaleb_24x21", 4),
            ("Yale B ArcFace", "yaleb_arcface", 4),
        )
    ),
)


def sets_of(file: str) -> tuple[list[np.ndarray], np.ndarray]:
    """Sets and classes of one file of ../shared/data."""
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


def measured(row: Row, seed: int) -> dict[str, float]:
    """Accuracy in percent, alone and together, of one split; kept in a file."""
    path = OUT / f"{row.name.replace(' ', '_')}-{seed}.json"
    if path.is_file():
        return json.loads(path.read_text())
    warnings.filterwarnings("ignore")
    sets, labels = sets_of(row.file)
    gallery, probes = split_of(row, labels, seed)
    unknown = RATE if row.kind == "strangers" else None
    clf = CVC(random_state=0, n_jobs=1, unknown=unknown, unknown_label=-9)
    clf.fit([sets[i] for i in gallery], labels[gallery])
    batch, truth = [sets[i] for i in probes], labels[probes]
    is_known = np.isin(truth, labels[gallery])
    found = {}
    for how in (False, True):
        answers = clf.predict(batch, together=how)
        name = "together" if how else "alone"
        found[name] = 100 * float((answers == truth)[is_known].mean())
        if not is_known.all():
            found[f"{name}, strangers let in"] = 100 * float((answers != -9)[~is_known].mean())
            nearest = np.array([a.nearest for a in clf.judge(batch, together=how)])
            found[f"{name}, nearest"] = 100 * float((nearest == truth)[is_known].mean())
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found))
    return found


def error(values: np.ndarray) -> float:
    """Standard error of the mean."""
    return float(values.std(ddof=1) / len(values) ** 0.5) if len(values) > 1 else float("nan")


def line_of(row: Row, splits: list[dict[str, float]]) -> dict[str, object]:
    """One line of the table."""
    alone, both = (np.array([s[k] for s in splits]) for k in ("alone", "together"))
    differs = bool((alone != both).any())
    line: dict[str, object] = {
        "row": row.name,
        "splits": len(splits),
        "alone": [alone.mean(), error(alone)],
        "together": [both.mean(), error(both)],
        "p": float(wilcoxon(both, alone).pvalue) if differs else 1.0,
        "goal": row.goal,
    }
    for key in splits[0]:
        if "," in key:
            values = np.array([split[key] for split in splits])
            line[key] = [values.mean(), error(values)]
    return line


def as_markdown(lines: list[dict[str, object]]) -> str:
    """The table, in percent of the unlabelled sets."""
    told = ["| | splits | alone | together | p | goal |", "|---|---|---|---|---|---|"]
    for line in lines:
        a, b = (f"{line[k][0]:.1f} ± {line[k][1]:.1f}" for k in ("alone", "together"))
        goal = "" if line["goal"] is None else f"{line['goal']:g}"
        told.append(
            f"| {line['row']} | {line['splits']} | {a} | {b} | {line['p']:.2g} | {goal} |"
        )
    return "\n".join(told) + "\n"


def scale(n_sets: int, n_features: int, n_vectors: int, jobs: int) -> dict[str, float]:
    """Seconds and memory of the graph of so many sets, of ten to a class."""
    rng = np.random.default_rng(0)
    n_classes = max(2, n_sets // 10)
    centres = rng.normal(size=(n_classes, n_features)).astype(np.float32)
    classes = np.arange(n_sets) % n_classes
    noise = rng.normal(size=(n_sets * n_vectors, n_features)).astype(np.float32)
    vectors = np.repeat(centres[classes], n_vectors, axis=0) + 0.7 * noise
    sets = SetBatch(vectors, n_vectors * np.arange(n_sets + 1))
    started, busy = time.perf_counter(), time.process_time()
    graph = relate(sets, n_jobs=jobs)
    steps = graph.steps()
    seconds, busy = time.perf_counter() - started, time.process_time() - busy
    rows = np.repeat(np.arange(n_sets), np.diff(steps.indptr))
    same = float((classes[rows] == classes[steps.indices]).mean())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    told = {"sets": n_sets, "seconds": seconds, "of one core": busy, "peak GiB": peak}
    return told | {"nearest of the same class": same}


def main() -> None:
    """The table, or the measure of scale."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="rows whose name contains this text")
    parser.add_argument("--jobs", type=int, default=1, help="splits at a time")
    parser.add_argument("--splits", type=int, help="at most so many splits of each row")
    parser.add_argument("--scale", type=int, nargs="*", help="numbers of sets to relate")
    parser.add_argument("--vectors", type=int, default=3, help="of each set, with --scale")
    parser.add_argument("--features", type=int, default=128, help="with --scale")
    asked = parser.parse_args()
    if asked.scale:
        for n_sets in asked.scale:
            print(json.dumps(scale(n_sets, asked.features, asked.vectors, asked.jobs)))
        return
    lines = []
    for row in ROWS:
        if asked.only.lower() not in row.name.lower():
            continue
        seeds = range(min(row.n_splits, asked.splits or row.n_splits))
        splits = Parallel(n_jobs=asked.jobs)(delayed(measured)(row, seed) for seed in seeds)
        lines.append(line_of(row, splits))
        print(json.dumps(lines[-1]), flush=True)
    text = as_markdown(lines)
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT.parent / "together.json").write_text(json.dumps(lines, indent=2))
    (OUT.parent / "together.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
