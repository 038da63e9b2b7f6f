"""One item in the process or thread that does it: what came of it, or what went wrong."""

from __future__ import annotations

import json
import sys
import threading
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from joblib import parallel_config
from threadpoolctl import threadpool_limits

from setwise.errors import SetwiseWarning
from setwise.studies.interrupts import Gate
from setwise.studies.items import Item

__all__ = ["Call", "Done", "Perform", "perform_call"]

Perform: TypeAlias = Callable[[Item], dict[str, Any]]
MOST_LETTERS = 300  # of an error in one line


@dataclass(frozen=True)
class Done:
    """What a worker sends back.

    Attributes
    ----------
    key, result, error, seconds, memory_mb, n_jobs, warnings
        As the :class:`setwise.studies.store.Record` of the item has them.
    traceback : str
        Why it failed, at length.
    """

    key: str
    result: dict[str, Any] | None
    error: str = ""
    traceback: str = ""
    seconds: float = 0.0
    memory_mb: float = 0.0
    n_jobs: int = 1
    warnings: dict[str, int] = field(default_factory=dict)


@dataclass
class Call:
    """An item on its way to a worker; until it leaves, it can be held back.

    joblib takes some items ahead of time. Whether one may begin is therefore asked at the last
    moment: when it is pickled for another process, or else when it is performed.

    Attributes
    ----------
    n_jobs : int
        How many are done at a time.
    gate : Gate or None
        Whether items may still begin; it stays at home.
    has_left : bool
        Whether it may begin, once it is away from its gate.
    """

    key: str
    item: Item
    perform: Perform
    n_jobs: int
    gate: Gate | None
    has_left: bool = False

    def __getstate__(self) -> dict[str, Any]:
        """What travels: everything but the gate, and what the gate said."""
        return {**self.__dict__, "gate": None, "has_left": self.may_begin()}

    def may_begin(self) -> bool:
        """Whether nobody held it back."""
        return self.has_left if self.gate is None else self.gate.passes(self.key)


def perform_call(call: Call) -> Done | None:
    """Do an item; None where it was held back."""
    if not call.may_begin():
        return None
    result, error, story = None, "", ""
    heard: Counter[str] = Counter()
    start = time.perf_counter()
    try:
        # Items are done side by side already; nothing in them is to multiply that.
        with parallel_config(backend="sequential"), _one_blas_thread(call), _counted(heard):
            result = _plain(call.perform(call.item))
    except Exception as raised:
        error = _readable(" ".join(f"{type(raised).__name__}: {raised}".split()))
        error = error[:MOST_LETTERS]
        story = _readable("".join(traceback.format_exception(raised)))
    seconds = time.perf_counter() - start
    memory_mb = _peak_memory_mb()
    return Done(call.key, result, error, story, seconds, memory_mb, call.n_jobs, dict(heard))


def _one_blas_thread(call: Call) -> AbstractContextManager[Any]:
    """Keep BLAS to one thread; looked for each time, since items may load other libraries."""
    # At home, the runner has seen to it for all threads: each for itself, they would cross.
    return threadpool_limits(1, "blas") if call.gate is None else nullcontext()


def _readable(text: str) -> str:
    """The text where all of it can be printed: names of files may hold halves of letters."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


@contextmanager
def _counted(heard: Counter[str]) -> Iterator[None]:
    """Count warnings instead of showing each: a report of thousands of items sums them up.

    Only where the process does one item at a time: the filters belong to all of its threads.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SetwiseWarning)
        yield
    heard.update(one.category.__name__ for one in caught)


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
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    if sys.platform == "win32":
        return 0.0
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 1024
