"""The application: its routes, and sentences for errors."""

from __future__ import annotations

import errno
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from setwise.errors import SetwiseError
from setwise.page.commands import ConflictError
from setwise.page.guard import HEADERS, Guard
from setwise.page.health import Observer
from setwise.page.health import router as health
from setwise.page.payload import Problem
from setwise.page.routes import router
from setwise.page.settings import Settings
from setwise.page.state import AppState
from setwise.page.uploads import TooMuchError

logger = logging.getLogger("setwise")

STATIC = Path(__file__).parent / "static"
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": words}
    for status, words in {
        400: "The request is no JSON, or no HTTP.",
        401: "The token is missing.",
        403: "The request comes from another site.",
        404: "Not found.",
        408: "The request took too long.",
        409: "The gallery has changed meanwhile.",
        413: "Too much at once.",
        429: "Too many requests of this client; try again later.",
        422: "The request cannot be carried out; the sentence says why.",
        503: "Too busy; try again later.",
    }.items()
}


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
    >>> "/api/v1/gallery" in app.openapi()["paths"]
    True
    """
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
    app.include_router(health)
    app.include_router(router)
    app.mount("/", StaticFiles(directory=STATIC, html=True, check_dir=False), name="static")
    _handle_errors(app)
    app.add_middleware(Guard, settings=settings)
    app.add_middleware(Observer, metrics=state.metrics)  # the outermost
    # Now and not with the first request: FastAPI changes the warning filters of all threads.
    app.openapi()
    return app


def _handle_errors(app: FastAPI) -> None:
    """Answer every error with one sentence."""

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> JSONResponse:
        words = str(error.detail).replace("Not Found", "There is nothing at this address.")
        return _problem(error.status_code, words, error.headers)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"][1:]) or "the request"
        return _problem(422, f"{place}: {first['msg']}."[:500])

    @app.exception_handler(SetwiseError)
    async def impossible(request: Request, error: SetwiseError) -> JSONResponse:
        status = 409 if isinstance(error, ConflictError) else 422
        return _problem(413 if isinstance(error, TooMuchError) else status, str(error))

    @app.exception_handler(OSError)
    async def no_room(request: Request, error: OSError) -> JSONResponse:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise error
        return _problem(422, "The server's disk is full. Make room there, and try again.")

    @app.exception_handler(Exception)
    async def bug(request: Request, error: Exception) -> JSONResponse:
        logger.exception("A request has failed", exc_info=error)
        # This response does not pass the guard, which adds the headers to all others.
        words = "Something went wrong inside setwise. Its log says what."
        return _problem(500, words, HEADERS)


def _problem(status: int, words: str, headers: Any = None) -> JSONResponse:
    text = words.encode("utf-8", "replace").decode()  # lone surrogates are no text
    return JSONResponse({"error": text}, status, headers=headers)
