"""Threads: work spread over them, and settings and attributes that they share."""

from __future__ import annotations

import ctypes
import gc
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache
from threading import Lock
from typing import Any, Generic, TypeVar, overload

from joblib import Parallel, delayed
from threadpoolctl import ThreadpoolController

from setwise._support.compiled import plain_interrupts
from setwise._support.parameters import check_jobs
from setwise._support.progress import reported

# Items of a part.
PART = 500

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_threads(
    work: Callable[[Item], Result], items: Iterable[Item], n_jobs: int | None
) -> Iterator[Result]:
    """Yield ``work(item)`` for each item, in order, ``n_jobs`` at a time.

    Always threads: kernels and BLAS release the GIL, and work may fill arrays that are here.
    BLAS keeps to one thread meanwhile: the matrices of one probe are too small to share.
    """
    check_jobs("setwise", n_jobs)
    threads = Parallel(
        n_jobs=n_jobs, prefer="threads", require="sharedmem", return_as="generator"
    )
    with one_blas_thread():
        yield from threads(delayed(work)(item) for item in items)


def in_parts(work: Callable[[range], None], n: int, n_jobs: int | None, what: str) -> None:
    """Call ``work`` with ranges that cover all numbers below ``n``, in threads."""
    parts = [range(i, min(i + PART, n)) for i in range(0, n, PART)]
    for _ in reported(in_threads(work, parts, n_jobs), len(parts), what):
        pass


class SharedContext:
    """A context, made by ``make``, that the first thread opens and the last one closes.

    A context that saves and restores a setting does not nest across threads: the last one to
    leave would restore the setting of another thread for ever.
    """

    def __init__(self, make: Callable[[], AbstractContextManager[Any]]) -> None:
        self._make = make
        self._lock = Lock()
        self._n_inside = 0

    def __enter__(self) -> None:
        with self._lock:
            if self._n_inside == 0:
                self._context = self._make()
                self._context.__enter__()
            self._n_inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._n_inside -= 1
            if self._n_inside == 0:
                self._context.__exit__(None, None, None)


# The filters of warnings belong to all threads.
_FILTERS = SharedContext(warnings.catch_warnings)


@contextmanager
def quiet(message: str, category: type[Warning]) -> Iterator[None]:
    """Ignore warnings of a class that begin with a regular expression; threads may overlap."""
    with _FILTERS:
        warnings.filterwarnings("ignore", message, category)
        yield


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
    _release_ownership()
    limit = _libraries().limit(limits=1)
    try:
        yield
    finally:
        _release_ownership()
        limit.restore_original_limits()
        _release_ownership()


def _release_ownership() -> None:
    """Release threadpoolctl's ownership of OpenBLAS by one thread, which it has from 3.8 on."""
    for library in _libraries().lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)


_ONE_BLAS_THREAD = SharedContext(_limited)


Value = TypeVar("Value")


class lazy(Generic[Value]):
    """A cached property without the lock per class of ``functools`` before Python 3.12.

    That lock makes threads wait for each other, and a forked child for ever. Here two threads
    may both compute; the values are equal.
    """

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self.compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> lazy[Value]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...
    def __get__(self, instance: object | None, owner: type) -> lazy[Value] | Value:
        if instance is None:
            return self
        value = self.compute(instance)
        instance.__dict__[self.name] = value  # found before this descriptor from now on
        return value


def give_back_memory() -> None:
    """Give memory that is no longer used back to the system.

    Galleries hold themselves in cycles, which are seldom collected; glibc keeps what is freed.
    """
    gc.collect()
    with suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)
