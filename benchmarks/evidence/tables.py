"""The tables of the record: what the store holds, task by task."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evidence.figures import (
    N_BINS,
    Records,
    bins_of,
    calibration_error,
    mean_and_error,
    sign_test,
    wins_and_losses,
)
from evidence.methods import STRANGER_RATE
from evidence.run import Store, score_of
from evidence.tasks import (
    CLEAN,
    FEW,
    OUTLIERS,
    PIXELS,
    POINTS,
    RIVALS,
    SMALL,
    STRANGERS,
    UNKNOWN,
    Task,
)  # fmt: skip
from records import Table, stamp

NOTHING = "-"
# Methods that count as rivals where a task names none.
SINGLE = (*RIVALS, "GDA")
# Sections, and what the record calls their tables.
NAMES = {
    PIXELS: "pixels",
    CLEAN: "embeddings",
    STRANGERS: "strangers",
    SMALL: "small",
    POINTS: "points",
    OUTLIERS: "outliers",
    UNKNOWN: "unknown",
    FEW: "few",
}
# Bins of fewer answers would show chance in the picture.
FEWEST = 15
COMMAND = "python benchmarks/evidence_table.py"


@dataclass(frozen=True)
class Measured:
    """A task with the records of each method that has any.

    Where CVC was measured, only its splits count, so that all means are of the same probes.
    """

    task: Task
    records: dict[str, Records]

    @classmethod
    def of(cls, task: Task, store: Store) -> Measured:
        known = {method: store.records(task.name, method) for method in task.methods}
        wanted = known.get("CVC") or {i: None for records in known.values() for i in records}
        cut = {
            method: {i: record for i, record in records.items() if i in wanted}
            for method, records in known.items()
        }
        return cls(task, {method: records for method, records in cut.items() if records})

    @property
    def n_splits(self) -> int:
        return max((len(records) for records in self.records.values()), default=0)

    @property
    def n_probes(self) -> int:
        records = max(self.records.values(), key=len)
        return sum(len(record["correct"]) for record in records.values())

    def values(self, method: str) -> list[float]:
        """Percent of each split: right answers, or AUROC where some probes are unknown."""
        records = self.records.get(method, {})
        return [100 * score_of(record) for record in records.values()]

    def mean(self, method: str) -> float:
        return mean_and_error(self.values(method))[0]

    def is_complete(self, method: str) -> bool:
        return len(self.records.get(method, {})) == self.n_splits > 0

    def best(self, methods: Iterable[str]) -> str | None:
        """The best of some methods that have all splits."""
        complete = [method for method in methods if self.is_complete(method)]
        return max(complete, key=self.mean, default=None)

    @property
    def rival(self) -> str | None:
        """The method that CVC is tested against: the best of the task's rivals."""
        return self.best(self.task.rivals or SINGLE)


def tables(tasks: Sequence[Task], store: Store) -> dict[str, Table]:
    """Everything that is known: accuracy or AUROC, thresholds, probabilities."""
    measured = [m for m in (Measured.of(task, store) for task in tasks) if m.records]
    found: dict[str, Table] = {}
    for section, name in NAMES.items():
        rows = [m for m in measured if m.task.section == section]
        if rows:
            found[name] = accuracy_table(rows)
            if rows[0].task.is_open:
                found[f"{name}-rates"] = threshold_table(rows)
    closed = [m for m in measured if not m.task.is_open and "CVC" in m.records]
    if closed:
        found["reliability"] = reliability_table(closed)
    return found


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    return Table(title, columns, list(rows), measured=stamp(COMMAND))


def cell(measured: Measured, method: str) -> str:
    """Mean ± standard error of a method on a task."""
    values = measured.values(method)
    if not values:
        return NOTHING
    mean, error = mean_and_error(values)
    text = f"{mean:.2f}" if error is None else f"{mean:.2f} ± {error:.2f}"
    if measured.is_complete(method):
        return text
    return f"{text} ({len(values)} of {measured.n_splits})"


def accuracy_table(rows: Sequence[Measured]) -> Table:
    """A row per task, a column per method."""
    order = list(dict.fromkeys(method for m in rows for method in m.task.methods))
    methods = [method for method in order if any(method in m.records for m in rows)]
    columns = ("task", "probes", "splits", *methods, "rival", "CVC : rival", "p")
    lines: list[tuple[str, ...]] = [
        (
            m.task.title,
            str(m.n_probes),
            str(m.n_splits),
            *(cell(m, name) for name in methods),
            *against_rival(m),
        )
        for m in rows
    ]
    if rows[0].task.section == PIXELS:
        lines.append(mean_row(rows, methods))
    return table(rows[0].task.section, columns, lines)


def against_rival(m: Measured) -> tuple[str, str, str]:
    """The rival, who wins how many probe sets, and p; of AUROC, who wins how many splits."""
    if m.rival is None or "CVC" not in m.records:
        return m.rival or NOTHING, NOTHING, NOTHING
    if m.task.is_open:
        gaps = np.subtract(m.values("CVC"), m.values(m.rival))
        wins, losses = int((gaps > 0).sum()), int((gaps < 0).sum())
    else:
        wins, losses = wins_and_losses(m.records["CVC"], m.records[m.rival])
    return m.rival, f"{wins} : {losses}", f"{sign_test(wins, losses):.2g}"


