"""Measure what is missing, keep it as it comes, and say how long the rest may take."""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from evidence.figures import auroc
from evidence.methods import Method, Opinion
from evidence.tasks import Split, Task
from records import revision


class Store:
    """Results on disk: a file of JSON lines, one for each task, method and split.

    Lines are only added, so that files of several machines can be joined by ``cat``: of two
    lines about the same split, the later one counts.

    Parameters
    ----------
    path : Path
        The file; it need not exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: dict[tuple[str, str], dict[int, dict[str, Any]]] = {}
        for line in path.read_text().splitlines() if path.is_file() else []:
            try:
                record = json.loads(line)
            except json.JSONDecodeError:  # a run was killed while it wrote this line
                continue
            self._add(record.pop("task"), record.pop("method"), record.pop("split"), record)

    def _add(self, task: str, method: str, i: int, record: dict[str, Any]) -> None:
        self._known.setdefault((task, method), {})[i] = record

    def records(self, task: str, method: str) -> dict[int, dict[str, Any]]:
        """What is known, by the number of the split."""
        known = self._known.get((task, method), {})
        return {i: known[i] for i in sorted(known)}

    def keep(self, task: str, method: str, i: int, record: Mapping[str, Any]) -> None:
        """Add one split."""
        self._add(task, method, i, dict(record))
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a+b") as file:
            if file.tell():  # a line that was cut off by a kill stays alone
                file.seek(-1, os.SEEK_END)
                file.write(b"" if file.read() == b"\n" else b"\n")
            file.write(_line(task, method, i, record).encode())

    def forget(self, tasks: Sequence[str], method: str) -> int:
        """Drop what is known of a method on some tasks; how many splits that were."""
        dropped = [self._known.pop((task, method), {}) for task in tasks]
        if any(dropped):
            lines = [
                _line(*names, i, record)
                for names, records in self._known.items()
                for i, record in records.items()
            ]
            temporary = self.path.with_suffix(".tmp")
            temporary.write_text("".join(lines))
            temporary.replace(self.path)
        return sum(map(len, dropped))


def _line(task: str, method: str, i: int, record: Mapping[str, Any]) -> str:
    return json.dumps({"task": task, "method": method, "split": i, **record}) + "\n"


@dataclass(frozen=True)
class Job:
    """One method on one split of one task."""

    task: Task
    method: str
    i: int

    @property
    def names(self) -> tuple[str, str, int]:
        """Names and number, which stay equal when a job goes to another process."""
        return self.task.name, self.method, self.i


def missing_jobs(
    tasks: Sequence[Task], methods: Sequence[str], store: Store, most_splits: int | None
) -> list[Job]:
    """What is not known yet, split by split, so that methods can be compared soon."""
    jobs = []
    for task in tasks:
        chosen = [method for method in task.methods if method in methods]
        known = {method: store.records(task.name, method) for method in chosen}
        for i in range(min(task.n_splits, most_splits or task.n_splits)):
            jobs += [Job(task, method, i) for method in chosen if i not in known[method]]
    return jobs


# Seconds per probe until a method has been timed; the order in which jobs are begun, no more.
USUAL_SECONDS = {"CVC": 0.04}


class Clock:
    """How long the rest may take, by what each method took per probe so far."""

    def __init__(self, jobs: Sequence[Job], tasks: Sequence[Task], store: Store) -> None:
        self.n_probes = {
            name: len(task.split(0).probes)
            for name, task in {job.task.name: job.task for job in jobs}.items()
        }
        self.seconds: dict[tuple[str, str], list[float]] = {}
        for task in tasks:
            for method in task.methods:
                for record in store.records(task.name, method).values():
                    self.add(task.name, method, record["seconds"] / len(record["correct"]))

    def add(self, task: str, method: str, seconds_per_probe: float) -> None:
        self.seconds.setdefault((task, method), []).append(seconds_per_probe)

    def left(self, jobs: Iterable[Job]) -> float:
        """Seconds for these jobs."""
        return sum(map(self.cost, jobs))

    def cost(self, job: Job) -> float:
        """Seconds for a job: by the same task, or else by other tasks of the method."""
        known = self.seconds.get((job.task.name, job.method)) or [
            seconds
            for (_, method), times in self.seconds.items()
            for seconds in times
            if method == job.method
        ]
        each = float(np.mean(known)) if known else USUAL_SECONDS.get(job.method, 0.002)
        return each * self.n_probes[job.task.name]


def run(
    jobs: Sequence[Job], methods: Mapping[str, Method], store: Store, clock: Clock,
    n_jobs: int, minutes: float | None = None,
) -> None:  # fmt: skip
    """Do the jobs in so many processes, the dearest first, keeping each when it is done.

    After so many ``minutes`` no job is begun.
    """
    commit = revision()
    left = {job.names: job for job in jobs}
    until = time.monotonic() + 60 * minutes if minutes is not None else np.inf
    dearest_first = sorted(jobs, key=clock.cost, reverse=True)
    work = (
        delayed(_answered)(job, methods[job.method])
        for job in takewhile(lambda _: time.monotonic() < until, dearest_first)
    )
    # Jobs that wait in a queue would be begun after the time is over.
    parallel = Parallel(
        n_jobs, return_as="generator_unordered", batch_size=1, pre_dispatch=n_jobs
    )
    for (task, method, i), record in parallel(work):
        store.keep(task, method, i, record | {"commit": commit})
        clock.add(task, method, record["seconds"] / len(record["correct"]))
        del left[task, method, i]
        print(
            f"[{len(jobs) - len(left)}/{len(jobs)}] {task}, split {i}, "
            f"{method}: {100 * score_of(record):.1f} % in {record['seconds']:.1f} s; "
            f"{in_words(clock.left(left.values()), n_jobs)}",
            flush=True,
        )
    if left:
        print(f"the time is over; the same command goes on with {len(left)} jobs", flush=True)


def _answered(job: Job, method: Method) -> tuple[tuple[str, str, int], dict[str, Any]]:
    """Names of a job, and its record, in one thread."""
    return job.names, measured(method, job.task.split(job.i), 1)


def score_of(record: Mapping[str, Any]) -> float:
    """Share of right answers, or AUROC where some probes are of no class of the gallery."""
    if "nearness" in record:
        return auroc(np.array(record["nearness"]), np.array(record["is_enrolled"]))
    return float(np.mean(record["correct"]))


def measured(method: Method, split: Split, n_jobs: int) -> dict[str, Any]:
    """What is kept of a method on a split."""
    started = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        opinion = method(split, n_jobs)
    record: dict[str, Any] = {
        "probes": list(split.probes.names),
        "correct": (opinion.labels == split.labels).astype(int).tolist(),
        "seconds": round(time.perf_counter() - started, 3),
        "warnings": sorted({warning.category.__name__ for warning in caught}),
    }
    if opinion.probability is not None:
        record["probability"] = np.round(opinion.probability, 4).tolist()
    return record | (_openness(opinion, split) if not split.is_enrolled.all() else {})


def _openness(opinion: Opinion, split: Split) -> dict[str, Any]:
    record = {
        "is_enrolled": split.is_enrolled.astype(int).tolist(),
        "nearness": np.round(opinion.nearness, 8).tolist(),
        "scored_by": opinion.scored_by,
    }
    if opinion.is_known is not None:
        record["is_known"] = opinion.is_known.astype(int).tolist()
    return record


def in_words(seconds: float, n_jobs: int = 1) -> str:
    """How long the rest may take in so many processes."""
    seconds /= n_jobs
    minutes = seconds / 60
    return f"about {minutes:.0f} min left" if minutes >= 1 else f"about {seconds:.0f} s left"
