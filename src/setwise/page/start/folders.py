"""Folders of this machine that people may start from, and no others."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from setwise.errors import reject
from setwise.io.decode import SUFFIXES
from setwise.io.video import VIDEO_SUFFIXES
from setwise.page.start import payload

MOST_FOLDERS = 500


class Folders:
    """Looks for folders below some roots; links that lead out of them are not followed."""

    def __init__(self, roots: Sequence[Path]) -> None:
        self.roots = tuple(dict.fromkeys(root.resolve() for root in roots if root.is_dir()))

    def checked(self, given: str) -> Path:
        """A folder that a client named, if it is below a root."""
        path = Path(os.path.realpath(given)) if "\0" not in given else None
        if path is None or not any(path.is_relative_to(root) for root in self.roots):
            names = ", ".join(map(str, self.roots)) or "none"
            reject(
                f"{given} is not open to this page. Expected a folder below {names}. "
                "To open another one: setwise serve --photos FOLDER."
            )
        if not path.is_dir():
            reject(f"{given} is no folder.")
        return path

    def listed(self, given: str | None) -> payload.Folders:
        """The roots, or the folders inside of one."""
        if given is None:
            return payload.Folders(path=None, parent=None, folders=list(map(_line, self.roots)))
        path = self.checked(given)
        inside = [one for one in _inside(path) if one.is_dir() and not one.is_symlink()]
        return payload.Folders(
            path=str(path),
            parent=None if path in self.roots else str(path.parent),
            folders=list(map(_line, sorted(inside)[:MOST_FOLDERS])),
        )


def _inside(path: Path) -> Iterator[Path]:
    try:
        yield from (one for one in path.iterdir() if not one.name.startswith("."))
    except OSError:  # which may not be looked into
        return


def _line(path: Path) -> payload.Folder:
    names = [one.suffix.lower() for one in _inside(path)]
    n_files = sum(suffix in SUFFIXES | VIDEO_SUFFIXES for suffix in names)
    return payload.Folder(path=str(path), name=path.name or str(path), n_files=n_files)
