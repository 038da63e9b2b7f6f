"""Settings of the whole process, changed for as long as any thread needs them changed."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import Lock
from typing import Any

__all__ = ["SharedContext", "quiet"]


class SharedContext:
    """A context that the first thread opens and the last one closes.

    What saves a setting and puts it back does not nest across threads: whoever leaves last
    would put back what another thread had set, for ever.

    Parameters
    ----------
    make : callable
        Makes a fresh context manager, which changes the setting and restores it.
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
