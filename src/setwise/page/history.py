"""The history of a gallery file: every command, and the way back.

A command replaces the gallery file, so the old inode is the old state, byte for byte. A hard
link in ``people.setwise.journal/`` keeps it, and ``journal.jsonl`` there says which command led
from which state to which. It is written before the file is replaced. A server that is killed in
between leaves the old file or the new one, and :meth:`History.recover` finds out which.
"""

from __future__ import annotations

import json
import os
import re
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
from setwise.page import payload
from setwise.page.gallery_file import file_digest, signature
from setwise.page.settings import Limits

# Copies or moves files (True) or takes that back (False).
Transfer: TypeAlias = Callable[[dict[str, Any], bool], None]
MOST_LINES = 1000
SUFFIX = ".setwise"
STATES = ("begun", "done", "undone", "gone")
# Names of commands in files of setwise 0.x, and today's.
RENAMED = {"take_out": "remove_photos", "rename": "move", "carry": "transfer"}


@dataclass(frozen=True)
class Entry:
    """One command, from ``before`` to ``after``: SHA-256 of the gallery file."""

    n: int
    time: str
    command: str
    words: str
    before: str
    after: str
    # "begun": files are being copied or moved. "done". "undone": can be redone. "gone": cannot.
    state: str = "done"
    moves: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def parsed(cls, line: str) -> Entry:
        """The entry of one line of the file; ValueError if it is damaged."""
        content = json.loads(line)
        if isinstance(content, dict) and "act" in content:
            content["command"] = content.pop("act")
        entry = cls(**content)
        if not entry.is_sound:
            msg = f"values of other types than expected in {line[:80]!r}"
            raise ValueError(msg)
        return replace(entry, command=RENAMED.get(entry.command, entry.command))

    @property
    def is_sound(self) -> bool:
        """Whether all values have their types and can be used as names of files."""
        texts = (self.time, self.command, self.words, self.before, self.after)
        return (
            type(self.n) is int
            and all(isinstance(text, str) for text in texts)
            and all(re.fullmatch("[0-9a-f]{64}", text) for text in (self.before, self.after))
            and self.state in STATES
            and (self.moves == {} or _are_moves(self.moves))
        )

    @property
    def as_payload(self) -> payload.LastCommand:
        """What the page shows beside Undo."""
        return payload.LastCommand(command=self.command, words=self.words)


def _are_moves(moves: Any) -> bool:
    return (
        isinstance(moves, dict)
        and moves.get("how") in ("copy", "move")
        and isinstance(moves.get("files"), list)
        and all(isinstance(pair, list) and len(pair) == 2 for pair in moves["files"])
        and all(isinstance(name, str) for pair in moves["files"] for name in pair)
    )


