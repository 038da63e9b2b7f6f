"""What is known of public datasets: where they are, their checksums, licences and protocols."""

from __future__ import annotations

import tomllib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

__all__ = ["SOURCES", "RemoteFile", "Source"]


@dataclass(frozen=True)
class RemoteFile:
    """One file on the net, and what its content must be.

    Attributes
    ----------
    name : str
        What it is called once it is here.
    address : str
        Where it is. The addresses name a commit, so that they always mean the same bytes.
    sha256 : str, optional
        Checksum of the content, where it is known.
    size : int, optional
        Number of bytes, where it is known.
    git_blob : str, optional
        The id that git gives the content, where that is all that is known.

    Examples
    --------
    >>> from setwise.io.datasets import SOURCES
    >>> SOURCES["eth80"].files[0].sha256 is not None
    True
    """

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
    """One dataset.

    Attributes
    ----------
    name : str
        What `fetch` and `load` call it.
    title : str
        What people call it.
    files : tuple of RemoteFile
        What `fetch` gets; none where everybody brings their own copy.
    licence : str
        What its source says about use. Most say nothing, which is why setwise has no copy.
    protocol : str
        What is gallery and what is probe.
    note : str
        What else should be known.

    Examples
    --------
    >>> from setwise.io.datasets import SOURCES
    >>> SOURCES["eth80"].title
    'ETH-80 objects, 20 x 20 grey'
    """

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
