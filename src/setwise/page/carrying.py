"""Files of the inbox, copied or moved below one folder, and back; none is overwritten."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from setwise._support.text import distinct_file_names, file_name
from setwise.errors import reject
from setwise.page.journal import Journal
from setwise.page.living import file_digest
from setwise.page.uploads import free_name
from setwise.page.words import counted

__all__ = ["Carrier"]

# Bytes of the name of a folder.
LONGEST = 120


class Carrier:
    """Carries files from the inbox to one other folder, and back.

    Parameters
    ----------
    inbox, into : Path
        From where and to where; nothing outside of them is ever touched.
    journal : Journal
        Knows what was carried.
    """

    def __init__(self, inbox: Path, into: Path, journal: Journal) -> None:
        self.inbox, self.into, self.journal = inbox.resolve(), into.resolve(), journal
        self._given = inbox

    def has_carried(self, files: Sequence[Path]) -> bool:
        """Whether the journal says that these files were carried."""
        return bool(files) and self._source(files[0]) in self._carried()

    def _carried(self) -> set[str]:
        done = [e for e in self.journal.entries if e.moves and e.state == "done"]
        return {source for entry in done for source, _ in entry.moves["files"]}

    def plan(self, how: str, wanted: Iterable[tuple[str, str, list[Path]]]) -> dict[str, Any]:
        """What goes where: to folders and names that are free.

        Parameters
        ----------
        how : {"copy", "move"}
            What is done.
        wanted : iterable of (str, str, list of Path)
            Class, name and files of each set.
        """
        files: list[tuple[str, str]] = []
        taken: set[str] = set()
        for label, name, paths in wanted:
            home = file_name(label).encode()[:LONGEST].decode(errors="ignore")
            folder = self._free_folder(home, name, taken)
            taken.add(folder)
            stems = distinct_file_names([path.stem for path in paths], LONGEST)
            for path, stem in zip(paths, stems, strict=True):
                suffix = file_name(path.suffix.lstrip("."))
                files.append((self._source(path), f"{folder}/{stem}.{suffix}"))
        return {"how": how, "files": files}

    def words(self, moves: dict[str, Any], n_sets: int) -> str:
        """What is done, in words."""
        verb = {"copy": "Copied", "move": "Moved"}[moves["how"]]
        n_files = counted(len(moves["files"]), "file")
        return f"{verb} {n_files} of {counted(n_sets, 'set')} into {self.into.name}."

    def __call__(self, moves: dict[str, Any], is_forward: bool) -> None:
        """Carry files there, or back; files that are not where they were stay."""
        self.into.mkdir(parents=True, exist_ok=True)
        for source, target in moves["files"]:
            here = _inside(self.inbox, source)
            there = _inside(self.into, target)
            if is_forward:
                _carry(here, there, is_copy=moves["how"] == "copy")
            elif moves["how"] == "move":
                _carry(there, here, is_copy=False)
            else:
                _remove_copy(there, here)
            if not is_forward:
                _remove_empty(there.parent, self.into)

    def _source(self, path: Path) -> str:
        return path.relative_to(self._given).as_posix()

    def _free_folder(self, home: str, name: str, taken: set[str]) -> str:
        plain = distinct_file_names([name], LONGEST)[0]
        there = self.into / home
        used = {entry.name for entry in there.iterdir()} if there.is_dir() else set()
        used |= {folder.partition("/")[2] for folder in taken if folder.startswith(f"{home}/")}
        return f"{home}/{free_name(plain, used)}"


def _inside(root: Path, below: str) -> Path:
    """A path below a folder; whatever leads out of it is refused."""
    path = root / below
    if not path.parent.resolve().is_relative_to(root):
        reject(f"{below} leads out of {root}. Files are carried below it only.")
    return path


def _carry(source: Path, target: Path, *, is_copy: bool) -> None:
    """Copy or move one file to a place that is free; one that is gone stays gone."""
    if not source.is_file() or target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if not is_copy:
        with suppress(OSError):  # another disk, or one without links
            os.link(source, target, follow_symlinks=False)
            source.unlink()
            return
    with source.open("rb") as old, target.open("xb") as new:
        shutil.copyfileobj(old, new)
    shutil.copystat(source, target)
    if not is_copy:
        source.unlink()


def _remove_copy(copy: Path, original: Path) -> None:
    """Remove a copy, unless it is the only one, or somebody has changed it."""
    if copy.is_file() and original.is_file() and file_digest(copy) == file_digest(original):
        copy.unlink()


def _remove_empty(folder: Path, root: Path) -> None:
    while folder != root and folder.is_relative_to(root):
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent
