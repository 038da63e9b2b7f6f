"""The one place where work is spread over threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache
from typing import TypeVar

from joblib import Parallel, delayed
from threadpoolctl import ThreadpoolController

from setwise._support.compiled import plain_interrupts
from setwise._support.parameters import check_jobs
from setwise._support.progress import reported
from setwise._support.shared import SharedContext

__all__ = ["in_parts", "in_threads", "one_blas_thread"]

# Items of a part.
PART = 500

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_threads(
    work: Callable[[Item], Result], items: Iterable[Item], n_jobs: int | None
) -> Iterator[Result]:
    """Yield ``work(item)`` for each item, in order, ``n_jobs`` at a time.

    Threads, because the compiled kernels and BLAS release the GIL and share the gallery.
    BLAS itself keeps to one thread meanwhile: the matrices of one probe are too small to
    share, and n_jobs times all cores would only get in each other's way. Always threads,
    whatever ``joblib.parallel_config`` says: work may fill arrays that are here.
    """
    check_jobs("setwise", n_jobs)
    threads = Parallel(
        n_jobs=n_jobs, prefer="threads", require="sharedmem", return_as="generator"
    )
    # Threads see what is set here (:func:`setwise.device.on_device`); each runs in a copy.
    context = copy_context()
    with one_blas_thread():
        yield from threads(delayed(context.copy().run)(work, item) for item in items)


def in_parts(work: Callable[[range], None], n: int, n_jobs: int | None, what: str) -> None:
    """Do something for all numbers below ``n``, many at a time in each thread.

    Parameters
    ----------
    work : callable
        Does it for a range of them; each is so small that a thread would not pay for it.
    n : int
        How many there are.
    n_jobs : int, optional
        Threads.
    what : str
        What is being done, for those who are told how far it is.
    """
    parts = [range(i, min(i + PART, n)) for i in range(0, n, PART)]
    for _ in reported(in_threads(work, parts, n_jobs), len(parts), what):
        pass


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS to one thread for a while; Ctrl-C meanwhile is a KeyboardInterrupt."""
    with _ONE_BLAS_THREAD, plain_interrupts():
        yield


@cache
def _libraries() -> ThreadpoolController:
    """The BLAS libraries of this process; looking for them takes longer than a small probe."""
    import scipy.linalg  # noqa: F401 (brings a BLAS of its own, to be found with NumPy's)

    return ThreadpoolController().select(user_api="blas")


@contextmanager
def _limited() -> Iterator[None]:
    """BLAS at one thread; another thread than the one that entered may leave."""
    _let_any_thread_set()
    limit = _libraries().limit(limits=1)
    try:
        yield
    finally:
        _let_any_thread_set()
        limit.restore_original_limits()
        _let_any_thread_set()


def _let_any_thread_set() -> None:
    """Take OpenBLAS from the thread that set it first; from 3.8 on, threadpoolctl binds it."""
    for library in _libraries().lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)


_ONE_BLAS_THREAD = SharedContext(_limited)
