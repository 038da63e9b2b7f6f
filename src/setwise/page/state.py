"""What one server holds: the gallery file, its history, the queue and the inbox."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import shutil
import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread

from setwise._support.parallel import give_back_memory
from setwise.gallery.journal import COVERS, PHOTOS, journal_of
from setwise.page.changes import Changes
from setwise.page.classes import Covers
from setwise.page.commands import Commands
from setwise.page.gallery_file import GalleryFile
from setwise.page.history import History
from setwise.page.inbox import Inbox
from setwise.page.jobs import Job, Queue
from setwise.page.learning import Learner
from setwise.page.logs import tell
from setwise.page.metrics import Metrics
from setwise.page.overview import Insight
from setwise.page.questions import Questions
from setwise.page.settings import Settings
from setwise.page.start.folders import Folders
from setwise.page.start.table import Start
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
        self.metrics = Metrics()
        self.queue = Queue(settings.limits)
        self.queue.told = self._answered
        self.temporary = Path()
        self.inbox: Inbox | None = None
        self.folders = Folders(settings.sources)
        self.heap_uploads = journal_of(gallery) / "photos"
        self.start: Start | None = None
        self.has_gallery = False
        self.n_streams = 0
        self.arriving: list[asyncio.Timeout] = []  # of uploads, the oldest first
        self.is_closed = Event()
        self._watch = Thread(target=self._look, name="setwise-page-watch", daemon=True)
        if gallery.is_file():
            self._attach()
        else:
            home = journal_of(gallery)
            self.start = Start(gallery, home, self._made, self._is_busy, self._check_folder)

    def _is_busy(self) -> bool:
        """Whether people wait, so that background work should."""
        return self.queue.is_busy or (self.has_gallery and self.changes.n_open > 0)

    def _is_unsettled(self) -> bool:
        """Whether what is found out about the gallery would soon be old."""
        return self._is_busy() or self.learner.is_needed

    def _check_folder(self, folder: Path) -> None:
        if folder != self.heap_uploads:
            self.folders.checked(str(folder))

    def _attach(self) -> None:
        """Take the gallery file, which is there now."""
        settings, gallery = self.settings, self.settings.gallery
        self.file = GalleryFile(gallery, is_read_only=settings.is_read_only)
        self.history = History(gallery, settings.limits)
        self.commands = Commands(self.file, self.history)
        self.commands.told = self._changed
        self.photo_roots = _photo_roots(settings)
        self.covers = Covers(journal_of(gallery) / COVERS)
        self.changes = Changes(self.commands.done_by)
        self.learner = Learner(self.file, self.commands, self._is_busy)
        self.insight = Insight(self._is_unsettled)
        root = self.history.folder / "questions"
        kept = None if settings.is_read_only else root
        self.questions = Questions(kept, self.file, self.queue)
        if settings.inbox is not None:
            if settings.into is not None:
                self.commands.transfer = FileTransfer(settings.inbox, settings.into)
            waits = self._is_busy, self._is_unsettled
            self.inbox = Inbox(settings.inbox, self.file, self.commands, *waits)
        if not settings.is_read_only:
            self.commands.recover()
        self.has_gallery = True

    @property
    def uploads(self) -> Path:
        """The folder of uploads."""
        return self.questions.folder if self.has_gallery else self.temporary

    def open(self) -> None:
        """Start all threads, and ask again what an earlier server was asked."""
        _remove_left_over()
        self.temporary = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
        self.queue.start()
        if self.has_gallery:
            self._open_gallery()
        elif self.start is not None:
            shutil.rmtree(self._arrivals, ignore_errors=True)  # of a server that was killed
            self.start.start()

    def _open_gallery(self) -> None:
        self.questions.open(self.temporary)
        self.changes.start()
        self.learner.start()
        self.insight.start()
        if self.inbox is not None:
            self.inbox.start()
        self._watch.start()

    def _made(self) -> None:
        """Go on with the gallery that the first run has made."""
        self._attach()
        self._open_gallery()
        self.start = None

    def folder_words(self, folder: Path) -> str:
        """Name of a folder that is being read."""
        return "the photos that were sent" if folder == self.heap_uploads else folder.name

    def forget_heap_uploads(self) -> None:
        """Remove the photos that were sent for a first run."""
        shutil.rmtree(self.heap_uploads, ignore_errors=True)

    def ready_arrivals(self) -> Path:
        """A folder beside those photos, on their disk, for what is arriving."""
        self._arrivals.mkdir(parents=True, exist_ok=True)
        return self._arrivals

    @property
    def _arrivals(self) -> Path:
        return self.heap_uploads.with_name("arriving")

    def close(self) -> None:
        """Stop all threads; the next server answers what this one was asked."""
        self.is_closed.set()
        if self.start is not None:
            self.start.close()
        self.queue.close()
        if self.has_gallery:
            self._close_gallery()
        if self.temporary != Path():
            shutil.rmtree(self.temporary, ignore_errors=True)

    def _close_gallery(self) -> None:
        self.changes.close()
        self.learner.close()
        self.insight.close()
        if self.inbox is not None:
            self.inbox.close()
        if self._watch.is_alive():
            self._watch.join(timeout=5.0)
        self.questions.close()

    def _look(self) -> None:
        seen = self.file.state.revision, self.file.trouble
        tidied = ""
        while not self.is_closed.wait(EVERY_S):
            try:
                state = self.file.refreshed()
                is_known = self.insight.known(state) is not None
            except Exception:  # the next request says so
                logger.exception("The gallery file could not be read")
                continue
            if is_known and tidied != state.revision and not self._is_unsettled():
                give_back_memory()  # of the galleries before, and of what was computed
                tidied = state.revision
            if seen != (seen := (state.revision, self.file.trouble)):
                level = logging.INFO if self.file.trouble is None else logging.ERROR
                tell("gallery", level, revision=state.revision, trouble=self.file.trouble)

    def _changed(self, command: str, words: str, revision: str) -> None:
        self.metrics.add("setwise_changes_total", command=command)
        tell("change", command=command, words=words, revision=revision)
        self.learner.tell()

    def _answered(self, job: Job) -> None:
        seconds = job.ended - job.began
        self.metrics.add("setwise_questions_total", state=job.state)
        self.metrics.observe("setwise_question_seconds", seconds)
        spent = round(seconds * 1000, 1)
        tell("question", state=job.state, images=job.n_images, ms=spent, error=job.error)


def _photo_roots(settings: Settings) -> tuple[Path, ...]:
    """Folders with the photos of a gallery: those given, and the one it was made of."""
    made_of: list[Path] = []
    with suppress(OSError, ValueError, TypeError):
        known = journal_of(settings.gallery) / PHOTOS
        made_of = [Path(str(one)) for one in json.loads(known.read_text(encoding="utf-8"))]
    # A journal may come from anywhere: it opens no folder that is not open already.
    roots = [root.resolve() for root in (*settings.sources, journal_of(settings.gallery))]
    made_of = [one for one in made_of if any(one.resolve().is_relative_to(r) for r in roots)]
    inbox = () if settings.inbox is None else (settings.inbox,)
    return tuple(one for one in (*settings.photos, *inbox, *made_of) if one.is_dir())


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
