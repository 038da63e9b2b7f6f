"""Everything that a running server has: made once, handed to the routes, closed at the end."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread

from setwise.page.acts import Acts
from setwise.page.carrying import Carrier
from setwise.page.inbox import Inbox
from setwise.page.insight import Insight
from setwise.page.journal import Journal
from setwise.page.living import Living
from setwise.page.settings import Settings
from setwise.page.work import Work

__all__ = ["House"]

logger = logging.getLogger("setwise")

# Seconds between two looks at whether another process has changed the file.
EVERY_S = 0.5
PREFIX = "setwise-page-"


class House:
    """The gallery, the queue and the journal of one server.

    Parameters
    ----------
    settings : Settings
        What the server was told.
    """

    def __init__(self, settings: Settings) -> None:
        settings.check()
        # Behind a link, the file itself is what is replaced.
        self.settings = replace(settings, gallery=settings.gallery.resolve())
        self.living = Living(self.settings.gallery)
        self.journal = Journal(self.settings.gallery, settings.limits)
        self.acts = Acts(self.living, self.journal)
        self.acts.recover()
        self.insight = Insight()
        self.work = Work(settings.limits)
        self.uploads = Path()
        self.inbox = self._open_inbox()
        self.n_streams = 0
        self.is_closed = Event()
        self._watch = Thread(target=self._look, name="setwise-page-watch", daemon=True)

    def open(self) -> None:
        """Start all threads, and have a folder for what is uploaded."""
        _remove_left_over()
        self.uploads = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
        self.work.start()
        self.insight.start()
        if self.inbox is not None:
            self.inbox.start()
        self._watch.start()

    def _open_inbox(self) -> Inbox | None:
        inbox, into = self.settings.inbox, self.settings.into
        if inbox is None:
            return None
        carrier = None if into is None else Carrier(inbox, into, self.journal)
        self.acts.carrier = carrier
        return Inbox(inbox, carrier, self.living, self.acts)

    def new_folder(self) -> Path:
        """An empty folder for one upload."""
        self.uploads.mkdir(exist_ok=True)  # somebody may tidy up the temporary folder
        return Path(tempfile.mkdtemp(dir=self.uploads))

    def close(self) -> None:
        """Stop all threads, and remove what was uploaded."""
        self.is_closed.set()
        self.work.close()
        self.insight.close()
        if self.inbox is not None:
            self.inbox.close()
        if self._watch.is_alive():
            self._watch.join(timeout=5.0)
        if self.uploads != Path():
            shutil.rmtree(self.uploads, ignore_errors=True)

    def _look(self) -> None:
        while not self.is_closed.wait(EVERY_S):
            try:
                state = self.living.refreshed()
                self.insight.weak(state)
            except Exception:  # whoever asks next is told
                logger.exception("The gallery file could not be looked at")


def _remove_left_over() -> None:
    """Remove what was uploaded to servers that were killed before they could do so."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*-*"):
        pid = folder.name.removeprefix(PREFIX).partition("-")[0]
        try:
            is_ours = not folder.is_symlink() and folder.stat().st_uid == os.getuid()
            if is_ours and pid.isdecimal() and int(pid) != os.getpid():
                os.kill(int(pid), 0)  # which does nothing but fail where it has ended
        except ProcessLookupError:
            shutil.rmtree(folder, ignore_errors=True)
        except (OSError, AttributeError):  # of others; Windows knows no users
            continue