def mean_row(rows: Sequence[Measured], methods: Sequence[str]) -> tuple[str, ...]:
    """The mean over all datasets, for methods that have all of them."""
    means = {
        method: float(np.mean([m.mean(method) for m in rows]))
        for method in methods
        if all(m.is_complete(method) for m in rows)
    }
    cells = [f"{means[name]:.2f}" if name in means else NOTHING for name in methods]
    return (f"mean of the {len(rows)}", "", "", *cells, "", "", "")


def threshold_table(rows: Sequence[Measured]) -> Table:
    """What `CVC(unknown=...)` lets in and keeps; of small galleries, means too."""
    asked = {m.task.title: rates_of_splits(m) for m in rows}
    asked = {title: rates for title, rates in asked.items() if len(rates)}
    lines = [
        (title, *(percent(*mean_and_error(list(column))) for column in rates[:, 1:].T))
        for title, rates in asked.items()
    ]
    if rows[0].task.section == FEW and asked:
        means = np.array([rates.mean(axis=0) for rates in asked.values()])
        n_classes = [title.rpartition(", ")[2] for title in asked]
        groups = [(f"mean of those with {n}", np.array(n_classes) == n)
                  for n in dict.fromkeys(n_classes)]  # fmt: skip
        groups.append(("mean of all", np.ones(len(means), dtype=bool)))
        groups.append(("mean of those with AUROC of at least 97", means[:, 0] >= 97))
        lines += [
            (name, *(percent(column.mean(), None) for column in means[chosen, 1:].T))
            for name, chosen in groups
            if chosen.any()
        ]
    title = f"`CVC(unknown={STRANGER_RATE})`, its threshold learnt on the gallery"
    return table(title, ("task", "unknown sets accepted", "known sets kept"), lines)


def rates_of_splits(m: Measured) -> np.ndarray:
    """AUROC, strangers let in and known sets kept, in percent, a row per split."""
    records = [r for r in m.records.get("CVC", {}).values() if "is_known" in r]
    return np.array([(100 * score_of(record), *rates_of(record)) for record in records])


def rates_of(record: dict) -> tuple[float, float]:
    """Percent of strangers taken for known, and of known probes taken for known."""
    enrolled, known = (np.array(record[key], dtype=bool) for key in ("is_enrolled", "is_known"))
    return 100 * float(known[~enrolled].mean()), 100 * float(known[enrolled].mean())


def percent(mean: float, error: float | None) -> str:
    return f"{mean:.1f}" if error is None else f"{mean:.1f} ± {error:.1f}"


def reliability_table(measured: Sequence[Measured]) -> Table:
    """How often answers of each probability are right; the bins of sections are its values."""
    pooled = {m.task.title: confidences(m.records["CVC"]) for m in measured}
    parts = zip(*pooled.values(), strict=True)
    pooled["all together"] = tuple(np.concatenate(part) for part in parts)
    bins = [f"{b / N_BINS:.1f}-{(b + 1) / N_BINS:.1f}" for b in range(N_BINS)]
    columns = ("task", "probes", "right", "confidence", "ECE", "sure, wrong", *bins)
    lines = [reliability_row(title, *pair) for title, pair in pooled.items()]
    found = table("Reliability of the probabilities of CVC", columns, lines)
    return replace(found, values={"sections": dict(binned_sections(measured))})


def binned_sections(measured: Sequence[Measured]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Of each section, what its line of the picture needs."""
    by_section: dict[str, list[Measured]] = {}
    for m in measured:
        by_section.setdefault(m.task.section, []).append(m)
    for section, ms in by_section.items():
        pairs = [confidences(m.records["CVC"]) for m in ms]
        probability, correct = (np.concatenate(part) for part in zip(*pairs, strict=True))
        bins = bins_of(probability)
        shown = [b for b in range(N_BINS) if (bins == b).sum() >= FEWEST]
        yield (
            section,
            {
                "probability": [round(float(probability[bins == b].mean()), 4) for b in shown],
                "right": [round(float(correct[bins == b].mean()), 4) for b in shown],
                "error": round(calibration_error(probability, correct), 4),
                "n_probes": len(correct),
            },
        )


def confidences(records: Records) -> tuple[np.ndarray, np.ndarray]:
    """Probability of every answer, and whether it was right."""
    probability = np.concatenate([record["probability"] for record in records.values()])
    return probability, np.concatenate([record["correct"] for record in records.values()])


def reliability_row(title: str, probability: np.ndarray, correct: np.ndarray) -> list[str]:
    bins = bins_of(probability)
    cells = []
    for b in range(N_BINS):
        right = correct[bins == b]
        cells.append(f"{100 * right.mean():.0f} ({len(right)})" if len(right) else "")
    summary = [100 * correct.mean(), 100 * probability.mean()]
    summary.append(100 * calibration_error(probability, correct))
    sure_and_wrong = int(((probability >= 0.995) & (correct == 0)).sum())
    return [
        title,
        str(len(correct)),
        *(f"{x:.1f}" for x in summary),
        str(sure_and_wrong),
        *cells,
    ]
