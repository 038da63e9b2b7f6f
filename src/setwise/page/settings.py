"""Settings of a server: fixed when it starts."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path

from setwise._support.parameters import check_count, check_number
from setwise.errors import ParameterError
from setwise.io.untrusted import regular_file


@dataclass(frozen=True)
class Limits:
    """Limits on what one client may send and ask for.

    Examples
    --------
    >>> from setwise.page import Limits
    >>> Limits(upload_bytes=10_000_000).upload_bytes
    10000000
    """

    upload_bytes: int = 50_000_000  # body of one request
    unpacked_bytes: int = 200_000_000  # of all zip files of one request
    files: int = 2000  # of one request, those in zip files too
    seconds: float = 120.0  # work on one question; arrival of one upload
    uploads: int = 16  # that arrive at the same time; one more ends the oldest
    waiting: int = 8  # questions in the queue
    workers: int = 2  # questions worked on at the same time
    kept: int = 50  # answered questions that can be read again
    kept_bytes: int = 500_000_000
    kept_seconds: float = 3600.0
    streams: int = 64  # windows that follow events
    undo_steps: int = 100
    undo_bytes: int = 2_000_000_000


@dataclass(frozen=True)
class Settings:
    """Settings of one server.

    Parameters
    ----------
    gallery : Path
        The gallery file.
    host, port : str, int
        Where the server listens.
    token : str, optional
        What every client must send; required if ``host`` is not this machine alone.
    inbox : Path, optional
        A folder with one folder per set to identify.
    into : Path, optional
        The only folder below which files are copied or moved.
    limits : Limits
        What one client may send and ask for.

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
        """Raise ParameterError for settings that no server can start with."""
        regular_file("serve", self.gallery)
        check_number("serve", "seconds", self.limits.seconds)
        for name in ("upload_bytes", "files", "waiting", "workers"):
            check_count("serve", name, getattr(self.limits, name))
        if not self.token and not is_loopback(self.host):
            msg = (
                f"serve: other machines can reach {self.host}, and no token is set. Set a "
                "token that clients must send, or listen on 127.0.0.1."
            )
            raise ParameterError(msg)
        if self.token and not re.fullmatch(r"[A-Za-z0-9_-]{8,200}", self.token):
            msg = "serve: the token must be 8 to 200 letters, digits, - or _."
            raise ParameterError(msg)
        self._check_folders()

    def _check_folders(self) -> None:
        if self.inbox is not None and not self.inbox.is_dir():
            msg = f"serve: the inbox {str(self.inbox)!r} is no folder. Name a folder with sets."
            raise ParameterError(msg)
        if self.into is None:
            return
        if self.inbox is None:
            msg = f"serve: into={str(self.into)!r} needs an inbox to take files from."
            raise ParameterError(msg)
        inbox, into = self.inbox.resolve(), self.into.resolve()
        if inbox.is_relative_to(into) or into.is_relative_to(inbox):
            msg = f"serve: {inbox} and {into} overlap. Name two separate folders."
            raise ParameterError(msg)


def is_loopback(host: str) -> bool:
    """Whether only programs of this machine can reach a server on this host.

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
