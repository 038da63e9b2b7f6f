"""A heap sorted by the faces in its photos and clips."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from setwise._support.types import IntArray
from setwise.classify import CVC
from setwise.errors import MissingExtraError
from setwise.faces.grouping import group_faces, near_groups
from setwise.faces.sightings import (
    Sighting,
    each_sighting,
    free_people,
    photos_and_clips_in,
    sets_of_people,
)
from setwise.page.identify_faces import share_of
from setwise.page.start.items import UNKNOWN, UNKNOWN_LABEL, Found, Item


class FacesKind:
    """Faces of photos and clips, grouped by person as ``setwise people`` does."""

    noun = "person"

    def missing(self) -> str | None:
        """Why it cannot be done here; None if it can."""
        from setwise.features.face_networks import face_network

        try:
            face_network()
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
