"""Which files lie below a folder, and what else lies there."""

from __future__ import annotations

import fnmatch
import os
import re
import unicodedata
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from setwise._support.parameters import refuse
from setwise.errors import reject
from setwise.io.decode import SUFFIXES
from setwise.io.raw import RAW_SUFFIXES, is_raw

# The folders that lead to a file or folder, from the root on, and its own name.
Parts: TypeAlias = tuple[str, ...]
# A folder may hold a new kind in every file: only so many are named.
MOST_KINDS = 20


@dataclass(frozen=True)
class FoundFile:
    """An image file, the folders that lead to it, and why it must not be opened."""

    path: Path
    parts: Parts
    problem: str | None = None

    @property
    def depth(self) -> int:
        """Number of folders between the root and the image."""
        return len(self.parts) - 1


@dataclass
class Scan:
    """The images of a folder in natural order, and everything else there."""

    root: Path
    what: str
    images: list[FoundFile] = field(default_factory=list)
    folders: list[Parts] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    ignored: dict[str, list[str]] = field(default_factory=dict)
    excluded: dict[str, list[str]] = field(default_factory=dict)
    n_entries: int = 0

    def set_name(self, folder: Parts) -> str:
        """Name of the set of a folder."""
        return "/".join(folder) or self.root.resolve().name

    def notes(self) -> list[str]:
        """Counts of what was left aside, each kind with an example."""
        notes = []
        if self.hidden:
            notes.append(f"ignored, hidden: {_tally(self.hidden)}")
        for pattern, paths in self.excluded.items():
            notes.append(f"excluded by {pattern!r}: {_tally(paths) if paths else 'nothing'}")
        if self.ignored:
            kinds = sorted(self.ignored.items(), key=lambda kind: (-len(kind[1]), kind[0]))
            told = [f"{len(paths)} {kind} such as {_first(paths)}" for kind, paths in kinds]
            told[MOST_KINDS:] = ["further kinds"] * (len(told) > MOST_KINDS)
            n_files = sum(map(len, self.ignored.values()))
            notes.append(f"ignored, no {self.what}: {n_files} ({', '.join(told)})")
        kinds_of_raw = self.ignored.keys() & RAW_SUFFIXES - SUFFIXES
        n_raw = sum(len(self.ignored[kind]) for kind in kinds_of_raw)
        if n_raw:
            how = 'pip install "setwise[raw]" reads their previews'
            notes.append(f"{n_raw} RAW photos are not read: export them as JPEG, or {how}")
        used = {i.parts[:n] for i in self.images for n in range(1, len(i.parts))}
        bare = ["/".join(folder) for folder in self.folders if folder not in used]
        if bare:
            notes.append(f"folders without {self.what}: {_tally(bare)}")
        return notes


def _tally(paths: list[str]) -> str:
    return f"{len(paths)}, such as {_first(paths)}"


def _first(paths: list[str]) -> str:
    first = min(paths)
    return first if first.isprintable() else repr(first)


def given_photos(paths: Sequence[Path]) -> Scan:
    """Photos that are given by name, with the folders that tell them apart."""
    if len(paths) == 1:
        return Scan(paths[0], "images", [FoundFile(paths[0], (paths[0].name,))])
    real = [Path(os.path.abspath(path)) for path in paths]  # noqa: PTH100 (follows no links)
    root = Path(os.path.commonpath([path.parent for path in real]))
    found = [
        FoundFile(path, where.relative_to(root).parts)
        for path, where in sorted(zip(paths, real, strict=True), key=lambda pair: pair[1].parts)
    ]
    found.sort(key=lambda i: (i.parts[:-1], natural_key(i.parts[-1])))
    return Scan(root, "images", found)


@dataclass(frozen=True)
class _Rules:
    max_files: int
    suffixes: Set[str]
    exclude: dict[str, re.Pattern[str]]
    follow_links: bool

    def excluding(self, parts: Parts) -> str | None:
        names = (parts[-1].casefold(), "/".join(parts).casefold())
        matching = (p for p, rule in self.exclude.items() if any(map(rule.match, names)))
        return next(matching, None)


@dataclass(frozen=True)
class _Folder:
    path: Path
    parts: Parts
    # Real paths of it and the folders above: meeting one again is a loop.
    real: tuple[str, ...]


def check_exclude(owner: str, exclude: Any) -> tuple[str, ...]:
    """The given patterns, one or several, as a tuple."""
    patterns = (exclude,) if isinstance(exclude, str) else exclude
    is_several = isinstance(patterns, list | tuple)
    if not is_several or not all(isinstance(p, str) and p.strip("/") for p in patterns):
        expected = "patterns of names or paths, such as ['thumbs', '*.tmp', 'raw/*']"
        refuse(owner, "exclude", expected, exclude)
    return tuple(patterns)


def scan(
    root: Path,
    max_files: int,
    suffixes: Set[str] = SUFFIXES,
    what: str = "images",
    *,
    exclude: Sequence[str] = (),
    follow_links: bool = False,
) -> Scan:
    """The images below a folder, or ``what`` has other ``suffixes``, in natural order.

    Links are followed where they stay inside the root, with ``follow_links`` also outside.
    """
    if not root.is_dir():
        there = "is a file" if root.exists() else "does not exist"
        reject(f"{root} {there}. Expected a folder of {what}.")
    patterns = {p: re.compile(fnmatch.translate(p.strip("/").casefold())) for p in exclude}
    rules = _Rules(max_files, suffixes, patterns, follow_links)
    scanned = Scan(root, what, excluded={pattern: [] for pattern in exclude})
    _check_name(root.resolve().name, root)
    waiting = [_Folder(root, (), (os.path.realpath(root),))]
    while waiting:
        waiting += _look_into(waiting.pop(), scanned, rules)
    _leave_out_twins(scanned)
    # Folder by folder: a folder may hold images, and folders of images between them.
    scanned.images.sort(
        key=lambda i: (tuple(map(natural_key, i.parts[:-1])), natural_key(i.parts[-1]))
    )
    return scanned


