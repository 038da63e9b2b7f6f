"""Public datasets: addresses, checksums and licences; fetching, and where files are."""

from __future__ import annotations

import hashlib
import logging
import os
import tomllib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from setwise.errors import DataError, reject
from setwise_paper.support import Progress, check_known, refuse

logger = logging.getLogger("setwise")
LARGEST = 1 << 29  # bytes of a file of unknown size
CHUNK = 1 << 16


@dataclass(frozen=True)
class RemoteFile:
    """One file on the net, and what its content must be."""

    name: str
    address: str
    sha256: str | None = None
    size: int | None = None
    git_blob: str | None = None

    @property
    def is_verifiable(self) -> bool:
        """Whether a checksum is known."""
        return self.sha256 is not None or self.git_blob is not None


@dataclass(frozen=True)
class Source:
    """One dataset."""

    name: str
    title: str
    files: tuple[RemoteFile, ...]
    licence: str
    protocol: str
    note: str

    def to_dict(self) -> dict[str, Any]:
        """All of it, in types that JSON knows."""
        return asdict(self)


def _read(entries: dict[str, Any]) -> Source:
    files = tuple(RemoteFile(**file) for file in entries.pop("files", ()))
    return Source(**entries, files=files)


_KNOWN = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
SOURCES: dict[str, Source] = {one["name"]: _read(one) for one in _KNOWN["source"]}


def cache_folder() -> Path:
    """The folder of this user where fetched datasets go by default."""
    import platformdirs

    return platformdirs.user_cache_path("setwise", appauthor=False)


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


def fetch(
    name: str,
    folder: str | os.PathLike[str] | None = None,
    *,
    mirror: str | None = None,
    accept_unverified: bool = False,
    progress: Progress | None = None,
) -> list[Path]:
    """Download the files of a public dataset with pooch, and verify their checksums.

    Correct files that are there already stay as they are. A file gets its final name only
    after its checksum was verified.
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
                f"{file.name}: no checksum is known, so the content of {file.address} cannot "
                "be verified. Use --accept-unverified (accept_unverified=True) to accept it."
            )
    target = Path(folder or os.environ.get("SETWISE_DATA") or cache_folder()).expanduser()
    return [_fetched(file, target, mirror, progress) for file in known.files]


def _fetched(
    file: RemoteFile, folder: Path, mirror: str | None, progress: Progress | None
) -> Path:
    target = folder / file.name
    if target.is_file():
        wrong = _difference(target, file)
        if wrong is None:
            return target
        logger.warning("%s is not the known file (%s): fetched again.", target, wrong)
    import pooch
    from requests import RequestException

    address = file.address if mirror is None else f"{str(mirror).rstrip('/')}/{file.name}"
    transfer = _Transfer(file, progress)
    log = pooch.get_logger()
    level = log.level
    log.setLevel("WARNING")
    try:
        # Into a name of its own: pooch would keep a wrong file of the right name.
        unverified = pooch.retrieve(
            address, None, f".{file.name}.{os.getpid()}", folder, downloader=transfer
        )
        Path(unverified).replace(target)
    except (RequestException, ValueError, OSError) as error:
        if isinstance(error, DataError):
            raise
        problem = " ".join(str(error).split())[:300]
        msg = f"{file.name}: cannot be fetched from {address} to {folder}: {problem}"
        raise DataError(msg) from error
    finally:
        log.setLevel(level)
    return target


class _Transfer:
    """A downloader of pooch that reports progress, limits the size, and verifies."""

    def __init__(self, file: RemoteFile, progress: Progress | None) -> None:
        self.file, self.progress = file, progress
        self.total, self.done = 0, 0  # pooch sets the total, as the server announces it
        if progress is not None:
            progress(f"fetch {file.name}", 0, 0)

    def __call__(self, url: str, output_file: Any, pooch: Any) -> None:
        from pooch import HTTPDownloader

        responses: list[Any] = []  # pooch leaves them open when it fails
        hooks = {"response": lambda response, **_: responses.append(response)}
        download = HTTPDownloader(progressbar=self, chunk_size=CHUNK, hooks=hooks)
        try:
            download(url, output_file, pooch)
        finally:
            for response in responses:
                response.close()
        wrong = _difference(Path(output_file), self.file)
        if wrong is not None:
            reject(
                f"{self.file.name}: the content of {url} is not the known file: {wrong}. It "
                "was removed. Run it again; if it stays so, the source has changed."
            )
        if not self.file.is_verifiable:
            digest = _digest(Path(output_file), hashlib.sha256())
            logger.warning("%s was not verified; its sha256 is %s.", self.file.name, digest)

    def update(self, n_bytes: int) -> None:
        """Count bytes that came; more than expected end the transfer."""
        self.done += n_bytes
        limit = self.file.size or LARGEST
        if self.done >= limit + CHUNK:  # pooch counts whole chunks
            reject(f"{self.file.name}: the server sends more than {limit:,} bytes. Removed.")
        if self.progress is not None:
            self.progress(
                f"fetch {self.file.name}", min(self.done, self.total or limit), self.total
            )

    def reset(self) -> None:
        """Begin to count, as pooch wants it at the end."""
        self.done = 0

    def close(self) -> None:
        """Nothing is open."""


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


def _digest(path: Path, digest: Any) -> str:
    with path.open("rb") as content:
        while chunk := content.read(1 << 20):
            digest.update(chunk)
    return str(digest.hexdigest())
