"""How the default was chosen: what galleries say of themselves, probes never looked at.

    python benchmarks/choose_default.py [DATASET ...]

Every gallery set of every fold is left out in turn and classified by the others, once for each
candidate: the default with one part changed. (Yale B and the hands, with one gallery set a
class, cannot be asked.)
Prints the share recognised by each fusion of the whole ensemble and writes
out/choose_default.json.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from datasets import PROTOCOLS, load
from setwise import CVC, LassoGraph, Whitener
from setwise.classify.fusion import Fusion, fuse
from setwise.classify.gallery_weights import own_ballots

FUSIONS = ("mode", "sum", "coefficient")
DIMS = (2, 4, 6, 8, 10)


BOTH = ("svd", "centred")
THREE = (*BOTH, "means")
PAIR = (("whitened", "svd"), ("plain", "centred"))


def every(views, bases) -> dict:
    return {"representations": [(view, basis) for view in views for basis in bases]}


CANDIDATES = {
    "default: whitened svd, plain centred, whitened means": {},
    "whitened svd, plain centred": {"representations": PAIR},
    "whitened svd, plain centred, plain means": {
        "representations": (*PAIR, ("plain", "means"))
    },
    "whitened svd, plain centred, plain dictionary": {
        "representations": (*PAIR, ("plain", "dictionary"))
    },
    "plain centred, whitened means": {
        "representations": (("plain", "centred"), ("whitened", "means"))
    },
    "whitened svd, whitened means": every(["whitened"], ("svd", "means")),
    "plain svd, plain centred, plain means": every(["plain"], THREE),
    "whitened svd, whitened centred, whitened means": every(["whitened"], THREE),
    "plain svd, plain centred": every(["plain"], BOTH),
    "whitened svd, whitened centred": every(["whitened"], BOTH),
    "plain dictionary": every(["plain"], ["dictionary"]),
    "all six": every(["plain", "whitened"], THREE),
    "all six, full whitening, shrinkage 0.1": every(
        ["plain", ("whitened", Whitener(1.0, 0.1))], THREE
    ),
    "default, alpha 0.02": {"graph": LassoGraph(0.02)},
    "default, alpha 0.1": {"graph": LassoGraph(0.1)},
    "default, exact signs": {"cut": "exact"},
    "default, each set a row": {"distributions": "set"},
}


def own_accuracy(parameters: dict, sets, labels, jobs: int) -> list[float]:
    """Share of the gallery's own sets that the ensemble recognises, for each fusion."""
    clf = CVC(DIMS, weights=None, random_state=0, n_jobs=jobs, **parameters).fit(sets, labels)
    codes = clf.gallery_.codes
    ballots = own_ballots(clf.gallery_, np.arange(len(codes)), jobs)
    answers = [[fuse(b, Fusion.of(f, "benchmark")).code for f in FUSIONS] for b in ballots]
    return (np.array(answers) == codes[:, None]).mean(axis=0).tolist()


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*", default=["eth80", "coil20", "vowels"])
    parser.add_argument("--only", default="", help="candidates whose name holds this")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("out/choose_default.json"))
    options = parser.parse_args()
    console = Console(width=110)
    results: dict[str, dict] = {}
    for name in options.datasets:
        if name not in PROTOCOLS:
            parser.error(f"no dataset {name!r}; known are {', '.join(PROTOCOLS)}")
        data = load(name)
        table = Table(title=f"{name}: % of the gallery's own sets recognised")
        for column in ("candidate", *FUSIONS):
            table.add_column(column, justify="left" if column == "candidate" else "right")
        for title, parameters in CANDIDATES.items():
            if options.only not in title:
                continue
            found = [
                own_accuracy(parameters, data.sets[g], data.labels[g], options.jobs)
                for g, _ in track(data.folds, title, console=console, transient=True)
            ]
            means = 100 * np.mean(found, axis=0)
            results[f"{name}, {title}"] = dict(zip(FUSIONS, means.tolist(), strict=True))
            table.add_row(title, *(f"{x:.2f}" for x in means))
            options.out.parent.mkdir(parents=True, exist_ok=True)
            options.out.write_text(json.dumps(results, indent=1))
        console.print(table)


if __name__ == "__main__":
    main()
