"""What a supervisor asks: is the server alive, is it ready, how is it doing."""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import shutil
import time
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from setwise.page.logs import request_fields, tell
from setwise.page.metrics import CONTENT_TYPE, Metrics, Values
from setwise.page.payload import Health
from setwise.page.state import AppState

router = APIRouter(tags=["health"])

# Asked every few seconds by machines: logged for --log-level debug alone.
QUIET_PATHS = ("/healthz", "/readyz", "/metrics")
REQUEST_ID = re.compile(r"[A-Za-z0-9_.-]{1,64}")


@router.get("/healthz")
@router.head("/healthz", include_in_schema=False)
async def healthz() -> Health:
    """Whether the server answers at all; if not, start it anew."""
    return Health(status="ok")


@router.get("/readyz")
@router.head("/readyz", include_in_schema=False)
def readyz(request: Request) -> Health:
    """Whether the server can do its work now; if not, send clients elsewhere."""
    found = problems(request.app.state.setwise)
    if found:
        raise HTTPException(503, f"Not ready: {' '.join(found)}", {"Retry-After": "5"})
    return Health(status="ready")


METRICS: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/plain": {}}, "description": "Prometheus' text format."}
}


@router.get("/metrics", response_class=Response, responses=METRICS)
def metrics(request: Request) -> Response:
    """Counters, times and sizes, in the text format of Prometheus."""
    app: AppState = request.app.state.setwise
    return Response(app.metrics.text(gauges(app)), media_type=CONTENT_TYPE)


def problems(app: AppState) -> list[str]:
    """Why the server cannot do its work now; clients without a token may read it."""
    found = []
    if app.is_closed.is_set():
        found.append("The server is stopping.")
    if app.has_gallery and app.file.trouble is not None:
        found.append("The gallery file cannot be read now.")
    if not app.queue.is_alive:
        found.append("A worker has ended.")
    if _free(app.uploads) < app.settings.limits.upload_bytes:
        found.append("The disk of uploads is full.")
    return found


def gauges(app: AppState) -> dict[str, Values]:
    """Values of this moment."""
    path = app.settings.gallery
    one_value = {
        "setwise_questions_waiting": app.queue.n_waiting,
        "setwise_questions_working": app.queue.n_working,
        "setwise_uploads_arriving": len(app.arriving),
        "setwise_event_streams": app.n_streams,
        "setwise_gallery_bytes": path.stat().st_size if path.is_file() else 0,
        "setwise_ready": not problems(app),
    }
    if app.has_gallery:
        gallery = app.file.state.gallery
        kept = {one.st_ino: one.st_size for one in app.history.kept_files()}
        one_value |= {
            "setwise_gallery_classes": gallery.n_classes,
            "setwise_gallery_sets": len(gallery.sets),
            "setwise_history_bytes": sum(kept.values()),
        }
    found: dict[str, Values] = {name: {(): float(one)} for name, one in one_value.items()}
    folders = {"gallery": path.parent, "uploads": app.uploads}
    found["setwise_disk_free_bytes"] = {(k,): float(_free(one)) for k, one in folders.items()}
    found["setwise_info"] = {(version("setwise"),): 1.0}
    return found


def _free(folder: Any) -> int:
    try:
        return shutil.disk_usage(folder).free
    except OSError:  # systems tidy up their temporary folders; it is made again
        return shutil.disk_usage(folder.parent).free


class Observer:
    """Middleware around all others: an id, a line and a measurement for each request."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app, self.metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and tell how it ended."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        given = dict(scope["headers"]).get(b"x-request-id", b"").decode("latin-1")
        name = given if REQUEST_ID.fullmatch(given) else secrets.token_hex(6)
        client = scope["client"][0] if scope.get("client") else None
        request_fields.set({"request": name, "client": client})
        began, status, n_bytes = time.perf_counter(), 0, 0

        async def counted(message: Message) -> None:
            nonlocal status, n_bytes
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", name.encode())]
            n_bytes += len(message.get("body", b""))
            await send(message)

        try:
            await self.app(scope, receive, counted)
        except Exception:
            status = 500
            raise
        except asyncio.CancelledError:
            status = status or 499
            raise
        finally:
            self._tell(scope, status or 499, n_bytes, time.perf_counter() - began)

    def _tell(self, scope: Scope, status: int, n_bytes: int, seconds: float) -> None:
        method, path = scope["method"], scope["path"]
        found = scope.get("route")
        route = "other" if found is None else getattr(found, "path", "") or "static"
        if scope.get("setwise.refused"):
            self.metrics.add("setwise_refused_total", status=str(status))
        known = method if method in ("GET", "POST", "DELETE", "HEAD") else "other"
        about = {"method": known, "route": route, "status": str(status)}
        self.metrics.add("setwise_requests_total", **about)
        if route != "/api/v1/events":  # which lasts as long as a window is open
            self.metrics.observe("setwise_request_seconds", seconds, route=route)
        level = logging.DEBUG if path in QUIET_PATHS else logging.INFO
        spent = round(seconds * 1000, 1)
        fields = {"method": method, "path": path, "status": status, "ms": spent}
        tell("request", level, **(request_fields.get() or {}), **fields, bytes=n_bytes)
