"""What people have decided about an inbox: kept beside the gallery, not in memory alone."""

from __future__ import annotations

import json
from pathlib import Path
from threading import Lock

from setwise._support.files import write_whole
from setwise.errors import reject

__all__ = ["Decisions"]


class Decisions:
    """Whose sets are, by what they hold; written down at once.

    Parameters
    ----------
    file : Path
        Where.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self._lock = Lock()
        self._labels = _read(file)

    def get(self, content: str) -> str | None:
        """What was decided about the set with this content, if anything."""
        return self._labels.get(content)

    def set(self, content: str, label: str | None) -> None:
        """Write a decision down, or strike it out."""
        with self._lock:
            if label is None:
                self._labels.pop(content, None)
            else:
                self._labels[content] = label
            write_whole(self.file, json.dumps(self._labels, indent=0, ensure_ascii=False))


def _read(file: Path) -> dict[str, str]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        return {str(content): str(label) for content, label in found.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError) as error:
        reject(
            f"{file}: what was decided about the inbox cannot be read ({error}). Move that "
            "file away to begin anew; the gallery itself is not touched.",
            error,
        )
