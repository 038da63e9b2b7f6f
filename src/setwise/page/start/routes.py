"""Routes of the first run: from a heap of photos to a gallery."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from setwise._support.text import printable
from setwise.errors import reject
from setwise.page.answers import counted
from setwise.page.arriving import UPLOAD, received_files
from setwise.page.bodies import Body
from setwise.page.depends import FOR_EVER, PICTURES, Place, ServerState, Side
from setwise.page.payload import LeftOut, RequestLimits
from setwise.page.pictures import from_file
from setwise.page.start import payload
from setwise.page.start.items import UNKNOWN_LABEL
from setwise.page.start.kinds import KINDS
from setwise.page.start.table import Heap, Start

router = APIRouter(prefix="/api/v1/start", tags=["start"])


def table_of(app: ServerState) -> Start:
    """The table, as long as there is no gallery."""
    if app.start is None:
        raise HTTPException(409, "There is a gallery already. Begin with another file.")
    return app.start


Table = Annotated[Start, Depends(table_of)]


@router.get("")
def state(app: ServerState, table: Table) -> payload.Start:
    """How far the photos are sorted."""
    return _payload(app, table)


@router.get("/folders")
def folders(
    app: ServerState, table: Table, path: Annotated[str | None, Query(max_length=4000)] = None
) -> payload.Folders:
    """Folders of this machine that may be chosen."""
    return app.folders.listed(path)


@router.post("", status_code=202)
def begin(app: ServerState, table: Table, body: payload.BeginBody) -> payload.Told:
    """Read a folder, and group what it shows."""
    if body.folder is None:
        if not app.heap_uploads.is_dir():
            reject("No photos were uploaded yet. Send some, or name a folder.")
        table.begin(app.heap_uploads, body.kind)
        return payload.Told(words="Reading the photos.")
    folder = app.folders.checked(body.folder)
    table.begin(folder, body.kind)
    return payload.Told(words=f"Reading {folder.name}.")


@router.post("/photos", status_code=202, openapi_extra=UPLOAD)
async def upload(app: ServerState, table: Table, request: Request) -> payload.Told:
    """Send photos; more may follow, before they are read."""
    received = await received_files(app, request, app.ready_arrivals())
    try:
        n_files = await run_in_threadpool(
            received.keep, app.heap_uploads, app.settings.limits.heap_bytes
        )
    finally:
        received.forget()
    return payload.Told(words=f"{counted(n_files, 'photo')} arrived.".capitalize())


@router.delete("", status_code=204)
def forget(app: ServerState, table: Table) -> Response:
    """Begin anew, and forget all names."""
    table.forget()
    app.forget_heap_uploads()
    return Response(status_code=204)


@router.get("/items/{i}/picture", response_class=Response, responses=PICTURES)
def picture(table: Table, i: Place, run: Annotated[str, Query(max_length=64)]) -> Response:
    """A small picture of an item."""
    item = _item(table.check(run), i)
    return Response(item.picture, media_type="image/jpeg", headers=FOR_EVER)


@router.get("/items/{i}/photo", response_class=Response, responses=PICTURES)
def photo(
    table: Table, i: Place, run: Annotated[str, Query(max_length=64)], side: Side = 320
) -> Response:
    """The photo that an item is from."""
    item = _item(table.check(run), i)
    large = from_file(item.path, side) or (item.picture, "image/jpeg")
    return Response(large[0], media_type=large[1], headers=FOR_EVER)


@router.post("/name")
def name(table: Table, body: payload.NameBody) -> payload.Told:
    """Name a group; a name that another group has makes them one."""
    keys = table.keys(body.run, body.items)
    given = None if body.name is None else printable(body.name).strip()
    if given in ("", UNKNOWN_LABEL):
        reject(f"{given!r} is no name. Type a name, such as Anna.")
    n_items = counted(len(keys), "photo")
    words = f"{n_items} of {given}" if given else f"{n_items} without a name"
    table.correct(words, table.said.named(keys, given))
    return payload.Told(words=words)


@router.post("/same")
def same(table: Table, body: payload.PairBody) -> payload.Told:
    """Join two groups that are one."""
    keys = table.keys(body.run, [*body.items, *body.others])
    names = {table.said.names.get(table.said.groups.get(key, -1)) for key in keys} - {None}
    if len(names) > 1:
        both = " and ".join(sorted(map(str, names)))
        reject(f"These are named {both}. Take one of the names away first.")
    table.correct("two groups are one", table.said.same(keys))
    return payload.Told(words="Two groups are one.")


@router.post("/different")
def different(table: Table, body: payload.PairBody) -> payload.Told:
    """Keep two groups apart for ever."""
    one, other = (table.keys(body.run, items) for items in (body.items, body.others))
    table.correct("two groups are not the same", table.said.different(one, other))
    return payload.Told(words="Two groups are not the same.")


@router.post("/split")
def split(table: Table, body: payload.PairBody) -> payload.Told:
    """Make items of a group, which is all the others, a group of their own."""
    gone, rest = (table.keys(body.run, items) for items in (body.items, body.others))
    table.correct("a group is two", table.said.split(gone, rest))
    return payload.Told(words="A group is two.")


@router.post("/out")
def out(table: Table, body: payload.PairBody) -> payload.Told:
    """Take items out of a group, which is all the others."""
    gone, rest = (table.keys(body.run, items) for items in (body.items, body.others))
    words = f"{counted(len(gone), 'photo')} taken out of a group"
    table.correct(words, table.said.out(gone, rest))
    return payload.Told(words=words)


@router.post("/undo")
def undo(table: Table, body: Body) -> payload.Told:
    """Take the last correction back."""
    return payload.Told(words=f"Undone: {table.undo()}.")


@router.post("/redo")
def redo(table: Table, body: Body) -> payload.Told:
    """Make the correction again that was taken back last."""
    return payload.Told(words=f"Redone: {table.redo()}.")


@router.post("/gallery", status_code=202)
def make(table: Table, body: Body) -> payload.Told:
    """Make the gallery of all groups, once all photos are read."""
    table.finish()
    return payload.Told(words=f"Making {table.gallery.name}.")


def _item(heap: Heap, i: int) -> Any:
    if i >= len(heap.items):
        raise HTTPException(404, "There is no such photo.")
    return heap.items[i]


def _payload(app: ServerState, table: Start) -> payload.Start:
    heap, said = table.heap, table.said
    groups, unsure = ([], []) if heap is None else heap.stacks(said)
    items = [] if heap is None else heap.items
    missing = {name: make().missing() for name, make in KINDS.items()}
    return payload.Start(
        run="" if heap is None else heap.run,
        state=table.state,  # type: ignore[arg-type]
        error=table.error,
        file=table.gallery.name,
        kind=None if heap is None else heap.kind_name,
        noun="person or thing" if heap is None else heap.kind.noun,
        folder=None if heap is None else app.folder_words(heap.folder),
        done=0 if heap is None else heap.done,
        total=0 if heap is None else heap.total,
        items=[payload.StartItem(name=one.name, box=one.box) for one in items],
        stacks=[
            payload.Stack(
                items=list(one.items),
                name=one.name,
                n_photos=len({items[i].path for i in one.items}),
            )
            for one in groups
        ],
        unsure=unsure,
        alike=[] if heap is None else heap.alike,
        left_out=[
            LeftOut(name=name, reason=reason)
            for name, reason in ([] if heap is None else heap.skipped)
        ],
        can_undo=table.undo_words,
        can_redo=table.redo_words,
        missing={name: why for name, why in missing.items() if why is not None},
        limits=RequestLimits.model_validate(app.settings.limits),
    )
