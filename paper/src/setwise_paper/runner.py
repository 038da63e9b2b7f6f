"""Do items in processes, threads or a Dask cluster, and keep each result at once.

joblib does the work. Here is what it lacks: items that fail or end their process fail alone,
and Ctrl-C finishes the items that are running and begins no other.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import joblib
from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky import get_reusable_executor
from threadpoolctl import threadpool_limits

from setwise.errors import DataError, MissingExtraError
from setwise_paper.store import Record, Store
from setwise_paper.support import Progress, check_choice, refuse, reported
from setwise_paper.worker import (
    Call,
    Done,
    Gate,
    Item,
    Perform,
    children_ignore_interrupt,
    closed_by_interrupt,
    perform_call,
    stay_with,
)

logger = logging.getLogger("setwise")
BACKENDS = ("processes", "threads", "dask")
# Seconds that a scheduler has to answer, and to find a worker.
PATIENCE_S = 10
BLAS_VARIABLES = (
    *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"),
    "VECLIB_MAXIMUM_THREADS",
)
DIED = (
    "The process that did this item ended unexpectedly, as when it runs out of memory or "
    "crashes in compiled code."
)


@dataclass(frozen=True)
class Outcome:
    """How many items were finished before, are done now, failed, and are left."""

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
    exclusive: Collection[str] = (),
    scheduler: str | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Do the items without a result; those in ``exclusive`` last and one at a time."""
    check_choice("run_items", "backend", backend, BACKENDS)
    if n_jobs is not None and (not isinstance(n_jobs, int) or n_jobs == 0):
        refuse("run_items", "n_jobs", "a whole number other than 0, or None", n_jobs)
    if scheduler is not None and backend != "dask":
        refuse("run_items", "scheduler", 'given with backend "dask" only', scheduler)
    start = time.monotonic()
    todo = [key for key in work if key not in store.finished]
    gate, oks = Gate(), []
    if todo:
        with closed_by_interrupt(gate), _started(backend, n_jobs, scheduler) as pool:
            runner = _Runner(work, perform, pool, gate)
            # Once for all, since threads that set and reset it would cross.
            with (
                threadpool_limits(1, "blas"),
                closing(runner.run_all(todo, exclusive)) as stream,
            ):
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


@dataclass(frozen=True)
class _Pool:
    """Workers for joblib, and the exceptions it raises when one of them dies."""

    config: Mapping[str, Any]
    n_jobs: int
    n_workers_exclusive: int = 1
    death: tuple[type[Exception], ...] = ()


class _StopNow(Exception):
    """Tells joblib to give up running items."""


@dataclass(frozen=True)
class _Runner:
    work: Mapping[str, Item]
    perform: Perform
    pool: _Pool
    gate: Gate

    def run_all(self, keys: Iterable[str], exclusive: Collection[str]) -> Generator[Done]:
        exclusive = frozenset(exclusive)
        yield from self.run([key for key in keys if key not in exclusive], self.pool.n_jobs)
        yield from self.run([key for key in keys if key in exclusive], 1)

    def run(self, keys: Iterable[str], n_at_once: int) -> Generator[Done]:
        """Items as they are done, even where some of them end their process."""
        left = dict.fromkeys(keys)
        while left:
            try:
                for done in self.stream(left, n_at_once):
                    del left[done.key]
                    yield done
            except self.pool.death:
                were_running = [key for key in left if key in self.gate.running]
                if not were_running:
                    raise
            else:
                return  # the others were held back
            logger.warning(
                "a worker process died; the %d items that were running are tried one by one",
                len(were_running),
            )
            for key in were_running:
                del left[key]
                yield from self.retried(key)

    def retried(self, key: str) -> Generator[Done]:
        """One item, which fails if it ends its process again."""
        try:
            yield from self.stream([key], 1)
        except self.pool.death as error:
            self.gate.running.discard(key)
            yield Done(key, None, DIED, f"{DIED}\n{error}\n")

    def stream(self, keys: Iterable[str], n_at_once: int) -> Generator[Done]:
        if self.gate.is_closed:
            return
        calls = [Call(key, self.work[key], self.perform, n_at_once, self.gate) for key in keys]
        begun = takewhile(lambda call: not self.gate.is_closed, calls)
        with parallel_config(**self.pool.config):
            parallel = Parallel(
                n_jobs=n_at_once if n_at_once > 1 else self.pool.n_workers_exclusive,
                return_as="generator_unordered",
                batch_size=1,
                pre_dispatch=n_at_once,  # items that wait in a queue would begin after Ctrl-C
            )
        with children_ignore_interrupt():
            results = parallel(delayed(perform_call)(call) for call in begun)
        try:
            for done in results:
                if done is not None:
                    self.gate.running.discard(done.key)
                    yield done
        except GeneratorExit:
            # Closing it would do, but with a warning about results that are not used.
            with suppress(_StopNow):
                results.throw(_StopNow())
            raise


