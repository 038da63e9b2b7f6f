"""What a heap is sorted by: the faces in photos, or whole photos."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np

from setwise._support.types import IntArray
from setwise.classify import CVC
from setwise.errors import DataError, MissingExtraError
from setwise.faces.grouping import group_faces, near_groups
from setwise.faces.sightings import (
    Sighting,
    each_sighting,
    free_people,
    photos_and_clips_in,
    sets_of_people,
)
from setwise.io.loading_report import Skipped
from setwise.page.identify_faces import share_of

KindName: TypeAlias = Literal["faces", "photos"]
# The target rate of new people who are taken for known ones.
UNKNOWN, UNKNOWN_LABEL = 0.05, "unknown"


@dataclass(frozen=True)
class Item:
    """One thing that is grouped: a face, a photo or an album."""

    key: str  # outlives the server
    name: str
    path: Path
    picture: bytes  # a small JPEG
    content: Any
    box: tuple[float, float, float, float] | None = None  # left, top, width, height as shares


Found: TypeAlias = tuple[list[Item], tuple[Skipped, ...]]


class Kind(Protocol):
    """How the items of a heap are found, grouped, and made a gallery."""

    noun: str

    def missing(self) -> str | None:
        """Why it cannot be done here; None if it can."""

    def count(self, folder: Path) -> int:
        """Number of files that will be read."""

    def items(self, folder: Path) -> Iterator[Found]:
        """The items of one file after the other."""

    def groups(
        self, items: Sequence[Item], settled: IntArray, apart: Sequence[tuple[int, int]]
    ) -> IntArray:
        """Group of each item; settled ones keep together, and those apart are never joined."""

    def alike(
        self, items: Sequence[Item], groups: Sequence[Sequence[int]]
    ) -> list[tuple[int, int]]:
        """Pairs of groups that may be one, the most similar first."""

    def gallery(self, items: Sequence[Item], who: Sequence[str | None]) -> CVC:
        """A gallery of the items that have a name."""

    def free_names(self, taken: Sequence[str]) -> Iterator[str]:
        """Names for groups that have none."""


class FacesKind:
    """Faces of photos and clips, grouped by person as ``setwise people`` does."""

    noun = "person"

    def missing(self) -> str | None:
        """Why it cannot be done here; None if it can."""
        from setwise._support.extras import require

        try:
            for module in ("dlib", "face_recognition_models"):
                require(module, "faces")
        except MissingExtraError as error:
            return str(error)
        return None

    def count(self, folder: Path) -> int:
        """Number of photos and clips."""
        photos, clips = photos_and_clips_in(folder)
        return len(photos) + len(clips)

    def items(self, folder: Path) -> Iterator[Found]:
        """The faces of one photo or clip after the other."""
        for seen in each_sighting(folder):
            yield list(map(_item, seen.sightings)), seen.skipped

    def groups(
        self, items: Sequence[Item], settled: IntArray, apart: Sequence[tuple[int, int]]
    ) -> IntArray:
        """Group of each face; those in one photo are never joined."""
        where = [set(item.content.places) for item in items]
        for n, (i, j) in enumerate(apart):
            where[i].add(f"apart {n}")
            where[j].add(f"apart {n}")
        return group_faces(_means(items), where, settled.tolist())

    def alike(
        self, items: Sequence[Item], groups: Sequence[Sequence[int]]
    ) -> list[tuple[int, int]]:
        """Pairs of groups that may be one person, the most similar first."""
        where = [frozenset[str]().union(*(items[i].content.places for i in g)) for g in groups]
        vectors = _means(items)
        return near_groups([vectors[list(group)] for group in groups], where)

    def gallery(self, items: Sequence[Item], who: Sequence[str | None]) -> CVC:
        """A file of people, as of ``setwise people``, that knows when somebody is new."""
        sets, labels = sets_of_people([item.content for item in items], who, ())
        return CVC(unknown=UNKNOWN, unknown_label=UNKNOWN_LABEL, random_state=0).fit(
            sets, labels
        )

    def free_names(self, taken: Sequence[str]) -> Iterator[str]:
        """Names for people who have none."""
        return free_people(taken)


def _means(items: Sequence[Item]) -> np.ndarray:
    rows = [np.asarray(item.content.vectors, np.float64).mean(axis=0) for item in items]
    return np.reshape(rows, (-1, 128))


def _item(one: Sighting) -> Item:
    middle = len(one.pictures) // 2
    return Item(one.files[0], one.path.name, one.path, one.pictures[middle], one, share_of(one))


def kind_of(name: str) -> Kind:
    """The kind of this name."""
    if name not in KINDS:
        msg = f"{name!r} is nothing to sort by. Expected faces or photos."
        raise DataError(msg)
    return KINDS[name]


KINDS: dict[str, Kind] = {"faces": FacesKind()}
