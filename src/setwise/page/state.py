"""What one server holds: the gallery file, its history, the queue and the inbox."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Event, Thread

from setwise.page.commands import Commands
from setwise.page.gallery_file import GalleryFile
from setwise.page.history import History
from setwise.page.inbox import Inbox
from setwise.page.jobs import Queue
from setwise.page.overview import Insight
from setwise.page.questions import Questions
from setwise.page.settings import Settings
from setwise.page.transfer import FileTransfer

logger = logging.getLogger("setwise")

EVERY_S = 0.5  # seconds between two checks whether the file has changed
PREFIX = "setwise-page-"


class AppState:
    """The gallery, the queue and the history of one server."""

    def __init__(self, settings: Settings) -> None:
        settings.check()
        gallery = settings.gallery.resolve()  # behind a link, commands replace the file itself
        self.settings = replace(settings, gallery=gallery)
        self.file = GalleryFile(gallery)
        self.history = History(gallery, settings.limits)
        self.commands = Commands(self.file, self.history)
        self.queue = Queue(settings.limits)
        is_busy = partial(getattr, self.queue, "is_busy")
        self.insight = Insight(is_busy)
        self.temporary = Path()
        root = self.history.folder / "questions"
        self.questions = Questions(root, self.file, self.queue)
        self.inbox = None
        if settings.inbox is not None:
            if settings.into is not None:
                self.commands.transfer = FileTransfer(settings.inbox, settings.into)
            self.inbox = Inbox(settings.inbox, self.file, self.commands, is_busy)
        self.commands.recover()
        self.n_streams = 0
        self.arriving: list[asyncio.Timeout] = []  # of uploads, the oldest first
        self.is_closed = Event()
        self._watch = Thread(target=self._look, name="setwise-page-watch", daemon=True)

    def open(self) -> None:
        """Start all threads, and ask again what an earlier server was asked."""
        _remove_left_over()
        self.temporary = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
        self.questions.open(self.temporary)
        self.queue.start()
        self.insight.start()
        if self.inbox is not None:
            self.inbox.start()
        self._watch.start()

    def close(self) -> None:
        """Stop all threads; the next server answers what this one was asked."""
        self.is_closed.set()
        self.queue.close()
        self.insight.close()
        if self.inbox is not None:
            self.inbox.close()
        if self._watch.is_alive():
            self._watch.join(timeout=5.0)
        self.questions.close()
        if self.temporary != Path():
            shutil.rmtree(self.temporary, ignore_errors=True)

    def _look(self) -> None:
        while not self.is_closed.wait(EVERY_S):
            try:
                self.insight.known(self.file.refreshed())
            except Exception:  # the next request says so
                logger.exception("The gallery file could not be read")


def _remove_left_over() -> None:
    """Remove uploads to servers that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*-*"):
        pid = folder.name.removeprefix(PREFIX).partition("-")[0]
        try:
            is_ours = not folder.is_symlink() and folder.stat().st_uid == os.getuid()
            if is_ours and pid.isdecimal() and int(pid) != os.getpid():
                os.kill(int(pid), 0)  # fails if the process has ended, and else does nothing
        except ProcessLookupError:
            shutil.rmtree(folder, ignore_errors=True)
        except (OSError, AttributeError):  # of other users; Windows has no getuid
            continue
