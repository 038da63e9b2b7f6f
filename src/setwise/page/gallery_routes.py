"""The wall, what people do to it, and the way back."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path, Request, Response
from starlette.responses import StreamingResponse

from setwise.page import models
from setwise.page.acts import without_rows
from setwise.page.answering import picture
from setwise.page.ask_routes import FOR_EVER, PICTURES, HouseNow, Place, found_of
from setwise.page.streams import follow
from setwise.page.wall import gallery_model

__all__ = ["router"]

SetId = Annotated[str, Path(max_length=64)]
router = APIRouter(prefix="/api", tags=["gallery"])


@router.get("/gallery")
def gallery(house: HouseNow) -> models.GalleryOnWall:
    """Every class, with its sets."""
    state = house.living.refreshed()
    return gallery_model(state, house.living, house.insight, house.journal, house.settings)


@router.get("/sets/{set_id}/images/{i}", response_class=Response, responses=PICTURES)
def image(house: HouseNow, set_id: SetId, i: Place) -> Response:
    """A small picture of a photo of the gallery."""
    state = house.living.state
    place = state.places.get(set_id, -1)
    found = picture(state.gallery.sets, place, i) if state.gallery.has_vectors else None
    if found is None:
        raise HTTPException(404, "There is no such photo in the gallery.")
    return Response(found[0], media_type=found[1], headers=FOR_EVER)


@router.get("/events", response_class=StreamingResponse)
async def events(house: HouseNow, request: Request) -> StreamingResponse:
    """What happens to the gallery, from now on."""

    def look() -> dict[str, Any]:
        state = house.living.state
        weak = house.insight.weak(state)
        seen: dict[str, Any] = {
            "gallery": {"revision": state.revision, "weak_ready": weak is not None}
        }
        return seen if house.inbox is None else seen | {"inbox": house.inbox.news()}

    return follow(house, request, look)


@router.get("/journal")
def journal(house: HouseNow) -> list[models.JournalLine]:
    """All acts, the last one first."""
    return house.journal.lines()


@router.post("/acts/enroll")
def enroll(house: HouseNow, body: models.EnrollBody) -> models.ActDone:
    """Add a set that was asked about to a class, which may be new."""
    found = found_of(house, body.ask)
    if body.answer >= len(found.answers):
        raise HTTPException(404, "There is no such answer.")
    one = without_rows(found.sets[[body.answer]], body.without)
    return house.acts.enroll(one, [body.label], body.revision)


@router.post("/acts/forget")
def forget(house: HouseNow, body: models.ForgetBody) -> models.ActDone:
    """Take a set out of the gallery."""
    return house.acts.forget(body.set_id)


@router.post("/acts/take_out")
def take_out(house: HouseNow, body: models.TakeOutBody) -> models.ActDone:
    """Take photos out of a set of the gallery."""
    return house.acts.take_out(body.set_id, body.images)


@router.post("/acts/rename")
def rename(house: HouseNow, body: models.RenameBody) -> models.ActDone:
    """Move a set to another class, which may be new."""
    return house.acts.rename(body.set_id, body.label)


@router.post("/acts/undo")
def undo(house: HouseNow, body: models.UndoBody) -> models.ActDone:
    """Take the last act back."""
    return house.acts.undo(body.revision)


@router.post("/acts/redo")
def redo(house: HouseNow, body: models.UndoBody) -> models.ActDone:
    """Do again what was taken back last."""
    return house.acts.redo(body.revision)
