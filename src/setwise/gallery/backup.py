"""A gallery file and its journal: checked, copied into one archive, and put back.

An archive is a zip file without compression: ``manifest.json``, each state once under its
SHA-256, and the journal as it was. Everything is checked before it gets its name.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from secrets import token_hex
from typing import IO, Any
from zipfile import ZIP_STORED, ZipFile, ZipInfo

from setwise._support.files import held, real_path, write_atomically
from setwise.errors import SetwiseError, reject
from setwise.gallery.file import load_gallery
from setwise.gallery.journal import (
    BESIDE,
    DECISIONS,
    JOURNAL,
    SUFFIX,
    file_digest,
    journal_of,
    link,
    read_entries,
    settle,
)
from setwise.io.untrusted import BROKEN, broken, regular_file

FORMAT, MANIFEST, CHUNK = 1, "manifest.json", 1 << 20
MEMBER = re.compile(rf"states/([0-9a-f]{{64}}){re.escape(SUFFIX)}|{'|'.join(BESIDE)}")
LONGEST_MANIFEST = 10_000_000


@dataclass(frozen=True)
class Finding:
    """Something that was checked, whether it is sound, and what was found."""

    what: str
    ok: bool
    detail: str


@dataclass(frozen=True)
class Copied:
    """What a backup or a restore has copied."""

    digest: str
    n_states: int
    n_bytes: int
    left_out: tuple[str, ...] = ()


def verify(path: Path) -> list[Finding]:
    """Check a gallery file, its journal and all kept states; nothing is changed."""
    gallery = real_path(regular_file("verify", path))
    return [*_verify_file(gallery), *_verify_journal(gallery)]


def _verify_file(gallery: Path) -> Iterator[Finding]:
    try:
        found, _ = load_gallery(gallery, caller="verify")
    except SetwiseError as error:
        yield Finding("gallery", False, str(error))
    else:
        words = f"{found.n_classes} classes, {len(found.sets)} sets, SHA-256 as written"
        yield Finding("gallery", True, words)
    left = sorted(one.name for one in gallery.parent.glob(f".{gallery.name}.*.tmp"))
    if left:
        words = (
            f"{', '.join(left)}: left by a process that was killed; the next save removes it"
        )
        yield Finding("temporary files", True, words)


def _verify_journal(gallery: Path) -> Iterator[Finding]:
    folder = journal_of(gallery)
    if not folder.is_dir():
        return
    try:
        entries = read_entries(folder / JOURNAL)
    except SetwiseError as error:
        yield Finding("journal", False, str(error))
        return
    yield Finding("journal", True, f"{len(entries)} changes")
    states = sorted(folder.glob(f"*{SUFFIX}"))
    bad = [one.name for one in states if file_digest(one) != one.stem]
    words = f"{len(states)} states kept" if not bad else f"damaged: {', '.join(bad)}"
    yield Finding("kept states", not bad, words)
    in_force = [entry for entry in entries if entry.state == "done"]
    if in_force and file_digest(gallery) not in in_force[-1].results:
        words = "the gallery was changed by another program, so the last change has no undo"
        yield Finding("last change", True, words)
    if (folder / DECISIONS).exists():
        yield _verify_decisions(folder / DECISIONS)


def _verify_decisions(file: Path) -> Finding:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        return Finding("decisions", isinstance(found, dict), f"{len(found)} about the inbox")
    except (OSError, ValueError, TypeError, RecursionError) as error:
        return Finding("decisions", False, f"{file}: {error}. Move it away to begin anew.")


def backup(path: Path, archive: Path) -> Copied:
    """Copy a gallery file and its journal into one archive, under the file's lock.

    A damaged gallery or history is refused, so that it never replaces a good archive; damaged
    kept states are left out.
    """
    gallery = real_path(regular_file("backup", path))
    is_writable = os.access(gallery.parent, os.W_OK)
    with held(gallery) if is_writable else nullcontext():
        load_gallery(gallery, caller="backup")
        read_entries(journal_of(gallery) / JOURNAL)
        states, left_out = _states_of(gallery)
        digest = file_digest(gallery)
        states.setdefault(digest, gallery)
        folder = journal_of(gallery)
        plain = [folder / name for name in BESIDE if (folder / name).is_file()]
        with write_atomically(archive) as unfinished:
            _write(unfinished, digest, states, plain)
    n_bytes = sum(one.stat().st_size for one in states.values())
    return Copied(digest, len(states), n_bytes, left_out)


def _states_of(gallery: Path) -> tuple[dict[str, Path], tuple[str, ...]]:
    """The kept states by their digest, and the names of damaged ones."""
    found = sorted(journal_of(gallery).glob(f"*{SUFFIX}"))
    sound = {one.stem: one for one in found if file_digest(one) == one.stem}
    return sound, tuple(one.name for one in found if one.stem not in sound)


def _write(archive: Path, digest: str, states: dict[str, Path], plain: list[Path]) -> None:
    files = {one.name: one for one in plain}
    files |= {f"states/{name}{SUFFIX}": states[name] for name in sorted(states)}
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "gallery": digest,
        "versions": {"setwise": version("setwise")},
        "files": {name: file_digest(one) for name, one in files.items()},
    }
    with ZipFile(archive, "w", ZIP_STORED) as target:
        target.writestr(ZipInfo(MANIFEST), json.dumps(manifest, indent=1))
        for name, one in files.items():
            entry = target.open(ZipInfo(name), "w", force_zip64=True)
            with one.open("rb") as source, entry as to:
                shutil.copyfileobj(source, to, CHUNK)


def restore(archive: Path, path: Path) -> Copied:
    """Put a gallery file and its journal where none are; all of it, or nothing."""
    given, gallery = regular_file("restore", archive), real_path(path)
    if not gallery.parent.is_dir():
        reject(f"restore: there is no folder {str(gallery.parent)!r}. Make it first.")
    with held(gallery):
        return _restore(given, gallery)


def _restore(archive: Path, gallery: Path) -> Copied:
    folder = journal_of(gallery)
    for there in (gallery, folder):
        if there.exists():
            reject(f"restore: {there} is there already. Move it away, or name another file.")
    beside = folder.with_name(f".{folder.name}.{token_hex(4)}.tmp")
    beside.mkdir()
    try:
        manifest = _unpacked(archive, beside)
        digest = str(manifest["gallery"])
        current = beside / f"{digest}{SUFFIX}"
        load_gallery(current, caller="restore")
        n_states, n_bytes = _measured(beside)
        if JOURNAL in manifest["files"]:
            beside.rename(folder)
            current = folder / current.name
        link(current, gallery)
        settle(gallery.parent)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return Copied(digest, n_states, n_bytes)


def _measured(folder: Path) -> tuple[int, int]:
    sizes = [one.stat().st_size for one in folder.glob(f"*{SUFFIX}")]
    return len(sizes), sum(sizes)


def _unpacked(archive: Path, folder: Path) -> dict[str, Any]:
    """Write the files of an archive below a folder, each checked; the manifest."""
    with _readable(archive), ZipFile(archive) as source:
        manifest = _manifest(source, archive)
        for name, digest in manifest["files"].items():
            if not MEMBER.fullmatch(name):
                reject(f"restore: {archive} holds a file of another kind, {name!r}.")
            target = folder / name.rpartition("/")[2]
            with source.open(_stored(source, name)) as stream, target.open("xb") as to:
                is_named = target.suffix != SUFFIX or target.stem == digest
                if _copied(stream, to) != digest or not is_named:
                    reject(f"restore: {name} in {archive} is damaged. Use an older archive.")
    try:
        read_entries(folder / JOURNAL)
    except SetwiseError as error:
        reject(f"restore: the history in {archive} is damaged. Use an older archive.", error)
    return manifest


def _manifest(source: ZipFile, archive: Path) -> dict[str, Any]:
    """What an archive says that it holds; the gallery is one of its own states."""
    entry = _stored(source, MANIFEST)
    if entry.file_size > LONGEST_MANIFEST:
        broken("its manifest is too long")
    manifest: dict[str, Any] = json.loads(source.read(entry))
    if manifest["format"] > FORMAT:
        reject(f"restore: {archive} was made by a later version of setwise. Install that.")
    files = manifest["files"]
    if not isinstance(files, dict) or f"states/{manifest['gallery']}{SUFFIX}" not in files:
        broken("its manifest names no state as the gallery")
    return manifest


def _stored(source: ZipFile, name: str) -> ZipInfo:
    """An entry that is as large as it takes room: nothing here unpacks to more."""
    entry = source.getinfo(name)
    if entry.compress_type != ZIP_STORED:
        broken(f"{name} is packed")
    return entry


def _copied(stream: IO[bytes], to: IO[bytes]) -> str:
    digest = hashlib.sha256()
    while chunk := stream.read(CHUNK):
        digest.update(chunk)
        to.write(chunk)
    to.flush()
    os.fsync(to.fileno())
    return digest.hexdigest()


@contextmanager
def _readable(archive: Path) -> Iterator[None]:
    try:
        yield
    except SetwiseError:
        raise
    except BROKEN as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        what = f"restore: {str(archive)!r} is no archive of `setwise backup`, or a damaged one"
        reject(f"{what} ({reason}). Copy it again, or use an older one.", error)
