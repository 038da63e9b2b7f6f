"""Where datasets are looked for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from setwise._support.extras import require
from setwise.errors import DataError, MissingExtraError

__all__ = ["cache_folder", "find", "missing", "places"]


def cache_folder() -> Path:
    """The folder of this user where fetched datasets go by default."""
    return Path(require("pooch", "data").os_cache("setwise"))


def places(folder: str | os.PathLike[str] | None) -> list[Path]:
    """The folders to look in: the named one alone, else ``$SETWISE_DATA`` and the cache."""
    if folder is not None:
        return [Path(folder).expanduser()]
    named = os.environ.get("SETWISE_DATA")
    found = [Path(named).expanduser()] if named else []
    with suppress(MissingExtraError):  # without pooch, nothing was fetched there
        found.append(cache_folder())
    return found


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
    where = ", ".join(map(str, folders)) or "any folder, for SETWISE_DATA is not set"
    fetching = f"Get it by `setwise data fetch {name}`" if can_fetch else "It must be prepared"
    msg = (
        f"{name}: there is no {' or '.join(files)} in {where}. {fetching}, or set SETWISE_DATA "
        "to the folder that has it."
    )
    return DataError(msg)
