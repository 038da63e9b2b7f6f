"""All routes of the API: the gallery, commands, identifying, the inbox."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request, Response
from starlette.responses import HTMLResponse, StreamingResponse

from setwise._support.extras import require
from setwise.io.decode import SIDE
from setwise.page import bodies, payload
from setwise.page.answers import job_payload, picture, tree_payload
from setwise.page.arriving import UPLOAD, VECTORS, received_files, received_vectors
from setwise.page.classes import class_photos, photo_of, set_photos
from setwise.page.depends import (
    FOR_EVER,
    PICTURES,
    App,
    Id,
    Place,
    Prefer,
    ServerState,
    Side,
    TheInbox,
    Whole,
    checked,
    found_of,
    job_of,
    wait_of,
    waited,
)
from setwise.page.jobs import QueueFullError
from setwise.page.overview import overview
from setwise.page.pictures import below, from_file
from setwise.page.state import AppState

router = APIRouter(prefix="/api/v1")

EVERY_S, ALIVE_S = 0.2, 15.0  # between looks for news, and comments of an idle stream
get_picture = partial(router.get, response_class=Response, responses=PICTURES)


def _image(found: tuple[bytes, str] | None) -> Response:
    if found is None:
        raise HTTPException(404, "There is no such photo.")
    return Response(found[0], media_type=found[1], headers=FOR_EVER)


@router.get("/gallery", tags=["gallery"])
def gallery(app: App) -> payload.Overview:
    """Every class with its sets."""
    return overview(app)


@get_picture("/sets/{set_id}/images/{i}", tags=["gallery"])
def gallery_image(
    app: App, set_id: Id, i: Place, side: Side = SIDE, whole: Whole = False
) -> Response:
    """A picture of a photo of the gallery; a large one if its file is on disk."""
    state = app.file.state
    sets, place = state.gallery.sets, state.places.get(set_id, -1)
    small = picture(sets, place, i) if state.gallery.has_vectors else None
    if small is None or sets.origins is None:
        return _image(small)
    name = sets.origins.files[int(sets.offsets[place]) + i]
    photo, is_face = photo_of(name)
    large = None if is_face and not whole else from_file(below(app.photo_roots, photo), side)
    return _image(large or small)


@router.get("/sets/{set_id}/photos", tags=["gallery"])
def photos_of_set(app: App, set_id: Id) -> list[payload.SetPhoto]:
    """The photos of a set of the gallery."""
    state = app.file.state
    if set_id not in state.places:
        raise HTTPException(404, "That album has changed or is gone meanwhile.")
    return set_photos(state, state.places[set_id])


@router.get("/classes/{class_id}/photos", tags=["gallery"])
def photos_of_class(
    app: App,
    class_id: Id,
    first: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
) -> payload.ClassPhotos:
    """Photos of a class, those first that may be of another."""
    state = app.file.state
    if class_id not in state.class_ids:
        raise HTTPException(404, "There is no such person or thing in the gallery any more.")
    return class_photos(state, state.class_ids.index(class_id), first, limit)


@router.put("/cover", tags=["gallery"], status_code=204)
def choose_cover(app: App, body: bodies.CoverBody) -> Response:
    """Let a photo stand for the class of its set."""
    state = app.file.state
    place = state.places.get(body.set_id, -1)
    if place < 0 or body.image >= state.gallery.sets.sizes[place]:
        raise HTTPException(404, "There is no such photo.")
    app.covers.choose(state.contents_of_sets[place], body.image)
    return Response(status_code=204)


@router.get("/events", tags=["gallery"], response_class=StreamingResponse)
async def events(app: ServerState, request: Request) -> StreamingResponse:
    """Server-sent events: ``gallery``, ``questions``, ``inbox``, whenever they change."""
    if app.n_streams >= app.settings.limits.streams:
        words = "Too many windows follow already. Close one, or try again later."
        raise HTTPException(503, words, headers={"Retry-After": "10"})
    news, headers = _events(app, request), {"Cache-Control": "no-store"}
    return StreamingResponse(news, media_type="text/event-stream", headers=headers)


async def _events(app: AppState, request: Request) -> AsyncIterator[str]:
    app.n_streams += 1
    try:
        sent: dict[str, str] = {}
        spoken = 0.0
        while not app.is_closed.is_set() and not await request.is_disconnected():
            for name, data in _news(app).items():
                text = json.dumps(data)
                if sent.get(name) != text:
                    sent[name], spoken = text, time.monotonic()
                    yield f"event: {name}\ndata: {text}\n\n"
            if time.monotonic() - spoken > ALIVE_S:
                spoken = time.monotonic()
                yield ": still here\n\n"
            await asyncio.sleep(EVERY_S)
    finally:
        app.n_streams -= 1


def _news(app: AppState) -> dict[str, Any]:
    if not app.has_gallery:
        start = app.start
        return {"start": None if start is None else {"changes": start.changes}}
    state = app.file.state
    now = {
        "revision": state.revision,
        "weak_ready": app.insight.known(state) is not None,
        "is_learning": app.learner.is_needed,
        "learnt_by": app.learner.ends,
        "covers": app.covers.changes,
    }
    questions = {job.id: job.version for job in app.queue.jobs}
    seen: dict[str, Any] = {"gallery": now, "questions": questions}
    return seen if app.inbox is None else seen | {"inbox": app.inbox.news()}


@router.post("/identify", tags=["identify"], status_code=202, openapi_extra=UPLOAD)
async def identify(app: App, request: Request) -> payload.Accepted:
    """Find out whose photos these are: folders, photos, clips or zip files."""
    with _room(app):
        home = app.questions.ready_folder()
        job = app.questions.ask(await received_files(app, request, home))
    return payload.Accepted(id=job.id, revision=app.file.state.revision)


@router.post("/judge", tags=["identify"], status_code=202, openapi_extra=VECTORS)
async def judge(
    app: App, request: Request, response: Response, prefer: Prefer = ""
) -> payload.Job:
    """Find out whose sets of vectors these are, such as embeddings."""
    with _room(app):
        home = app.questions.ready_folder()
        job = app.questions.ask(await received_vectors(app, request, home))
    await waited(lambda: job.is_over, wait_of(prefer))
    if job.state == "done":
        response.status_code = 200
    return job_payload(job, app.queue, app.insight, app.file.state.revision)


@contextmanager
def _room(app: AppState) -> Iterator[None]:
    """Refuse another question while too many wait."""
    try:
        app.queue.check_room()
        yield
    except QueueFullError:
        words = "Too many questions wait already. Try again in a moment."
        raise HTTPException(503, words, headers={"Retry-After": "5"}) from None


@router.get("/identify", tags=["identify"])
def questions(
    app: App,
    since: Annotated[
        float, Query(ge=0, description="Asked after, in seconds since 1970.")
    ] = 0.0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 1000,
) -> list[payload.Question]:
    """All questions that are kept, newest first."""
    return [line for line in app.questions.lines() if line.asked > since][:limit]


@router.post("/identify/{job_id}/answers/{k}/split", tags=["identify"], status_code=202)
def split(app: App, job_id: Id, k: Place) -> payload.Accepted:
    """Identify the parts of an album that shows several people or things."""
    found = found_of(app, job_id)
    job = app.questions.split(found, checked(found, k))
    return payload.Accepted(id=job.id, revision=app.file.state.revision)


@router.get("/identify/{job_id}", tags=["identify"])
def job(app: App, job_id: Id) -> payload.Job:
    """Progress of a job, then its answers."""
    return job_payload(job_of(app, job_id), app.queue, app.insight, app.file.state.revision)


@router.delete("/identify/{job_id}", tags=["identify"], status_code=204)
def cancel(app: App, job_id: Id) -> Response:
    """Stop a job, or forget its answers."""
    app.queue.cancel(job_of(app, job_id))
    return Response(status_code=204)


@router.get("/identify/{job_id}/report.html", tags=["identify"], response_class=HTMLResponse)
def report(app: App, job_id: Id) -> HTMLResponse:
    """All answers with their evidence as one file, to be kept or sent to somebody."""
    require("jinja2", "report")
    from setwise.report import render_answers

    found, name = found_of(app, job_id), job_of(app, job_id).name
    why = {k: reason for k, reason in enumerate(found.reasons) if reason is not None}
    left_out = [" ".join(one) for one in found.left_out]
    page = render_answers(
        found.state.gallery, found.sets, found.answers,
        explanations=why, title=name, left_out=left_out, most_pages=len(found.answers),
    )  # fmt: skip
    headers = {"Content-Disposition": 'attachment; filename="answers.html"'}
    return HTMLResponse(page, headers=headers)


@get_picture("/identify/{job_id}/answers/{k}/photos/{i}", tags=["identify"])
def photo(
    app: App, job_id: Id, k: Place, i: Place, side: Side = SIDE, whole: Whole = False
) -> Response:
    """A picture of an uploaded photo, or of the face in it."""
    found = found_of(app, job_id)
    paths = found.paths[k] if k < len(found.paths) else []
    path = paths[i] if i < len(paths) else None
    box = found.boxes[k][i] if path and found.boxes and found.boxes[k] and not whole else None
    return _image(from_file(path, side, box) or picture(found.sets, k, i))


@router.get("/identify/{job_id}/answers/{k}/tree", tags=["identify"])
def tree(app: App, job_id: Id, k: Place) -> payload.Tree:
    """The tree of cuts behind an answer."""
    reasons = found_of(app, job_id).reasons
    why = reasons[k] if k < len(reasons) else None
    if why is None or not why.tree:
        raise HTTPException(404, "There is no tree of cuts for this answer.")
    return tree_payload(why)


@router.get("/inbox", tags=["inbox"])
def inbox_rows(
    inbox: TheInbox,
    since: Annotated[str, Query(max_length=40, description="The `version` seen last.")] = "",
) -> payload.Inbox:
    """All sets of the inbox, as far as they are judged, or what has changed."""
    return inbox.as_payload(since)


@router.get("/inbox.csv", tags=["inbox"], response_class=Response)
def inbox_table(inbox: TheInbox) -> Response:
    """All sets of the inbox as a table for spreadsheets."""
    headers = {"Content-Disposition": 'attachment; filename="inbox.csv"'}
    return Response(inbox.as_csv(), media_type="text/csv", headers=headers)


@get_picture("/inbox/{row_id}/photos/{i}", tags=["inbox"])
def inbox_photo(
    inbox: TheInbox, row_id: Id, i: Place, side: Side = SIDE, whole: Whole = False
) -> Response:
    """A picture of a photo of the inbox, or of the face in it."""
    path, box = inbox.photo_file(row_id, i)
    large = from_file(path, side, None if whole else box)
    return _image(large or picture(*inbox.photo_place(row_id), i))


@router.post("/inbox/{row_id}/decide", tags=["inbox"])
def decide(inbox: TheInbox, row_id: Id, body: bodies.DecideBody) -> payload.InboxRow:
    """Set the class of a set of the inbox; null takes that back."""
    one = bodies.RowDecision(id=row_id, **body.model_dump())
    return inbox.decide([one])[0]


@router.post("/inbox/decide", tags=["inbox"])
def decide_many(inbox: TheInbox, body: bodies.DecideManyBody) -> list[payload.InboxRow]:
    """Set the classes of several sets of the inbox at once."""
    return inbox.decide(body.decisions)


@router.post("/inbox/apart", tags=["inbox"], status_code=204)
def take_apart(inbox: TheInbox, body: bodies.ApartBody) -> Response:
    """Show albums of a group each by itself, or take that back."""
    inbox.take_apart(body.ids, is_back=body.is_back)
    return Response(status_code=204)


@router.post("/inbox/{row_id}/split", tags=["inbox"])
def split_row(inbox: TheInbox, row_id: Id) -> payload.Inbox:
    """Take the parts of an album for albums of their own."""
    inbox.split(row_id, is_joined=False)
    return inbox.as_payload()


@router.post("/inbox/{row_id}/join", tags=["inbox"])
def join_row(inbox: TheInbox, row_id: Id) -> payload.Inbox:
    """Take the parts of an album for one album again."""
    inbox.split(row_id, is_joined=True)
    return inbox.as_payload()
