"""Every method of the library on every real dataset: accuracy and time beside the paper's.

    python benchmarks/rivals.py                       everything that is not in out/rivals.json
    python benchmarks/rivals.py eth80 --methods MSM CVC --fresh
    python benchmarks/rivals.py --docs                only write docs/rivals.md and the pictures

Results are kept fold by fold in out/rivals.json, so an interrupted run goes on where it was.
One thread, BLAS too. A method that needs more than --budget seconds for the probes of a dataset
judges as many of them as fit, evenly spaced over each fold; the table says how many.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
from rich.console import Console
from threadpoolctl import threadpool_limits

from datasets import PROTOCOLS, Dataset, load
from harness import seconds
from setwise.comparison import METHODS, evaluate, plot_accuracy_time
from setwise.errors import SetwiseWarning

OUT, DOCS = Path("out/rivals.json"), Path("docs")
TITLES = {
    "eth80": "ETH-80, 20x20 pixels: 8 classes, 40 gallery and 40 probe sets, ten splits",
    "yaleb": "Extended Yale B, 24x21 pixels: 38 classes, one subset against four, five folds",
    "coil20": "COIL-20, 32x32 pixels: 20 classes, two quadrants against two, six folds",
    "hands": "Tsukuba hands, 24x24 pixels: 6 classes, 6 gallery and 6 probe sets",
    "vowels": "Japanese vowels, 12 coefficients: 9 speakers, 270 gallery and 370 probe sets",
}
# ETH-80: the paper's Tables 2 and 3, and what was measured before this project with other
# implementations of the same recipes on other random splits.
PAPER = {
    "CVC as in paper": 91.5,
    "CVC no fusion, SHC": 90.0,
    "CVC no fusion, k-means": 73.0,
    "CVC no fusion, SSC": 87.5,
    "CVC no fusion, SSC by ADMM": 87.5,
    "DCC": 90.9,
    "MMD": 85.7,
    "MDA": 80.5,
    "AHISD": 74.76,
    "CHISD": 71.0,
    "SANP": 72.4,
    "CDL-LDA": 89.2,
}
BEFORE = {
    "DCC": 88.5,
    "MMD": 86.5,
    "MDA": 80.3,
    "AHISD": 75.5,
    "CHISD": 70.25,
    "SANP": 74.5,
    "RNP": 73.75,
    "CDL-LDA": 92.75,
    "CDL-PLS": 94.5,
    "MSM": 91.5,
    "MSM, smallest angle": 75.0,
    "CMSM": 90.0,
    "GDA": 93.75,
    "GDA, centred": 94.75,
    "mean vector": 70.75,
    "minimum distance": 76.5,
    "log-Euclidean": 82.5,
}


def judged(dataset: Dataset, name: str, gallery, probes):
    """One method on one gallery and some probes."""
    sets, labels = dataset.sets, dataset.labels
    found = evaluate(
        name, METHODS[name](0), sets[gallery], labels[gallery], sets[probes], labels[probes]
    )
    if found.error is not None:
        msg = f"{name} on {dataset.name}: {found.error}"
        raise RuntimeError(msg)
    return found


def run(dataset: Dataset, name: str, budget: float) -> list[dict]:
    """One method on every fold of a dataset, on every so-manieth probe if it is slow."""
    gallery, probes = dataset.folds[0]
    trial = judged(dataset, name, gallery, probes[:2]).seconds_per_probe
    step = -(-sum(len(probes) for _, probes in dataset.folds) * trial // budget) or 1
    folds = []
    for gallery, probes in dataset.folds:
        chosen = probes[int(step) // 2 :: int(step)]
        found = judged(dataset, name, gallery, chosen)
        folds.append(
            {
                "n_right": int(found.is_right.sum()),
                "n_probes": len(chosen),
                "n_all": len(probes),
                "fit_seconds": found.fit_seconds,
                "seconds_per_probe": found.seconds_per_probe,
            }
        )
    return folds


def measure(datasets: list[str], methods: list[str], budget: float, fresh: bool) -> None:
    """Run what is asked for and not there yet."""
    console = Console(width=120)
    for key in datasets:
        dataset = load(key)
        for name in methods:
            if not fresh and name in kept().get(key, {}):
                continue
            with threadpool_limits(1), warnings.catch_warnings():
                # What the warnings tell (empty clusters, few iterations) is in the tables.
                warnings.simplefilter("ignore", SetwiseWarning)
                folds = run(dataset, name, budget)
            results = kept()
            results.setdefault(key, {})[name] = folds
            OUT.parent.mkdir(parents=True, exist_ok=True)
            OUT.write_text(json.dumps(results, indent=1))
            mean, spread = accuracy(folds)
            console.print(f"{key:7} {name:28} {mean:6.2f} +- {spread:5.2f}  {time_of(folds)}")


def kept() -> dict[str, dict[str, list[dict]]]:
    """What has been measured: dataset -> method -> folds."""
    return json.loads(OUT.read_text()) if OUT.exists() else {}


def accuracy(folds: list[dict]) -> tuple[float, float]:
    """Mean and standard deviation over the folds, in percent."""
    shares = [100 * fold["n_right"] / fold["n_probes"] for fold in folds]
    return float(np.mean(shares)), float(np.std(shares))


def time_of(folds: list[dict]) -> str:
    """Seconds a probe, median over the folds."""
    return seconds(float(np.median([fold["seconds_per_probe"] for fold in folds])))


def table(key: str, by_method: dict[str, list[dict]]) -> list[str]:
    """One dataset as a Markdown table, the most accurate method first."""
    published = key == "eth80"
    columns = ["method", "% right", "fit", "a probe", "probes"]
    columns += ["paper", "before", "to the better"] if published else []
    lines = [
        f"## {TITLES[key]}",
        "",
        "| " + " | ".join(columns) + " |",
        "|---" * len(columns) + "|",
    ]
    for name, folds in sorted(by_method.items(), key=lambda item: -accuracy(item[1])[0]):
        mean, spread = accuracy(folds)
        figure = f"{mean:.2f} ± {spread:.2f}" if len(folds) > 1 else f"{mean:.2f}"
        fit = seconds(float(np.median([fold["fit_seconds"] for fold in folds])))
        n_probes, n_all = (sum(fold[n] for fold in folds) for n in ("n_probes", "n_all"))
        count = f"{n_probes}" if n_probes == n_all else f"{n_probes} of {n_all}"
        row = [name, figure, fit, time_of(folds), count]
        if published:
            known = [figures[name] for figures in (PAPER, BEFORE) if name in figures]
            row += [f"{PAPER[name]:g}" if name in PAPER else ""]
            row += [f"{BEFORE[name]:g}" if name in BEFORE else ""]
            row += [f"{mean - max(known):+.2f}" if known else ""]
        lines.append("| " + " | ".join(row) + " |")
    return [*lines, ""]


def write_docs() -> None:
    """docs/rivals.md with all tables, and the pictures of accuracy against time."""
    results = kept()
    lines = [
        "# Every method on every dataset",
        "",
        "Written by `python benchmarks/rivals.py` from what it measured: % of probe sets",
        "labelled rightly, mean and standard deviation over the folds; seconds to learn a",
        "gallery and to judge a probe, one thread, median over the folds. All methods with",
        "their defaults, on raw pixels or coefficients. *Paper*: Mahmood and Mian, Tables 2",
        "and 3. *Before*: other implementations of the same recipes, on other random splits,",
        "before this project began.",
        "What stands out, and why: [rivals_notes.md](rivals_notes.md).",
        "",
        "![Accuracy against time on ETH-80](rivals_eth80.png)",
        "",
        "![Accuracy against time, mean of five datasets](rivals_all.png)",
        "",
    ]
    for key in TITLES:
        lines += table(key, results[key]) if key in results else []
    (DOCS / "rivals.md").write_text("\n".join(lines))
    # Pictures of the whole only: a part would be mistaken for it.
    if all(key in results for key in TITLES):
        draw("rivals_eth80.png", "ETH-80, ten splits", [results["eth80"]])
        draw("rivals_all.png", "Mean of five datasets", [results[key] for key in TITLES])


def draw(file: str, title: str, tables: list[dict[str, list[dict]]]) -> None:
    """Accuracy against time, averaged over datasets; methods that are in all of them."""
    points = []
    for name in METHODS:
        if all(name in by_method for by_method in tables):
            found = [accuracy(by_method[name]) for by_method in tables]
            times = [
                np.median([fold["seconds_per_probe"] for fold in by_method[name]])
                for by_method in tables
            ]
            mean = float(np.mean([mean for mean, _ in found])) / 100
            error = float(np.sqrt(np.sum([
                spread**2 / len(by_method[name])
                for (_, spread), by_method in zip(found, tables, strict=True)
            ]))) / len(tables) / 100  # fmt: skip
            spent = float(np.exp(np.mean(np.log(times))))
            points.append((name, spent, mean, mean - error, mean + error))
    note = "Bars: one standard error over the folds. One thread."
    plot_accuracy_time(points, DOCS / file, title=title, note=note)


def main() -> None:
    """Measure what is asked for, then write the documents."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*", default=list(PROTOCOLS), metavar="DATASET")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), metavar="METHOD")
    parser.add_argument("--budget", type=float, default=240.0, help="seconds of probes (240)")
    parser.add_argument("--fresh", action="store_true", help="measure again what is there")
    parser.add_argument("--docs", action="store_true", help="only write the documents")
    options = parser.parse_args()
    if not options.docs:
        measure(options.datasets, options.methods, options.budget, options.fresh)
    write_docs()


if __name__ == "__main__":
    main()
