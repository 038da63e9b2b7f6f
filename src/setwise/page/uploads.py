"""Uploaded files, on disk under names that the server chooses; zip files are unpacked."""

from __future__ import annotations

import lzma
import os
import shutil
import stat
import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, NamedTuple, TypeAlias
from zipfile import BadZipFile, ZipFile, ZipInfo

from setwise._support.text import file_name, free_name, printable
from setwise.errors import DataError, reject
from setwise.io.decode import SUFFIXES
from setwise.io.scan import natural_key
from setwise.io.video import VIDEO_SUFFIXES
from setwise.page.settings import Limits

MOST_LETTERS, MOST_PARTS = 120, 8  # of a name that are shown
CHUNK = 1 << 18
HIGHEST_RATIO = 200  # photos hardly shrink: a file that shrinks more is no photo
ENTRY_BYTES = 1000  # most of one entry in the list of a zip file
VECTORS_SUFFIX = ".vectors"  # of a NumPy file that is judged; no upload has it
SYSTEM_FILES = ("__MACOSX", "Thumbs.db", "desktop.ini")
DAMAGE = (
    BadZipFile, zlib.error, lzma.LZMAError, struct.error, NotImplementedError, EOFError,
    RuntimeError, OSError, ValueError,
)  # fmt: skip


class TooMuchError(DataError):
    """More files or bytes than one request may bring."""


class _DamagedError(Exception):
    """A file inside a zip file cannot be unpacked."""


class ReceivedFile(NamedTuple):
    """A file, and the folders and name that its sender gave it."""

    path: Path
    parts: tuple[str, ...]

    @property
    def is_clip(self) -> bool:
        """Whether the name is that of a video."""
        return self.path.suffix in VIDEO_SUFFIXES

    @property
    def words(self) -> str:
        """Its name for people."""
        return "/".join(self.parts)

    @property
    def place(self) -> tuple[object, ...]:
        """Its place in the order of :func:`setwise.io.scan.scan`."""
        return tuple(map(natural_key, self.parts[:-1])), natural_key(self.parts[-1])


FilesOfSets: TypeAlias = dict[str, list[ReceivedFile]]


@dataclass
class Received:
    """The files of one request."""

    folder: Path
    files: list[ReceivedFile] = field(default_factory=list)
    left_out: list[tuple[str, str]] = field(default_factory=list)  # name and reason

    @property
    def has_vectors(self) -> bool:
        """Whether it is a file of vectors, in place of photos."""
        return [file.path.suffix for file in self.files] == [VECTORS_SUFFIX]

    @property
    def name(self) -> str:
        """Name of the whole upload: the folder or file that was dropped."""
        n_files, tops = len(self.files), {file.parts[0] for file in self.files}
        if len(tops) > 1:
            return f"{n_files} files"
        return tops.pop() if n_files > 1 else Path(tops.pop()).stem

    def sets(self) -> FilesOfSets:
        """The files by folder, in natural order; each clip is a set of its own."""
        tops = {file.parts[:-1][:1] for file in self.files}
        top = tops.pop() if len(tops) == 1 else ()  # the one folder that holds everything
        groups: dict[tuple[str, ...], list[ReceivedFile]] = {}
        for file in sorted(self.files, key=lambda file: file.place):
            below = file.parts[len(top) :]
            home = (*below[:-1], Path(below[-1]).stem) if file.is_clip else below[:-1]
            groups.setdefault((*home, "\0clip") if file.is_clip else home, []).append(file)
        loose = top[-1] if top else self.name if len(self.files) == 1 else "photos"
        named: FilesOfSets = {}
        for home, files in groups.items():
            name = "/".join(part for part in home if part != "\0clip") or loose
            named[free_name(name, named)] = files
        return named

    def keep(self, folder: Path, most_bytes: int) -> int:
        """Move the files to a folder, under names that are safe on every disk; their number."""
        folder.mkdir(parents=True, exist_ok=True)
        n_bytes = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        n_bytes += sum(file.path.stat().st_size for file in self.files)
        if n_bytes > most_bytes:
            msg = f"These photos are more than {most_bytes / 1e9:.0f} GB together. Send fewer."
            raise TooMuchError(msg)
        for file in self.files:
            home = folder.joinpath(*map(file_name, file.parts[:-1]))
            home.mkdir(parents=True, exist_ok=True)
            stem, suffix = file_name(Path(file.parts[-1]).stem), file.path.suffix
            target, number = home / f"{stem}{suffix}", 2
            while target.exists() and target.stat().st_size != file.path.stat().st_size:
                target, number = home / f"{stem} ({number}){suffix}", number + 1
            file.path.replace(target)
        return len(self.files)

    def forget(self) -> None:
        """Remove everything."""
        shutil.rmtree(self.folder, ignore_errors=True)


