"""Settings of a server: fixed when it starts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address, ip_address
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
    token: str | None = None  # sent by every client; optional on this machine alone
    inbox: Path | None = None  # with one folder per set to identify
    into: Path | None = None  # the only folder below which files are copied or moved
    limits: Limits = field(default_factory=Limits)
    photos: Path | None = None  # with the files that the gallery names, to show them large

    def check(self) -> None:
        """Raise ParameterError for settings that no server can start with."""
        regular_file("serve", self.gallery)
        check_number("serve", "seconds", self.limits.seconds)
        for name in ("upload_bytes", "files", "waiting", "workers"):
            check_count("serve", name, getattr(self.limits, name))
        for problem in self._problems():
            msg = f"serve: {problem}"
            raise ParameterError(msg)

    def _problems(self) -> Iterator[str]:
        if not self.token and not is_loopback(self.host):
            yield (
                f"other machines can reach {self.host}, and no token is set. Set a token that "
                "clients must send, or listen on 127.0.0.1."
            )
        if self.token and not re.fullmatch(r"[A-Za-z0-9_-]{8,200}", self.token):
            yield "the token must be 8 to 200 letters, digits, - or _."
        if self.inbox is not None and not self.inbox.is_dir():
            yield f"the inbox {str(self.inbox)!r} is no folder. Name a folder with sets."
        if self.into is not None and self.inbox is None:
            yield f"into={str(self.into)!r} needs an inbox to take files from."
        if self.into is not None and self.inbox is not None:
            inbox, into = self.inbox.resolve(), self.into.resolve()
            if inbox.is_relative_to(into) or into.is_relative_to(inbox):
                yield f"{inbox} and {into} overlap. Name two separate folders."


def is_loopback(host: str) -> bool:
    """Whether only programs of this machine can reach a server on this host."""
    address = ip_of(host.strip("[]"))
    return host == "localhost" or (address is not None and address.is_loopback)


def ip_of(name: str) -> IPv4Address | IPv6Address | None:
    """The IP address that a host name is; None if it is another name."""
    try:
        return ip_address(name)
    except ValueError:
        return None
