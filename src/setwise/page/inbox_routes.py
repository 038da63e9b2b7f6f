"""The inbox: sets that wait to be sorted."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Path, Response

from setwise.page import models
from setwise.page.answering import picture
from setwise.page.ask_routes import FOR_EVER, PICTURES, HouseNow, Place
from setwise.page.inbox import Inbox

__all__ = ["router"]

RowId = Annotated[str, Path(max_length=64)]


router = APIRouter(prefix="/api", tags=["inbox"])


def inbox_of(house: HouseNow) -> Inbox:
    """The inbox, where there is one."""
    if house.inbox is None:
        raise HTTPException(404, "There is no inbox: start the server with --inbox.")
    return house.inbox


InboxNow = Annotated[Inbox, Depends(inbox_of)]


@router.get("/inbox")
def rows(inbox: InboxNow) -> models.InboxNow:
    """All sets of the inbox, as far as they have been looked at."""
    return inbox.model()


@router.get("/inbox.csv", response_class=Response)
def table(inbox: InboxNow) -> Response:
    """The same as a table for spreadsheets."""
    headers = {"Content-Disposition": 'attachment; filename="inbox.csv"'}
    return Response(inbox.as_csv(), media_type="text/csv", headers=headers)


@router.get("/inbox/{row_id}/photos/{i}", response_class=Response, responses=PICTURES)
def photo(inbox: InboxNow, row_id: RowId, i: Place) -> Response:
    """A small picture of a photo of the inbox."""
    found = picture(*inbox.photo_place(row_id), i)
    if found is None:
        raise HTTPException(404, "There is no such photo.")
    return Response(found[0], media_type=found[1], headers=FOR_EVER)


@router.post("/inbox/{row_id}/decide")
def decide(inbox: InboxNow, row_id: RowId, body: models.DecideBody) -> models.InboxRow:
    """Say whose a set is; null takes that back."""
    return inbox.decide(row_id, body.label)


@router.post("/inbox/enroll")
def enroll(inbox: InboxNow, body: models.InboxEnrollBody) -> models.ActDone:
    """Add sets to the classes that were decided on."""
    return inbox.enroll(body.ids, body.revision)


@router.post("/inbox/carry")
def carry(inbox: InboxNow, body: models.CarryBody) -> models.Carried:
    """Copy or move the files of sets to the folders of their classes."""
    return inbox.carry(body.how, body.ids)
