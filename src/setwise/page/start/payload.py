"""Requests and responses of the first run, as JSON."""

from typing import Literal

from pydantic import BaseModel, Field

from setwise.page.bodies import Body, Place, Word
from setwise.page.payload import Box, LeftOut, RequestLimits


class Folder(BaseModel):
    """A folder of the machine that the server runs on."""

    path: str
    name: str
    n_files: int = Field(description="Photos and clips directly inside.")


class Folders(BaseModel):
    """Folders that may be chosen: the roots, or those inside of one."""

    path: str | None
    parent: str | None
    folders: list[Folder]


class StartItem(BaseModel):
    """A face, a photo or an album."""

    name: str
    box: Box | None = Field(description="The face in its photo, where it is of one.")


class Stack(BaseModel):
    """Items that are one person or thing."""

    items: list[int]
    name: str | None
    n_photos: int


class Start(BaseModel):
    """How far a heap of photos is sorted, before there is a gallery."""

    run: str = Field(description="Numbers of items hold within one run.")
    state: Literal["empty", "reading", "ready", "failed", "making", "made"]
    error: str
    file: str = Field(description="The gallery file that will be made.")
    kind: str | None
    noun: str
    folder: str | None
    done: int
    total: int
    items: list[StartItem]
    stacks: list[Stack]
    unsure: list[int] = Field(description="Items that are with no other.")
    alike: list[tuple[int, int]] = Field(
        description="Items of two stacks that may be one; people are asked."
    )
    left_out: list[LeftOut]
    can_undo: str | None
    can_redo: str | None
    missing: dict[str, str] = Field(description="What cannot be sorted by here, and why.")
    limits: RequestLimits


class BeginBody(Body):
    """Read a folder of this machine; without one, the photos that were uploaded."""

    folder: str | None = Field(None, min_length=1, max_length=4000)
    kind: Literal["faces", "photos"] = "faces"


class ItemsBody(Body):
    """Items of one run, by number."""

    run: Word
    items: list[Place] = Field(min_length=1, max_length=100_000)


class NameBody(ItemsBody):
    """These items are one, and have this name; null takes the name away."""

    name: Word | None


class PairBody(ItemsBody):
    """These items, and others."""

    others: list[Place] = Field(min_length=1, max_length=100_000)


class Told(BaseModel):
    """What was done, in one sentence."""

    words: str
