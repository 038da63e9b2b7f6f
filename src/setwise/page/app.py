"""The application: what a server holds, its routes, and sentences for errors."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from threading import Event, Thread
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from setwise.errors import SetwiseError
from setwise.page import payload
from setwise.page.commands import Commands, ConflictError
from setwise.page.gallery_file import GalleryFile
from setwise.page.guard import PLAIN_HEADERS, Guard
from setwise.page.history import History
from setwise.page.inbox import Inbox
from setwise.page.jobs import Queue
from setwise.page.overview import Insight
from setwise.page.settings import Settings
from setwise.page.transfer import FileTransfer
from setwise.page.uploads import TooMuchError

logger = logging.getLogger("setwise")

STATIC = Path(__file__).parent / "static"
EVERY_S = 0.5  # seconds between two checks whether the file has changed
PREFIX = "setwise-page-"
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": payload.Problem, "description": words}
    for status, words in {
        400: "The request is no JSON, or no HTTP.",
        401: "The token is missing.",
        403: "The request comes from another site.",
        404: "Not found.",
        408: "The request took too long.",
        409: "The gallery has changed meanwhile.",
        413: "Too much at once.",
        422: "The request cannot be carried out; the sentence says why.",
        503: "Too busy; try again later.",
    }.items()
}


class AppState:
    """The gallery, the queue and the history of one server."""

    def __init__(self, settings: Settings) -> None:
        settings.check()
        # Behind a link, commands replace the file itself.
        self.settings = replace(settings, gallery=settings.gallery.resolve())
        self.file = GalleryFile(self.settings.gallery)
        self.history = History(self.settings.gallery, settings.limits)
        self.commands = Commands(self.file, self.history)
        self.insight = Insight()
        self.queue = Queue(settings.limits)
        self.uploads = Path()
        self.inbox = self._open_inbox()
        self.commands.recover()
        self.n_streams = 0
        self.arriving: list[asyncio.Timeout] = []  # of uploads, the oldest first
        self.is_closed = Event()
        self._watch = Thread(target=self._look, name="setwise-page-watch", daemon=True)

    def _open_inbox(self) -> Inbox | None:
        inbox, into = self.settings.inbox, self.settings.into
        if inbox is None:
            return None
        if into is not None:
            self.commands.transfer = FileTransfer(inbox, into)
        return Inbox(inbox, self.file, self.commands)

    def open(self) -> None:
        """Start all threads, and make a folder for uploads."""
        _remove_left_over()
        self.uploads = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
        self.queue.start()
        self.insight.start()
        if self.inbox is not None:
            self.inbox.start()
        self._watch.start()

    def new_folder(self) -> Path:
        """An empty folder for one upload."""
        self.uploads.mkdir(exist_ok=True)  # systems tidy up their temporary folders
        return Path(tempfile.mkdtemp(dir=self.uploads))

    def close(self) -> None:
        """Stop all threads, and remove all uploads."""
        self.is_closed.set()
        self.queue.close()
        self.insight.close()
        if self.inbox is not None:
            self.inbox.close()
        if self._watch.is_alive():
            self._watch.join(timeout=5.0)
        if self.uploads != Path():
            shutil.rmtree(self.uploads, ignore_errors=True)

    def _look(self) -> None:
        while not self.is_closed.wait(EVERY_S):
            try:
                self.insight.weak(self.file.refreshed())
            except Exception:  # the next request says so
                logger.exception("The gallery file could not be read")


def _remove_left_over() -> None:
    """Remove uploads to servers that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*-*"):
        pid = folder.name.removeprefix(PREFIX).partition("-")[0]
        try:
            is_ours = not folder.is_symlink() and folder.stat().st_uid == os.getuid()
            if is_ours and pid.isdecimal() and int(pid) != os.getpid():
                os.kill(int(pid), 0)  # fails if the process has ended, and else does nothing
        except ProcessLookupError:
            shutil.rmtree(folder, ignore_errors=True)
        except (OSError, AttributeError):  # of other users; Windows has no getuid
            continue


def create_app(settings: Settings) -> FastAPI:
    """The application that serves one gallery file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from setwise import CVC
    >>> from setwise.evaluation.testing import separable_sets
    >>> from setwise.page import Settings, create_app
    >>> sets, labels = separable_sets()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = CVC(dims=(2,)).fit(sets, labels).save(f"{folder}/things.setwise")
    ...     app = create_app(Settings(Path(file)))
    >>> "/api/gallery" in app.openapi()["paths"]
    True
    """
    from setwise.page.routes import router  # which needs AppState

    state = AppState(settings)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        state.open()
        yield
        state.close()

    app = FastAPI(
        title="setwise",
        description="Whose photos are these? A gallery of sets, over HTTP.",
        version=version("setwise"),
        lifespan=lifespan,
        docs_url=None,  # it loads scripts from other sites
        redoc_url=None,
        responses=PROBLEMS,
    )
    app.state.setwise = state
    app.include_router(router)
    app.mount("/", StaticFiles(directory=STATIC, html=True, check_dir=False), name="static")
    _handle_errors(app)
    app.add_middleware(Guard, settings=settings)
    # Now and not with the first request: FastAPI changes the warning filters of all threads.
    app.openapi()
    return app


def _handle_errors(app: FastAPI) -> None:
    """Answer every error with one sentence."""

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> JSONResponse:
        words = str(error.detail)
        if error.status_code == 404 and words == "Not Found":
            words = "There is nothing at this address."
        return _problem(error.status_code, words, error.headers)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"][1:]) or "the request"
        return _problem(422, f"{place}: {first['msg']}."[:500])

    @app.exception_handler(SetwiseError)
    async def impossible(request: Request, error: SetwiseError) -> JSONResponse:
        if isinstance(error, ConflictError):
            return _problem(409, str(error))
        return _problem(413 if isinstance(error, TooMuchError) else 422, str(error))

    @app.exception_handler(Exception)
    async def bug(request: Request, error: Exception) -> JSONResponse:
        logger.exception("A request has failed", exc_info=error)
        # This response does not pass the guard, which adds the headers to all others.
        words = "Something went wrong inside setwise. Its log says what."
        return _problem(500, words, PLAIN_HEADERS)


def _problem(status: int, words: str, headers: Any = None) -> JSONResponse:
    text = words.encode("utf-8", "replace").decode()  # lone surrogates are no text
    return JSONResponse({"error": text}, status, headers=headers)
