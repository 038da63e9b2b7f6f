"""Questions: sent, followed, answered, forgotten."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Path, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException as AnyHTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import StreamingResponse

from setwise.page import models
from setwise.page.answering import Told, picture, question_model, tell, tree_model
from setwise.page.asking import Found, find_answers
from setwise.page.house import House
from setwise.page.streams import follow
from setwise.page.uploads import Received, receive
from setwise.page.work import Job, QueueFullError

__all__ = ["FOR_EVER", "PICTURES", "HouseNow", "Place", "found_of", "router"]

AskId = Annotated[str, Path(max_length=64)]
Place = Annotated[int, Path(ge=0, le=10_000_000)]
FOR_EVER = {"Cache-Control": "private, max-age=31536000, immutable"}
PICTURES: dict[int | str, dict[str, Any]] = {
    200: {"content": {"image/jpeg": {}, "image/png": {}}, "description": "A small picture."}
}
router = APIRouter(prefix="/api/asks", tags=["ask"])


def house_of(request: Request) -> House:
    """What the server has, for its routes."""
    house: House = request.app.state.house
    return house


HouseNow = Annotated[House, Depends(house_of)]
FILES = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["files"],
                    "properties": {
                        "files": {
                            "type": "array",
                            "items": {"type": "string", "format": "binary"},
                            "description": "Photos, clips, zip files; names may have folders.",
                        }
                    },
                }
            }
        },
    }
}


@router.post("", status_code=202, openapi_extra=FILES)
async def ask(house: HouseNow, request: Request) -> models.Asked:
    """Ask whose photos these are: folders, photos, clips or zip files."""
    try:
        with house.work.reserved():
            job = await _received(house, request)
    except QueueFullError:
        words = "Too many questions wait already. Ask again in a moment."
        raise HTTPException(503, words, headers={"Retry-After": "5"}) from None
    return models.Asked(id=job.id, revision=house.living.state.revision)


@router.get("/{ask_id}")
def question(house: HouseNow, ask_id: AskId) -> models.Question:
    """How far a question is, and its answers."""
    return _question(house, ask_id)


@router.get("/{ask_id}/events", response_class=StreamingResponse)
async def events(house: HouseNow, ask_id: AskId, request: Request) -> StreamingResponse:
    """The same as events, until it is answered."""
    job = _job(house, ask_id)

    def look() -> dict[str, Any]:
        job.look_at_clock()
        made = question_model(job, house.work, house.insight, house.living.state.revision)
        return {"ask": made.model_dump(mode="json")}

    return follow(house, request, look, lambda: job.is_over)


@router.delete("/{ask_id}", status_code=204)
def cancel(house: HouseNow, ask_id: AskId) -> Response:
    """Stop a question, or forget its answers."""
    if not house.work.cancel(ask_id):
        _no_question()
    return Response(status_code=204)


@router.get("/{ask_id}/answers/{k}/photos/{i}", response_class=Response, responses=PICTURES)
def photo(house: HouseNow, ask_id: AskId, k: Place, i: Place) -> Response:
    """A small picture of a photo that was asked about."""
    found = picture(found_of(house, ask_id).sets, k, i)
    if found is None:
        raise HTTPException(404, "There is no such photo.")
    return Response(found[0], media_type=found[1], headers=FOR_EVER)


@router.get("/{ask_id}/answers/{k}/tree")
def tree(house: HouseNow, ask_id: AskId, k: Place) -> models.Tree:
    """The tree of cuts behind an answer."""
    reasons = found_of(house, ask_id).reasons
    why = reasons[k] if k < len(reasons) else None
    if why is None or not why.tree:
        raise HTTPException(404, "There is no tree of cuts for this answer.")
    return tree_model(why)


async def _received(house: House, request: Request) -> Job:
    """Take in what a client sends, and put it into the queue."""
    limits = house.settings.limits
    kind = request.headers.get("content-type", "")
    if not kind.lower().startswith("multipart/form-data"):
        raise HTTPException(422, "Send the files as multipart/form-data.")
    try:
        async with asyncio.timeout(limits.seconds):
            form = await request.form(max_files=limits.files, max_fields=20)
    except TimeoutError:
        raise HTTPException(408, "The files took too long to arrive. Send fewer.") from None
    except ClientDisconnect:
        raise HTTPException(400, "The files did not arrive.") from None
    except AnyHTTPException as error:
        raise _plainer(error, limits.files) from None
    try:
        parts = [part for _, part in form.multi_items() if isinstance(part, UploadFile)]
        named = [(part.filename or "", part.file) for part in parts]
        received = await run_in_threadpool(receive, named, house.new_folder(), limits)
    finally:
        await form.close()
    return _queued(house, received)


def _plainer(error: AnyHTTPException, most_files: int) -> HTTPException:
    """What the parser of a body refused, in our words."""
    if "Too many" in str(error.detail):
        return HTTPException(
            413, f"These are more than {most_files} files. Send fewer at once."
        )
    return HTTPException(422, "The files did not arrive whole. Send them again.")


def _queued(house: House, received: Received) -> Job:
    def work(job: Job) -> Told:
        return tell(job, find_answers(job, house.living.refreshed(), received))

    job = house.work.add(work, received.forget, name=received.name)
    job.n_images = len(received.files)
    job.expect(reading=len(received.files))
    return job


def _job(house: House, ask_id: str) -> Job:
    job = house.work.get(ask_id)
    return _no_question() if job is None else job


def _no_question() -> Any:
    raise HTTPException(404, "There is no such question; it may have been forgotten by now.")


def _question(house: House, ask_id: str) -> models.Question:
    job = _job(house, ask_id)
    return question_model(job, house.work, house.insight, house.living.state.revision)


def found_of(house: House, ask_id: str) -> Found:
    """What was found out about a question that is answered."""
    job = _job(house, ask_id)
    if job.state != "done":
        raise HTTPException(404, "The question is not answered yet.")
    told: Told = job.result
    return told.found
