"""The page: tables of what the store holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

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
from evidence.picture import draw_reliability
from evidence.run import Store, score_of
from evidence.tasks import FEW, PIXELS, RIVALS, Task

NOTHING = "-"
# Who says how sure it is.
CALIBRATED = ("CVC", "before")
# Only these count as rivals: "before" is CVC.
SINGLE = (*RIVALS, "GDA")
INTRODUCTION = """\
# CVC beside its rivals, on pixels and on embeddings

Written by `python benchmarks/evidence_table.py`, which measures what is missing; nothing on this page is written by hand.

- Cells are percent of probes labelled rightly, mean ± standard error over the splits of the task. Splits share sets, so that
  the error is somewhat too small. `(k of n)` means that so many of the splits CVC has were measured.
- *p* is of an exact two-sided sign test of CVC against the rival named: of the probe sets, how many CVC gets right more often
  (before the colon) or less often (after it). A set that is a probe of several splits counts once; where each is a probe once, this is
  McNemar's test. Probes of a split share its gallery and are taken as independent all the same. The rival is the best *of this table*,
  chosen after looking, and *p* is not corrected for the number of rows.
- "before" is CVC of the version that `--before` named. Mean cosine, trimmed mean cosine (without the quarter of a set farthest from its median
  direction) and frame vote are a few lines of NumPy in `benchmarks/evidence/methods.py`. Robust mean cosine is `MeanCosine(robust=True)`.
- Gallery sets with strangers take them from gallery sets of other classes, probes from probes of other classes: no image is on both sides.
- Not on this page: what a probe costs (`benchmarks/before_after.py`), and that `as_in_paper` answers as before (`benchmarks/same_answers.py`).
"""  # noqa: E501


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


def write_page(tasks: Sequence[Task], store: Store, path: Path) -> None:
    """Write everything that is known."""
    measured = [m for m in (Measured.of(task, store) for task in tasks) if m.records]
    sections = list(dict.fromkeys(m.task.section for m in measured))
    parts = [INTRODUCTION]
    for section in sections:
        rows = [m for m in measured if m.task.section == section]
        parts += [f"## {section}\n", *section_table(rows)]
        parts += threshold_table(rows) if rows[0].task.is_open else []
    parts += calibration_tables([m for m in measured if not m.task.is_open])
    parts += ["## Versions\n", *versions(measured)]
    path.parent.mkdir(parents=True, exist_ok=True)
    parts[1:1] = reliability_picture(measured, path.with_name("reliability.png"))
    path.write_text("\n".join(parts).rstrip() + "\n")


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table, numbers to the right."""
    lines = [columns, ["---"] + ["---:"] * (len(columns) - 1), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


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


def section_table(rows: Sequence[Measured]) -> Iterator[str]:
    """A row per task, a column per method."""
    order = list(dict.fromkeys(method for m in rows for method in m.task.methods))
    methods = [method for method in order if any(method in m.records for m in rows)]
    if rows[0].task.is_open:
        yield (
            "Percent are AUROC: the chance that a probe of an enrolled class is nearer than "
            "one of another class; tests are over splits. CVC is scored by "
            f"{scored_by(rows, 'CVC')}, before by its "
            "probability, the means by their largest cosine.\n"
        )
    columns = ("task", "probes", "splits", *methods, "rival", "CVC : rival", "p")
    lines = [
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
    yield table(columns, lines)


def scored_by(rows: Sequence[Measured], method: str) -> str:
    """What a method's AUROC is of."""
    records = [record for m in rows for record in m.records.get(method, {}).values()]
    return " or ".join(sorted({record["scored_by"] for record in records})) or NOTHING


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


def threshold_table(rows: Sequence[Measured]) -> Iterator[str]:
    """What `CVC(unknown=...)` lets in and keeps; of small galleries, means too."""
    asked = {m.task.title: rates_of_splits(m) for m in rows}
    asked = {title: rates for title, rates in asked.items() if len(rates)}
    if not asked:
        return
    lines = [
        (title, *(percent(*mean_and_error(list(column))) for column in rates[:, 1:].T))
        for title, rates in asked.items()
    ]
    if rows[0].task.section == FEW:
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
    yield f"`CVC(unknown={STRANGER_RATE})`, its threshold learnt on the gallery:\n"
    yield table(("task", "strangers let in", "known sets kept"), lines)


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


def calibration_tables(measured: Sequence[Measured]) -> Iterator[str]:
    """Reliability of the probabilities, one table per method."""
    for method in CALIBRATED:
        pooled = {m.task.title: confidences(m.records[method]) for m in measured
                  if method in m.records}  # fmt: skip
        if not pooled:
            continue
        parts = zip(*pooled.values(), strict=True)
        pooled["all together"] = tuple(np.concatenate(part) for part in parts)
        bins = [f"{b / N_BINS:.1f}-{(b + 1) / N_BINS:.1f}" for b in range(N_BINS)]
        yield f"## Reliability of the probabilities of {method}\n"
        yield (
            "ECE: expected calibration error over ten bins, in percent. The bins hold percent "
            "right (number of probes). *sure, wrong*: wrong answers of probability 0.995 or "
            "more.\n"
        )
        columns = ("task", "probes", "right", "confidence", "ECE", "sure, wrong", *bins)
        yield table(columns, (reliability_row(title, *pair) for title, pair in pooled.items()))


def reliability_picture(measured: Sequence[Measured], path: Path) -> Iterator[str]:
    """Draw the reliability of CVC by section, and link the picture."""
    pooled: dict[str, list] = {}
    for m in measured:
        if not m.task.is_open and "CVC" in m.records:
            pooled.setdefault(m.task.section, []).append(confidences(m.records["CVC"]))
    joined = {
        section: tuple(np.concatenate(part) for part in zip(*pairs, strict=True))
        for section, pairs in pooled.items()
    }
    if joined:
        draw_reliability(joined, path)
        yield f"![Reliability of CVC's probabilities]({path.name})\n"


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


def versions(measured: Sequence[Measured]) -> Iterator[str]:
    """Which commits each method's splits were measured with, what it warned of, its time."""
    by_method: dict[str, list[dict]] = {}
    for m in measured:
        for method, records in m.records.items():
            by_method.setdefault(method, []).extend(records.values())
    lines = [
        (method, counted(r["commit"] for r in records),
         counted(w for r in records for w in r["warnings"]) or NOTHING,
         f"{sum(r['seconds'] for r in records) / 60:.1f} min")
        for method, records in by_method.items()
    ]  # fmt: skip
    yield table(("method", "commit (splits)", "warnings (splits)", "took"), lines)


def counted(words: Iterable[str]) -> str:
    """Each word with how often it came."""
    found = list(words)
    return ", ".join(f"{word} ({found.count(word)})" for word in sorted(set(found)))
