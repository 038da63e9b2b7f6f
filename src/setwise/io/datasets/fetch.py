"""Getting a public dataset, only when asked: verified, resumable, never half there."""

from __future__ import annotations

import hashlib
import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from setwise._support.files import acquired
from setwise._support.parameters import check_known, refuse
from setwise._support.progress import Progress
from setwise.errors import DataError, reject
from setwise.io.datasets.download import discard, download
from setwise.io.datasets.places import cache_folder
from setwise.io.datasets.registry import SOURCES, RemoteFile

__all__ = ["fetch"]

logger = logging.getLogger("setwise")
# Seconds between two looks at whether another process is done.
PATIENCE_S = 0.2


def fetch(
    name: str,
    folder: str | os.PathLike[str] | None = None,
    *,
    mirror: str | None = None,
    accept_unverified: bool = False,
    progress: Progress | None = None,
) -> list[Path]:
    """Download the files of a public dataset, and check that they are the known ones.

    A file that is here and right is left alone. One that breaks off is continued by the next
    call. Nothing has its final name before its checksum was verified. Two
    processes that fetch into one folder take turns.

    Parameters
    ----------
    name : str
        A name of `setwise.io.datasets.SOURCES`, such as ``"eth80"``.
    folder : path, optional
        Where to put it: ``$SETWISE_DATA`` by default, else a cache of this user.
    mirror : str, optional
        An address that has copies of the files under their names, such as
        ``"http://127.0.0.1:8000/"``. They must have the same checksums.
    accept_unverified : bool, default=False
        Whether to take a file of which no checksum is known. Its SHA-256 is logged then.
    progress : callable, optional
        Called with what is fetched, the bytes that are here, and of how many; 0 where the
        server does not say.

    Returns
    -------
    list of Path
        The files. `setwise.io.datasets.load` finds them.

    Raises
    ------
    DataError
        When there is nothing to download, the network fails, or the content is not right.

    Examples
    --------
    >>> from setwise.errors import SetwiseError
    >>> from setwise.io.datasets import fetch
    >>> try:
    ...     fetch("nosuch")
    ... except SetwiseError as error:
    ...     print(str(error)[:40])
    fetch: there is no dataset 'nosuch'. Exp
    """
    check_known("fetch", "dataset", name, SOURCES)
    known = SOURCES[name]
    if mirror is not None and not str(mirror).startswith(("http://", "https://")):
        refuse("fetch", "mirror", "an address that begins with http:// or https://", mirror)
    if not known.files:
        reject(f"{known.title} cannot be downloaded. {known.note}")
    for file in known.files:
        if not file.is_verifiable and not accept_unverified:
            reject(
                f"{file.name}: no checksum is known, so nobody can tell whether {file.address} "
                "still holds the same. Use accept_unverified=True to take it as it is."
            )
    target = Path(folder or os.environ.get("SETWISE_DATA") or cache_folder()).expanduser()
    if all(_is_right(target / file.name, file) for file in known.files):
        return [target / file.name for file in known.files]
    with _one_at_a_time(target):
        return [_fetch_file(file, target, mirror, progress) for file in known.files]


def _fetch_file(
    file: RemoteFile, folder: Path, mirror: str | None, progress: Progress | None
) -> Path:
    target = folder / file.name
    if target.is_file():
        wrong = _difference(target, file)
        if wrong is None:
            return target
        logger.warning("%s is not the known file (%s): fetched again.", target, wrong)
    address = file.address if mirror is None else f"{str(mirror).rstrip('/')}/{file.name}"
    part = folder / f"{file.name}.part"
    download(file, address, part, progress)
    wrong = _difference(part, file)
    if wrong is not None:
        discard(part)
        reject(
            f"{file.name}: what {address} sent is not the known file: {wrong}. It was removed. "
            "Run it again; if it stays so, the source has changed or is not to be trusted."
        )
    if not file.is_verifiable:
        digest = _digest(part, hashlib.sha256())
        logger.warning("%s was taken unverified; its sha256 is %s.", target, digest)
    part.replace(target)
    discard(part)
    return target


def _is_right(path: Path, file: RemoteFile) -> bool:
    return path.is_file() and _difference(path, file) is None


def _difference(path: Path, file: RemoteFile) -> str | None:
    """How this content differs from the known one; None where it does not."""
    size = path.stat().st_size
    if file.size is not None and size != file.size:
        return f"expected {file.size:,} bytes, received {size:,}"
    if file.sha256 is not None:
        received, expected, what = _digest(path, hashlib.sha256()), file.sha256, "sha256"
    elif file.git_blob is not None:
        # Not for security by itself, but it is all that is known.
        blob = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
        received, expected, what = _digest(path, blob), file.git_blob, "git blob id"
    else:
        return None
    return None if received == expected else f"expected {what} {expected}, received {received}"


def _digest(path: Path, digest: hashlib._Hash) -> str:
    with path.open("rb") as content:
        while chunk := content.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


@contextmanager
def _one_at_a_time(folder: Path) -> Iterator[None]:
    """Wait until no other process fetches into this folder; the system frees a dead one's."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / ".setwise-lock").open("ab")
    except OSError as error:
        msg = (
            f"Cannot write to {folder}: {error.strerror}. Expected a folder for the download: "
            "name another one, or set SETWISE_DATA."
        )
        raise DataError(msg) from error
    with lock:  # closing it gives the lock back
        while not acquired(lock):
            logger.info("Another process fetches into %s; waiting for it.", folder)
            time.sleep(PATIENCE_S)
        yield
