"""Run or continue a study, and collect its results."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from setwise.errors import DataError, ParameterError
from setwise_paper.kinds.base import Experiment
from setwise_paper.kinds.methods import Methods
from setwise_paper.kinds.robustness import Robustness
from setwise_paper.plan import Plan, follow_up, machine, perform, plan, versions
from setwise_paper.runner import run_items
from setwise_paper.spec import Method, refuse_doubles
from setwise_paper.store import Record, Store
from setwise_paper.study import Failure, Study, StudyResult, study_named
from setwise_paper.support import Progress, check_known
from setwise_paper.worker import Item


@dataclass(frozen=True)
class Run:
    """A study that was run."""

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
    """Do the rest of a study, and collect all results."""
    planned = plan(study, folder)
    n_done, was_interrupted = 0, False
    with Store(out, fresh=fresh) as store:

        def do(work: Mapping[str, Item], exclusive: Collection[str] = ()) -> None:
            nonlocal n_done, was_interrupted
            outcome = run_items(
                work,
                store,
                partial(perform, folder=folder),
                n_jobs=n_jobs,
                backend=backend,
                exclusive=exclusive,
                scheduler=scheduler,
                progress=progress,
            )
            n_done += outcome.n_done
            was_interrupted = outcome.was_interrupted

        do(planned.work, planned.exclusive)
        before = planned.work
        with _whole_results(store):
            planned = follow_up(study, planned, _results(store.finished), folder)
        if not was_interrupted:
            do({key: item for key, item in planned.work.items() if key not in before})
        with _whole_results(store):
            result = _collect(study, planned, store)
    return Run(result, n_done, was_interrupted)


def run(
    study: Study | str | os.PathLike[str],
    *,
    methods: Mapping[str, Any] | None = None,
    only: Collection[str] | None = None,
    out: str | os.PathLike[str] = "out/reproduce",
    data: str | os.PathLike[str] | None = None,
    **options: Any,
) -> StudyResult:
    """Run a study from Python, with methods of your own beside its own.

    A study is a `Study`, the name of a shipped one, or the path of a TOML file. ``methods``
    are more rows of each experiment that compares accuracies: by name an object with
    ``fit(sets, labels)`` and ``predict(sets)``, a classifier of scikit-learn, the name of a
    recipe, or an import path. ``only`` are names of experiments, ``out`` and ``data`` folders,
    and ``options`` those of :func:`reproduce`.
    """
    name = "study"
    if not isinstance(study, Study):
        name, study = study_named(os.fspath(study))
    chosen = study.experiments
    if only is not None:
        for wanted in only:
            check_known("run", "experiment", wanted, [one.name for one in chosen])
        chosen = tuple(one for one in chosen if one.name in only)
    more = tuple(Method.given(label, one) for label, one in (methods or {}).items())
    study = study.model_copy(update={"experiments": tuple(_with(one, more) for one in chosen)})
    folder = None if data is None else Path(data)
    return reproduce(study, Path(out) / name, folder=folder, **options).result


def _with(experiment: Experiment, more: tuple[Method, ...]) -> Experiment:
    """An experiment with more methods, where it compares their accuracies."""
    if not more or experiment.is_timed or not isinstance(experiment, Methods | Robustness):
        return experiment
    methods = (*experiment.methods, *more)
    try:
        refuse_doubles([one.label for one in methods], "methods")
    except ValueError as error:
        msg = f"run: {error}"
        raise ParameterError(msg) from None
    return experiment.model_copy(update={"methods": methods})


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
