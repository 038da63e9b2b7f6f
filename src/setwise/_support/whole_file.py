"""Files that are there as a whole, or as they were before."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from setwise.errors import DataError

__all__ = ["write_atomically", "write_whole"]


@contextmanager
def write_atomically(path: Path) -> Iterator[Path]:
    """A new file beside ``path`` to write to, which takes its place when all went well."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())
        temporary.chmod(path.stat().st_mode & 0o777 if path.exists() else _usual_mode())
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def _usual_mode() -> int:
    """What a new file may be used for by whom; temporary ones are for their owner alone."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def write_whole(file: Path, text: str) -> Path:
    """Write a text file: all of it, or nothing. Folders above it are made.

    Raises
    ------
    DataError
        When it cannot be written, as on a full disk. What was there before is there still.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(file) as unfinished:
            unfinished.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        msg = (
            f"{file}: cannot be written: {error.strerror}. Expected a folder with room on its "
            "disk. Finished work is kept: make room, or name another folder, and run it again."
        )
        raise DataError(msg) from error
    return file
