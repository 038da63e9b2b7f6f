"""Learning behind the changes: a changed gallery answers at once, and is learnt anew later."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from threading import Condition, Thread

from setwise._support.parallel import quiet
from setwise.errors import SetwiseError, SetwiseWarning
from setwise.gallery import is_stale, learnt
from setwise.page.commands import Commands
from setwise.page.gallery_file import GalleryFile, GalleryState

logger = logging.getLogger("setwise")

PAUSE_S = 0.05  # between two looks whether questions are answered
REST_S = 0.5  # after a change, in which the next one may come
EVERY_S = 2.0  # between two looks whether another program has changed the gallery


class Learner:
    """The thread that learns weights and thresholds anew, and puts them into the file."""

    def __init__(
        self, file: GalleryFile, commands: Commands, is_busy: Callable[[], bool]
    ) -> None:
        self.file, self.commands, self.is_busy = file, commands, is_busy
        self.began: float | None = None  # by the clock, while it is at work
        self.took: float | None = None  # seconds, the last time
        self._given_up: str | None = None  # the digest of a state that cannot be learnt
        self._is_over = False
        self._changed = Condition()
        self._thread = Thread(target=self._run, name="setwise-page-learning", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def close(self) -> None:
        """Stop; the next server learns what this one did not."""
        with self._changed:
            self._is_over = True
            self._changed.notify_all()

    def tell(self) -> None:
        """Look now whether there is something to learn."""
        with self._changed:
            self._changed.notify_all()

    @property
    def is_needed(self) -> bool:
        """Whether the gallery answers by what was learnt before its last changes."""
        state = self.file.state
        is_open = self._thread.is_alive() and self.file.why_unchangeable() is None
        return is_open and state.digest != self._given_up and is_stale(state.gallery)

    @property
    def ends(self) -> float | None:
        """When it will be done, by the clock; None if nothing is known."""
        if self.began is None or self.took is None:
            return None
        return self.began + self.took

    def _run(self) -> None:
        while not self._is_over:
            with self._changed:
                self._changed.wait_for(lambda: self._is_over or self.is_needed, EVERY_S)
            if self.is_needed and self._is_quiet():
                self._learn(self.file.state)

    def _is_quiet(self) -> bool:
        """Wait for questions, and for the changes that come together; whether all are done."""
        revision = self.file.state.revision
        began = time.monotonic()
        while not self._is_over and (self.is_busy() or time.monotonic() - began < REST_S):
            time.sleep(PAUSE_S)
        return not self._is_over and self.file.state.revision == revision

    def _learn(self, state: GalleryState) -> None:
        self.began = time.time()
        try:
            with quiet("", SetwiseWarning):
                gallery = learnt(state.gallery, caller="learn")
            self.took = time.time() - self.began
            is_there = self._is_over or self.commands.learn(state, gallery)
            if not is_there and self.file.state.digest == state.digest:
                self._given_up = state.digest  # another program has changed it
        except SetwiseError as error:
            logger.warning("The gallery could not be learnt anew: %s", error)
            self._given_up = state.digest
        except Exception:
            logger.exception("The gallery could not be learnt anew")
            self._given_up = state.digest
        finally:
            self.began = None
