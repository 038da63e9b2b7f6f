"""Word of how far long work has come, for whoever listens to the ``setwise`` logger."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias, TypeVar

__all__ = ["Progress", "duration", "reported", "words"]

Result = TypeVar("Result")
# What is being done, how many steps of it are over, and of how many.
Progress: TypeAlias = Callable[[str, int, int], None]
# Seconds of silence between two words.
EVERY = 2.0


def duration(seconds: float) -> str:
    """A duration in the unit that suits it."""
    for limit, factor, unit in ((1e-3, 1e6, "us"), (1.0, 1e3, "ms")):
        if seconds < limit:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:.3g} s"


def words(what: str, done: int, total: int, seconds: float) -> str:
    """How far work is that began so many seconds ago, and how long it may still take."""
    left = seconds / done * (total - done)
    return f"{what}: {100 * done // total} % done, about {left:.0f} s left"


def reported(
    results: Iterable[Result], total: int, what: str, progress: Progress | None = None
) -> Iterator[Result]:
    """Pass results on, and log at level INFO every other second how many are left.

    ``logging.basicConfig(level="INFO")`` shows it. Where ``progress`` is given, it is called
    instead: before the first result, and after each.
    """
    logger = logging.getLogger("setwise")
    started = spoken = time.monotonic()
    if progress is not None:
        progress(what, 0, total)
    for done, result in enumerate(results, start=1):
        yield result
        if progress is not None:
            progress(what, done, total)
            continue
        now = time.monotonic()
        if now - spoken >= EVERY and done < total:
            spoken = now
            logger.info("%s", words(what, done, total, now - started))
