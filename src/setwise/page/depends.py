"""What routes share: the state of the server, places and pictures."""

from typing import Annotated, Any

from fastapi import Depends, HTTPException, Path, Query, Request

from setwise.io.decode import SIDE
from setwise.page.answers import Found
from setwise.page.inbox import Inbox
from setwise.page.jobs import Job
from setwise.page.state import AppState

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
