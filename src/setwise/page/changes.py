"""Changes of the gallery: queued, done one after the other, and known by a key of their client.

A client that is told that its change waits may send it again under the same key, also to a
server that was started anew: it is done once.
"""

from __future__ import annotations

import logging
import secrets
from collections import OrderedDict, deque
from collections.abc import Callable
from contextvars import copy_context
from dataclasses import dataclass, field
from threading import Condition, Thread

from setwise.errors import SetwiseError
from setwise.page.payload import Done

logger = logging.getLogger("setwise")

MOST_WAITING, MOST_KEPT = 200, 400


class BusyError(Exception):
    """Too many changes wait already."""


@dataclass
class Change:
    """One change, and what became of it."""

    key: str
    command: str
    work: Callable[[str], Done]  # called with the key, in the context of its request
    state: str = "waiting"
    done: Done | None = None
    error: Exception | None = field(default=None, repr=False)

    @property
    def is_over(self) -> bool:
        """Whether it has been done, or has failed."""
        return self.state in ("done", "failed")


class Changes:
    """The queue of changes, and the one thread that does them."""

    def __init__(self, done_by: Callable[[str], Done | None]) -> None:
        self._done_by = done_by  # what was done under a key, by an earlier server too
        self._waiting: deque[Change] = deque()
        self._kept: OrderedDict[str, Change] = OrderedDict()
        self._changed = Condition()
        self._is_over = False
        self.n_open = 0  # that wait or are being done
        self._thread = Thread(target=self._run, name="setwise-page-changes", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def close(self) -> None:
        """End after the change that is being done; clients send the others again."""
        with self._changed:
            self._is_over = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join(timeout=5.0)

    def ask(self, command: str, work: Callable[[str], Done], key: str = "") -> Change:
        """Queue a change, or find the one that has this key; BusyError if there is no room."""
        with self._changed:
            known = self._kept.get(key)
            if known is not None and known.state != "failed":
                return known
            done = self._done_by(key) if key else None
            context, name = copy_context(), key or secrets.token_urlsafe(12)
            change = Change(name, command, lambda given: context.run(work, given))
            if done is not None:
                change.state, change.done = "done", done
            elif self.n_open >= MOST_WAITING:
                raise BusyError
            else:
                self._waiting.append(change)
                self.n_open += 1
            self._kept[change.key] = change
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
            self._changed.notify_all()
            return change

    def get(self, key: str) -> Change | None:
        """A change by its key; None if it is not kept."""
        with self._changed:
            return self._kept.get(key)

    def wait(self, change: Change, seconds: float) -> None:
        """Wait until a change is over, and no longer than so many seconds."""
        with self._changed:
            self._changed.wait_for(lambda: change.is_over or self._is_over, seconds)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._is_over)
                if self._is_over:
                    return
                change = self._waiting.popleft()
                change.state = "working"
            state = "failed"
            try:
                change.done = change.work(change.key)
                state = "done"
            except SetwiseError as error:
                change.error = error
            except Exception as error:  # the thread goes on with the next
                logger.exception("A change has failed")
                change.error = error
            with self._changed:
                change.state = state
                change.work = _nothing  # which holds the photos
                self.n_open -= 1
                self._changed.notify_all()


def _nothing(_: str) -> Done:
    raise AssertionError
