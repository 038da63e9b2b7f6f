"""Is the machine quiet enough for its seconds to mean anything?

Two things are watched from the beginning of a benchmark to its end: how much of the processors
others have used, which Linux counts, and how evenly a fixed piece of work was done between the
contenders, which shows what no counter does (a neighbour on the same host, a hot processor).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

# Processors that others may use, on average, and how much longer a quarter of the fixed pieces
# of work may take than the quickest.
MOST_OTHERS, MOST_SPREAD = 0.1, 1.25
N_STEPS = 20_000


def used_by_all() -> float | None:
    """Seconds that all processors have worked since the machine started; None if unknown."""
    path = Path("/proc/stat")
    if not path.is_file():
        return None
    user, nice, system, _idle, _waiting, *interrupts_and_stolen = map(
        int, path.read_text().splitlines()[0].split()[1:9]
    )
    return (user + nice + system + sum(interrupts_and_stolen)) / os.sysconf("SC_CLK_TCK")


def used_here() -> float:
    """Seconds of all processors that went into this process and its finished children."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def fixed_work() -> float:
    """Seconds of a loop that is always the same."""
    started = time.perf_counter()
    total = 0
    for i in range(N_STEPS):
        total += i * i
    return time.perf_counter() - started


@dataclass
class Watch:
    """What has disturbed the machine since this was made.

    Attributes
    ----------
    all_used, here_used, clock, work : callables
        What is read: seconds of all processors, of this process, of the wall, of a fixed loop.
    """

    all_used: Callable[[], float | None] = used_by_all
    here_used: Callable[[], float] = used_here
    clock: Callable[[], float] = time.perf_counter
    work: Callable[[], float] = fixed_work
    calibrations: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._began = self.all_used(), self.here_used(), self.clock()

    def calibrate(self) -> None:
        """Time the fixed piece of work once; the quicker of two, for one may be interrupted."""
        self.calibrations.append(min(self.work(), self.work()))

    def others(self) -> float:
        """Processors that others have used on average; 0 where nobody counts."""
        everybody, here, clock = self.all_used(), self.here_used(), self.clock()
        if everybody is None or self._began[0] is None:
            return 0.0
        spent = (everybody - self._began[0]) - (here - self._began[1])
        return max(spent, 0.0) / max(clock - self._began[2], 1e-9)

    def spread(self) -> float:
        """How many times as long a quarter of the calibrations took as the quickest."""
        if not self.calibrations:
            return 1.0
        return float(np.quantile(self.calibrations, 0.75) / min(self.calibrations))

    def disturbance(self) -> str | None:
        """What makes the times worthless, in words; None where nothing does."""
        others, spread = self.others(), self.spread()
        if others > MOST_OTHERS:
            return (
                f"others used {others:.2f} of its processors on average "
                f"(at most {MOST_OTHERS:g} is quiet)"
            )
        if spread > MOST_SPREAD:
            return (
                f"a quarter of {len(self.calibrations)} runs of one fixed loop took at least "
                f"{spread:.2f} times as long as the quickest (at most {MOST_SPREAD:g} is quiet)"
            )
        return None
