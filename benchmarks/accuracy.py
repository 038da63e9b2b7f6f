"""Accuracy on real data: the paper's setting and the library's default, fold by fold.

    python benchmarks/accuracy.py                     everything
    python benchmarks/accuracy.py eth80 --setting paper
    python benchmarks/accuracy.py eth80 --parts       what each part contributes

Prints mean, min, max and standard deviation over the folds for every fusion (the ensemble is
fitted once and fused four ways) and writes out/accuracy.json.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from datasets import PROTOCOLS, Dataset, load
from setwise import CVC

FUSIONS = ("pool", "mode", "sum", "coefficient", "none")
PAPER = {"mode": 91.75, "sum": 88.75, "none": 84.75}
SETTINGS = {
    "paper": lambda: CVC.as_in_paper(random_state=0),
    "default": lambda: CVC(random_state=0),
}
# What each part contributes: the default with one part changed.
PARTS = {
    "default": {},
    "whitened svd only": {"representations": [("whitened", "svd")]},
    "plain centred only": {"representations": [("plain", "centred")]},
    "whitened means only": {"representations": [("whitened", "means")]},
    "plain svd only": {"representations": [("plain", "svd")]},
    "both views, three bases": {
        "representations": [
            (view, basis)
            for view in ("plain", "whitened")
            for basis in ("svd", "centred", "means")
        ]
    },
    "no gallery weights": {"weights": None},
    "exact signs": {"cut": "exact"},
    "each set a row": {"distributions": "set"},
}


def labels_by_fusion(clf: CVC, sets) -> dict[str, np.ndarray]:
    """Labels of the probes for every fusion, judging each probe once."""
    answers = list(clf.judge(sets))
    return {fusion: np.array([a.fused_by(fusion) for a in answers]) for fusion in FUSIONS}


def run(dataset: Dataset, make, jobs: int, console: Console) -> dict:
    """Accuracy of one setting on every fold of a dataset."""
    accuracy = {fusion: [] for fusion in FUSIONS}
    dropped, started = [], time.perf_counter()
    for gallery, probes in track(
        dataset.folds, f"{dataset.name}", console=console, transient=True
    ):
        clf = make().set_params(n_jobs=jobs).fit(dataset.sets[gallery], dataset.labels[gallery])
        silent = [str(v) for v, w in zip(clf.members_, clf.weights_, strict=True) if not w]
        dropped.append(silent)
        for fusion, labels in labels_by_fusion(clf, dataset.sets[probes]).items():
            accuracy[fusion].append(float((labels == dataset.labels[probes]).mean()))
    seconds = time.perf_counter() - started
    return {"accuracy": accuracy, "dropped": dropped, "seconds": round(seconds, 1)}


def show(title: str, dataset: Dataset, result: dict, fusion: str, console: Console) -> None:
    """One table: a row a fusion."""
    table = Table(title=f"{dataset.name}, {title} ({len(dataset.folds)} folds)")
    for column in ("fusion", "mean", "min", "max", "std", "paper", "plain subspace"):
        table.add_column(column, justify="left" if column == "fusion" else "right")
    for name, values in result["accuracy"].items():
        percent = 100 * np.array(values)
        figures = [percent.mean(), percent.min(), percent.max(), percent.std()]
        published = f"{PAPER[name]:.2f}" if dataset.name == "eth80" and name in PAPER else ""
        mark = " (default)" if name == fusion else ""
        table.add_row(
            f"{name}{mark}", *(f"{x:.2f}" for x in figures), published,
            f"{dataset.plain_subspace:.1f}",
        )  # fmt: skip
    console.print(table)
    gone = [", ".join(names) or "none" for names in result["dropped"]]
    console.print(f"members dropped by each gallery: {gone}; {result['seconds']} s\n")


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*", default=list(PROTOCOLS), metavar="DATASET")
    parser.add_argument("--setting", choices=[*SETTINGS, "all"], default="all")
    parser.add_argument("--parts", action="store_true", help="vary one part at a time")
    parser.add_argument("--jobs", type=int, default=2, help="threads (2)")
    parser.add_argument("--out", type=Path, default=Path("out/accuracy.json"))
    options = parser.parse_args()
    console = Console(width=110)
    results: dict[str, dict] = {}
    for name in options.datasets:
        dataset = load(name)
        chosen = {
            title: make
            for title, make in SETTINGS.items()
            # The paper's setting is the paper's for ETH-80 alone.
            if options.setting in (title, "all") and (title != "paper" or name == "eth80")
        }
        if options.parts:
            chosen = {
                title: lambda p=parameters: CVC(random_state=0, **p)
                for title, parameters in PARTS.items()
            }
        for title, make in chosen.items():
            result = run(dataset, make, options.jobs, console)
            results[f"{name}, {title}"] = result
            show(title, dataset, result, make().fusion, console)
            options.out.parent.mkdir(parents=True, exist_ok=True)
            options.out.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
