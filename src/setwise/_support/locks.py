"""Locks on files, with which processes keep out of each other's way."""

from __future__ import annotations

import sys
from typing import IO

from setwise.errors import DataError

__all__ = ["acquired"]


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
