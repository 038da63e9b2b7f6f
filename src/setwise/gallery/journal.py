"""The journal beside a gallery file: the entries of its history, and its kept states."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from setwise._support.files import write_atomically
from setwise.errors import reject

JOURNAL, DECISIONS, SUFFIX = "journal.jsonl", "inbox.json", ".setwise"
# Photos that stand for classes, and folders in which the files of photos are.
COVERS, PHOTOS = "covers.json", "photos.json"
BESIDE = (JOURNAL, DECISIONS, COVERS, PHOTOS)  # what a copy of the journal holds
STATES = ("begun", "done", "undone", "gone")
RENAMED = {"take_out": "remove_photos", "rename": "move", "carry": "transfer"}  # of 0.x


def journal_of(gallery: Path) -> Path:
    """The folder of the journal of a gallery file."""
    return gallery.with_name(f"{gallery.name}.journal")


def file_digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


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
    learnt: str = ""  # ``after``, once weights and thresholds are learnt from it; else empty
    key: str = ""  # by which a client names its command, so that it is done once

    @classmethod
    def parsed(cls, line: str) -> Entry:
        """The entry of one line of the file; ValueError if it is damaged."""
        content = json.loads(line)
        if isinstance(content, dict) and "act" in content:
            content["command"] = content.pop("act")
        entry = cls(**content)
        if not entry._is_sound():
            msg = f"values of other types than expected in {line[:80]!r}"
            raise ValueError(msg)
        return replace(entry, command=RENAMED.get(entry.command, entry.command))

    @property
    def undone(self) -> bool:
        """Whether the command is not in force now."""
        return self.state != "done"

    @property
    def results(self) -> tuple[str, ...]:
        """The states that the command leads to: first the one that is learnt anew."""
        return (self.learnt, self.after) if self.learnt else (self.after,)

    def _is_sound(self) -> bool:
        """Whether all values have their types and can be used as names of files."""
        texts = (self.time, self.command, self.words, self.learnt, self.key)
        digests = (self.before, *self.results)
        return (
            type(self.n) is int
            and all(isinstance(text, str) for text in (*texts, *digests))
            and all(re.fullmatch("[0-9a-f]{64}", text) for text in digests)
            and self.state in STATES
            and (self.moves == {} or _are_moves(self.moves))
        )


def _are_moves(moves: Any) -> bool:
    files = moves.get("files") if isinstance(moves, dict) else None
    return (
        isinstance(files, list)
        and moves.get("how") in ("copy", "move")
        and all(isinstance(pair, list) and len(pair) == 2 for pair in files)
        and all(isinstance(name, str) for pair in files for name in pair)
    )


def read_entries(file: Path) -> list[Entry]:
    """The entries of a file; a damaged file is refused, and never overwritten."""
    try:
        return [Entry.parsed(line) for line in file.read_text(encoding="utf-8").splitlines()]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, TypeError, RecursionError) as error:
        reject(
            f"{file}: the history is damaged ({error}). Move its folder away to begin a new "
            "history. The gallery itself is intact.",
            error,
        )


def link(source: Path, target: Path) -> None:
    """Give a file a second name, or copy it where the disk has no hard links."""
    try:
        os.link(source, target)
    except FileExistsError:
        return
    except OSError:
        with write_atomically(target) as partial:
            shutil.copy2(source, partial)


def settle(folder: Path) -> None:
    """Flush the names of a folder to the disk, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
