"""How much memory there is, asked before work that needs much of it."""

from __future__ import annotations

import os
from pathlib import Path

from setwise.errors import TooLargeError

__all__ = ["available_memory", "require_memory"]


def available_memory() -> int:
    """Bytes that can be had without swapping, within the limits of a container."""
    free = [_free_on_machine(), _free_in_container()]
    return min(amount for amount in free if amount is not None)


def require_memory(needed: int, what: str, advice: str) -> None:
    """Refuse work that needs more memory than there is."""
    free = available_memory()
    if needed > free:
        msg = (
            f"{what} needs about {_readable(needed)} of memory, and {_readable(free)} is "
            f"available. {advice}"
        )
        raise TooLargeError(msg)


def _readable(amount: int) -> str:
    unit, name = (2**30, "GiB") if amount >= 2**30 else (2**20, "MiB")
    return f"{amount / unit:.1f} {name}"


def _free_on_machine() -> int:
    table = Path("/proc/meminfo")
    if table.exists():
        for line in table.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _free_in_container() -> int | None:
    folder = Path("/sys/fs/cgroup")
    try:
        limit = (folder / "memory.max").read_text().strip()
        used = int((folder / "memory.current").read_text())
        lines = (folder / "memory.stat").read_text().splitlines()
        cache = dict(line.split() for line in lines)
    except (OSError, ValueError):
        return None
    # Cached files count as used, but make way.
    return None if limit == "max" else int(limit) - used + int(cache.get("inactive_file", 0))
