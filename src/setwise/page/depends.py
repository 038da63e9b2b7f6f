"""What routes share: the state of the server, places and pictures."""

import asyncio
import re
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Depends, Header, HTTPException, Path, Query, Request

from setwise.io.decode import SIDE
from setwise.page.answers import Found
from setwise.page.inbox import Inbox
from setwise.page.jobs import Job
from setwise.page.state import AppState

MOST_WAIT_S, LOOK_S = 300.0, 0.01
FOR_EVER = {"Cache-Control": "private, max-age=31536000, immutable"}
PICTURES: dict[int | str, dict[str, Any]] = {
    200: {"content": {"image/jpeg": {}, "image/png": {}}, "description": "A small picture."}
}


def server_state(request: Request) -> AppState:
    """The state of the server, also while there is no gallery."""
    state: AppState = request.app.state.setwise
    return state


ServerState = Annotated[AppState, Depends(server_state)]


def app_state(app: ServerState) -> AppState:
    """The state of a server that has a gallery."""
    if not app.has_gallery:
        raise HTTPException(409, "There is no gallery yet. Choose photos to begin with.")
    return app


App = Annotated[AppState, Depends(app_state)]
Id = Annotated[str, Path(max_length=64)]
Place = Annotated[int, Path(ge=0, le=10_000_000)]
Side = Annotated[int, Query(ge=SIDE, le=2048, description="Pixels of the longer side.")]
Prefer = Annotated[str, Header(max_length=100, description="`wait=SECONDS`: answer when done.")]
Whole = Annotated[bool, Query(description="The whole photo, not only the face in it.")]


def inbox_of(app: App) -> Inbox:
    """The inbox, if the server has one."""
    if app.inbox is None:
        raise HTTPException(404, "There is no inbox. Start the server with --inbox.")
    return app.inbox


TheInbox = Annotated[Inbox, Depends(inbox_of)]


def job_of(app: AppState, job_id: str) -> Job:
    """A job by its id; an error if it is not kept."""
    job = app.queue.get(job_id)
    if job is None:
        raise HTTPException(404, "There is no such question. Answers are kept for some time.")
    return job


def found_of(app: AppState, job_id: str) -> Found:
    """The sets and answers of a job that is done."""
    job = job_of(app, job_id)
    found: Found | None = job.result if job.state == "done" else None
    if found is None:
        raise HTTPException(404, "This question is not answered yet.")
    return found


def checked(found: Found, k: int) -> int:
    """The number of an answer; an error if there is none."""
    if k >= len(found.answers):
        raise HTTPException(404, "There is no such answer.")
    return k


def wait_of(prefer: str) -> float:
    """Seconds that a client wants to wait, by its header ``Prefer`` (RFC 7240)."""
    found = re.search(r"\bwait=([0-9]{1,4})\b", prefer)
    return min(float(found[1]), MOST_WAIT_S) if found else 0.0


async def waited(is_over: Callable[[], bool], seconds: float) -> None:
    """Wait until something is over, and no longer than so many seconds."""
    loop = asyncio.get_running_loop()
    ends = loop.time() + seconds
    while not is_over() and loop.time() < ends:
        await asyncio.sleep(LOOK_S)
