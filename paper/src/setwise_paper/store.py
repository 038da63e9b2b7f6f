"""A folder of finished results; a killed run loses only the line it was writing."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import warnings
from pathlib import Path
from typing import IO, Any, NoReturn

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from setwise.errors import DataError, TornLineWarning, reject
from setwise_paper.support import acquired

RESULTS = "results.jsonl"
FAILURES = "failures"
LOCK = ".setwise-lock"


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Record:
    """What became of one item: one line of the store."""

    key: str
    item: dict[str, Any]
    result: dict[str, Any] | None
    seconds: float
    memory_mb: float
    backend: str
    n_jobs: int
    error: str = ""
    traceback: str = ""
    warnings: dict[str, int] = dataclasses.field(default_factory=dict)

    @property
    def is_finished(self) -> bool:
        """Whether there is a result."""
        return not self.error


class Store:
    """A folder of results, to which one process at a time may add."""

    def __init__(self, folder: str | os.PathLike[str], *, fresh: bool = False) -> None:
        self.folder = Path(folder).expanduser()
        self.path = self.folder / RESULTS
        self.finished: dict[str, Record] = {}
        self.failed: dict[str, Record] = {}
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock: IO[bytes] = (self.folder / LOCK).open("ab")
        except OSError as error:
            self._refuse(error)
        try:
            self._open(fresh=fresh)
        except BaseException:
            self._lock.close()
            raise

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the lock for other runs."""
        if not self._lock.closed:
            os.close(self._descriptor)
            self._lock.close()

    def add(self, record: Record) -> None:
        """Keep a record of plain data; after this, killing the process does not lose it."""
        content = json.dumps(dataclasses.asdict(record), sort_keys=True, allow_nan=False)
        line = memoryview(content.encode() + b"\n")
        before = os.fstat(self._descriptor).st_size
        try:
            while line:
                line = line[os.write(self._descriptor, line) :]
        except OSError as error:
            os.ftruncate(self._descriptor, before)
            self._refuse(error)
        self._file(record)

    def keep_traceback(self, key: str, traceback: str) -> str:
        """Write down why an item failed; returns the file, relative to the store's folder."""
        name = f"{FAILURES}/{re.sub(r'[^A-Za-z0-9]', '_', key)[:100]}.txt"
        try:
            (self.folder / FAILURES).mkdir(exist_ok=True)
            (self.folder / name).write_text(traceback, encoding="utf-8", errors="replace")
        except OSError as error:
            self._refuse(error)
        return name

    def _open(self, *, fresh: bool) -> None:
        if not acquired(self._lock):
            reject(
                f"{self.folder}: another run is working on it. Expected a folder of results "
                "that no run is using: wait for the other run to end, or name another folder."
            )
        binary = getattr(os, "O_BINARY", 0)  # of Windows: a line ends in one byte there too
        try:
            if fresh:
                self._put_aside()
            if self.path.exists() and not (self.path.is_file() or self.path.is_dir()):
                # Opening a named pipe would wait for ever.
                reject(f"{self.path}: is no ordinary file. Expected the results of a run.")
            self._descriptor = os.open(
                self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | binary, 0o666
            )
        except OSError as error:
            self._refuse(error)
        try:
            records, end = _read(self.path)
            if end < os.fstat(self._descriptor).st_size:
                os.ftruncate(self._descriptor, end)
                msg = (
                    f"{self.path}: the last line was half written by a run that was killed, "
                    "and is dropped. Its item is done again."
                )
                warnings.warn(msg, TornLineWarning, stacklevel=3)
        except BaseException:
            os.close(self._descriptor)
            raise
        for record in records:
            self._file(record)

    def _put_aside(self) -> None:
        """Rename the results; call it only while holding the lock."""
        number = 1
        if self.path.exists():
            while (self.folder / f"results.{number}.jsonl").exists():
                number += 1
            self.path.rename(self.folder / f"results.{number}.jsonl")

    def _file(self, record: Record) -> None:
        if record.is_finished:
            self.finished[record.key] = record
            self.failed.pop(record.key, None)
        elif record.key not in self.finished:
            self.failed[record.key] = record

    def _refuse(self, error: OSError) -> NoReturn:
        msg = (
            f"Cannot write to {self.folder}: {error.strerror}. Expected a folder for results "
            "with room on its disk. What was finished before is kept: make room, or name "
            "another folder, and run it again."
        )
        raise DataError(msg) from error


def _read(path: Path) -> tuple[list[Record], int]:
    """The records of a file, and the byte at which the last whole line ends."""
    try:
        content = path.read_bytes()
    except OSError as error:
        reject(f"{path}: {error.strerror}. Expected the results of a run.", error)
    *lines, rest = content.split(b"\n")
    end = len(content) - len(rest)
    if lines and not rest and not _is_json(lines[-1]):
        end -= len(lines.pop()) + 1
    return [_parsed(path, i, line) for i, line in enumerate(lines, start=1)], end


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    except RecursionError:
        return True  # as far as it was read
    return True


def _parsed(path: Path, number: int, line: bytes) -> Record:
    try:
        record = Record(**json.loads(line))
        if record.is_finished and record.result is None:
            msg = "neither a result nor an error"
            raise ValueError(msg)  # noqa: TRY301 (it is broken like any other)
    except (ValueError, TypeError, RecursionError) as error:
        msg = (
            f"{path}, line {number}: expected one result of setwise, got {line[:60]!r}. The "
            "file was changed or damaged: remove that line, and its item is done again."
        )
        raise DataError(msg) from error
    return record
