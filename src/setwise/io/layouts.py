"""Which images lie in a folder, and which of its folders are the sets."""

from __future__ import annotations

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby, islice
from pathlib import Path
from typing import NamedTuple

from setwise.errors import reject
from setwise.io.bursts import burst_name, bursts
from setwise.io.decode import SUFFIXES

__all__ = [
    "LAYOUTS",
    "FoundFile",
    "Scan",
    "SetOfFiles",
    "check_any",
    "decide_layout",
    "group_into_sets",
    "natural_key",
    "scan",
]

# How many folders lie between the root and its images.
LAYOUTS = {"class/set": 2, "set": 1, "single": 0, "bursts": 0, "class/bursts": 1}
# Folders of photos look like folders of sets: bursts are never guessed.
_GUESSED = {depth: name for name, depth in LAYOUTS.items() if "bursts" not in name}
_SHAPES = (
    "'class/set' (root/class/set/image), 'set' (root/set/image), 'single' (root/image), "
    "'bursts' (root/image, by time) or 'class/bursts' (root/class/image, by time)"
)


@dataclass(frozen=True)
class FoundFile:
    """An image file, the folders and name that lead to it, and why it must not be opened."""

    path: Path
    parts: tuple[str, ...]
    problem: str | None = None

    @property
    def depth(self) -> int:
        """How many folders lie between the root and the image."""
        return len(self.parts) - 1


@dataclass
class Scan:
    """The images of a folder in natural order, and what else was met there."""

    root: Path
    what: str
    images: list[FoundFile] = field(default_factory=list)
    folders: list[tuple[str, ...]] = field(default_factory=list)
    n_hidden: int = 0
    ignored: Counter[str] = field(default_factory=Counter)
    n_entries: int = 0

    def set_name(self, folder: tuple[str, ...]) -> str:
        """What the images of a folder are called together."""
        return "/".join(folder) or self.root.resolve().name

    def notes(self) -> list[str]:
        """What was left aside."""
        notes = []
        if self.n_hidden:
            notes.append(f"ignored, hidden: {self.n_hidden}")
        if self.ignored:
            kinds = ", ".join(f"{n} {kind}" for kind, n in self.ignored.most_common(5))
            notes.append(f"ignored, no {self.what}: {self.ignored.total()} ({kinds})")
        used = {i.parts[:n] for i in self.images for n in range(1, len(i.parts))}
        bare = sorted("/".join(folder) for folder in self.folders if folder not in used)
        if bare:
            notes.append(f"folders without {self.what}: {len(bare)}, such as {bare[0]!r}")
        return notes


class SetOfFiles(NamedTuple):
    """A set to be: its name, its class where it has one, and which images are its own."""

    name: str
    label: str | None
    rows: list[int]


@dataclass(frozen=True)
class _Folder:
    path: Path
    parts: tuple[str, ...]
    # Where it and the folders above it really are: meeting one again is a loop.
    real: tuple[str, ...]


def scan(
    root: Path, max_files: int, suffixes: Set[str] = SUFFIXES, what: str = "images"
) -> Scan:
    """Find every image below a folder; the order does not depend on the file system.

    With other ``suffixes``, find ``what`` is named so.

    Hidden files and files of other kinds are counted, not read. Links are followed where they
    stay inside the root.

    Raises
    ------
    DataError
        Where the root is no folder, holds more than ``max_files`` entries, has a loop of links,
        a link to a folder outside, or a name that cannot be shown.
    """
    if not root.is_dir():
        there = "is a file" if root.exists() else "does not exist"
        reject(f"{root} {there}. Expected a folder of {what}.")
    scanned = Scan(root, what)
    _check_name(root.resolve().name, root)
    waiting = [_Folder(root, (), (os.path.realpath(root),))]
    while waiting:
        waiting += _look_into(waiting.pop(), scanned, max_files, suffixes)
    scanned.images.sort(key=lambda image: tuple(map(natural_key, image.parts)))
    return scanned


def check_any(scanned: Scan, suffixes: Set[str] = SUFFIXES) -> None:
    """Refuse a folder in which there is nothing to read."""
    if not scanned.images:
        met = "; ".join(scanned.notes()) or "it is empty"
        names = ", ".join(sorted(suffixes))
        reject(f"{scanned.root} holds no {scanned.what} ({met}). Expected files named {names}.")


def _look_into(
    folder: _Folder, scanned: Scan, max_files: int, suffixes: Set[str]
) -> Iterator[_Folder]:
    """Take note of the files of a folder, and yield the folders in it."""
    # Counted before anything is done to them: a folder may hold millions.
    entries = list(islice(_entries(folder), max_files - scanned.n_entries + 1))
    scanned.n_entries += len(entries)
    if scanned.n_entries > max_files:
        reject(
            f"{scanned.root} holds more than max_files={max_files} files and folders. Is it "
            "the right one? If so, raise max_files."
        )
    for entry in entries:
        if entry.name.startswith("."):
            scanned.n_hidden += 1
            continue
        real, problem = _really(entry, folder, scanned.root)
        path, parts = folder.path / entry.name, (*folder.parts, entry.name)
        if problem is None and entry.is_dir():
            _check_name(entry.name, folder.path)
            scanned.folders.append(parts)
            yield _Folder(path, parts, (*folder.real, real))
        elif problem is not None or path.suffix.lower() in suffixes:
            _check_name(entry.name, folder.path)
            scanned.images.append(FoundFile(path, parts, problem))
        else:
            scanned.ignored[_kind(entry.name)] += 1


