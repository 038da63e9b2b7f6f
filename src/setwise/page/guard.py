"""Access control, limits of connections and security headers, around everything else."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import math
import re
import socket
from collections import deque
from typing import Any, TypeAlias
from urllib.parse import parse_qs, urlencode

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol

from setwise.page.access import Rate, Token
from setwise.page.logs import request_fields
from setwise.page.settings import Settings, ip_of, is_loopback

COOKIE = "setwise_token"
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
HEADERS = {
    "content-security-policy": CSP,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
# The same address again, now asked by this page itself: with the cookie, and from this site.
_AGAIN = 'performance.getEntriesByType("navigation")[0].type === "reload" || location.reload()'
GO_ON = f'<!doctype html><title>setwise</title><a href="">Open</a><script>{_AGAIN}</script>'
_HASH = base64.b64encode(hashlib.sha256(_AGAIN.encode()).digest()).decode()
GO_ON_HEADERS = HEADERS | {
    "content-security-policy": CSP.replace("script-src 'self'", f"script-src 'sha256-{_HASH}'"),
    "cache-control": "no-store",
}
ALIVE = ("/healthz", "/readyz")  # which anybody may ask by any name; they tell no secret
API = "/api/v1"
ASKING = (f"{API}/identify", f"{API}/judge")  # which changes nothing, by any method
UPLOADS = (f"{API}/identify", f"{API}/judge", f"{API}/start/photos")
Refusal: TypeAlias = tuple[int, str] | tuple[int, str, int]  # status, sentence, seconds to wait
ANYONE = Token("", "anyone")
SMALL_BODY, AROUND_FILES = 1_000_000, 2_000_000  # bytes without files, and around files
# A name or an IPv6 address in brackets, and a port.
HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::[0-9]{1,5})?")
# Seconds for the head of a request, and connections at most that wait for theirs.
HEAD_S, MOST_WAITING, MOST_CONNECTIONS = 10.0, 100, 200
MOST_KNOWN_WRONG = 100  # tokens


class _HeadLimit(H11Protocol):
    """HTTP/1.1 with a time limit for heads, so that open connections shut no one out."""

    head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        waiting = [one for one in self.connections if getattr(one, "head_timer", None)]
        if len(waiting) >= MOST_WAITING:
            oldest: Any = min(waiting, key=lambda one: one.head_timer.when())  # type: ignore[union-attr]
            oldest._stop_waiting()
            oldest.transport.abort()
        self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._stop_waiting()

    def _wait_for_head(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()
        elif self.head_timer is None:
            self.head_timer = self.loop.call_later(HEAD_S, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self.head_timer is not None:
            self.head_timer.cancel()
            self.head_timer = None


def server_config(app: Any, settings: Settings, **options: Any) -> Config:
    """The configuration of a uvicorn server for the page."""
    return Config(
        app,
        host=settings.host,
        port=settings.port,
        http=_HeadLimit,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=True,
        forwarded_allow_ips=list(settings.proxies),
        limit_concurrency=MOST_CONNECTIONS,
        h11_max_incomplete_event_size=65536,
        **options,
    )


class _RefusedError(Exception):
    """The body of a request is too large or too slow."""


class Guard:
    """Middleware that refuses requests from elsewhere than the page or a program."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app, self.settings = app, settings
        self.hosts = _own_names(settings)
        self.tokens = settings.all_tokens
        self.requests = Rate(settings.limits.requests_per_minute)
        self.wrong_tokens = Rate(settings.limits.wrong_tokens_per_minute)
        self.known_wrong: deque[str] = deque(maxlen=MOST_KNOWN_WRONG)
        public = settings.public
        self.origin = None if public is None else f"{public.scheme}://{public.netloc}".lower()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            elif scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            return
        request = Request(scope)
        if scope["path"] in ALIVE and scope["method"] in ("GET", "HEAD"):
            await self._pass_on(scope, receive, send)
            return
        if self._is_link(request):
            await HTMLResponse(GO_ON, headers=GO_ON_HEADERS)(scope, receive, send)
            return
        token = self._token(request)
        refusal = self._refusal(request, token)
        if refusal is not None:
            scope["setwise.refused"] = True
            is_seen = "text/html" in request.headers.get("accept", "")
            await _refusal_response(*refusal, is_seen=is_seen)(scope, receive, send)
        elif token and token.value and scope["method"] == "GET" and _tokens(request):
            await self._welcome(scope, token)(scope, receive, send)
        else:
            await self._pass_on(scope, receive, send)

    def _refusal(self, request: Request, token: Token | None) -> Refusal | None:
        headers = request.headers
        host = headers.get("host", "")
        late = self._wait_s(request, token)
        if late:
            seconds = math.ceil(late)
            return 429, f"Too many requests. Try again in {seconds} s.", seconds
        if not self._is_own(host):
            return 421, "Unknown host name. Open the address that the server printed."
        origin = headers.get("origin")
        is_own = origin in (None, f"http://{host}", f"https://{host}", self.origin)
        if not is_own or headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return 403, "Requests of other sites are refused."
        if token is None:
            return 401, "The token is missing. Open the address that the server printed."
        if not self._may(token, request.scope):
            return 403, "This server, or this token, does not allow changes."
        if headers.get("upgrade", "").lower() == "websocket":
            return 400, "This server speaks HTTP only, no WebSocket."
        length, most = headers.get("content-length", "0"), self._most_bytes(request.scope)
        if not length.isdecimal() or int(length) > most:
            return 413, f"That is too much at once: at most {most / 1e6:.0f} MB. Send less."
        return None

    def _is_link(self, request: Request) -> bool:
        """Whether a browser follows a link of another site, and so brings no cookie."""
        headers = request.headers
        is_page = headers.get("sec-fetch-dest") == "document" and request.method == "GET"
        is_other = headers.get("sec-fetch-site") in ("cross-site", "same-site")
        return is_page and is_other and self._is_own(headers.get("host", ""))

    def _is_own(self, host: str) -> bool:
        """Whether a host is this server: DNS rebinding leads other names here."""
        found = HOST.fullmatch(host)
        if found is None:
            return False
        name = (found[1] or found[2]).lower()
        # DNS cannot rebind an IP address; the token decides who may come.
        is_open = not is_loopback(self.settings.host)
        return name in self.hosts or (is_open and ip_of(name) is not None)

    def _token(self, request: Request) -> Token | None:
        """The token that a request brings; None if it brings none that is known."""
        if not self.tokens:
            return ANYONE
        for value in _given(request):
            for token in self.tokens:
                if hmac.compare_digest(value.encode(), token.value.encode()):
                    fields = request_fields.get()
                    if fields is not None:
                        fields["who"] = token.name
                    return token
        return None

    def _may(self, token: Token, scope: Scope) -> bool:
        """Whether a token allows a request: only some of them change something."""
        if scope["method"] in ("GET", "HEAD", "OPTIONS"):
            return True
        is_asking = any(
            scope["path"] == path or scope["path"].startswith(f"{path}/") for path in ASKING
        )
        return is_asking or (token.can_write and not self.settings.is_read_only)

    def _wait_s(self, request: Request, token: Token | None) -> float:
        """Seconds that a client has to wait, which is usually none."""
        if not self.tokens:
            return 0.0
        client = request.client.host if request.client else ""
        late = self.wrong_tokens.wait_s(client)
        # An old token in an open window is no guess, however often it is sent.
        new = [one for one in _given(request) if one not in self.known_wrong]
        if token is None and new:
            self.known_wrong.extend(new)
            self.wrong_tokens.count(client)
        late = late or self.requests.wait_s(client)
        if not late:
            self.requests.count(client)
        return late

    def _welcome(self, scope: Scope, token: Token) -> Response:
        """Keep the token in a cookie, out of the browser's address history."""
        query = parse_qs(scope["query_string"].decode("latin-1"))
        query.pop("token", None)
        rest = urlencode(query, doseq=True)
        # Never two slashes at the beginning, which would be another host.
        path = "/" + scope["path"].lstrip("/\\") if scope["path"].isascii() else "/"
        secure = "; Secure" if (self.origin or "").startswith("https:") else ""
        cookie = f"{COOKIE}={token.value}; HttpOnly; SameSite=Strict; Path=/{secure}"
        headers = {
            "location": path + ("?" + rest if rest else ""),
            "set-cookie": cookie,
            "cache-control": "no-store",
        }
        return Response(status_code=303, headers=headers | HEADERS)

    def _most_bytes(self, scope: Scope) -> int:
        of_upload = self.settings.limits.upload_bytes + AROUND_FILES
        return of_upload if scope["path"] in UPLOADS else SMALL_BODY

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        has_begun = False

        async def with_headers(message: Message) -> None:
            nonlocal has_begun
            if message["type"] == "http.response.start":
                has_begun = True
                own = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    own.setdefault(name, value)
            await send(message)

        try:
            await self.app(scope, self._limited(scope, receive), with_headers)
        except _RefusedError as error:
            if not has_begun:
                scope["setwise.refused"] = True
                await _refusal_response(*error.args)(scope, receive, send)

    def _limited(self, scope: Scope, receive: Receive) -> Receive:
        """The body of a request, as far as it is small and fast enough."""
        most, n_read, is_whole = self._most_bytes(scope), 0, False
        deadline = asyncio.get_running_loop().time() + self.settings.limits.seconds

        async def limited() -> Message:
            nonlocal n_read, is_whole
            try:
                async with asyncio.timeout_at(None if is_whole else deadline):
                    message = await receive()
            except TimeoutError:
                raise _RefusedError(408, "The request took too long. Send less.") from None
            n_read += len(message.get("body", b""))
            is_whole = not message.get("more_body", False)
            if n_read > most:
                words = f"That is too much at once: at most {most / 1e6:.0f} MB."
                raise _RefusedError(413, words)
            return message

        return limited


