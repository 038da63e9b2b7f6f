"""Run a study, or go on with it, and collect what came out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from setwise._support.progress import Progress
from setwise.errors import DataError
from setwise.studies.fingerprint import machine, versions
from setwise.studies.items import Item, perform
from setwise.studies.plan import Plan, follow_up, plan
from setwise.studies.runner import run_items
from setwise.studies.store import Record, Store
from setwise.studies.study import Failure, Study, StudyResult

__all__ = ["Run", "reproduce"]


@dataclass(frozen=True)
class Run:
    """A study that was run.

    Attributes
    ----------
    result : StudyResult
        What is known now.
    n_done : int
        Items that were done in this run; the others had been done before.
    was_interrupted : bool
        Whether somebody stopped it.
    """

    result: StudyResult
    n_done: int
    was_interrupted: bool


def reproduce(
    study: Study,
    out: Path,
    *,
    folder: Path | None = None,
    n_jobs: int | None = None,
    backend: str = "processes",
    scheduler: str | None = None,
    fresh: bool = False,
    progress: Progress | None = None,
) -> Run:
    """Do what is not yet done of a study, and collect everything.

    Parameters
    ----------
    study : Study
        What is asked; see :func:`setwise.studies.study_named`.
    out : Path
        Folder of its results. A run that was stopped, in whatever way, goes on from there.
    folder : Path, optional
        Where data are looked for, see :func:`setwise.io.datasets.load`.
    n_jobs : int, optional
        How many items are worked on at a time.
    backend : {"processes", "threads", "dask"}
        Where they are worked on.
    scheduler : str, optional
        Address of a Dask scheduler; a local one is started by default.
    fresh : bool, default=False
        Do everything anew. Old results stay in the folder, in a file of another name.
    progress : callable, optional
        Called with what is being done, how many items are over, and of how many.
    """
    planned = plan(study, folder)
    n_done, was_interrupted = 0, False
    with Store(out, fresh=fresh) as store:

        def run(work: Mapping[str, Item], alone: Collection[str] = ()) -> None:
            nonlocal n_done, was_interrupted
            outcome = run_items(
                work,
                store,
                partial(perform, folder=folder),
                n_jobs=n_jobs,
                backend=backend,
                alone=alone,
                scheduler=scheduler,
                progress=progress,
            )
            n_done += outcome.n_done
            was_interrupted = outcome.was_interrupted

        run(planned.work, planned.alone)
        before = planned.work
        with _whole_results(store):
            planned = follow_up(study, planned, _results(store.finished), folder)
        if not was_interrupted:
            run({key: item for key, item in planned.work.items() if key not in before})
        with _whole_results(store):
            result = _collect(study, planned, store)
    return Run(result, n_done, was_interrupted)


@contextmanager
def _whole_results(store: Store) -> Iterator[None]:
    """Say where to look if a result lacks something that it had when it was written."""
    try:
        yield
    except KeyError as error:
        msg = (
            f"{store.path}: a result has no {error}. The file was changed or damaged: run it "
            "with --fresh, which keeps the old file under another name."
        )
        raise DataError(msg) from error


def _results(finished: Mapping[str, Record]) -> dict[str, Mapping[str, Any]]:
    return {key: one.result for key, one in finished.items() if one.result is not None}


def _collect(study: Study, planned: Plan, store: Store) -> StudyResult:
    results = _results(store.finished)
    finished = [(one, planned.finished(one.name, results)) for one in study.experiments]
    keys = set(planned.work)
    records = [store.finished[key] for key in sorted(keys & set(results))]
    return StudyResult(
        study=study,
        sections=tuple(one.summarise(pairs) for one, pairs in finished if pairs),
        failures=tuple(_failures(planned, store)),
        n_items=len(keys),
        n_finished=len(records),
        data_notes=planned.data_notes,
        versions=versions(),
        machine=_machine(records),
        warnings=dict(sum((Counter(one.warnings) for one in records), Counter())),
    )


def _failures(planned: Plan, store: Store) -> Iterable[Failure]:
    for name, items in planned.of.items():
        for one in items:
            record = store.failed.get(one.key)
            if record is not None:
                what = f"{one.item.kind}: {one.label}, turn {one.turn}"
                yield Failure(name, what, record.error, record.traceback)


def _machine(records: Iterable[Record]) -> str:
    """Where times were taken, and how many items were worked on at a time."""
    ways = sorted({f"{one.n_jobs} at a time by {one.backend}" for one in records})
    return f"{machine()}; items {', '.join(ways)}" if ways else machine()
