"""Small helpers of the whole package: checks of parameters, progress, text, whole files."""

from __future__ import annotations

import difflib
import hashlib
import logging
import os
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NoReturn, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from setwise.errors import DataError, ParameterError

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
Result = TypeVar("Result")
# Called with what is being done, how many steps are over, and of how many.
Progress: TypeAlias = Callable[[str, int, int], None]

logger = logging.getLogger("setwise")
LOG_EVERY_S = 2.0


def refuse(owner: str, name: str, expected: str, value: Any) -> NoReturn:
    """Raise a ParameterError that names the parameter, what is expected, and the value."""
    msg = f"{owner}: {name} must be {expected}, got {_shown(value)}."
    raise ParameterError(msg)


def check_count(owner: str, name: str, value: Any, *, at_least: int = 1) -> None:
    """Refuse anything but a whole number of at least ``at_least``."""
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_whole or not at_least <= value < 2**63:
        refuse(owner, name, f"an int of at least {at_least}", value)


def check_choice(owner: str, name: str, value: Any, choices: Collection[str]) -> None:
    """Refuse anything but one of the choices."""
    if not isinstance(value, str) or value not in choices:
        refuse(owner, name, f"one of {', '.join(map(repr, choices))}", value)


def check_known(owner: str, kind: str, name: str, known: Collection[str]) -> None:
    """Refuse an unknown name, and suggest the closest known one."""
    if name in known:
        return
    near = difflib.get_close_matches(str(name), [*known], n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    expected = f"one of {', '.join(map(repr, known))}" if known else "none at all"
    msg = f"{owner}: there is no {kind} {_shown(name)}. Expected {expected}.{hint}"
    raise ParameterError(msg)


def _shown(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else f"{text[:77]}..."


def seed_for(seed: int, *what: str | int) -> int:
    """A seed of its own for each purpose, named by words and numbers."""
    key = tuple(_number(word) for word in what)
    state = np.random.SeedSequence(seed, spawn_key=key).generate_state(1)
    return int(state[0]) & 0x7FFFFFFF


def _number(word: str | int) -> int:
    digest = hashlib.sha256(repr(word).encode()).digest()
    return int.from_bytes(digest[:4], "little")


def duration(seconds: float) -> str:
    """A duration in the unit that suits it."""
    for limit, factor, unit in ((1e-3, 1e6, "us"), (1.0, 1e3, "ms")):
        if seconds < limit:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:.3g} s"


def reported(
    results: Iterable[Result], total: int, what: str, progress: Progress | None = None
) -> Iterator[Result]:
    """Pass results on, and tell ``progress`` or the log how many are done."""
    started = logged = time.monotonic()
    if progress is not None:
        progress(what, 0, total)
    for done, result in enumerate(results, start=1):
        yield result
        now = time.monotonic()
        if progress is not None:
            progress(what, done, total)
        elif now - logged >= LOG_EVERY_S and done < total:
            logged, left = now, (now - started) / done * (total - done)
            share = 100 * done // total
            logger.info("%s: %d %% done, about %.0f s left", what, share, left)


def printable(text: str) -> str:
    """Text with every character escaped that a terminal would act on."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def write_whole(file: Path, text: str) -> Path:
    """Write a text file completely or not at all, and make the folders above it."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.", suffix=".tmp")
        unfinished = Path(name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as out:
                out.write(text)
                os.fsync(out.fileno())
            unfinished.chmod(file.stat().st_mode & 0o777 if file.exists() else 0o644)
            unfinished.replace(file)
        except BaseException:
            with suppress(OSError):
                unfinished.unlink()
            raise
    except OSError as error:
        msg = (
            f"{file}: cannot be written: {error.strerror}. Expected a folder with room on its "
            "disk. Finished work is kept: make room, or name another folder, and run it again."
        )
        raise DataError(msg) from error
    return file


def acquired(lock: IO[bytes]) -> bool:
    """Whether this process now holds the lock on an open file; closing it releases the lock."""
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
