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
from fastapi.responses import FileResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from setwise.errors import SetwiseError
from setwise.page import command_routes, routes
from setwise.page.commands import ConflictError
from setwise.page.guard import HEADERS, Guard
from setwise.page.health import Observer
from setwise.page.health import router as health
from setwise.page.schema import describe, operation_id
from setwise.page.settings import Settings
from setwise.page.start import routes as start_routes
from setwise.page.state import AppState
from setwise.page.uploads import TooMuchError

logger = logging.getLogger("setwise")

STATIC = Path(__file__).parent / "static"


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
        docs_url=None,  # it loads scripts from other sites; there is one of our own
        redoc_url=None,
        generate_unique_id_function=operation_id,
    )
    app.state.setwise = state
    for router in (health, routes.router, command_routes.router, start_routes.router):
        app.include_router(router)
    app.get("/docs", include_in_schema=False)(_docs)
    app.mount("/", StaticFiles(directory=STATIC, html=True, check_dir=False), name="static")
    _handle_errors(app)
    app.add_middleware(Guard, settings=settings)
    app.add_middleware(Observer, metrics=state.metrics)  # the outermost
    # Now and not with the first request: FastAPI changes the warning filters of all threads.
    document = describe(app, settings)
    app.openapi = lambda: document  # type: ignore[method-assign]
    return app


def _docs() -> FileResponse:
    """The description of the API for people, of local files."""
    return FileResponse(STATIC / "docs.html")


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
