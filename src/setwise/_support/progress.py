"""Progress of long work, reported to the ``setwise`` logger or to a callback."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias, TypeVar

Result = TypeVar("Result")
# Given the name of the work, the steps that are done, and all steps.
Progress: TypeAlias = Callable[[str, int, int], None]
# Seconds between two messages.
EVERY = 2.0


def duration(seconds: float) -> str:
    """A duration in the unit that suits it."""
    for limit, factor, unit in ((1e-3, 1e6, "us"), (1.0, 1e3, "ms")):
        if seconds < limit:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:.3g} s"


def words(what: str, done: int, total: int, since_first: float) -> str:
    """Share of the work that is done, and the time that the rest may take.

    ``since_first`` are seconds since the first step ended: compiling and reading in before it
    say nothing of the others. Time is estimated once two steps and a tenth are done.
    """
    share = f"{what}: {100 * done // total} % done"
    if done < 2 or 10 * done < total:
        return share
    left = since_first / (done - 1) * (total - done)
    return f"{share}, about {left:.0f} s left"


def reported(
    results: Iterable[Result], total: int, what: str, progress: Progress | None = None
) -> Iterator[Result]:
    """Yield the results, and log the progress at level INFO every other second.

    A callback ``progress`` is called instead: before the first result, and after each.
    """
    logger = logging.getLogger("setwise")
    first = logged = time.monotonic()
    if progress is not None:
        progress(what, 0, total)
    for done, result in enumerate(results, start=1):
        yield result
        if progress is not None:
            progress(what, done, total)
            continue
        now = time.monotonic()
        first = now if done == 1 else first
        if now - logged >= EVERY and done < total:
            logged = now
            logger.info("%s", words(what, done, total, now - first), extra={"is_part": True})