def linked(old: Path, new: Path) -> Path:
    """The same file under another name; a copy where links cannot be made."""
    try:
        os.link(old, new)
    except OSError:
        shutil.copyfile(old, new)
    return new


def plain_parts(name: str) -> tuple[str, ...]:
    """The folders and name that a client gave a file, safe to show."""
    parts = [part.strip() for part in name.replace("\\", "/").split("/")]
    kept = [printable(part) for part in parts if part not in ("", ".", "..")]
    shown = (  # shortened in the middle, so that the suffix stays
        part if len(part) <= MOST_LETTERS else f"{part[: MOST_LETTERS - 21]}…{part[-20:]}"
        for part in kept[-MOST_PARTS:]
    )
    return tuple(shown) or ("file",)


def receive(named: Iterable[tuple[str, IO[bytes]]], folder: Path, limits: Limits) -> Received:
    """Write uploaded files, given as (name, content), into a folder, and open zip files."""
    received = Received(folder)
    try:
        room = _Room(received, limits)
        for name, content in named:
            room.take(name, content)
        if not received.files:
            first = " ".join(received.left_out[0]) if received.left_out else ""
            reject(f"There is no photo or clip in the upload. {first}".strip())
    except OSError as error:
        received.forget()
        words = f"The server cannot store the files: {error.strerror}. Make room on its disk."
        reject(words, error)
    except BaseException:
        received.forget()
        raise
    return received


