"""Routes of changes: commands on the gallery, the inbox and its files, and their history.

A change is queued and answered 202; `GET /changes/{key}` tells what became of it. With the
header ``Prefer: wait=SECONDS`` (RFC 7240) the answer comes when it is done, or why it is not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Query, Response

from setwise.errors import SetwiseError, reject
from setwise.page import bodies, payload
from setwise.page.changes import BusyError, Change
from setwise.page.commands import without_rows
from setwise.page.depends import (
    App,
    Id,
    Prefer,
    TheInbox,
    checked,
    found_of,
    job_of,
    wait_of,
    waited,
)  # fmt: skip
from setwise.page.payload import Done
from setwise.page.state import AppState

router = APIRouter(prefix="/api/v1")

BUG = "Something went wrong inside setwise. Its log says what."


class Asking:
    """Queues the change that a request asks for, and waits as long as the client wants to."""

    def __init__(self, app: App, response: Response, prefer: Prefer = "") -> None:
        self.app, self.response, self.wait_s = app, response, wait_of(prefer)

    async def __call__(
        self, command: str, body: bodies.CommandBody, work: Callable[[str], Done]
    ) -> payload.Change:
        """The change as far as it is; ``work`` is called with its key."""
        try:
            change = self.app.changes.ask(command, work, body.key or "")
        except BusyError:
            words = "Too many changes wait already. Try again in a moment."
            raise HTTPException(503, words, headers={"Retry-After": "2"}) from None
        await waited(lambda: change.is_over, self.wait_s)
        if change.error is not None and self.wait_s:
            raise change.error
        if change.state == "done":
            self.response.status_code = 200
        return _payload(self.app, change)


Asks = Annotated[Asking, Depends()]


def _payload(app: AppState, change: Change) -> payload.Change:
    done, error = change.done, None
    if change.error is not None:
        error = str(change.error) if isinstance(change.error, SetwiseError) else BUG
    return payload.Change(
        key=change.key,
        command=change.command,
        state=change.state,  # type: ignore[arg-type]
        words=done.words if done else "",
        revision=done.revision if done else app.file.state.revision,
        error=error,
    )


@router.get("/changes/{key}", tags=["commands"])
def change(app: App, key: Id) -> payload.Change:
    """What became of a change."""
    found = app.changes.get(key)
    if found is None:
        raise HTTPException(404, "There is no such change. They are kept for some time.")
    return _payload(app, found)


@router.get("/history", tags=["gallery"])
def history(
    app: App,
    since: Annotated[int, Query(ge=0, description="Only commands after this number.")] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 1000,
) -> list[payload.HistoryLine]:
    """All commands, newest first."""
    return [line for line in app.history.lines() if line.n > since][:limit]


@router.post("/commands/enroll", tags=["commands"], status_code=202)
async def enroll(asks: Asks, body: bodies.EnrollBody) -> payload.Change:
    """Add the set of an answer to a class, which may be new."""
    app, job = asks.app, job_of(asks.app, body.job)
    if job.state == "done":
        checked(found_of(app, body.job), body.answer)

    def work(key: str) -> Done:
        app.queue.wait(job)  # a server that was started anew answers it again
        if job.state != "done" or body.answer >= len(job.result.answers):
            reject("That question has no such answer, so there is nothing to add.")
        found, without = job.result, body.without
        if without is None:
            without = found.shown[body.answer].outliers
        one = without_rows(found.sets[[body.answer]], without)
        return app.commands.enroll(one, [body.label], body.revision, key)

    return await asks("enroll", body, work)


@router.post("/commands/forget", tags=["commands"], status_code=202)
async def forget(asks: Asks, body: bodies.ForgetBody) -> payload.Change:
    """Remove a set from the gallery."""
    commands = asks.app.commands
    return await asks("forget", body, lambda key: commands.forget(body.set_id, key))


@router.post("/commands/remove_photos", tags=["commands"], status_code=202)
async def remove_photos(asks: Asks, body: bodies.RemovePhotosBody) -> payload.Change:
    """Remove photos from a set of the gallery."""
    commands, given = asks.app.commands, (body.set_id, body.images)
    return await asks("remove_photos", body, lambda key: commands.remove_photos(*given, key))


@router.post("/commands/move_photos", tags=["commands"], status_code=202)
async def move_photos(asks: Asks, body: bodies.MovePhotosBody) -> payload.Change:
    """Give photos of any sets to another class, which may be new; or take them out."""
    commands, label = asks.app.commands, body.label
    photos = {one.set_id: one.images for one in body.photos}
    return await asks("move_photos", body, lambda key: commands.move_photos(photos, label, key))


@router.post("/commands/move", tags=["commands"], status_code=202)
async def move(asks: Asks, body: bodies.MoveBody) -> payload.Change:
    """Move a set to another class, which may be new."""
    commands = asks.app.commands
    return await asks("move", body, lambda key: commands.move(body.set_id, body.label, key))


@router.post("/commands/rename", tags=["commands"], status_code=202)
async def rename(asks: Asks, body: bodies.RenameBody) -> payload.Change:
    """Rename a class; the name of another class makes the two one."""
    commands, given = asks.app.commands, (body.label, body.to, body.revision)
    return await asks("rename", body, lambda key: commands.rename(*given, key))


@router.post("/commands/undo", tags=["commands"], status_code=202)
async def undo(asks: Asks, body: bodies.CommandBody) -> payload.Change:
    """Take the last command back."""
    return await asks("undo", body, lambda _: asks.app.commands.undo(body.revision))


@router.post("/commands/redo", tags=["commands"], status_code=202)
async def redo(asks: Asks, body: bodies.CommandBody) -> payload.Change:
    """Do the command again that was undone last."""
    return await asks("redo", body, lambda _: asks.app.commands.redo(body.revision))


@router.post("/inbox/enroll", tags=["inbox"], status_code=202)
async def enroll_inbox(
    asks: Asks, inbox: TheInbox, body: bodies.InboxEnrollBody
) -> payload.Change:
    """Add sets to the classes that were decided on."""
    given = body.ids, body.revision
    return await asks("enroll", body, lambda key: inbox.enroll(*given, key))


@router.post("/inbox/transfer", tags=["inbox"], status_code=202)
async def transfer(asks: Asks, inbox: TheInbox, body: bodies.TransferBody) -> payload.Change:
    """Copy or move the files of sets to the folders of their classes."""
    return await asks("transfer", body, lambda key: inbox.transfer(body.how, body.ids, key))
