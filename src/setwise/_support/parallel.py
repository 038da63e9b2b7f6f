"""The one place where work is spread over threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, TypeVar

from joblib import Parallel, delayed
from threadpoolctl import ThreadpoolController

__all__ = ["in_threads", "one_blas_thread"]

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_threads(
    work: Callable[[Item], Result], items: Iterable[Item], n_jobs: int | None
) -> Iterator[Result]:
    """Yield ``work(item)`` for each item, in order, ``n_jobs`` at a time.

    Threads, because the compiled kernels and BLAS release the GIL and share the gallery.
    BLAS itself keeps to one thread meanwhile: the matrices of one probe are too small to
    share, and n_jobs times all cores would only get in each other's way.
    """
    with one_blas_thread():
        yield from Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(
            delayed(work)(item) for item in items
        )


def one_blas_thread() -> AbstractContextManager[Any]:
    """Keep BLAS to one thread for a while."""
    return _libraries().limit(limits=1, user_api="blas")


@cache
def _libraries() -> ThreadpoolController:
    """The BLAS libraries of this process; looking for them takes longer than a small probe."""
    return ThreadpoolController()
