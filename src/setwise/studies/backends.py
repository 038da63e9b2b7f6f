"""Where items are done: processes or threads of this machine, or a dask cluster."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import joblib
from joblib.externals.loky import get_reusable_executor

from setwise._support.extras import require
from setwise.errors import DataError
from setwise.studies.interrupts import deaf_children, stay_with

__all__ = ["BACKENDS", "Pool", "started"]

BACKENDS = ("processes", "threads", "dask")
# joblib sets these for its own processes.
BLAS_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
# Seconds that a scheduler has to answer, and to find a worker.
PATIENCE_S = 10


@dataclass(frozen=True)
class Pool:
    """Workers that are ready, for joblib.

    Attributes
    ----------
    config : dict
        Of `joblib.parallel_config`.
    n_jobs : int
        How many items it does at a time.
    n_workers_alone : int
        How many workers joblib is to have where items are done one at a time.
    death : tuple of exceptions
        What joblib raises when a worker process died.
    """

    config: Mapping[str, Any]
    n_jobs: int
    n_workers_alone: int = 1
    death: tuple[type[Exception], ...] = ()


@contextmanager
def started(backend: str, n_jobs: int | None, scheduler: str | None) -> Iterator[Pool]:
    """Workers of one kind, which are gone afterwards.

    Where ``n_jobs`` is 1, processes and threads are not needed, and all is done in this one.
    The workers of a scheduler are used whatever ``n_jobs`` says.
    """
    n_jobs = joblib.effective_n_jobs(n_jobs)
    if backend == "dask":
        with _dask(n_jobs, scheduler) as pool:
            yield pool
    elif backend == "threads" or n_jobs == 1:
        yield Pool({"backend": "threading"}, n_jobs)
    else:
        with _processes(n_jobs) as pool:
            yield pool


@contextmanager
def _processes(n_jobs: int) -> Iterator[Pool]:
    config = {
        "backend": "loky",
        "inner_max_num_threads": 1,
        "initializer": stay_with,
        "initargs": (os.getpid(),),
    }
    try:
        # joblib would do the work of a single process in this one, which a worker that dies
        # must not take along: two, of which one idles, are the fewest.
        yield Pool(config, n_jobs, n_workers_alone=2, death=(BrokenProcessPool,))
    finally:
        get_reusable_executor().shutdown(wait=True, kill_workers=True)


@contextmanager
def _dask(n_jobs: int, scheduler: str | None) -> Iterator[Pool]:
    distributed = require("distributed", "dask")
    with _quiet("distributed"), ExitStack() as stack:
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
        config = {"backend": _hearing(client)}
        n_workers = sum(client.ncores().values())
        yield Pool(config, n_workers, death=(distributed.KilledWorker,))


@contextmanager
def _local_cluster(distributed: ModuleType, n_jobs: int) -> Iterator[Any]:
    with deaf_children():
        cluster = distributed.LocalCluster(
            n_workers=n_jobs,
            threads_per_worker=1,
            memory_limit=None,  # as with processes; dask would kill whoever has his share
            silence_logs=logging.ERROR,
            env=dict.fromkeys(BLAS_VARIABLES, "1"),
            # Without an address, it would listen at port 8787 and complain if that is taken.
            scheduler_kwargs={
                "dashboard": False,
                "dashboard_address": "127.0.0.1:0",
                "allowed_failures": 0,  # the runner tries again itself, and alone
            },
        )
    with cluster:
        yield cluster


def _hearing(client: Any) -> Any:
    """The dask backend of joblib, but for two things that it does badly."""
    from joblib._dask import DaskDistributedBackend

    class Hearing(DaskDistributedBackend):  # type: ignore[misc]
        def effective_n_jobs(self, n_jobs: int) -> int:
            # Of a single worker, joblib thinks that this process may as well do it.
            return max(super().effective_n_jobs(n_jobs), 2)

        def submit(self, func: Any, callback: Callable[[Any], None]) -> Future[Any]:
            future: Future[Any] = super().submit(func, callback)
            # When dask gives an item up, nobody tells joblib, which would wait for ever.
            future.add_done_callback(
                lambda done: callback(done.exception()) if done.exception() else None
            )
            return future

    return Hearing(client=client)


@contextmanager
def _quiet(name: str) -> Iterator[None]:
    log = logging.getLogger(name)
    before = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(before)
