"""Copying and moving files of the inbox below one folder, and taking that back."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from setwise._support.text import distinct_file_names, file_name, free_name
from setwise.errors import DataError, reject
from setwise.gallery.journal import file_digest
from setwise.page.answers import counted

LONGEST = 120  # bytes of the name of a folder


class FileTransfer:
    """Copies or moves files of the inbox to one folder, and back; overwrites no file."""

    def __init__(self, inbox: Path, into: Path) -> None:
        self.inbox, self.into = inbox.resolve(), into.resolve()
        self._given = inbox

    def source(self, path: Path) -> str:
        """Name of a file of the inbox in the history."""
        return path.relative_to(self._given).as_posix()

    def plan(self, how: str, wanted: Iterable[tuple[str, str, list[Path]]]) -> dict[str, Any]:
        """Free target names for the files of sets, given as (class, name, files)."""
        files: list[list[str]] = []
        taken: set[str] = set()
        for label, name, paths in wanted:
            home = file_name(label).encode()[:LONGEST].decode(errors="ignore")
            folder = self._free_folder(home, name, taken)
            taken.add(folder)
            stems = distinct_file_names([path.stem for path in paths], LONGEST)
            for path, stem in zip(paths, stems, strict=True):
                suffix = file_name(path.suffix.lstrip("."))
                files.append([self.source(path), f"{folder}/{stem}.{suffix}"])
        return {"how": how, "files": files}

    def words(self, moves: dict[str, Any], n_sets: int) -> str:
        """One sentence about a transfer that is done."""
        verb = {"copy": "Copied", "move": "Moved"}[moves["how"]]
        n_files = counted(len(moves["files"]), "file")
        return f"{verb} {n_files} of {counted(n_sets, 'album')} into {self.into.name}."

    def __call__(self, moves: dict[str, Any], is_forward: bool) -> None:
        """Transfer all files, or take that back; after an error nothing has changed."""
        done: list[list[str]] = []
        is_copy = moves["how"] == "copy"
        try:
            if is_forward:
                self.into.mkdir(parents=True, exist_ok=True)
            for pair in moves["files"]:
                if self._transfer_one(pair, is_copy=is_copy, is_forward=is_forward):
                    done.append(pair)  # noqa: PERF401 (needed when the next one fails)
        except (OSError, DataError) as error:
            for pair in reversed(done):
                with suppress(OSError):
                    self._transfer_one(pair, is_copy=is_copy, is_forward=not is_forward)
            for _, target in moves["files"]:
                _remove_empty(_inside(self.into, target).parent, self.into)
            if isinstance(error, DataError):
                raise
            hint = "Make room on the disk, or name another folder with --into."
            words = f"The files cannot be written: {error.strerror}. All are where they were."
            reject(f"{words} {hint}", error)

    def _transfer_one(self, pair: list[str], *, is_copy: bool, is_forward: bool) -> bool:
        """Transfer one file; whether anything was done."""
        here, there = _inside(self.inbox, pair[0]), _inside(self.into, pair[1])
        if is_forward:
            return _bring(here, there, is_copy=is_copy)
        _partial(there).unlink(missing_ok=True)  # of a server that was killed
        is_done = _remove_copy(there, here) if is_copy else _bring(there, here, is_copy=False)
        _remove_empty(there.parent, self.into)
        return is_done

    def _free_folder(self, home: str, name: str, taken: set[str]) -> str:
        plain, there = distinct_file_names([name], LONGEST)[0], self.into / home
        used = {entry.name for entry in there.iterdir()} if there.is_dir() else set()
        used |= {folder.partition("/")[2] for folder in taken if folder.startswith(f"{home}/")}
        return f"{home}/{free_name(plain, used)}"


def _inside(root: Path, below: str) -> Path:
    """A path below a folder; a path that leads out of it is refused."""
    path = root / below
    if not path.parent.resolve().is_relative_to(root):
        reject(f"{below} leads out of {root}. Files are copied or moved below it only.")
    return path


def _partial(target: Path) -> Path:
    return target.with_name(f".{target.name}.part")


def _bring(source: Path, target: Path, *, is_copy: bool) -> bool:
    """Copy or move a file to a free place; whether it was done."""
    if not source.is_file() or target.exists():
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    if is_copy or not _linked(source, target):
        _write_copy(source, target)
    if not is_copy:
        source.unlink()
    return True


def _linked(source: Path, target: Path) -> bool:
    """Give a file a second name, if the disk can; whether it could."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        return False
    return True


def _write_copy(source: Path, target: Path) -> None:
    """Copy a file under a hidden name, then give the whole file its own."""
    partial = _partial(target)
    try:
        with source.open("rb") as old, partial.open("wb") as new:
            shutil.copyfileobj(old, new)
            new.flush()
            os.fsync(new.fileno())
        shutil.copystat(source, partial)
        if not _linked(partial, target):
            if target.exists():  # since it was planned
                raise FileExistsError(17, "a file of that name is there", str(target))
            partial.rename(target)
    finally:
        partial.unlink(missing_ok=True)


def _remove_copy(copy: Path, original: Path) -> bool:
    """Remove a copy, unless it has changed or its original is gone; whether it was done."""
    is_same = copy.is_file() and original.is_file()
    is_same = is_same and file_digest(copy) == file_digest(original)
    if is_same:
        copy.unlink()
    return is_same


def _remove_empty(folder: Path, root: Path) -> None:
    while folder != root and folder.is_relative_to(root):
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent
