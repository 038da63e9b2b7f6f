"""Files written whole or not at all, locks against other processes, the cache folder."""

from __future__ import annotations

import logging
import os
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import IO

from setwise.errors import reject

logger = logging.getLogger("setwise")

# Seconds between two attempts to get a lock that another process holds.
RETRY_S = 0.05


def real_path(path: Path) -> Path:
    """The file behind a link, which may not exist yet."""
    return Path(os.path.realpath(path))


@contextmanager
def write_atomically(path: Path) -> Iterator[Path]:
    """A new file to write to, which replaces ``path`` after the block has ended well.

    A link stays, and the file behind it is replaced. Devices and pipes are written directly.
    """
    if path.exists() and not path.is_file():
        yield path
        return
    target = real_path(path)
    mode = stat.S_IMODE(target.stat().st_mode) & 0o777 if target.exists() else None
    temporary = target.with_name(f".{target.name}.{token_hex(4)}.tmp")
    # The system applies the umask to a new file; asking for the umask would change it.
    os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode or 0o666))
    try:
        yield temporary
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def write_whole(file: Path, text: str) -> Path:
    """Write all of a text file, or nothing; missing folders above it are made."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(file) as unfinished:
            unfinished.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        reject(
            f"{file}: cannot be written: {error.strerror}. Expected a folder with room on its "
            "disk. Finished work is kept: make room, or name another folder, and run it again.",
            error,
        )
    return file


def acquired(lock: IO[bytes]) -> bool:
    """Whether this process now holds the lock on an open file, alone, until that is closed."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(lock.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError as error:
        why = f"{lock.name} cannot be locked: {error.strerror}"
        reject(f"{why}. Use a folder on a local disk.", error)
    return True


@contextmanager
def held(path: Path, *, wait_s: float = 600.0) -> Iterator[None]:
    """Hold the lock of a file while it changes, after waiting for other processes.

    The lock is a hidden file beside the file itself, removed with the last holder.
    """
    target = real_path(path)
    beside = target.with_name(f".{target.name}.lock")
    began, is_told = time.monotonic(), False
    while True:
        lock = _opened(beside)
        if acquired(lock) and _is_same(lock, beside):
            break
        lock.close()
        waited = time.monotonic() - began
        if waited > wait_s:
            reject(
                f"{path}: another process has been changing it for {waited:.0f} s. Wait for it "
                "to end, or end it, and run this again."
            )
        if waited > 1 and not is_told:
            logger.info("Another process is changing %s; waiting for it.", path)
            is_told = True
        time.sleep(RETRY_S)
    with lock:
        try:
            yield
        finally:
            with suppress(OSError):  # Windows removes no open file; it is used again then
                beside.unlink()


def _opened(path: Path) -> IO[bytes]:
    """The lock file, opened without following a link or waiting for a pipe."""
    try:
        return open(path, "r+b", buffering=0, opener=_open_regular)
    except OSError as error:
        if os.path.lexists(path) and (path.is_symlink() or not path.is_file()):
            reject(f"{path}: is no regular file, so it cannot be the lock. Remove it.", error)
        expected = "Expected a folder in which files can be made"
        reject(f"{path.parent}: cannot be written to: {error.strerror}. {expected}.", error)


def _open_regular(name: str, _: int) -> int:
    special = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    handle = os.open(name, os.O_RDWR | os.O_CREAT | special, 0o666)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(0, "no regular file")
    return handle


def _is_same(lock: IO[bytes], path: Path) -> bool:
    """Whether the open file still has that name: its last holder removes it."""
    try:
        return os.path.samestat(os.fstat(lock.fileno()), path.lstat())
    except OSError:
        return False


def cache_folder() -> Path:
    """The cache folder of this user for setwise."""
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        base = Path(local) if local else Path.home() / "AppData" / "Local"
        return base / "setwise" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "setwise"
    named = os.environ.get("XDG_CACHE_HOME")
    return (Path(named) if named else Path.home() / ".cache") / "setwise"
