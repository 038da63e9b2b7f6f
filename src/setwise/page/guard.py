"""Who may talk to the server, and what every response says to the browser.

Plain ASGI, around everything else: requests of other sites, names that only pretend to be
this machine, missing tokens and bodies that are too large are refused before they are read.
"""

from __future__ import annotations

import hmac
import json
import socket
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from urllib.parse import parse_qs, urlencode, urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from setwise.page.settings import Settings, is_loopback

__all__ = ["COOKIE", "CSP", "Guard"]

COOKIE = "setwise_token"
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
HEADERS = (
    (b"content-security-policy", CSP.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
# Of the body of a request that brings no files.
SMALL_BODY = 1_000_000
# Of what stands around the files in a body that does.
AROUND_FILES = 2_000_000


class _TooLargeBodyError(Exception):
    """More came than was allowed, or than was announced."""


class Guard:
    """Refuses what does not come from the page itself, or from a program that may ask.

    Parameters
    ----------
    app : ASGI application
        What is guarded.
    settings : Settings
        Where the server listens, its token and limits.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app, self.settings = app, settings
        self.hosts = _own_names(settings.host)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        headers = _headers(scope)
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _refuse(send, *refusal)
            return
        if self._brings_token(scope):
            await self._welcome(scope, send)
            return
        await self._pass_on(scope, receive, send)

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if not self._is_own(host):
            return 421, "This server answers to its own address alone: open the one it printed."
        origin = headers.get("origin")
        if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
            return 403, "Requests of other sites are refused."
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return 403, "Requests of other sites are refused."
        if not self._knows_token(scope, headers):
            return 401, "A token is needed: open the address that the server printed."
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self._most_bytes(scope):
            limit = self._most_bytes(scope)
            return 413, f"That is too much at once: at most {limit / 1e6:.0f} MB. Send less."
        return None

    def _is_own(self, host: str) -> bool:
        """Whether a name is this server's: others may lead here by DNS rebinding."""
        name = _name_of(host)
        if name is None:
            return False
        # A number cannot be rebound; who may come is for the token to say.
        return name in self.hosts or (not is_loopback(self.settings.host) and _is_ip(name))

    def _knows_token(self, scope: Scope, headers: dict[str, str]) -> bool:
        token = self.settings.token
        if not token:
            return True
        kind, _, bearer = headers.get("authorization", "").partition(" ")
        given = [bearer.strip()] if kind.lower() == "bearer" else []
        given += [_cookie(headers), _query_token(scope) or ""]
        return any(hmac.compare_digest(one.encode(), token.encode()) for one in given)

    def _brings_token(self, scope: Scope) -> bool:
        return bool(self.settings.token) and scope["method"] == "GET" and _has_token(scope)

    async def _welcome(self, scope: Scope, send: Send) -> None:
        """Keep the token in a cookie, and its address out of the history."""
        query = parse_qs(scope["query_string"].decode("latin-1"))
        query.pop("token", None)
        rest = urlencode(query, doseq=True)
        # Never two slashes at the beginning, which would be another host.
        path = "/" + scope["path"].lstrip("/\\") if scope["path"].isascii() else "/"
        cookie = f"{COOKIE}={self.settings.token}; HttpOnly; SameSite=Strict; Path=/"
        headers = [
            (b"location", (path + ("?" + rest if rest else "")).encode()),
            (b"set-cookie", cookie.encode()),
            (b"cache-control", b"no-store"),
            (b"content-length", b"0"),
            *HEADERS,
        ]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    def _most_bytes(self, scope: Scope) -> int:
        if scope["path"] == "/api/asks":
            return self.settings.limits.upload_bytes + AROUND_FILES
        return SMALL_BODY

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        most, n_read, has_begun = self._most_bytes(scope), 0, False

        async def counted() -> Message:
            nonlocal n_read
            message = await receive()
            n_read += len(message.get("body", b""))
            if n_read > most:
                raise _TooLargeBodyError
            return message

        async def dressed(message: Message) -> None:
            nonlocal has_begun
            if message["type"] == "http.response.start":
                has_begun = True
                own = {name for name, _ in message["headers"]}
                message["headers"] = [
                    *message["headers"],
                    *((name, value) for name, value in HEADERS if name not in own),
                ]
            await send(message)

        try:
            await self.app(scope, counted, dressed)
        except _TooLargeBodyError:
            if not has_begun:
                await _refuse(
                    send, 413, f"That is too much at once: at most {most / 1e6:.0f} MB."
                )


async def _refuse(send: Send, status: int, words: str) -> None:
    body = json.dumps({"error": words}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
        *HEADERS,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _own_names(host: str) -> frozenset[str]:
    names = {"localhost", "127.0.0.1", "::1", host.strip("[]").lower()}
    if not is_loopback(host):
        names |= {socket.gethostname().lower(), socket.getfqdn().lower()}
    return frozenset(names)


def _headers(scope: Scope) -> dict[str, str]:
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}


def _name_of(host: str) -> str | None:
    """The name in a Host header, without its port; None where it is no name."""
    if not host.isascii() or not all(c.isalnum() or c in ".-:[]_" for c in host):
        return None
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None


def _is_ip(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _cookie(headers: dict[str, str]) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found is not None else ""


def _query_token(scope: Scope) -> str | None:
    return parse_qs(scope["query_string"].decode("latin-1")).get("token", [None])[0]


def _has_token(scope: Scope) -> bool:
    return _query_token(scope) is not None
