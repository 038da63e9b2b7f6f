"""The application: routes, words for whatever goes wrong, and the guard around all of it."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from setwise.errors import SetwiseError
from setwise.page import ask_routes, gallery_routes, inbox_routes, models
from setwise.page.acts import ConflictError
from setwise.page.guard import HEADERS, Guard
from setwise.page.house import House
from setwise.page.settings import Settings
from setwise.page.uploads import TooMuchError

__all__ = ["create_app"]

logger = logging.getLogger("setwise")

STATIC = Path(__file__).parent / "static"
PROBLEMS: dict[int | str, dict[str, Any]] = {
    400: {"model": models.Problem, "description": "The request is no JSON, or no HTTP."},
    401: {"model": models.Problem, "description": "The token is missing."},
    403: {"model": models.Problem, "description": "A request of another site."},
    404: {"model": models.Problem, "description": "There is no such thing."},
    409: {"model": models.Problem, "description": "The gallery has changed meanwhile."},
    413: {"model": models.Problem, "description": "Too much at once."},
    422: {"model": models.Problem, "description": "It cannot be done, and why."},
    503: {"model": models.Problem, "description": "Too busy; ask again later."},
}


def create_app(settings: Settings) -> FastAPI:
    """The application that serves one gallery file.

    Parameters
    ----------
    settings : Settings
        What the server was told.

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
    house = House(settings)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        house.open()
        yield
        house.close()

    app = FastAPI(
        title="setwise",
        description="Whose are these photos? A gallery of sets, asked and changed over HTTP.",
        version=_version(),
        lifespan=lifespan,
        docs_url=None,  # which would load its scripts from elsewhere
        redoc_url=None,
        responses=PROBLEMS,
    )
    app.state.house = house
    for routes in (gallery_routes, ask_routes, inbox_routes):
        app.include_router(routes.router)
    app.mount("/", StaticFiles(directory=STATIC, html=True, check_dir=False), name="static")
    _handle_errors(app)
    app.add_middleware(Guard, settings=settings)
    # Now, and not with the first request: other threads change the filters of warnings then,
    # as FastAPI does meanwhile.
    app.openapi()
    return app


def _version() -> str:
    from importlib.metadata import version

    return version("setwise")


def _handle_errors(app: FastAPI) -> None:
    """One clear sentence for whatever goes wrong."""

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
        logger.exception("A request could not be answered", exc_info=error)
        # This one goes round the guard, which would dress it.
        headers = {name.decode(): value.decode() for name, value in HEADERS}
        words = "Something went wrong inside of setwise; its log says what."
        return _problem(500, words, headers)


def _problem(status: int, words: str, headers: Any = None) -> JSONResponse:
    text = words.encode("utf-8", "replace").decode()  # lone surrogates are no text
    return JSONResponse({"error": text}, status, headers=headers)
