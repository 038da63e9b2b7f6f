"""Ctrl-C during long work: once to end well, twice to stop at once."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

__all__ = ["Gate", "closed_by_interrupt", "deaf_children", "stay_with"]

logger = logging.getLogger("setwise")
# Seconds between two looks at whether the parent is alive.
PATIENCE_S = 0.5


@dataclass
class Gate:
    """What every item passes when it begins, until somebody closes it.

    Attributes
    ----------
    is_closed : bool
        Whether no item may begin any more.
    running : set of str
        Keys of the items that have begun and not ended.
    """

    is_closed: bool = False
    running: set[str] = field(default_factory=set)

    def passes(self, key: str) -> bool:
        """Whether this item may begin; it counts as running then."""
        if not self.is_closed:
            self.running.add(key)
        return not self.is_closed


@contextmanager
def closed_by_interrupt(gate: Gate) -> Iterator[None]:
    """Let the first Ctrl-C close a gate, and the second raise KeyboardInterrupt.

    Only the main thread hears of Ctrl-C: elsewhere this does nothing, and neither where
    Ctrl-C is ignored already.
    """

    def heard(number: int, frame: FrameType | None) -> None:
        if gate.is_closed:
            raise KeyboardInterrupt
        gate.is_closed = True
        # By another thread: the one that is interrupted may be in the middle of a line.
        threading.Thread(target=_announce, args=(len(gate.running),)).start()

    if not _is_main_thread() or signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        yield
        return
    with _handling(heard):
        yield


@contextmanager
def deaf_children() -> Iterator[None]:
    """Let the processes that are started meanwhile ignore Ctrl-C.

    A terminal sends it to them too, and it is for the parent to say what comes of it. The
    parent does not hear it meanwhile, so this is to be brief.
    """
    if not _is_main_thread():
        yield
        return
    with _handling(signal.SIG_IGN):
        yield


def stay_with(parent: int) -> None:
    """In a process that was just started: leave Ctrl-C to the parent, and end when it does.

    Workers of loky whose parent was killed would wait for more work for minutes.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":  # where a launcher may stand between them
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


@contextmanager
def _handling(handler: signal._HANDLER) -> Iterator[None]:
    before = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        # None stands for a handler that was not installed by Python, and cannot be again.
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
        time.sleep(PATIENCE_S)
    os._exit(1)
