"""What each part of the default gives: CVC with one part undone, on tasks of the evidence.

    python benchmarks/alone.py                  what is missing, and the record
    python benchmarks/alone.py --splits 1       one split of each task; nothing is recorded

All variants see the same splits. Finished ones are lines of alone.jsonl below out/measured.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any
from unittest.mock import patch

import numpy as np

from evidence.figures import calibration_error, sign_test, wins_and_losses
from evidence.methods import Method, Opinion, by_cvc
from evidence.run import Clock, Store, in_words, missing_jobs, run
from evidence.tables import Measured, confidences
from evidence.tasks import Split, Task, tasks
from records import Table, keep, measured_folder, stamp
from setwise.basis import Spread
from setwise.gallery.defaults import EVIDENCE, REPRESENTATIONS
from setwise.gallery.evidence import Regression

N_SPLITS = 3
TASKS = {
    "pixels-eth80": "ETH-80",
    "pixels-yaleb": "Yale B",
    "pixels-coil20": "COIL-20",
    "pixels-vowels": "vowels",
    "net-eth80-one": "ETH-80 network, 1",
    "net-eth80-five": "ETH-80 network, 5",
    "arcface-mixed": "Yale B ArcFace",
    "strangers-net-40-one": "ETH-80 network, strangers",
    "strangers-arcface-40-one": "ArcFace, strangers",
    "small-net-3-probe": "ETH-80 network, 3 images",
}
TRIALS = "setwise.gallery.trials"
SPREADS = tuple(one for one in REPRESENTATIONS if isinstance(one[1], Spread))


@dataclass(frozen=True)
class Part:
    """A part undone: parameters of CVC, and what stands in place of names of its modules."""

    parameters: Mapping[str, Any] = field(default_factory=dict)
    names: Mapping[str, Any] = field(default_factory=dict)

    def opinion(self, split: Split, n_jobs: int) -> Opinion:
        """What CVC says without it."""
        with ExitStack() as changed:
            for name, value in self.names.items():
                changed.enter_context(patch(name, value))
            return by_cvc(split, n_jobs, **self.parameters)


def but(*left_out: tuple[str, Any]) -> dict[str, Any]:
    """The default representations without some."""
    return {"representations": [one for one in REPRESENTATIONS if one not in left_out]}


def all_inliers_stay(self: Any, vectors: Any, inliers: Any, known: Any = None) -> Any:
    """In place of the search for rare vectors: none is found."""
    return inliers


VECTORS = (("plain", "vectors"), ("whitened", "vectors"))
NO_REGRESSION = [one for one in EVIDENCE if not isinstance(one, Regression)]
PARTS: dict[str, Part] = {
    "CVC": Part(),
    "without spreads": Part(but(*SPREADS)),
    "without regression": Part({"evidence": NO_REGRESSION}),
    "without nearest vectors": Part(but(*VECTORS)),
    "without both": Part(but(*SPREADS, *VECTORS)),
    "d = 3, 5, 8": Part({"dims": (3, 5, 8)}),
    "log-odds as they are": Part(names={f"{TRIALS}.POWER": 1}),
    "equal weights": Part({"weights": None}),
    "sets halved once": Part(names={"setwise.gallery.whole.N_HALVINGS": 1}),
    "rare vectors dropped": Part(
        names={"setwise.gallery.outliers.OutlierScale.with_rare": all_inliers_stay}
    ),
    "nothing dropped": Part({"outliers": None}),
}


def chosen_tasks(n_splits: int) -> list[Task]:
    """The tasks, each with its first splits and the variants as its methods."""
    known = tasks()
    return [
        replace(known[name], title=title, n_splits=min(n_splits, known[name].n_splits),
                methods=tuple(PARTS))
        for name, title in TASKS.items()
    ]  # fmt: skip


def table(measured: list[Measured]) -> Table:
    """A row per variant: percent right on each task, mean, and how reliable it is."""
    columns = ["", *(m.task.title for m in measured), "mean", "more : fewer right, p", "ECE",
               "s per probe"]  # fmt: skip
    return Table(
        "CVC with one part undone, percent right",
        columns,
        [row(name, measured) for name in PARTS],
        notes=[f"The first {N_SPLITS} splits of each task, or all where there are fewer."],
        measured=stamp("python benchmarks/alone.py"),
    )


def row(name: str, measured: list[Measured]) -> list[str]:
    means = [m.mean(name) for m in measured]
    counts = np.sum(
        [wins_and_losses(m.records[name], m.records["CVC"]) for m in measured], axis=0
    )
    wins, losses = map(int, counts)
    errors = [calibration_error(*confidences(m.records[name])) for m in measured]
    against = f"{wins} : {losses}, {sign_test(wins, losses):.2g}" if name != "CVC" else ""
    return [
        name,
        *(f"{mean:.2f}" for mean in means),
        f"{np.mean(means):.2f}",
        against,
        f"{100 * np.mean(errors):.1f}",
        f"{np.mean(list(seconds(name, measured))):.3f}",
    ]


def seconds(name: str, measured: list[Measured]) -> Iterator[float]:
    """Of each split, per probe, with the fit."""
    for m in measured:
        for record in m.records[name].values():
            yield record["seconds"] / len(record["correct"])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--splits", type=int, default=N_SPLITS, help=f"of a task ({N_SPLITS})")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    options = parser.parse_args()
    every = chosen_tasks(options.splits)
    methods: dict[str, Method] = {name: part.opinion for name, part in PARTS.items()}
    store = Store(measured_folder() / "alone.jsonl")
    jobs = missing_jobs(every, list(methods), store, None)
    clock = Clock(jobs, every, store)
    print(f"{len(jobs)} to measure; {in_words(clock.left(jobs), options.jobs)}", flush=True)
    run(jobs, methods, store, clock, options.jobs)
    found = table([Measured.of(task, store) for task in every])
    print(found.markdown())
    if options.splits == N_SPLITS:
        print(f"kept {keep('evidence', 'alone', found)}")


if __name__ == "__main__":
    main()
