"""What one server holds: the gallery file, its history, the queue and the inbox."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread

from setwise.page.commands import Commands
from setwise.page.gallery_file import GalleryFile
from setwise.page.history import History
from setwise.page.inbox import Inbox
from setwise.page.jobs import Queue
from setwise.page.overview import Insight
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
        self.insight = Insight()
        self.queue = Queue(settings.limits)
        self.uploads = Path()
        self.inbox = None
        if settings.inbox is not None:
            if settings.into is not None:
                self.commands.transfer = FileTransfer(settings.inbox, settings.into)
            self.inbox = Inbox(settings.inbox, self.file, self.commands)
        self.commands.recover()
        self.n_streams = 0
        self.arriving: list[asyncio.Timeout] = []  # of uploads, the oldest first
        self.is_closed = Event()
        self._watch = Thread(target=self._look, name="setwise-page-watch", daemon=True)

    def open(self) -> None:
        """Start all threads, and make a folder for uploads."""
        _remove_left_over()
        self.uploads = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
        self.queue.start()
        self.insight.start()
        if self.inbox is not None:
            self.inbox.start()
        self._watch.start()

    def new_folder(self) -> Path:
        """An empty folder for one upload."""
        self.uploads.mkdir(exist_ok=True)  # systems tidy up their temporary folders
        return Path(tempfile.mkdtemp(dir=self.uploads))

    def close(self) -> None:
        """Stop all threads, and remove all uploads."""
        self.is_closed.set()
        self.queue.close()
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
