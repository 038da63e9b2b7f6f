"""One file over HTTP: continued where the last attempt stopped, never more than expected."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any

from setwise._support.progress import Progress
from setwise.errors import DataError, reject
from setwise.io.datasets import paced
from setwise.io.datasets.registry import RemoteFile

__all__ = ["discard", "download"]

CHUNK = 1 << 16
# Bytes of a file whose size is not known; a server that never stops must not fill the disk.
LARGEST = 1 << 29


def download(
    file: RemoteFile, address: str, part: Path, progress: Progress | None = None
) -> None:
    """Bring the whole of a file into ``part``, which may hold its beginning already.

    When it breaks off, what has arrived stays in ``part``, and the next call continues there.
    ``part.tag`` beside it remembers the server's mark of that version: a file that changed
    meanwhile is fetched anew and not glued to the old beginning.
    """
    if not address.startswith(("http://", "https://")):
        reject(f"{file.name}: expected an address of http or https, got {address}.")
    transfer = _Transfer(file, address, part, progress)
    try:
        if not transfer.receive():
            transfer.receive()  # what could not be continued is begun anew
    except OSError as error:
        msg = f"{file.name}: cannot be written to {part.parent}: {error.strerror or error}."
        raise DataError(msg) from error


def discard(part: Path) -> None:
    """Remove what has arrived."""
    part.unlink(missing_ok=True)
    _tag(part).unlink(missing_ok=True)


@dataclass
class _Transfer:
    """One file, from its address into ``part``."""

    file: RemoteFile
    address: str
    part: Path
    progress: Progress | None

    def receive(self) -> bool:
        """Ask for what is missing; False where what is here turned out to be of no use."""
        start = self.continuable()
        if start and start == self.file.size:
            return True
        pace = paced.Pace()
        with self.explained():
            response = paced.ask(self.address, self.headers(start), pace)
        with response:
            if start and response.headers.get("Content-Range") == f"bytes */{start}":
                return True  # all of it is here
            at = _first_byte(response)
            if start and at != start and response.status in (206, 416):
                discard(self.part)
                return False
            if at is None or at not in (0, start):
                raise self.refused(response)
            total = self.announced(response.headers, at)
            if at == 0:
                _begin(self.part, response.headers)
            self.append(self.chunks(response, pace), at, total)
        done = self.part.stat().st_size
        if total is not None and done < total:
            msg = f"stopped after {done:,} of {total:,} bytes"
            raise self.kept(msg)
        return True

    def continuable(self) -> int:
        """How many bytes are here already and may be continued."""
        have = self.part.stat().st_size if self.part.is_file() else 0
        # Without a checksum, only the server's mark tells of which version the beginning is.
        is_safe = self.file.is_verifiable or _mark_of(self.part) is not None
        if have and is_safe and (self.file.size is None or have <= self.file.size):
            return have
        discard(self.part)
        return 0

    def headers(self, start: int) -> dict[str, str]:
        """What to ask for: the rest, if the server still has the version that was begun."""
        headers = {"User-Agent": "setwise"}
        if start:
            headers["Range"] = f"bytes={start}-"
            mark = _mark_of(self.part)
            if mark is not None:
                headers["If-Range"] = mark
        return headers

    def announced(self, headers: Any, start: int) -> int | None:
        """The size of the file as the server has it; refused where it cannot be right."""
        length = headers.get("Content-Length", "")
        if not re.fullmatch("[0-9]{1,15}", length):
            return self.file.size
        total, size = start + int(length), self.file.size
        if total == size or (size is None and total <= LARGEST):
            return total
        expected = f"at most {LARGEST:,}" if size is None else f"{size:,}: it is another file"
        return reject(
            f"{self.file.name}: {self.address} announces {total:,} bytes. Expected {expected}. "
            "Try another address."
        )

    def chunks(self, response: Any, pace: paced.Pace) -> Iterator[bytes]:
        """What comes, as it comes: however little it is, it is kept when the rest is not."""
        while True:
            with self.explained():
                chunk = response.read1(CHUNK)
            if not chunk:
                return
            pace.n_content += len(chunk)
            yield chunk

    def append(self, chunks: Iterator[bytes], done: int, total: int | None) -> None:
        """Write what comes. What is missing in the end shows in the size of the file."""
        limit = self.file.size or LARGEST
        what = f"fetch {self.file.name}"
        with self.part.open("ab") as out:
            if self.progress is not None:
                self.progress(what, done, total or 0)
            for chunk in chunks:
                done += len(chunk)
                if done > limit:
                    break
                out.write(chunk)
                if self.progress is not None:
                    self.progress(what, done, total or 0)
        if done > limit:
            discard(self.part)
            reject(
                f"{self.file.name}: {self.address} sends more than {limit:,} bytes. Cut off "
                "and removed."
            )

    def refused(self, response: Any) -> DataError:
        """The error for an answer that is not the file; the server's words are quoted."""
        advice = "Is the address right?" if response.status == 404 else "Run it again later."
        answer = f"{response.status} {str(response.reason)[:200]!r}"
        return DataError(
            f"{self.file.name}: {self.address} answers {answer}. Expected the file. {advice}"
        )

    def kept(self, problem: str) -> DataError:
        """The error for a transfer that broke off."""
        return DataError(
            f"{self.file.name}: cannot be fetched from {self.address}: {problem}. What came is "
            "kept: run it again to go on from there."
        )

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Say in words what goes wrong on the network; others' words are quoted."""
        try:
            yield
        except (OSError, HTTPException, ValueError) as error:
            host = self.address.split("/")[2]
            problem = str(error) or type(error).__name__
            if "timed out" in problem:
                reason = f"{host} was silent for {paced.TIMEOUT_S:g} seconds"
            elif "getaddrinfo" in problem or "Errno -" in problem:
                reason = f"there is no host {host}, or no network"
            elif "refused" in problem:
                reason = f"{host} refuses the connection"
            else:
                reason = repr(problem[:300])
            raise self.kept(reason) from error


def _first_byte(response: Any) -> int | None:
    """Where in the file an answer begins, which may send all of it, whatever was asked for."""
    if response.status == 200:
        return 0
    sent = re.match(r"bytes ([0-9]{1,15})-", response.headers.get("Content-Range", ""))
    return int(sent[1]) if sent and response.status == 206 else None


def _begin(part: Path, headers: Any) -> None:
    """Start anew, and keep the server's mark of this version; a weak one does not qualify."""
    discard(part)
    tag = headers.get("ETag", "")
    mark = tag if tag.startswith('"') else headers.get("Last-Modified", "")
    if _is_mark(mark):
        _tag(part).write_text(mark, encoding="ascii")


def _mark_of(part: Path) -> str | None:
    """The mark that was kept, unless it is none that can be sent back."""
    if not _tag(part).is_file():
        return None
    mark = _tag(part).read_text(encoding="ascii", errors="replace")
    return mark if _is_mark(mark) else None


def _is_mark(text: str) -> bool:
    return re.fullmatch("[!-~]([ -~]{0,198}[!-~])?", text) is not None


def _tag(part: Path) -> Path:
    return part.with_name(f"{part.name}.tag")