def _entries(folder: _Folder) -> Iterator[os.DirEntry[str]]:
    try:
        # Where it really is: a path through many links takes long to follow.
        with os.scandir(folder.real[-1]) as entries:
            yield from entries
    except OSError as error:
        reject(f"{folder.path} cannot be listed: {error.strerror}.", error)


def _really(entry: os.DirEntry[str], folder: _Folder, root: Path) -> tuple[str, str | None]:
    """Where an entry really is, and what forbids to follow it there."""
    if not entry.is_symlink():
        return f"{folder.real[-1]}{os.sep}{entry.name}", None
    path = folder.path / entry.name
    try:
        real = os.path.realpath(entry.path, strict=True)
    except OSError as error:
        return "", f"is a link that leads nowhere ({error.strerror}). Remove it."
    if not Path(real).is_relative_to(folder.real[0]):
        problem = f"is a link out of {root}, which is not followed. Copy its target there."
        if entry.is_dir():
            _check_name(entry.name, folder.path)
            reject(f"{path} {problem}")
        return real, problem
    if real in folder.real:
        _check_name(entry.name, folder.path)
        reject(f"{path} is a link to a folder above it, and so without end. Remove it.")
    return real, None


def _check_name(name: str, folder: Path) -> None:
    """Refuse names that would break a line of a report, or are no text at all."""
    if name.isprintable():
        return
    if any(unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp") for letter in name):
        reject(
            f"{folder} holds the name {name!r}. Expected valid Unicode without control "
            "characters or line breaks, as names of folders become labels: rename it."
        )


def _kind(name: str) -> str:
    suffix = Path(name).suffix.lower()
    return suffix if suffix and suffix.isprintable() else "without extension"


def natural_key(name: str) -> tuple[tuple[str | int, ...], str]:
    """Sort key in which numbers count as numbers: ``img2`` comes before ``img10``.

    Examples
    --------
    >>> sorted(["img10.png", "img2.png"], key=natural_key)
    ['img2.png', 'img10.png']
    """
    pieces = re.split("([0-9]+)", name)
    return tuple(int(p) if i % 2 else p for i, p in enumerate(pieces)), name


def decide_layout(scanned: Scan, layout: str) -> str:
    """The layout of a scanned folder: the one named, or for ``"auto"`` what its depths say.

    Raises
    ------
    DataError
        Where there are no images, or images at depths that the layout does not have.
    """
    check_any(scanned)
    images = [image for image in scanned.images if image.problem is None]
    if not images:
        reject(f"{scanned.images[0].path} {scanned.images[0].problem}")
    if layout == "auto":
        return _guess_layout(scanned.root, images)
    for image in images:
        if image.depth != LAYOUTS[layout]:
            reject(
                f"{image.path} lies {image.depth} folders below {scanned.root}, and the layout "
                f"{layout!r} has its images {LAYOUTS[layout]} below. Move it, or choose "
                f"another layout: {_SHAPES}."
            )
    return layout


def _guess_layout(root: Path, images: Sequence[FoundFile]) -> str:
    first = images[0]
    other = next((image for image in images if image.depth != first.depth), None)
    if other is not None:
        reject(
            f"{root} mixes layouts: {first.path} lies {first.depth} folders below it, "
            f"{other.path} {other.depth}. Move one of them, or choose a layout: {_SHAPES}."
        )
    if first.depth not in _GUESSED:
        reject(
            f"{first.path} lies {first.depth} folders below {root}. Expected at most 2: load a "
            f"folder further down, or choose a layout: {_SHAPES}."
        )
    return _GUESSED[first.depth]


def group_into_sets(
    images: Sequence[FoundFile],
    times: Sequence[datetime],
    scanned: Scan,
    layout: str,
    gap_s: float,
) -> list[SetOfFiles]:
    """The sets that images belong to: by folder, in natural order, and then by time.

    Parameters
    ----------
    images : sequence of FoundFile
        Images in natural order.
    times : sequence of datetime
        When each was taken; only bursts look at them.
    scanned : Scan
        Where they were found.
    layout : str
        One of `LAYOUTS`.
    gap_s : float
        Pause that begins a new burst.
    """
    sets = []
    folders = groupby(range(len(images)), key=lambda row: images[row].parts[:-1])
    for folder, members in folders:
        rows = list(members)
        label = folder[0] if layout.startswith("class/") else None
        if "bursts" not in layout:
            sets.append(SetOfFiles(scanned.set_name(folder), label, rows))
            continue
        for burst in bursts([times[row] for row in rows], gap_s):
            chosen = [rows[i] for i in burst]
            name = "/".join((*folder, burst_name(times[chosen[0]])))
            sets.append(SetOfFiles(name, label, chosen))
    return sets
