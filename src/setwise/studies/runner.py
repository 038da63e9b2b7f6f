"""Doing items: many at a time, each once, whatever fails or whoever interrupts."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Generator, Iterable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import takewhile

from joblib import Parallel, delayed, parallel_config
from threadpoolctl import threadpool_limits

from setwise._support.parameters import check_choice, check_jobs, refuse
from setwise._support.progress import Progress, reported
from setwise.studies.backends import BACKENDS, Pool, started
from setwise.studies.interrupts import Gate, closed_by_interrupt, deaf_children
from setwise.studies.items import Item
from setwise.studies.store import Record, Store
from setwise.studies.worker import Call, Done, Perform, perform_call

__all__ = ["Outcome", "run_items"]

logger = logging.getLogger("setwise")
DIED = (
    "The process that did this item ended without a word, as when it runs out of memory or "
    "crashes in compiled code."
)


@dataclass(frozen=True)
class Outcome:
    """What became of a call of `run_items`.

    Attributes
    ----------
    n_finished_before : int
        Items that had a result already.
    n_done, n_failed : int
        Items that have a result now, and items that failed.
    n_left : int
        Items that were not begun, or not finished, since it was interrupted.
    was_interrupted : bool
        Whether Ctrl-C was pressed.
    seconds : float
        How long it took.
    """

    n_finished_before: int
    n_done: int
    n_failed: int
    n_left: int
    was_interrupted: bool
    seconds: float


def run_items(
    work: Mapping[str, Item],
    store: Store,
    perform: Perform,
    *,
    n_jobs: int | None = None,
    backend: str = "processes",
    alone: Collection[str] = (),
    scheduler: str | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Do the items that have no result yet, and keep each result as soon as it is there.

    An item that fails is recorded, and the others go on; it is tried again next time. Ctrl-C
    lets the items that are running finish and begins no other; a second one stops at once.

    Parameters
    ----------
    work : dict of str to Item
        The items by key, in the order in which they are begun.
    store : Store
        Where the results are and go to.
    perform : callable
        What makes plain data of an item: a function that can be imported, or a
        ``functools.partial`` of one.
    n_jobs, backend, scheduler, progress
        As for :func:`setwise.studies.reproduce`.
    alone : collection of str
        Keys of items whose times matter: they are done last, one at a time.
    """
    check_choice("run_items", "backend", backend, BACKENDS)
    check_jobs("run_items", n_jobs)
    if scheduler is not None and backend != "dask":
        refuse("run_items", "scheduler", 'given with backend "dask" only', scheduler)
    start = time.monotonic()
    todo = [key for key in work if key not in store.finished]
    gate, oks = Gate(), []
    if todo:
        with closed_by_interrupt(gate), started(backend, n_jobs, scheduler) as pool:
            runner = _Runner(work, perform, pool, gate)
            # Once for all, since threads that set and reset it would cross.
            with threadpool_limits(1, "blas"), closing(runner.run_all(todo, alone)) as stream:
                for done in reported(stream, len(todo), "items", progress):
                    record = _record(done, work[done.key], backend, store)
                    store.add(record)
                    oks.append(record.is_finished)
    return Outcome(
        n_finished_before=len(work) - len(todo),
        n_done=sum(oks),
        n_failed=len(oks) - sum(oks),
        n_left=len(todo) - len(oks),
        was_interrupted=gate.is_closed,
        seconds=time.monotonic() - start,
    )


def _record(done: Done, item: Item, backend: str, store: Store) -> Record:
    path = ""
    if done.error:
        path = store.keep_traceback(done.key, done.traceback)
        logger.warning("%s failed: %s (%s)", item.kind, done.error, store.folder / path)
    more = {"item": item.model_dump(mode="json"), "backend": backend, "traceback": path}
    return Record(**(vars(done) | more))


class _StopNow(Exception):
    """Tells joblib to give up what is running."""


@dataclass(frozen=True)
class _Runner:
    work: Mapping[str, Item]
    perform: Perform
    pool: Pool
    gate: Gate

    def run_all(self, keys: Iterable[str], alone: Collection[str]) -> Generator[Done]:
        """Items as they are done: those that may be beside others first."""
        alone = frozenset(alone)
        yield from self.run([key for key in keys if key not in alone], self.pool.n_jobs)
        yield from self.run([key for key in keys if key in alone], 1)

    def run(self, keys: Iterable[str], n_at_once: int) -> Generator[Done]:
        """Items as they are done, even where some of them take their process along."""
        left = dict.fromkeys(keys)
        while left:
            try:
                for done in self.stream(left, n_at_once):
                    del left[done.key]
                    yield done
            except self.pool.death:
                suspects = [key for key in left if key in self.gate.running]
                if not suspects:
                    raise
            else:
                return  # whatever is left was held back
            logger.warning(
                "a worker process died; the items that were running are tried one by one: %d",
                len(suspects),
            )
            for key in suspects:
                del left[key]
                yield from self.probation(key)

    def probation(self, key: str) -> Generator[Done]:
        """One item, which fails if it takes its process along again."""
        try:
            yield from self.stream([key], 1)
        except self.pool.death as error:
            self.gate.running.discard(key)
            yield Done(key, None, DIED, f"{DIED}\n{error}\n")

    def stream(self, keys: Iterable[str], n_at_once: int) -> Generator[Done]:
        """Items as they are done."""
        if self.gate.is_closed:
            return
        calls = [Call(key, self.work[key], self.perform, n_at_once, self.gate) for key in keys]
        begun = takewhile(lambda call: not self.gate.is_closed, calls)
        with parallel_config(**self.pool.config):
            parallel = Parallel(
                n_jobs=n_at_once if n_at_once > 1 else self.pool.n_workers_alone,
                return_as="generator_unordered",
                batch_size=1,
                pre_dispatch=n_at_once,  # whatever waits in a queue would begin after Ctrl-C
            )
        with deaf_children():
            results = parallel(delayed(perform_call)(call) for call in begun)
        try:
            for done in results:
                if done is not None:
                    self.gate.running.discard(done.key)
                    yield done
        except GeneratorExit:
            # Closing it would do, but with a warning about results that nobody looked at.
            with suppress(_StopNow):
                results.throw(_StopNow())
            raise