class History:
    """The commands on one gallery file. Callers hold the lock of that file to change it."""

    def __init__(self, gallery: Path, limits: Limits) -> None:
        self.gallery, self.limits = gallery, limits
        self.folder = gallery.with_name(f"{gallery.name}.journal")
        self.file = self.folder / "journal.jsonl"
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
                self._remember(_read(self.file), seen)
            return self._entries

    @property
    def moved(self) -> frozenset[str]:
        """Inbox files that were copied or moved, counted once per change of the history."""
        with self._lock:
            return self._moved if self.entries else frozenset()

    def lines(self) -> list[payload.HistoryLine]:
        """All commands, newest first, as JSON shows them."""
        return [
            payload.HistoryLine(
                n=e.n, time=e.time, command=e.command, words=e.words, undone=e.state != "done"
            )
            for e in reversed(self.entries)
        ]

    def can_undo(self, digest: str) -> payload.LastCommand | None:
        """The command that can be undone in this state of the file."""
        entry = self._last_done()
        if entry is None or entry.after != digest:
            return None
        return entry.as_payload if entry.before == digest or self._has(entry.before) else None

    def can_redo(self, digest: str) -> payload.LastCommand | None:
        """The command that can be redone in this state of the file."""
        entry = self._first_undone()
        if entry is None or entry.before != digest:
            return None
        return entry.as_payload if entry.after == digest or self._has(entry.after) else None

    def _last_done(self) -> Entry | None:
        return next((e for e in reversed(self.entries) if e.state == "done"), None)

    def _first_undone(self) -> Entry | None:
        return next((e for e in self.entries if e.state == "undone"), None)

    def _has(self, digest: str) -> bool:
        return self._state(digest).is_file()

    def _state(self, digest: str) -> Path:
        return self.folder / f"{digest}{SUFFIX}"

    def recover(self, digest: str, transfer: Transfer | None) -> None:
        """Make the history agree with the file after a command that broke off."""
        for entry in [e for e in self.entries if e.state == "begun"]:
            if transfer is not None:
                transfer(entry.moves, False)
                self._write_state(entry, "gone")
        last, following = self._last_done(), self._first_undone()
        if last is not None and digest == last.before != last.after:
            self._write_state(last, "undone")
        elif (
            following is not None
            and digest == following.after != following.before
            and (last is None or digest != last.after)
        ):
            self._write_state(following, "done")

    def commit(
        self, command: str, words: str, before: str, save: Callable[[Path], object]
    ) -> None:
        """Replace the gallery file by what ``save`` writes to a path, with a way back."""
        self.folder.mkdir(exist_ok=True)
        if not self._has(before):
            _link(self.gallery, self._state(before))
        staged = self.folder / f"next{SUFFIX}"
        try:
            save(staged)
            shutil.copymode(self.gallery, staged)
            after = file_digest(staged)
            staged.replace(self._state(after))
        finally:
            staged.unlink(missing_ok=True)
        self._add(Entry(0, _now(), command, words, before, after))
        self._put(after)
        self._prune()

    def transfer(
        self, words: str, digest: str, moves: dict[str, Any], transfer: Transfer
    ) -> None:
        """Copy or move files; a transfer that fails is taken back and not kept."""
        self.folder.mkdir(exist_ok=True)
        entry = self._add(
            Entry(0, _now(), "transfer", words, digest, digest, "begun", moves=moves)
        )
        try:
            transfer(moves, True)
        except BaseException:
            self._write_state(entry, "gone")
            raise
        self._write_state(entry, "done")

    def undo(self, digest: str, transfer: Transfer | None) -> Entry:
        """Take the last command back; ``digest`` is that of the file as it is now."""
        entry = self._last_done()
        if entry is None:
            reject("There is nothing to undo.")
        self._check(entry.after, digest, entry.before, "undo")
        self._travel(entry, "undone", entry.before, transfer)
        return entry

    def redo(self, digest: str, transfer: Transfer | None) -> Entry:
        """Do the command again that was undone last."""
        entry = self._first_undone()
        if entry is None:
            reject("There is nothing to redo.")
        self._check(entry.before, digest, entry.after, "redo")
        self._travel(entry, "done", entry.after, transfer)
        return entry

    def _travel(self, entry: Entry, state: str, digest: str, transfer: Transfer | None) -> None:
        if entry.moves and transfer is None:
            reject(
                "That command copied or moved files. Start the server with the same --inbox "
                "and --into to undo or redo it."
            )
        self._write_state(entry, state)
        try:
            self._put(digest)
            if entry.moves and transfer is not None:
                transfer(entry.moves, state == "done")
        except BaseException:
            self._write_state(entry, entry.state)
            raise

    def _check(self, expected: str, digest: str, wanted: str, command: str) -> None:
        if digest != expected:
            reject(
                "Another program has changed the gallery since. To "
                f"{command} would lose that change."
            )
        if wanted == digest:
            return
        if not self._has(wanted):
            reject(f"Too long ago to {command}: that copy of the gallery is not kept.")
        if file_digest(self._state(wanted)) != wanted:
            reject(f"Cannot {command}: the kept copy of the gallery is damaged.")

    def _put(self, digest: str) -> None:
        """Replace the gallery file by a kept state, atomically."""
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

    def _add(self, entry: Entry) -> Entry:
        with self._lock:
            known = [
                replace(e, state="gone") if e.state == "undone" else e for e in self.entries
            ]
            numbered = replace(entry, n=known[-1].n + 1 if known else 1)
            self._write([*known, numbered])
            return numbered

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
    """The entries of a file; a damaged file is refused, and never overwritten."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
        return [Entry.parsed(line) for line in lines]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, TypeError, RecursionError) as error:
        msg = (
            f"{file}: the history is damaged ({error}). Move its folder away to begin a new "
            "history. The gallery itself is intact."
        )
        raise DataError(msg) from error


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _link(source: Path, target: Path) -> None:
    """Give a file a second name, or copy it where the disk has no hard links."""
    try:
        os.link(source, target)
    except FileExistsError:
        return
    except OSError:
        partial = target.with_name(f"{target.name}.part")
        try:
            shutil.copy2(source, partial)
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)


def _settle(folder: Path) -> None:
    """Flush the names of a folder to the disk, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
