"""Whether a folder has changed, and what came is whole."""

from __future__ import annotations

import os
import time
from pathlib import Path

PAUSE_S, SHARE = 1.0, 20.0  # least pause, and pause per second that a look takes
Seen = frozenset[tuple[str, int, int]]


class Watch:
    """Looks at a folder now and then, and says when it was changed and has settled."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._read: Seen | None = None  # what was there when it was read
        self._last: Seen | None = None
        self._next = 0.0

    def has_changed(self) -> bool:
        """Whether the folder must be read: at first, and after each change that has ended."""
        began = time.monotonic()
        if began < self._next:
            return False
        seen = _content(self.folder)
        self._next = time.monotonic() + max(PAUSE_S, SHARE * (time.monotonic() - began))
        has_settled = self._read is None or seen == self._last
        self._last = seen
        if not has_settled or seen == self._read:
            return False
        self._read = seen
        return True


def _content(folder: Path) -> Seen:
    """Path, size and time of each file, hidden ones left out."""
    found, waiting = set(), [str(folder)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.name.startswith("."):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        about = entry.stat(follow_symlinks=False)
                        found.add((entry.path, about.st_size, about.st_mtime_ns))
        except OSError:  # gone meanwhile, or not to be looked into
            continue
    return frozenset(found)
