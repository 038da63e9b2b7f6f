"""Locks on files, with which processes keep out of each other's way."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from setwise.errors import DataError

__all__ = ["acquired", "held"]

logger = logging.getLogger("setwise")

# Between two looks at a lock that another process has.
PATIENCE_S = 0.05


def acquired(lock: IO[bytes]) -> bool:
    """Whether this process has the lock on an open file now; no other process can have it then.

    Closing the file gives it back; the system does so for a process that dies.

    Parameters
    ----------
    lock : file
        Open for writing.

    Raises
    ------
    DataError
        When the file cannot be locked at all, as on some network disks.
    """
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
        msg = f"{lock.name} cannot be locked: {error.strerror}. Use a folder on a local disk."
        raise DataError(msg) from error
    return True


@contextmanager
def held(path: Path, *, wait_s: float = 600.0) -> Iterator[None]:
    """Change a file while no other process does: wait for its lock, and hold it.

    The lock is a hidden file beside it, gone when nobody holds it.

    Parameters
    ----------
    path : Path
        What is to be changed.
    wait_s : float, default=600.0
        After which waiting is given up.

    Raises
    ------
    DataError
        When another process has held it all the time, or the folder cannot be written to.
    """
    beside = path.with_name(f".{path.name}.lock")
    began = time.monotonic()
    is_told = False
    while True:
        lock = _opened(beside)
        if acquired(lock) and _is_same(lock, beside):
            break
        lock.close()
        waited = time.monotonic() - began
        if waited > wait_s:
            msg = (
                f"{path}: another process has been changing it for {waited:.0f} s. Wait for it "
                "to end, or end it, and run this again."
            )
            raise DataError(msg)
        if waited > 1 and not is_told:
            logger.info("Another process is changing %s; waiting for it.", path)
            is_told = True
        time.sleep(PATIENCE_S)
    with lock:
        try:
            yield
        finally:
            with suppress(OSError):  # Windows removes no open file; it is used again then
                beside.unlink()


def _opened(path: Path) -> IO[bytes]:
    try:
        return path.open("ab")
    except OSError as error:
        msg = (
            f"{path.parent}: cannot be written to: {error.strerror}. Expected a folder in "
            "which files can be made."
        )
        raise DataError(msg) from error


def _is_same(lock: IO[bytes], path: Path) -> bool:
    """Whether an open file is still the one of that name: its last holder removes it."""
    try:
        return os.path.samestat(os.fstat(lock.fileno()), path.stat())
    except OSError:
        return False
