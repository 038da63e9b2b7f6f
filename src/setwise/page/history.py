"""The history of a gallery file: hard links to its old states, and how commands led to them.

The history is written before the gallery file is replaced. :meth:`History.recover` finds out
whether a server that was killed in between has left the old file or the new one.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from threading import RLock
from typing import Any, Literal, NamedTuple, TypeAlias

from setwise._support.files import write_whole
from setwise.errors import reject
from setwise.gallery.journal import (
    JOURNAL,
    SUFFIX,
    Entry,
    file_digest,
    journal_of,
    link,
    read_entries,
    settle,
)
from setwise.page.gallery_file import signature
from setwise.page.payload import HistoryLine, LastCommand
from setwise.page.settings import Limits

Moves: TypeAlias = dict[str, Any]
Transfer: TypeAlias = Callable[[Moves, bool], None]  # True: forward, False: back
Command: TypeAlias = Literal["undo", "redo"]
Save: TypeAlias = Callable[[Path], object]
MOST_LINES = 1000


class _Way(NamedTuple):
    """What undo or redo does: an entry gets a state, and the file another content."""

    entry: Entry
    starts: tuple[str, ...]  # digests that the file may have before
    ends: tuple[str, ...]  # and after, the preferred one first
    state: str


class History:
    """The commands on one gallery file. Callers hold the lock of that file to change it."""

    def __init__(self, gallery: Path, limits: Limits) -> None:
        self.gallery, self.limits = gallery, limits
        self.folder = journal_of(gallery)
        self.file = self.folder / JOURNAL
        self._lock = RLock()
        self._seen: object = None
        self._entries: list[Entry] = []
        self._moved = frozenset[str]()

    @property
    def entries(self) -> list[Entry]:
        """All commands, oldest first, read again if another process has written."""
        with self._lock:
            seen = self._stamp()
            if seen != self._seen:
                self._remember(read_entries(self.file), seen)
            return self._entries

    @property
    def moved(self) -> frozenset[str]:
        """Inbox files that were copied or moved, found once per change of the history."""
        with self._lock:
            return self._moved if self.entries else frozenset()

    def lines(self) -> list[HistoryLine]:
        """All commands, newest first, as JSON shows them."""
        return [HistoryLine.model_validate(entry) for entry in reversed(self.entries)]

    def can(self, command: Command, digest: str) -> LastCommand | None:
        """The command that can be undone or redone in this state of the file."""
        way = self._way(command)
        if way is None or digest not in way.starts:
            return None
        is_kept = digest in way.ends or self._kept(way.ends) is not None
        return LastCommand.model_validate(way.entry) if is_kept else None

    def same(self, digest: str) -> tuple[str, ...]:
        """The states that differ from one at most by what was learnt from its sets."""
        found = (entry.results for entry in self.entries if digest in entry.results)
        return next(found, (digest,))

    def done_by(self, key: str) -> Entry | None:
        """The command that a client has given this key, if it is in force."""
        found = (entry for entry in self.entries if entry.key == key and entry.state == "done")
        return next(found, None) if key else None

    def kept_files(self) -> list[os.stat_result]:
        """Size and identity of each file that the history keeps."""
        found = []
        with suppress(OSError):
            for path in self.folder.iterdir():
                with suppress(OSError):  # pruned meanwhile
                    found.append(path.stat())
        return found

    def _way(self, command: Command) -> _Way | None:
        done, undone = ([e for e in self.entries if e.state == s] for s in ("done", "undone"))
        last = done[-1] if done else None
        if command == "undo":
            return None if last is None else _Way(last, last.results, (last.before,), "undone")
        if not undone:
            return None
        starts: tuple[str, ...] = (undone[0].before,)
        if last is not None and undone[0].before in last.results:
            starts = last.results  # it may have been learnt anew since
        return _Way(undone[0], starts, undone[0].results, "done")

    def _state(self, digest: str) -> Path:
        return self.folder / f"{digest}{SUFFIX}"

    def _kept(self, digests: Iterable[str]) -> str | None:
        """The first of some states that is kept."""
        return next((one for one in digests if self._state(one).is_file()), None)

    def recover(self, digest: str, transfer: Transfer | None) -> None:
        """Make the history agree with the file after a command that broke off."""
        for entry in [e for e in self.entries if e.state == "begun"]:
            if transfer is not None:
                transfer(entry.moves, False)
                self._write_state(entry, "gone")
        undo, redo = self._way("undo"), self._way("redo")
        if undo is not None and digest in undo.starts:
            return
        if undo is not None and digest in undo.ends:
            self._write_state(undo.entry, undo.state)
        elif redo is not None and digest in redo.ends and digest not in redo.starts:
            self._write_state(redo.entry, redo.state)

    def commit(self, command: str, words: str, before: str, save: Save, key: str = "") -> str:
        """Replace the gallery file by what ``save`` writes, with a way back; its digest."""
        after = self._staged(before, save)
        self._add(command, words, before, after, key=key)
        self._put(after)
        self._prune()
        return after

    def learn(self, before: str, save: Save) -> str | None:
        """Replace the state of the last command by what was learnt from it; its digest.

        None if the file is not as that command has left it.
        """
        last = self._way("undo")
        if last is None or before != last.entry.after:
            return None
        learnt = self._staged(before, save)
        self._change(replace(last.entry, learnt=learnt))
        self._put(learnt)
        self._prune()
        return learnt

    def _staged(self, before: str, save: Save) -> str:
        """Keep the state of the file, and the next one, beside it; the digest of that."""
        self.folder.mkdir(exist_ok=True)
        if not self._state(before).is_file():
            link(self.gallery, self._state(before))
        staged = self.folder / f"next{SUFFIX}"
        try:
            save(staged)
            shutil.copymode(self.gallery, staged)
            after = file_digest(staged)
            staged.replace(self._state(after))
        finally:
            staged.unlink(missing_ok=True)
        return after

    def transfer(
        self, words: str, digest: str, moves: Moves, transfer: Transfer, key: str = ""
    ) -> None:
        """Copy or move files; a transfer that fails is taken back and not kept."""
        self.folder.mkdir(exist_ok=True)
        entry = self._add("transfer", words, digest, digest, "begun", moves, key=key)
        try:
            transfer(moves, True)
        except BaseException:
            self._write_state(entry, "gone")
            raise
        self._write_state(entry, "done")

    def travel(self, command: Command, digest: str, transfer: Transfer | None) -> str:
        """Undo or redo a command, given the digest of the file now; its words."""
        way = self._way(command)
        if way is None:
            reject(f"There is nothing to {command}.")
        end = self._end_of(way, command, digest)
        entry = way.entry
        if entry.moves and transfer is None:
            reject(
                "That command copied or moved files. Start the server with the same --inbox "
                "and --into to undo or redo it."
            )
        self._write_state(entry, way.state)
        try:
            self._put(end)
            if entry.moves and transfer is not None:
                transfer(entry.moves, way.state == "done")
        except BaseException:
            self._write_state(entry, entry.state)
            raise
        return entry.words

    def _end_of(self, way: _Way, command: str, digest: str) -> str:
        """The state that undo or redo leads to."""
        if digest not in way.starts:
            words = f"To {command} would lose that change."
            reject(f"Another program has changed the gallery since. {words}")
        if digest in way.ends:  # files were copied or moved, and the gallery stayed
            return digest
        end = self._kept(way.ends)
        if end is None:
            reject(f"Too long ago to {command}: that copy of the gallery is not kept.")
        if file_digest(self._state(end)) != end:
            reject(f"Cannot {command}: the kept copy of the gallery is damaged.")
        return end

    def _put(self, digest: str) -> None:
        """Replace the gallery file by a kept state, atomically."""
        if file_digest(self.gallery) == digest:
            return
        beside = self.gallery.with_name(f".{self.gallery.name}.{token_hex(4)}.tmp")
        try:
            link(self._state(digest), beside)
            beside.replace(self.gallery)
        finally:
            beside.unlink(missing_ok=True)
        settle(self.gallery.parent)

    def _add(self, *content: Any, **more: Any) -> Entry:
        """Write a new entry, after which undone ones cannot be redone."""
        with self._lock:
            old = self.entries
            now = datetime.now(UTC).isoformat(timespec="seconds")
            entry = Entry(old[-1].n + 1 if old else 1, now, *content, **more)
            gone = [replace(e, state="gone") if e.state == "undone" else e for e in old]
            self._write([*gone, entry])
            return entry

    def _write_state(self, entry: Entry, state: str) -> None:
        self._change(replace(entry, state=state))

    def _change(self, entry: Entry) -> None:
        with self._lock:
            self._write([entry if e.n == entry.n else e for e in self.entries])

    def _write(self, entries: list[Entry]) -> None:
        kept = entries[-MOST_LINES:]
        write_whole(self.file, "".join(json.dumps(asdict(entry)) + "\n" for entry in kept))
        settle(self.folder)
        self._remember(kept, self._stamp())

    def _remember(self, entries: list[Entry], seen: object) -> None:
        done = [e for e in entries if e.moves and e.state == "done"]
        self._moved = frozenset(source for e in done for source, _ in e.moves["files"])
        self._entries, self._seen = entries, seen

    def _stamp(self) -> object:
        return signature(self.file) if self.file.is_file() else None

    def _prune(self) -> None:
        """Remove the oldest states beyond the limits; always keep the last two."""
        kept, n_bytes, current = set[str](), 0, self.gallery.stat().st_ino
        for entry in reversed([e for e in self.entries if e.state != "gone"]):
            both = {entry.results[0], entry.before}
            for digest in both - kept:
                with suppress(OSError):
                    found = self._state(digest).stat()
                    n_bytes += found.st_size if found.st_ino != current else 0
            is_full = len(kept) > self.limits.undo_steps or n_bytes > self.limits.undo_bytes
            if is_full and len(kept) >= 2:
                break
            kept |= both
        for path in self.folder.glob(f"*{SUFFIX}"):
            if path.name.removesuffix(SUFFIX) not in kept:
                path.unlink(missing_ok=True)
