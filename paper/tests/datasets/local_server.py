"""A web server on this machine, with the failures of real ones as switches."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

__all__ = ["Site", "answering", "serving"]


@dataclass
class Site:
    """What is served, how it fails, and what was asked for."""

    files: dict[str, bytes]
    knows_ranges: bool = True
    etag: str | None = '"one"'
    stops_after: int | None = None  # bytes of a body, then the connection closes
    flips: int | None = None  # position of a byte that arrives wrong
    surplus: bytes = b""
    says_length: bool = True
    delay_s: float = 0.0
    redirect: str | None = None
    address: str = ""
    seen: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    @property
    def ranges(self) -> list[str | None]:
        """The Range header of every request, in order."""
        return [headers.get("Range") for _, headers in self.seen]


class _Handler(BaseHTTPRequestHandler):
    site: Site

    def do_GET(self) -> None:
        site = self.site
        self.close_connection = True
        site.seen.append((self.path, dict(self.headers)))
        if site.redirect is not None:
            self.send_response(302)
            self.send_header("Location", site.redirect)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        body = site.files.get(self.path.lstrip("/"))
        if body is None:
            self.send_error(404)
            return
        body += site.surplus
        if site.flips is not None:
            wrong = bytes([body[site.flips] ^ 1])
            body = body[: site.flips] + wrong + body[site.flips + 1 :]
        start = self._start(len(body))
        if start is None:
            return
        if site.etag:
            self.send_header("ETag", site.etag)
        if site.says_length:
            self.send_header("Content-Length", str(len(body) - start))
        self.end_headers()
        time.sleep(site.delay_s)
        body = body[start:]
        self.wfile.write(body if site.stops_after is None else body[: site.stops_after])

    def _start(self, size: int) -> int | None:
        """Answer with a status, and say from where on to send."""
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        is_same = self.headers.get("If-Range") in (None, self.site.etag)
        if not asked or not self.site.knows_ranges or not is_same:
            self.send_response(200)
            return 0
        start = int(asked[1])
        if start >= size:
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{size}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return None
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {start}-{size - 1}/{size}")
        return start

    def log_message(self, *args) -> None:
        """Stay silent."""


class _Server(ThreadingHTTPServer):
    daemon_threads = False  # so that closing waits, and no socket outlives the test

    def handle_error(self, request, client_address) -> None:
        """A client that hangs up is part of these tests."""


@contextmanager
def serving(site: Site):
    """Serve on a free port of 127.0.0.1 while the block runs; yields the site."""
    with _running(type("Handler", (_Handler,), {"site": site})) as site.address:
        yield site


@contextmanager
def answering(script: Callable[[Callable[[bytes], object]], None]):
    """Answer every request by what ``script`` writes, byte for byte; yields the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.close_connection = True
            script(self.wfile.write)

        def log_message(self, *args) -> None:
            """Stay silent."""

    with _running(Handler) as address:
        yield address


@contextmanager
def _running(handler: type[BaseHTTPRequestHandler]):
    with _Server(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()