def _leave_out_twins(scanned: Scan) -> None:
    """Ignore RAW photos beside a photo of the same name: cameras write both."""
    plain = {(*i.parts[:-1], i.path.stem) for i in scanned.images if not is_raw(i.path)}
    for image in scanned.images:
        if is_raw(image.path) and (*image.parts[:-1], image.path.stem) in plain:
            kind = f"{image.path.suffix.lower()} beside a photo"
            scanned.ignored.setdefault(kind, []).append("/".join(image.parts))
    twins = {path for k, paths in scanned.ignored.items() if " beside " in k for path in paths}
    scanned.images = [i for i in scanned.images if "/".join(i.parts) not in twins]


def check_any(scanned: Scan, suffixes: Set[str] = SUFFIXES) -> None:
    """Refuse a folder without any file of the kind."""
    if not scanned.images:
        met = "; ".join(scanned.notes()) or "it is empty"
        names = ", ".join(sorted(suffixes))
        reject(f"{scanned.root} holds no {scanned.what} ({met}). Expected files named {names}.")


def _look_into(folder: _Folder, scanned: Scan, rules: _Rules) -> Iterator[_Folder]:
    # Counted before anything is done to them: a folder may hold millions.
    entries = list(islice(_entries(folder), rules.max_files - scanned.n_entries + 1))
    scanned.n_entries += len(entries)
    if scanned.n_entries > rules.max_files:
        problem = f"holds more than max_files={rules.max_files} files and folders"
        reject(f"{scanned.root} {problem}. Is it the right one? If so, raise max_files.")
    for entry in entries:
        parts = (*folder.parts, entry.name)
        pattern = rules.excluding(parts)
        if entry.name.startswith("."):
            scanned.hidden.append("/".join(parts))
        elif pattern is not None:
            scanned.excluded[pattern].append("/".join(parts) + "/" * entry.is_dir())
        else:
            yield from _take_note(entry, folder, scanned, rules)


def _take_note(
    entry: os.DirEntry[str], folder: _Folder, scanned: Scan, rules: _Rules
) -> Iterator[_Folder]:
    real, problem = _locate(entry, folder, scanned.root, rules.follow_links)
    path, parts = folder.path / entry.name, (*folder.parts, entry.name)
    if problem is None and entry.is_dir():
        _check_name(entry.name, folder.path)
        scanned.folders.append(parts)
        yield _Folder(path, parts, (*folder.real, real))
    elif path.suffix.lower() in rules.suffixes or (problem is not None and not path.suffix):
        _check_name(entry.name, folder.path)
        scanned.images.append(FoundFile(path, parts, problem))
    else:
        scanned.ignored.setdefault(_kind(entry.name), []).append("/".join(parts))


def _entries(folder: _Folder) -> Iterator[os.DirEntry[str]]:
    try:
        # By its real path: one through many links takes long to follow.
        with os.scandir(folder.real[-1]) as entries:
            yield from entries
    except OSError as error:
        reject(f"{folder.path} cannot be listed: {error.strerror}.", error)


def _locate(
    entry: os.DirEntry[str], folder: _Folder, root: Path, follow_links: bool
) -> tuple[str, str | None]:
    """Real path of an entry, and why it must not be opened."""
    path, real = folder.path / entry.name, f"{folder.real[-1]}{os.sep}{entry.name}"
    if entry.is_symlink():
        try:
            real = os.path.realpath(entry.path, strict=True)
        except OSError as error:
            return "", f"is a link that leads nowhere ({error.strerror}). Remove it."
        if not follow_links and not Path(real).is_relative_to(folder.real[0]):
            advice = "Copy its target there, exclude it, or allow it by follow_links."
            problem = f"is a link out of {root}, which is not followed. {advice}"
            if entry.is_dir():
                _check_name(entry.name, folder.path)
                reject(f"{path} {problem}")
            return real, problem
    # Outside of the root, a plain folder may also be one of those above.
    if real in folder.real:
        _check_name(entry.name, folder.path)
        reject(f"{path} is a link to a folder above it: it has no end. Remove or exclude it.")
    return real, None


def _check_name(name: str, folder: Path) -> None:
    """Refuse names that break a line of a report or are no valid text."""
    if name.isprintable():
        return
    if any(unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp") for letter in name):
        expected = "Expected valid Unicode without control characters or line breaks, as names"
        reject(f"{folder} holds the name {name!r}. {expected} become labels: rename it.")


def _kind(name: str) -> str:
    suffix = Path(name).suffix.lower()
    return suffix if suffix and suffix.isprintable() else "without extension"


def natural_key(name: str) -> tuple[tuple[str | int, ...], str]:
    """Sort key that compares numbers by value: ``img2`` before ``img10``."""
    pieces = re.split("([0-9]+)", name)
    return tuple(int(p) if i % 2 else p for i, p in enumerate(pieces)), name
