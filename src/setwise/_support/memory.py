"""The memory of this machine or container, asked before work that needs much of it."""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress
from functools import cache
from pathlib import Path

from setwise.errors import TooLargeError

# Of glibc's malloc.h.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3


def available_memory() -> int | None:
    """Bytes available without swapping, within a container's limits; None where unknown."""
    amounts = (_free_on_machine(), _free_in_container())
    return min((amount for amount in amounts if amount is not None), default=None)


def total_memory() -> int | None:
    """Bytes of memory of the machine, used or not; None where unknown."""
    with suppress(AttributeError, OSError, ValueError):
        return _all_pages()
    return None


def require_memory(needed: int, what: str, advice: str) -> None:
    """Refuse work that needs more bytes than are available."""
    free = available_memory()
    if free is not None and needed > free:
        amounts = f"{_readable(needed)} of memory, and {_readable(free)} is available"
        msg = f"{what} needs about {amounts}. {advice}"
        raise TooLargeError(msg)


@cache
def keep_freed_memory() -> None:
    """Let this process, a worker, keep up to 128 MiB that it frees.

    Dask starts workers so that they give it back at once, and those of joblib do, too: each
    step of a probe would get its memory anew, page by page.
    """
    with suppress(OSError, AttributeError, TypeError):  # no glibc
        change = ctypes.CDLL(None).mallopt
        change(_TRIM_THRESHOLD, 2**27)
        change(_MMAP_THRESHOLD, 2**25)


def _readable(amount: int) -> str:
    unit, name = (2**30, "GiB") if amount >= 2**30 else (2**20, "MiB")
    return f"{amount / unit:.1f} {name}"


def _free_on_machine() -> int | None:
    """By the first source that this system has: Linux, Windows, then macOS and others."""
    for source in (_free_by_proc, _free_by_windows, _all_pages):
        with suppress(OSError, ValueError, AttributeError, LookupError):
            return source()
    return None


def _free_by_proc() -> int:
    lines = Path("/proc/meminfo").read_text().splitlines()
    return int(dict(line.split(":") for line in lines)["MemAvailable"].split()[0]) * 1024


def _free_by_windows() -> int:
    # A MEMORYSTATUSEX: its own length in bytes, a share, then seven amounts of 64 bits.
    status = (ctypes.c_uint64 * 8)(64)
    if not ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status)):  # type: ignore[attr-defined]
        raise OSError
    return status[2]


def _all_pages() -> int:
    """All memory, used or not: POSIX knows no more."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _free_in_container() -> int | None:
    folder = Path("/sys/fs/cgroup")
    try:
        limit = (folder / "memory.max").read_text().strip()
        used = int((folder / "memory.current").read_text())
        cache = dict(map(str.split, (folder / "memory.stat").read_text().splitlines()))
    except (OSError, ValueError):
        return None
    # Cached files count as used, but make way.
    return None if limit == "max" else int(limit) - used + int(cache.get("inactive_file", 0))
