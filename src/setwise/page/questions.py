"""Questions on disk: a server that is started again answers those of the one before."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from setwise._support.files import acquired, write_whole
from setwise.errors import SetwiseError, reject
from setwise.page import payload
from setwise.page.answers import Found, answer_words, describe
from setwise.page.gallery_file import GalleryFile
from setwise.page.identify import find_answers
from setwise.page.jobs import Job, Queue
from setwise.page.uploads import Received, ReceivedFile, linked
from setwise.sets.origins import photo_name

FILE, LOCK = "question.json", ".lock"


class Questions:
    """Uploads and the jobs that answer them; each server has a folder, and a lock on it."""

    def __init__(self, root: Path | None, file: GalleryFile, queue: Queue) -> None:
        self.root, self.file, self.queue = root, file, queue
        self.folder = Path()
        self._lock: IO[bytes] | None = None

    def open(self, fallback: Path) -> None:
        """Make a folder, below ``fallback`` where the gallery's cannot be written to."""
        if self.root is None:
            self._make_folder(fallback)
            return
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            self._make_folder(self.root)
            for question in self._left_behind(self.root):
                self._ask_again(question)
        except (OSError, SetwiseError):
            self._make_folder(fallback)

    def close(self) -> None:
        """Let the next server take the questions over."""
        if self._lock is not None:
            with suppress(OSError):  # if there are no questions
                if not any(path.is_dir() for path in self.folder.iterdir()):
                    shutil.rmtree(self.folder)
            self._lock.close()

    def ready_folder(self) -> Path:
        """The folder of all uploads, made again where people tidied up."""
        self.folder.mkdir(parents=True, exist_ok=True)
        return self.folder

    def new_folder(self) -> Path:
        """An empty folder for one upload."""
        return Path(tempfile.mkdtemp(dir=self.ready_folder()))

    def ask(self, received: Received) -> Job:
        """Queue an upload; QueueFullError if there is no room, and then it is removed."""
        try:
            job = self._queued(received)
        except BaseException:
            received.forget()
            raise
        with suppress(SetwiseError):  # of a full disk; only a restart would lose the question
            files = [[file.path.name, file.parts] for file in received.files]
            about = {"id": job.id, "asked": job.asked, "files": files}
            text = json.dumps(about | {"left_out": received.left_out})
            write_whole(received.folder / FILE, text)
        return job

    def split(self, found: Found, k: int) -> Job:
        """Ask about the parts of an album, each as an album of its own."""
        name, paths = found.sets.names[k], found.paths[k]
        received = Received(self.new_folder())
        for p, part in enumerate(found.shown[k].parts):
            for j in part.images:
                new = received.folder / f"{len(received.files):06d}{paths[j].suffix}"
                linked(paths[j], new)
                parts = (name, f"{name} {p + 1}", photo_name(found.sets, k, j))
                received.files.append(ReceivedFile(new, parts))
        if not received.files:
            received.forget()
            reject("This album shows one person or thing, so there is nothing to split.")
        return self.ask(received)

    def lines(self) -> list[payload.Question]:
        """All questions that are kept, newest first."""
        return [_line(job) for job in self.queue.jobs]

    def _queued(self, received: Received, job_id: str = "", **about: Any) -> Job:
        def work(job: Job) -> Found:
            most_bytes = self.queue.limits.unpacked_bytes
            found = find_answers(job, self.file.refreshed(), received, most_bytes)
            with job.at("comparing", len(found.sets)):
                describe(job, found)
            return found

        about |= {"name": received.name, "n_images": len(received.files)}
        return self.queue.add(work, received.forget, job_id, **about)

    def _make_folder(self, root: Path) -> None:
        self.folder = Path(tempfile.mkdtemp(dir=root))
        self._lock = (self.folder / LOCK).open("w+b")
        acquired(self._lock)

    def _left_behind(self, root: Path) -> Iterator[Path]:
        """Questions to servers that have ended, the oldest first."""
        found: list[Path] = []
        for home in root.iterdir():
            if home == self.folder or home.is_symlink() or not home.is_dir():
                continue
            with suppress(OSError), (home / LOCK).open("r+b") as lock:
                if acquired(lock):
                    found += (path for path in home.iterdir() if path.is_dir())
        yield from sorted(found, key=lambda path: path.stat().st_mtime)
        for home in {path.parent for path in found}:
            shutil.rmtree(home, ignore_errors=True)

    def _ask_again(self, old: Path) -> None:
        folder = self.folder / old.name
        with suppress(OSError, ValueError, KeyError, TypeError):
            about = json.loads((old / FILE).read_text(encoding="utf-8"))
            asked = float(about["asked"])
            if time.time() - asked > self.queue.limits.kept_seconds:
                return
            old.rename(folder)
            files = [
                ReceivedFile(folder / Path(name).name, tuple(map(str, parts)))
                for name, parts in about["files"]
            ]
            left_out = [(str(name), str(reason)) for name, reason in about["left_out"]]
            shutil.rmtree(folder / "sets", ignore_errors=True)  # of a server that was killed
            self._queued(Received(folder, files, left_out), str(about["id"]), asked=asked)


def _line(job: Job) -> payload.Question:
    found: Found | None = job.result if job.state == "done" else None
    words: Sequence[str] = [] if found is None else [answer_words(one) for one in found.answers]
    return payload.Question(
        id=job.id,
        state=job.state,  # type: ignore[arg-type]
        name=job.name,
        n_images=job.n_images,
        asked=job.asked,
        words=list(words),
    )
