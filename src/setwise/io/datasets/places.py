"""Where datasets are looked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from setwise.errors import DataError

__all__ = ["cache_folder", "find", "missing", "places"]


def cache_folder() -> Path:
    """The folder of this user where fetched datasets go by default."""
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (
            (Path(local) if local else Path.home() / "AppData" / "Local") / "setwise" / "Cache"
        )
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "setwise"
    named = os.environ.get("XDG_CACHE_HOME")
    return (Path(named) if named else Path.home() / ".cache") / "setwise"


def places(folder: str | os.PathLike[str] | None) -> list[Path]:
    """The folders to look in: the named one alone, else ``$SETWISE_DATA`` and the cache."""
    if folder is not None:
        return [Path(folder).expanduser()]
    named = os.environ.get("SETWISE_DATA")
    return [*([Path(named).expanduser()] if named else []), cache_folder()]


def find(file: str, folders: Sequence[Path]) -> Path | None:
    """The first copy of a file, in a folder or its ``originals``."""
    for folder in folders:
        for path in (folder / file, folder / "originals" / file):
            if path.is_file():
                return path
    return None


def missing(
    name: str, files: Sequence[str], folders: Sequence[Path], *, can_fetch: bool
) -> DataError:
    """The error that says what was looked for, where, and the ways out."""
    where = ", ".join(map(str, folders))
    fetching = f"Get it by `setwise data fetch {name}`" if can_fetch else "It must be prepared"
    msg = (
        f"{name}: there is no {' or '.join(files)} in {where}. {fetching}, or set SETWISE_DATA "
        "to the folder that has it."
    )
    return DataError(msg)
