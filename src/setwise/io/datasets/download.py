"""One file over HTTP: continued where the last attempt stopped, never more than expected."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

from setwise._support.extras import require
from setwise._support.progress import Progress
from setwise.errors import DataError
from setwise.io.datasets.registry import RemoteFile

__all__ = ["discard", "download"]

# Seconds without a byte after which a server counts as gone.
TIMEOUT_S = 30.0
CHUNK = 1 << 16
# Nothing here is larger; a server that never stops must not fill the disk.
LARGEST = 4 << 30


def download(
    file: RemoteFile, address: str, part: Path, progress: Progress | None = None
) -> None:
    """Bring the whole of a file into ``part``, which may hold its beginning already.

    When it breaks off, what has arrived stays in ``part``, and the next call continues there.
    ``part.tag`` beside it remembers the server's mark of that version: a file that changed
    meanwhile is fetched anew and not glued to the old beginning.
    """
    requests = require("requests", "data")
    if urlsplit(address).scheme not in ("http", "https"):
        msg = f"{file.name}: expected an address of http or https, got {address}."
        raise DataError(msg)
    try:
        with requests.Session() as session:
            _receive(session, file, address, part, progress)
    except requests.RequestException as error:
        _explain(file, address, error)
    except OSError as error:
        msg = f"{file.name}: cannot be written to {part.parent}: {error.strerror or error}."
        raise DataError(msg) from error


def discard(part: Path) -> None:
    """Remove what has arrived."""
    part.unlink(missing_ok=True)
    _tag(part).unlink(missing_ok=True)


def _receive(
    session: Any, file: RemoteFile, address: str, part: Path, progress: Progress | None
) -> None:
    start = _continuable(part, file)
    if start and start == file.size:
        return
    headers = _headers(part, start)
    with session.get(address, headers=headers, stream=True, timeout=TIMEOUT_S) as response:
        _refuse_downgrade(file, address, response.url)
        if start and response.headers.get("Content-Range") == f"bytes */{start}":
            return  # all of it is here
        at = _first_byte(response)
        if start and at != start and response.status_code in (206, 416):
            discard(part)  # it cannot be continued, so it is begun
            _receive(session, file, address, part, progress)
            return
        if at is None or at not in (0, start):
            _refuse_answer(file, address, response.status_code, response.reason)
        total = _announced(response.headers, at, file, address)
        if at == 0:
            _begin(part, response.headers)
        _append(response.iter_content(CHUNK), part, at, file, total, progress)
    done = part.stat().st_size
    if total is not None and done < total:
        _cut_short(file, address, done, total)


def _continuable(part: Path, file: RemoteFile) -> int:
    """How many bytes are here already and may be continued."""
    have = part.stat().st_size if part.is_file() else 0
    # Without a checksum, only the server's mark tells that the beginning is of this version.
    is_safe = file.is_verifiable or _tag(part).is_file()
    if have and is_safe and (file.size is None or have <= file.size):
        return have
    discard(part)
    return 0


def _headers(part: Path, start: int) -> dict[str, str]:
    headers = {"Accept-Encoding": "identity"}  # else the bytes counted are not the file's
    if start:
        headers["Range"] = f"bytes={start}-"
        if _tag(part).is_file():
            headers["If-Range"] = _tag(part).read_text(encoding="ascii")
    return headers


def _first_byte(response: Any) -> int | None:
    """Where in the file an answer begins, which may send all of it, whatever was asked for."""
    if response.status_code == 200:
        return 0
    sent = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
    return int(sent[1]) if sent and response.status_code == 206 else None


def _begin(part: Path, headers: Any) -> None:
    """Start anew, and keep the server's mark of this version; a weak one does not qualify."""
    discard(part)
    tag = headers.get("ETag", "")
    mark = tag if tag.startswith('"') else headers.get("Last-Modified", "")
    if mark and mark.isascii():
        _tag(part).write_text(mark, encoding="ascii")


def _announced(headers: Any, start: int, file: RemoteFile, address: str) -> int | None:
    length = headers.get("Content-Length", "")
    if not length.isdigit():
        return file.size
    total = start + int(length)
    if file.size is not None and total != file.size:
        msg = (
            f"{file.name}: {address} announces {total:,} bytes. Expected {file.size:,}: it is "
            "another file. Try another address."
        )
        raise DataError(msg)
    return total


def _append(
    chunks: Iterator[bytes],
    part: Path,
    done: int,
    file: RemoteFile,
    total: int | None,
    progress: Progress | None,
) -> None:
    """Write what comes. What is missing in the end shows in the size of the file."""
    broken = require("requests", "data").exceptions.ChunkedEncodingError
    limit = file.size or LARGEST
    what = f"fetch {file.name}"
    with part.open("ab") as out:
        if progress is not None:
            progress(what, done, total or 0)
        try:
            for chunk in chunks:
                done += len(chunk)
                if done > limit:
                    break
                out.write(chunk)
                if progress is not None:
                    progress(what, done, total or 0)
        except broken:
            if total is None:
                raise
    if done > limit:
        discard(part)
        msg = f"{file.name}: the server sends more than {limit:,} bytes. Cut off and removed."
        raise DataError(msg)


def _refuse_downgrade(file: RemoteFile, address: str, arrived: str) -> None:
    if urlsplit(address).scheme == "https" and urlsplit(arrived).scheme != "https":
        msg = f"{file.name}: {address} leads to {arrived}. Expected https to stay https."
        raise DataError(msg)


def _refuse_answer(file: RemoteFile, address: str, status: int, reason: str) -> NoReturn:
    advice = "Is the address right?" if status == 404 else "Run it again later."
    msg = f"{file.name}: {address} answers {status} {reason}. Expected the file. {advice}"
    raise DataError(msg)


def _cut_short(file: RemoteFile, address: str, done: int, total: int) -> NoReturn:
    msg = (
        f"{file.name}: {address} stopped after {done:,} of {total:,} bytes. What came is kept: "
        "run it again to go on from there."
    )
    raise DataError(msg)


def _explain(file: RemoteFile, address: str, error: Exception) -> NoReturn:
    host = urlsplit(address).netloc
    told = f"{type(error).__name__}: {error}"
    if "timed out" in told or "Timeout" in told:
        reason = f"{host} was silent for {TIMEOUT_S:g} seconds"
    elif "NameResolution" in told or "getaddrinfo" in told:
        reason = f"there is no host {host}, or no network"
    elif "refused" in told:
        reason = f"{host} refuses the connection"
    else:
        reason = told
    msg = f"{file.name}: cannot be fetched from {address}: {reason}. Run it again later."
    raise DataError(msg) from error


def _tag(part: Path) -> Path:
    return part.with_name(f"{part.name}.tag")
