"""What the server was told when it was started; nothing of it changes later."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path

from setwise._support.parameters import check_count, check_number
from setwise.errors import ParameterError
from setwise.io.untrusted import regular_file

__all__ = ["Limits", "Settings", "is_loopback"]


@dataclass(frozen=True)
class Limits:
    """What one client may ask for, so that others get their turn.

    Attributes
    ----------
    upload_bytes : int
        Of the body of one request.
    unpacked_bytes : int
        Of everything in the zip files of one request.
    files : int
        Photos and clips of one request, those inside of zip files too.
    seconds : float
        Work on one question; and for which an upload may take to arrive.
    waiting : int
        Questions that wait for their turn; more are refused.
    workers : int
        Questions that are worked on at the same time.
    kept : int
        Answered questions that are remembered.
    kept_bytes : int
        Of the images of answered questions.
    kept_seconds : float
        After which an answered question is forgotten.
    streams : int
        Windows that follow what happens, at the same time.
    undo_steps, undo_bytes : int
        States of the gallery that are kept to go back to.

    Examples
    --------
    >>> from setwise.page import Limits
    >>> Limits(upload_bytes=10_000_000).upload_bytes
    10000000
    """

    upload_bytes: int = 50_000_000
    unpacked_bytes: int = 200_000_000
    files: int = 2000
    seconds: float = 120.0
    waiting: int = 8
    workers: int = 2
    kept: int = 50
    kept_bytes: int = 500_000_000
    kept_seconds: float = 3600.0
    streams: int = 64
    undo_steps: int = 100
    undo_bytes: int = 2_000_000_000


@dataclass(frozen=True)
class Settings:
    """What the server was told when it was started.

    Attributes
    ----------
    gallery : Path
        The gallery file.
    host, port : str, int
        Where the server listens.
    token : str, optional
        What every client must know; needed where others than this machine can reach it.
    inbox : Path, optional
        A folder of sets to be sorted.
    into : Path, optional
        The only folder below which files are ever copied or moved.
    limits : Limits
        What one client may ask for.

    Examples
    --------
    >>> from pathlib import Path
    >>> from setwise.page import Settings
    >>> Settings(Path("people.setwise"), inbox=Path("unsorted")).port
    8765
    """

    gallery: Path
    host: str = "127.0.0.1"
    port: int = 8765
    token: str | None = None
    inbox: Path | None = None
    into: Path | None = None
    limits: Limits = field(default_factory=Limits)

    def check(self) -> None:
        """Refuse what no server could be started with."""
        regular_file("serve", self.gallery)
        check_number("serve", "seconds", self.limits.seconds)
        for name in ("upload_bytes", "files", "waiting", "workers"):
            check_count("serve", name, getattr(self.limits, name))
        if not self.token and not is_loopback(self.host):
            msg = (
                f"serve: {self.host} can be reached by others, and no token is set. Give a "
                "token that they have to know, or listen on 127.0.0.1."
            )
            raise ParameterError(msg)
        if self.token and not re.fullmatch(r"[A-Za-z0-9_-]{8,200}", self.token):
            msg = "serve: the token must be 8 to 200 letters, digits, - or _."
            raise ParameterError(msg)
        self._check_folders()

    def _check_folders(self) -> None:
        if self.inbox is not None and not self.inbox.is_dir():
            msg = f"serve: the inbox {str(self.inbox)!r} is no folder. Expected one with sets."
            raise ParameterError(msg)
        if self.into is None:
            return
        if self.inbox is None:
            msg = f"serve: into={str(self.into)!r} without an inbox to take files from."
            raise ParameterError(msg)
        inbox, into = self.inbox.resolve(), self.into.resolve()
        if inbox.is_relative_to(into) or into.is_relative_to(inbox):
            msg = f"serve: {inbox} and {into} lie in each other. Name two separate folders."
            raise ParameterError(msg)


def is_loopback(host: str) -> bool:
    """Whether only programs of this machine can reach a server that listens there.

    Examples
    --------
    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