@contextmanager
def _started(backend: str, n_jobs: int | None, scheduler: str | None) -> Iterator[_Pool]:
    """Workers of one kind, which are gone afterwards; a single job needs no process."""
    n_jobs = joblib.effective_n_jobs(n_jobs)
    if backend == "dask":
        with _dask(n_jobs, scheduler) as pool:
            yield pool
    elif backend == "threads" or n_jobs == 1:
        yield _Pool({"backend": "threading"}, n_jobs)
    else:
        config = {"backend": "loky", "inner_max_num_threads": 1}
        config |= {"initializer": stay_with, "initargs": (os.getpid(),)}
        try:
            # joblib would do the work of a single process in this one, which a dying worker
            # must not end: two, of which one idles, are the fewest.
            yield _Pool(config, n_jobs, n_workers_exclusive=2, death=(BrokenProcessPool,))
        finally:
            get_reusable_executor().shutdown(wait=True, kill_workers=True)


@contextmanager
def _dask(n_jobs: int, scheduler: str | None) -> Iterator[_Pool]:
    try:
        import distributed
    except ImportError as error:
        msg = 'backend "dask" needs another package: pip install "setwise[dask]"'
        raise MissingExtraError(msg) from error
    log = logging.getLogger("distributed")
    level = log.level
    with ExitStack() as stack:
        log.setLevel(logging.ERROR)
        stack.callback(log.setLevel, level)
        address = scheduler or stack.enter_context(_local_cluster(distributed, n_jobs))
        try:
            client = distributed.Client(address, timeout=PATIENCE_S, set_as_default=False)
            stack.enter_context(client)
            client.wait_for_workers(1, timeout=PATIENCE_S)
        except (OSError, ValueError) as error:  # a TimeoutError is an OSError
            msg = (
                f"{scheduler}: expected the address of a dask scheduler that has workers, such "
                f"as tcp://127.0.0.1:8786, got no answer: {error}"
            )
            raise DataError(msg) from error
        n_workers = sum(client.ncores().values())
        yield _Pool(
            {"backend": _reporting_backend(client)},
            n_workers,
            death=(distributed.KilledWorker,),
        )


@contextmanager
def _local_cluster(distributed: Any, n_jobs: int) -> Iterator[Any]:
    with children_ignore_interrupt():
        cluster = distributed.LocalCluster(
            n_workers=n_jobs,
            threads_per_worker=1,
            memory_limit=None,  # as with processes
            silence_logs=logging.ERROR,
            env=dict.fromkeys(BLAS_VARIABLES, "1"),
            # Without an address, it would listen at port 8787 and complain if that is taken.
            scheduler_kwargs={
                "dashboard": False,
                "dashboard_address": "127.0.0.1:0",
                "allowed_failures": 0,  # the runner tries again itself, one by one
            },
        )
    with cluster:
        yield cluster


def _reporting_backend(client: Any) -> Any:
    """The dask backend of joblib, without two faults of it."""
    from joblib._dask import DaskDistributedBackend

    class ReportingBackend(DaskDistributedBackend):  # type: ignore[misc]
        def effective_n_jobs(self, n_jobs: int) -> int:
            # joblib would do the work of a single worker in this process.
            return max(super().effective_n_jobs(n_jobs), 2)

        def submit(self, func: Any, callback: Callable[[Any], None]) -> Any:
            future = super().submit(func, callback)
            # joblib is not told of an item that dask gave up, and would wait for ever.
            future.add_done_callback(
                lambda done: callback(done.exception()) if done.exception() else None
            )
            return future

    return ReportingBackend(client=client)