def _refusal_response(
    status: int, words: str, wait_s: int = 0, *, is_seen: bool = False
) -> Response:
    headers = HEADERS | {"connection": "close"}
    if status == 401:
        headers["www-authenticate"] = "Bearer"
    if wait_s:
        headers["retry-after"] = str(wait_s)
    if is_seen:  # by a person, in a browser
        page = f"<!doctype html><html lang=en><title>setwise</title><h1>setwise</h1><p>{words}"
        return HTMLResponse(page, status, headers)
    return JSONResponse({"error": words}, status, headers)


def _own_names(settings: Settings) -> frozenset[str]:
    host, public = settings.host, settings.public
    names = {"localhost", "127.0.0.1", "::1", host.strip("[]").lower()}
    if not is_loopback(host):
        names |= {socket.gethostname().lower(), socket.getfqdn().lower()}
    if public is not None:
        names.add(public.hostname or "")
    return frozenset(names | {name.lower() for name in settings.allowed_hosts})


def _given(request: Request) -> list[str]:
    """What a request brings as its token: in the header, the cookie or the address."""
    kind, _, bearer = request.headers.get("authorization", "").partition(" ")
    given = [bearer.strip()] if kind.lower() == "bearer" else []
    return [one for one in (*given, request.cookies.get(COOKIE), *_tokens(request)[:1]) if one]


def _tokens(request: Request) -> list[str]:
    """Tokens in the query of the address."""
    return parse_qs(request.scope["query_string"].decode("latin-1")).get("token", [])
