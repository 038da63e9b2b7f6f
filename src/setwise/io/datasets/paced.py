"""Asking a web server that may be slow, endless or hostile: it is given up after a while.

The standard library's client, with a look at every read, also of those that wait for headers.
pooch and requests can neither limit the time and size of a transfer nor continue one.
"""

from __future__ import annotations

import io
import time
from http.client import HTTPConnection, HTTPMessage, HTTPResponse, HTTPSConnection
from typing import IO, Any
from urllib import request as urls
from urllib.error import HTTPError
from urllib.parse import urlsplit

__all__ = ["Pace", "ask"]

# Seconds without a byte after which a server counts as gone.
TIMEOUT_S = 30.0
# Who sends fewer bytes per second than this, after a first while, is given up.
SLOWEST, PATIENCE_S = 1000, 60.0
# Bytes that are not the file's own: headers, redirects, sizes of chunks.
MOST_OVERHEAD = 1 << 20

_clock = time.monotonic


class Pace:
    """Ends a transfer that is too slow, or that sends anything but the file."""

    def __init__(self) -> None:
        self.started = _clock()
        self.n_content = 0
        self.n_read = 0

    def check(self, n_bytes: int) -> None:
        """Look at the clock after another ``n_bytes`` were read."""
        self.n_read += n_bytes
        seconds = _clock() - self.started
        if seconds > PATIENCE_S + self.n_content / SLOWEST:
            msg = f"only {self.n_content:,} bytes of the file came in {seconds:.0f} seconds"
            raise ConnectionError(msg)
        # A chunk of a single byte takes six.
        if self.n_read > MOST_OVERHEAD + 8 * self.n_content:
            msg = f"only {self.n_content:,} of {self.n_read:,} bytes received are of the file"
            raise ConnectionError(msg)


class _Reader(io.RawIOBase):
    """A connection, every read of which is checked."""

    def __init__(self, connection: io.RawIOBase, pace: Pace) -> None:
        self.connection = connection
        self.pace = pace

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        n_bytes = self.connection.readinto(buffer) or 0
        self.pace.check(n_bytes)
        return n_bytes

    def close(self) -> None:
        self.connection.close()
        super().close()


class _Redirects(urls.HTTPRedirectHandler):
    """Redirects lead to http or https, and never away from https."""

    def redirect_request(
        self, req: urls.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage,
        newurl: str,
    ) -> urls.Request | None:  # fmt: skip
        if urlsplit(newurl).scheme not in ("https", req.type):
            wrong = f"it leads to {newurl[:200]!r}, away from {req.type}"
            raise ConnectionError(wrong)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def ask(address: str, headers: dict[str, str], pace: Pace) -> Any:
    """Send a request, and return the response, whatever its status; the caller closes it."""

    class Response(HTTPResponse):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self.fp = io.BufferedReader(_Reader(self.fp.detach(), pace))

    class PlainConnection(HTTPConnection):
        response_class = Response

    class SecureConnection(HTTPSConnection):
        response_class = Response

    class Plain(urls.HTTPHandler):
        def http_open(self, req: urls.Request) -> HTTPResponse:
            return self.do_open(PlainConnection, req)

    class Secure(urls.HTTPSHandler):
        def https_open(self, req: urls.Request) -> HTTPResponse:
            return self.do_open(SecureConnection, req)

    request = urls.Request(address, headers=headers)  # noqa: S310 (the caller checks)
    try:
        return urls.build_opener(Plain, Secure, _Redirects).open(request, timeout=TIMEOUT_S)
    except HTTPError as response:  # a status that is no success; else it is like any other
        return response
