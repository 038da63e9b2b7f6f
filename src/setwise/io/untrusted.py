"""Untrusted files: sizes are checked before reading, all faults become a DataError."""

from __future__ import annotations

import errno
import lzma
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from setwise._support.parameters import refuse
from setwise.errors import DataError, reject

# Raised by Python, NumPy, h5py, zlib and zipfile on missing or broken files.
BROKEN: tuple[type[Exception], ...] = (
    *(OSError, MemoryError, ValueError, TypeError, KeyError, RuntimeError, OverflowError),
    *(EOFError, struct.error, zlib.error, zipfile.BadZipFile, lzma.LZMAError),
)


def check_path(owner: str, path: Any, parameter: str = "path") -> Path:
    """The given path, once it is one that the system can look up."""
    if not isinstance(path, str | os.PathLike) or not str(path):
        refuse(owner, parameter, "a str or a path", path)
    given = Path(path)
    try:
        given.stat()
    except (OSError, ValueError) as error:
        # The caller, who knows what was expected, reports a missing file.
        if isinstance(error, ValueError) or error.errno == errno.ENAMETOOLONG:
            reason = getattr(error, "strerror", None) or error
            text, expected = str(path), "Expected the path of a file or folder."
            problem = f"{owner}: {parameter} has {len(text)} characters, {text[:40]!r}..."
            reject(f"{problem}, and cannot be looked for: {reason}. {expected}", error)
    return given


def regular_file(owner: str, path: str | os.PathLike[str]) -> Path:
    """The path of a file that exists and is not empty."""
    given = check_path(owner, path)
    if not given.is_file():
        kind = "a folder" if given.is_dir() else "not there, or no regular file"
        reject(f"{owner}: expected a file, but {str(given)!r} is {kind}.")
    if given.stat().st_size == 0:
        reject(f"{owner}: {str(given)!r} is empty, 0 bytes. Copy or save it again.")
    return given


def check_declared(owner: str, path: Path, what: str, n_bytes: int, max_bytes: int) -> None:
    """Refuse content larger than ``max_bytes`` before memory is taken for it."""
    if n_bytes > max_bytes:
        reject(
            f"{owner}: {what} of {str(path)!r} would take {_size(n_bytes)}, more than "
            f"max_bytes={max_bytes} ({_size(max_bytes)}). Where the file is trusted and the "
            "memory there, raise max_bytes."
        )


def broken(what: str) -> NoReturn:
    """Raise what is wrong inside a file; `one_kind_of_error` adds its name and advice."""
    raise ValueError(what)


@contextmanager
def one_kind_of_error(owner: str, path: Path) -> Iterator[None]:
    """Turn every exception of a format's reader into a `DataError` that names the file."""
    try:
        yield
    except DataError:
        raise
    except BROKEN as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        problem = f"{owner}: {str(path)!r} cannot be read: {reason.rstrip('.')}"
        reject(f"{problem}. It may be damaged or cut short; copy or save it again.", error)


def _size(n_bytes: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if n_bytes < 1000:
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.3g} PB"