class _Room:
    """Takes files in, and counts them and their bytes."""

    def __init__(self, received: Received, limits: Limits) -> None:
        self.received, self.limits = received, limits
        self.n_unpacked = self.n_files = 0

    def take(self, name: str, content: IO[bytes]) -> None:
        parts, suffix = plain_parts(name), _suffix(name)
        if suffix == ".zip":
            self._take_zip(parts, content)
        elif self._is_wanted(parts, suffix):
            self._write(parts, suffix, iter(lambda: content.read(CHUNK), b""))

    def _is_wanted(self, parts: tuple[str, ...], suffix: str) -> bool:
        self.n_files += 1
        if self.n_files > self.limits.files:
            msg = f"These are more than {self.limits.files} files. Send fewer at once."
            raise TooMuchError(msg)
        if parts[-1].startswith(".") or any(part in SYSTEM_FILES for part in parts):
            return False
        if suffix not in SUFFIXES | VIDEO_SUFFIXES:
            self._leave_out(parts, "is no photo, clip or zip file.")
            return False
        return True

    def _leave_out(self, parts: tuple[str, ...], reason: str) -> None:
        self.received.left_out.append(("/".join(parts), reason))

    def _write(self, parts: tuple[str, ...], suffix: str, chunks: Iterable[bytes]) -> None:
        path = self.received.folder / f"{len(self.received.files):06d}{suffix}"
        try:
            with path.open("xb") as file:
                for chunk in chunks:
                    file.write(chunk)
        except BaseException:
            path.unlink(missing_ok=True)  # the next file gets this number
            raise
        self.received.files.append(ReceivedFile(path, parts))

    def _take_zip(self, parts: tuple[str, ...], content: IO[bytes]) -> None:
        name = "/".join(parts)
        try:
            _check_list(content, name, self.limits)
            archive = ZipFile(content)
        except TooMuchError:
            raise
        except DAMAGE:
            self._leave_out(parts, "is damaged, or no zip file. Pack it again.")
            return
        with archive:
            entries = archive.infolist()
            if len(entries) + self.n_files > self.limits.files:
                msg = f"{name} holds more than {self.limits.files} files. Send fewer at once."
                raise TooMuchError(msg)
            self._check_size(sum(entry.file_size for entry in entries), name)
            above = _above(entries, parts)
            for entry in entries:
                self._take_entry(archive, entry, above)

    def _check_size(self, n_bytes: int, name: str) -> None:
        most = self.limits.unpacked_bytes
        if n_bytes > most:
            msg = f"{name} unpacks to more than {most / 1e6:.0f} MB. Send fewer photos at once."
            raise TooMuchError(msg)

    def _take_entry(self, archive: ZipFile, entry: ZipInfo, above: tuple[str, ...]) -> None:
        if entry.is_dir():
            return
        parts = (*above, *plain_parts(entry.filename))[-MOST_PARTS:]
        suffix = _suffix(entry.filename)
        if not self._is_wanted(parts, suffix):
            return
        mode = entry.external_attr >> 16
        if mode and not stat.S_ISREG(mode) and stat.S_IFMT(mode):
            self._leave_out(parts, "is a link or no plain file, which is not followed.")
        elif entry.flag_bits & 0x1:
            self._leave_out(parts, "is locked with a password.")
        elif entry.file_size > HIGHEST_RATIO * max(entry.compress_size, 1):
            self._leave_out(parts, "is packed too tightly to be a photo.")
        else:
            try:
                self._write(parts, suffix, self._unpacked(archive, entry, "/".join(parts)))
            except _DamagedError:
                self._leave_out(parts, "is damaged inside the zip file.")

    def _unpacked(self, archive: ZipFile, entry: ZipInfo, name: str) -> Iterable[bytes]:
        """The bytes of one entry in chunks, counted."""
        try:
            with archive.open(entry) as stream:
                while chunk := stream.read(CHUNK):
                    self.n_unpacked += len(chunk)
                    self._check_size(self.n_unpacked, name)
                    yield chunk
        except TooMuchError:
            raise
        except DAMAGE as error:
            raise _DamagedError from error


def _above(entries: list[ZipInfo], parts: tuple[str, ...]) -> tuple[str, ...]:
    """The folder that stands for a zip file, unless one folder inside holds everything."""
    inside = [plain_parts(entry.filename) for entry in entries if not entry.is_dir()]
    tops = {entry[:-1][:1] for entry in inside if entry[0] not in SYSTEM_FILES}
    has_folder = len(tops) == 1 and tops != {()}
    return parts[:-1] if has_folder else (*parts[:-1], Path(parts[-1]).stem)


def _suffix(name: str) -> str:
    """Suffix of a file name in small letters; only known ones reach the disk."""
    return Path(plain_parts(name)[-1]).suffix.lower() if len(name) < 5000 else ""


def _check_list(content: IO[bytes], name: str, limits: Limits) -> None:
    """Refuse a zip file whose list of files, as ZipFile finds it, would fill the memory."""
    content.seek(max(content.seek(0, 2) - 22 - 65535, 0))
    tail = content.read()
    place = len(tail) - 22
    if not (tail[-22:][:4] == b"PK\5\6" and tail[-2:] == b"\0\0"):
        place = tail.rfind(b"PK\5\6")
    if place < 0 or len(tail) - place < 22:
        raise BadZipFile
    (list_bytes,) = struct.unpack("<L", tail[place + 12 : place + 16])
    is_large = tail[max(place - 20, 0) : place].startswith(b"PK\6\7")
    if is_large or list_bytes > limits.files * ENTRY_BYTES:
        msg = f"{name} lists more than {limits.files} files. Send fewer at once."
        raise TooMuchError(msg)
    content.seek(0)
