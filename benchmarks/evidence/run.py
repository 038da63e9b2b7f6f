"""Measure what is missing, keep it as it comes, and say how long the rest may take."""

from __future__ import annotations

import json
import subprocess
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from evidence.figures import auroc
from evidence.methods import Method, Opinion
from evidence.tasks import Split, Task


@dataclass(frozen=True)
class Store:
    """Results on disk: one file per task and method, one record per split."""

    folder: Path

    def path(self, task: str, method: str) -> Path:
        return self.folder / task / f"{method}.json"

    def records(self, task: str, method: str) -> dict[int, dict[str, Any]]:
        """What is known, by the number of the split."""
        path = self.path(task, method)
        if not path.is_file():
            return {}
        return {int(i): record for i, record in json.loads(path.read_text()).items()}

    def keep(self, task: str, method: str, i: int, record: Mapping[str, Any]) -> None:
        """Add one split; a reader, or a kill, sees the old file or the new one."""
        path = self.path(task, method)
        path.parent.mkdir(parents=True, exist_ok=True)
        records = self.records(task, method) | {i: dict(record)}
        temporary = path.with_suffix(".tmp")
        temporary.write_text(json.dumps({str(n): records[n] for n in sorted(records)}))
        temporary.replace(path)

    def forget(self, tasks: Sequence[str], method: str) -> int:
        """Drop what is known of a method; how many files that were."""
        paths = [path for task in tasks if (path := self.path(task, method)).is_file()]
        for path in paths:
            path.unlink()
        return len(paths)


@dataclass(frozen=True)
class Job:
    """One method on one split of one task."""

    task: Task
    method: str
    i: int


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


class Clock:
    """How long the rest may take, by what each method took per probe so far."""

    def __init__(self, jobs: Sequence[Job], tasks: Sequence[Task], store: Store) -> None:
        self.n_probes = {job.task.name: 0 for job in jobs}
        for task in {job.task.name: job.task for job in jobs}.values():
            self.n_probes[task.name] = len(task.split(0).probes)
        self.seconds: dict[tuple[str, str], list[float]] = {}
        for task in tasks:
            for method in task.methods:
                for record in store.records(task.name, method).values():
                    self.add(task.name, method, record["seconds"] / len(record["correct"]))

    def add(self, task: str, method: str, seconds_per_probe: float) -> None:
        self.seconds.setdefault((task, method), []).append(seconds_per_probe)

    def left(self, jobs: Sequence[Job]) -> float | None:
        """Seconds for these jobs; None while some method has never been timed."""
        by_method: dict[str, list[float]] = {}
        for (_, method), seconds in self.seconds.items():
            by_method.setdefault(method, []).append(float(np.mean(seconds)))
        if any(job.method not in by_method for job in jobs):
            return None
        means = {method: float(np.mean(seconds)) for method, seconds in by_method.items()}
        return sum(
            self.n_probes[job.task.name]
            * float(np.mean(self.seconds.get((job.task.name, job.method), means[job.method])))
            for job in jobs
        )


def run(
    jobs: Sequence[Job], methods: Mapping[str, Method], store: Store, clock: Clock, n_jobs: int
) -> None:
    """Do the jobs in so many processes, split by split, keeping each split when it is done."""
    commits = {name: commit_of(method) for name, method in methods.items()}
    by_split: dict[tuple[str, int], list[Job]] = {}
    for job in jobs:
        by_split.setdefault((job.task.name, job.i), []).append(job)
    left = {id(job): job for job in jobs}
    parallel = Parallel(n_jobs, return_as="generator_unordered", batch_size=1)
    work = (delayed(_of_one_split)(group, methods) for group in by_split.values())
    for place, records in parallel(work):
        for job, record in zip(by_split[place], records, strict=True):
            store.keep(
                job.task.name, job.method, job.i, record | {"commit": commits[job.method]}
            )
            clock.add(job.task.name, job.method, record["seconds"] / len(record["correct"]))
            del left[id(job)]
            print(
                f"[{len(jobs) - len(left)}/{len(jobs)}] {job.task.name}, split {job.i}, "
                f"{job.method}: {100 * score_of(record):.1f} % in {record['seconds']:.1f} s; "
                f"{in_words(clock.left(list(left.values())), n_jobs)}",
                flush=True,
            )


def _of_one_split(
    jobs: Sequence[Job], methods: Mapping[str, Method]
) -> tuple[tuple[str, int], list[dict[str, Any]]]:
    """Name and number of a split, and the record of each job on it, in one thread."""
    split = jobs[0].task.split(jobs[0].i)
    records = [measured(methods[job.method], split, 1) for job in jobs]
    return (jobs[0].task.name, jobs[0].i), records


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
        record["probability"] = np.round(opinion.probability, 6).tolist()
    return record | (_openness(opinion, split) if not split.is_enrolled.all() else {})


def _openness(opinion: Opinion, split: Split) -> dict[str, Any]:
    record = {
        "is_enrolled": split.is_enrolled.astype(int).tolist(),
        "nearness": opinion.nearness.tolist(),
        "scored_by": opinion.scored_by,
    }
    if opinion.is_known is not None:
        record["is_known"] = opinion.is_known.astype(int).tolist()
    return record


def commit_of(method: Method) -> str:
    """The commit of the version that a method is run with, or "unknown"."""
    folder = getattr(method, "source", Path(__file__).parent)
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def in_words(seconds: float | None, n_jobs: int = 1) -> str:
    """How long the rest may take in so many processes."""
    if seconds is None:
        return "no estimate yet"
    seconds /= n_jobs
    minutes = seconds / 60
    return f"about {minutes:.0f} min left" if minutes >= 1 else f"about {seconds:.0f} s left"
