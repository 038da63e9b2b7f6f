"""Settings of a server: fixed when it starts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from setwise._support.parameters import check_count, check_not_negative, check_number
from setwise.errors import ParameterError
from setwise.io.untrusted import regular_file
from setwise.page.access import Token, token_problems

HOST = re.compile(r"[A-Za-z0-9._-]{1,253}")


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
    heap_bytes: int = 20_000_000_000  # of photos that are sent to begin a gallery with
    undo_steps: int = 100
    undo_bytes: int = 2_000_000_000
    requests_per_minute: int = 6000  # of one client, where tokens are needed
    wrong_tokens_per_minute: int = 30  # of one client


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
    token: str | None = field(default=None, repr=False)  # that allows everything
    inbox: Path | None = None  # with one folder per set to identify
    into: Path | None = None  # the only folder below which files are copied or moved
    limits: Limits = field(default_factory=Limits)
    tokens: tuple[Token, ...] = ()  # of clients; optional on this machine alone
    is_read_only: bool = False  # refuses every change
    public_url: str | None = None  # under which a proxy shows the server
    allowed_hosts: tuple[str, ...] = ()  # further names by which clients reach the server
    proxies: tuple[str, ...] = ("127.0.0.1", "::1")  # whose X-Forwarded-For is believed
    photos: tuple[Path, ...] = ()  # with the files that the gallery names, to show them large
    sources: tuple[Path, ...] = ()  # folders that a first gallery may be made of

    @property
    def all_tokens(self) -> tuple[Token, ...]:
        """Every token that is known."""
        return ((Token(self.token),) if self.token else ()) + self.tokens

    @property
    def needs_token(self) -> bool:
        """Whether other machines can reach the server, also through a proxy."""
        return self.public_url is not None or not is_loopback(self.host)

    @property
    def public(self) -> SplitResult | None:
        """The parts of the public address."""
        return None if self.public_url is None else urlsplit(self.public_url.rstrip("/"))

    def check(self) -> None:
        """Raise ParameterError for settings that no server can start with."""
        if self.gallery.exists() or self.is_read_only:
            regular_file("serve", self.gallery)
        check_number("serve", "seconds", self.limits.seconds)
        for limit in fields(self.limits):
            value = getattr(self.limits, limit.name)
            if limit.name.startswith(("kept", "undo")):
                check_not_negative("serve", limit.name, value)
            elif limit.name != "seconds":
                check_count("serve", limit.name, value)
        for problem in self._problems():
            msg = f"serve: {problem}"
            raise ParameterError(msg)

    def _problems(self) -> Iterator[str]:
        if not self.gallery.exists() and not self.gallery.absolute().parent.is_dir():
            yield f"there is no folder for {str(self.gallery)!r}. Name a file in a folder."
        if self.needs_token and not self.all_tokens:
            address = self.public_url or self.host
            yield (
                f"other machines can reach {address}, and no token is set. Set a token that "
                "clients must send, or listen on 127.0.0.1."
            )
        yield from token_problems(self.all_tokens)
        yield from self._address_problems()
        if self.inbox is not None and not self.inbox.is_dir():
            yield f"the inbox {str(self.inbox)!r} is no folder. Name a folder with sets."
        if self.into is not None and self.inbox is None:
            yield f"into={str(self.into)!r} needs an inbox to take files from."
        if self.into is not None and self.inbox is not None:
            inbox, into = self.inbox.resolve(), self.into.resolve()
            if inbox.is_relative_to(into) or into.is_relative_to(inbox):
                yield f"{inbox} and {into} overlap. Name two separate folders."

    def _address_problems(self) -> Iterator[str]:
        public = self.public
        if public is not None and not _is_plain(public):
            yield (
                f"the public address {self.public_url!r} is not of the form "
                "https://photos.example.org: a scheme, a host and perhaps a port."
            )
        for host in self.allowed_hosts:
            if not HOST.fullmatch(host):
                yield f"{host!r} is no name of a host, as photos.example.org is."
        for proxy in self.proxies:
            if _network_of(proxy) is None:
                yield f"the proxy {proxy!r} is neither an IP address nor a network of them."


def _is_plain(url: SplitResult) -> bool:
    """Whether an address is a scheme, a host and perhaps a port."""
    try:
        is_host = url.port is None or url.port > 0
    except ValueError:
        return False
    is_bare = not (url.path or url.query or url.fragment or url.username or url.password)
    name = url.hostname or ""
    is_host = is_host and (HOST.fullmatch(name) is not None or ip_of(name) is not None)
    return url.scheme in ("http", "https") and is_bare and is_host


def _network_of(text: str) -> object:
    try:
        return ip_network(text)
    except ValueError:
        return None


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
