"""One item in the process or thread that does it, and what Ctrl-C means to it.

Every worker process imports this, so it imports no data and no classifier.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import threading
import time
import traceback
import warnings
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, TypeAlias

from joblib import parallel_config
from threadpoolctl import threadpool_limits

from setwise.errors import SetwiseWarning
from setwise_paper.spec import Strict


class Item(Strict):
    """One piece of work of some kind."""

    kind: str

    @abstractmethod
    def perform(self, folder: Path | None = None) -> dict[str, Any]:
        """Do it; the result is plain data, the same each time but for durations."""

    def code(self) -> str:
        """A hash of code outside this package that the result depends on."""
        return ""


Perform: TypeAlias = Callable[[Item], dict[str, Any]]
logger = logging.getLogger("setwise")
MOST_LETTERS = 300  # of an error in one line
LOOK_EVERY_S = 0.5  # whether the parent process is alive


@dataclass(frozen=True)
class Done:
    """What a worker sends back; ``traceback`` says at length why an item failed."""

    key: str
    result: dict[str, Any] | None
    error: str = ""
    traceback: str = ""
    seconds: float = 0.0
    memory_mb: float = 0.0
    n_jobs: int = 1
    warnings: dict[str, int] = field(default_factory=dict)


@dataclass
class Gate:
    """Passed by every item that begins, until Ctrl-C closes it."""

    is_closed: bool = False
    running: set[str] = field(default_factory=set)

    def passes(self, key: str) -> bool:
        """Whether this item may begin; it counts as running then."""
        if not self.is_closed:
            self.running.add(key)
        return not self.is_closed


@dataclass
class Call:
    """An item on its way to a worker; until it leaves, it can be held back.

    joblib takes some items ahead of time. Whether one may begin is therefore asked at the last
    moment: when it is pickled for another process, or else when it is performed.
    """

    key: str
    item: Item
    perform: Perform
    n_jobs: int
    gate: Gate | None  # does not travel
    has_left: bool = False

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "gate": None, "has_left": self.may_begin()}

    def may_begin(self) -> bool:
        """Whether it was not held back."""
        return self.has_left if self.gate is None else self.gate.passes(self.key)


def perform_call(call: Call) -> Done | None:
    """Do an item; None where it was held back."""
    if not call.may_begin():
        return None
    result, error, story = None, "", ""
    counts: Counter[str] = Counter()
    # At home, the runner has limited BLAS for all threads: each for itself, they would cross.
    one_thread = threadpool_limits(1, "blas") if call.gate is None else nullcontext()
    start = time.perf_counter()
    try:
        with parallel_config(backend="sequential"), one_thread, _counted(counts):
            result = _plain(call.perform(call.item))
    except Exception as raised:
        error = _readable(" ".join(f"{type(raised).__name__}: {raised}".split()))
        error = error[:MOST_LETTERS]
        story = _readable("".join(traceback.format_exception(raised)))
    seconds = time.perf_counter() - start
    memory_mb = _peak_memory_mb()
    return Done(call.key, result, error, story, seconds, memory_mb, call.n_jobs, dict(counts))


def _readable(text: str) -> str:
    """Text that can be printed: file names may hold lone surrogates."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


@contextmanager
def _counted(counts: Counter[str]) -> Iterator[None]:
    """Count warnings instead of showing each, where the process does one item at a time."""
    if threading.current_thread() is not threading.main_thread():
        yield  # the filters belong to all threads
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SetwiseWarning)
        yield
    counts.update(one.category.__name__ for one in caught)


def _plain(result: Any) -> dict[str, Any]:
    """The result as it will be read from the store again."""
    if not isinstance(result, dict):
        msg = f"The result of an item must be a dict, got {result!r}."
        raise TypeError(msg)
    plain: dict[str, Any] = json.loads(json.dumps(result, allow_nan=False))
    return plain


def _peak_memory_mb() -> float:
    status = Path("/proc/self/status")
    if status.exists():
        peaks = (line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(next(peaks, "_ 0").split()[1]) / 1024
    if sys.platform == "win32":
        return 0.0
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 1024


@contextmanager
def closed_by_interrupt(gate: Gate) -> Iterator[None]:
    """Let the first Ctrl-C close a gate, and the second raise KeyboardInterrupt."""

    def heard(number: int, frame: FrameType | None) -> None:
        if gate.is_closed:
            raise KeyboardInterrupt
        gate.is_closed = True
        # By another thread: the interrupted one may be in the middle of a line.
        threading.Thread(target=_announce, args=(len(gate.running),)).start()

    if not _is_main_thread() or signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        yield
        return
    with _handling(heard):
        yield


@contextmanager
def children_ignore_interrupt() -> Iterator[None]:
    """Let processes that start meanwhile ignore Ctrl-C, which a terminal sends to them too."""
    if not _is_main_thread():
        yield
        return
    with _handling(signal.SIG_IGN):
        yield


def stay_with(parent: int) -> None:
    """In a new worker process: leave Ctrl-C to the parent, and end when it does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":  # where a launcher may stand between them
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


@contextmanager
def _handling(handler: signal._HANDLER) -> Iterator[None]:
    before = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        # None stands for a handler that Python did not install, and cannot set again.
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _announce(n_running: int) -> None:
    logger.warning(
        "interrupted: %d running items are being finished; Ctrl-C again stops at once",
        n_running,
    )


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK_EVERY_S)
    os._exit(1)
