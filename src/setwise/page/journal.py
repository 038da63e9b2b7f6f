"""Every act, and the way back: a journal, not a promise.

An act replaces the gallery file by another one, so its old inode is the old state, byte for
byte. It is kept by a hard link in ``people.setwise.journal/``, and ``journal.jsonl`` there says
which act led from which state to which. What is about to happen is written down first. A server
that is killed in between leaves the old file or the new one, and :meth:`Journal.recover` finds
out which.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock
from typing import Any, TypeAlias

from setwise._support.files import write_whole
from setwise.errors import DataError, reject
from setwise.page.living import file_digest
from setwise.page.models import JournalLine, LastAct
from setwise.page.settings import Limits

__all__ = ["Carry", "Entry", "Journal"]

# Takes what was moved, and whether it goes there or back.
Carry: TypeAlias = Callable[[dict[str, Any], bool], None]
MOST_LINES = 1000
SUFFIX = ".setwise"


@dataclass(frozen=True)
class Entry:
    """One act.

    Attributes
    ----------
    n : int
        Its number, from 1.
    time : str
        When it was done, in UTC.
    act, words : str
        What was done, for programs and for people.
    before, after : str
        SHA-256 of the gallery file before and after it.
    state : str
        ``"done"``; ``"undone"``, and can be done again; or ``"gone"``: undone, and then
        something else was done.
    moves : dict
        Files that were copied or moved, where the act was that.
    """

    n: int
    time: str
    act: str
    words: str
    before: str
    after: str
    state: str = "done"
    moves: dict[str, Any] = field(default_factory=dict)

    @property
    def last_act(self) -> LastAct:
        """As the wall shows it."""
        return LastAct(act=self.act, words=self.words)


class Journal:
    """The acts on one gallery file. Who changes anything holds the lock of that file.

    Parameters
    ----------
    gallery : Path
        The gallery file.
    limits : Limits
        How many states are kept, and how large they may be together.
    """

    def __init__(self, gallery: Path, limits: Limits) -> None:
        self.gallery, self.limits = gallery, limits
        self.folder = gallery.with_name(f"{gallery.name}.journal")
        self.file = self.folder / "journal.jsonl"
        self._lock = RLock()
        self._seen: object = None
        self._entries: list[Entry] = []

    # ------------------------------------------------------------------- what is known

    @property
    def entries(self) -> list[Entry]:
        """All acts, the first one first; read again where another process has written."""
        with self._lock:
            seen = _stamp(self.file)
            if seen != self._seen:
                self._entries, self._seen = _read(self.file), seen
            return list(self._entries)

    def lines(self) -> list[JournalLine]:
        """All acts as they go over the wire, the last one first."""
        return [
            JournalLine(n=e.n, time=e.time, act=e.act, words=e.words, undone=e.state != "done")
            for e in reversed(self.entries)
        ]

    def can_undo(self, digest: str) -> LastAct | None:
        """The act that could be taken back in this state of the file."""
        entry = self._last_done()
        if entry is None or entry.after != digest:
            return None
        return entry.last_act if entry.before == digest or self._has(entry.before) else None

    def can_redo(self, digest: str) -> LastAct | None:
        """The act that could be done again in this state of the file."""
        entry = self._first_undone()
        if entry is None or entry.before != digest:
            return None
        return entry.last_act if entry.after == digest or self._has(entry.after) else None

    def _last_done(self) -> Entry | None:
        return next((e for e in reversed(self.entries) if e.state == "done"), None)

    def _first_undone(self) -> Entry | None:
        return next((e for e in self.entries if e.state == "undone"), None)

    def _has(self, digest: str) -> bool:
        return self._state(digest).is_file()

    def _state(self, digest: str) -> Path:
        return self.folder / f"{digest}{SUFFIX}"

    # ------------------------------------------------------------------- what is done

    def recover(self) -> None:
        """Agree with the file again after a process was killed in the middle of an act."""
        digest = file_digest(self.gallery)
        last, following = self._last_done(), self._first_undone()
        if last is not None and digest == last.before != last.after:
            self._write_state(last, "undone")
        elif (
            following is not None
            and digest == following.after != following.before
            and (last is None or digest != last.after)
        ):
            self._write_state(following, "done")

    def commit(self, act: str, words: str, before: str, save: Callable[[Path], object]) -> None:
        """Replace the gallery by what ``save`` writes, with a way back.

        Parameters
        ----------
        act, words : str
            What is done.
        before : str
            SHA-256 of the gallery file as it is now.
        save : callable
            Writes the new gallery to the path that it is given.
        """
        self.folder.mkdir(exist_ok=True)
        if not self._state(before).is_file():
            _link(self.gallery, self._state(before))
        staged = self.folder / f"next{SUFFIX}"
        save(staged)
        shutil.copymode(self.gallery, staged)
        after = file_digest(staged)
        staged.replace(self._state(after))
        self._add(Entry(0, _now(), act, words, before, after))
        self._put(after)
        self._prune()

    def note_moves(self, words: str, digest: str, moves: dict[str, Any]) -> None:
        """Write down that files are about to be copied or moved."""
        self.folder.mkdir(exist_ok=True)
        self._add(Entry(0, _now(), "carry", words, digest, digest, moves=moves))

    def go_back(self, digest: str, carry: Carry | None) -> Entry:
        """Take the last act back, with the files that it moved.

        Parameters
        ----------
        digest : str
            SHA-256 of the gallery file as it is now.
        carry : callable, optional
            Carries files back; without it, no act that moved any can be taken back.
        """
        entry = self._last_done()
        if entry is None:
            reject("There is nothing to undo.")
        self._check(entry.after, digest, entry.before, "undo")
        self._travel(entry, "undone", entry.before, carry)
        return entry

    def go_forward(self, digest: str, carry: Carry | None) -> Entry:
        """Do again what was taken back last, as :meth:`go_back`."""
        entry = self._first_undone()
        if entry is None:
            reject("There is nothing to do again.")
        self._check(entry.before, digest, entry.after, "do that again")
        self._travel(entry, "done", entry.after, carry)
        return entry

    def _travel(self, entry: Entry, state: str, digest: str, carry: Carry | None) -> None:
        if entry.moves and carry is None:
            reject(
                "That act carried files. To carry them again, start the server with the same "
                "--inbox and --into."
            )
        self._write_state(entry, state)
        self._put(digest)
        if entry.moves and carry is not None:
            carry(entry.moves, state == "done")

    def _check(self, expected: str, digest: str, wanted: str, what: str) -> None:
        if digest != expected:
            reject(
                "The gallery was changed from elsewhere since. It is not possible to "
                f"{what} without losing that change."
            )
        if wanted == digest:
            return
        if not self._state(wanted).is_file():
            reject(f"That is too long ago to {what}: its copy of the gallery is gone.")
        if file_digest(self._state(wanted)) != wanted:
            reject(f"The kept copy of the gallery is damaged, so one cannot {what}.")

    def _put(self, digest: str) -> None:
        """Make a kept state the gallery file, at once."""
        if file_digest(self.gallery) == digest:
            return
        handle, name = tempfile.mkstemp(
            dir=self.gallery.parent, prefix=f".{self.gallery.name}.", suffix=".tmp"
        )
        os.close(handle)
        beside = Path(name)
        beside.unlink()
        try:
            _link(self._state(digest), beside)
            beside.replace(self.gallery)
        finally:
            beside.unlink(missing_ok=True)
        _settle(self.gallery.parent)

    def _add(self, entry: Entry) -> None:
        with self._lock:
            known = [
                replace(e, state="gone") if e.state == "undone" else e for e in self.entries
            ]
            number = known[-1].n + 1 if known else 1
            self._write([*known, replace(entry, n=number)])

    def _write_state(self, entry: Entry, state: str) -> None:
        with self._lock:
            self._write(
                [replace(e, state=state) if e.n == entry.n else e for e in self.entries]
            )

    def _write(self, entries: list[Entry]) -> None:
        kept = entries[-MOST_LINES:]
        text = "".join(json.dumps(asdict(entry)) + "\n" for entry in kept)
        write_whole(self.file, text)
        _settle(self.folder)
        self._entries, self._seen = kept, _stamp(self.file)

    def _prune(self) -> None:
        """Forget the oldest states beyond the limits; the last two are always kept."""
        kept, n_bytes, current = set[str](), 0, self.gallery.stat().st_ino
        for entry in reversed([e for e in self.entries if e.state != "gone"]):
            for digest in {entry.after, entry.before} - kept:
                with suppress(OSError):
                    found = self._state(digest).stat()
                    n_bytes += found.st_size if found.st_ino != current else 0
            is_full = len(kept) > self.limits.undo_steps or n_bytes > self.limits.undo_bytes
            if is_full and len(kept) >= 2:
                break
            kept |= {entry.after, entry.before}
        for path in self.folder.glob(f"*{SUFFIX}"):
            if path.name.removesuffix(SUFFIX) not in kept:
                path.unlink(missing_ok=True)


def _read(file: Path) -> list[Entry]:
    """The acts of a journal; one that cannot be read is set aside, never overwritten."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
        return [Entry(**json.loads(line)) for line in lines]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, TypeError) as error:
        msg = (
            f"{file}: the journal is damaged ({error}). Move its folder away to begin a new "
            "one; the gallery itself is not touched."
        )
        raise DataError(msg) from error


def _stamp(file: Path) -> object:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _link(source: Path, target: Path) -> None:
    """Give a file another name; a copy of it where the disk knows no links."""
    try:
        os.link(source, target)
    except FileExistsError:
        return
    except OSError:
        partial = target.with_name(f"{target.name}.part")
        shutil.copy2(source, partial)
        partial.replace(target)


def _settle(folder: Path) -> None:
    """Have the names in a folder on the disk, where that can be asked for."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
