"""Faces that have a person, as they are kept in a file of people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import numpy as np

from setwise._support.text import free_names
from setwise.sets import Origins, SetBatch

if TYPE_CHECKING:
    from setwise._support.types import FloatArray
    from setwise.faces.sightings import Sighting

# A gallery learns in a time that grows with the square of its sets: about so many are made.
MOST_SETS = 160


@dataclass(frozen=True, eq=False)
class KnownFace:
    """A face of a person, and where it is from."""

    person: str
    file: str  # the photo and the place in it, or the frame of a clip
    vector: FloatArray
    picture: bytes
    time: str | None

    @property
    def place(self) -> str:
        """The photo, or the frame of a clip, that shows nobody else as this person."""
        return place_of(self.file)

    @property
    def album(self) -> str:
        """The folder of the photo, or the clip."""
        clip, _, frame = self.place.rpartition(", frame ")
        return clip if frame.isdigit() and clip else str(PurePosixPath(self.place).parent)


def place_of(file: str) -> str:
    """The place of a vector of a gallery file: its photo, or the frame of a clip.

    >>> place_of("trip/1.jpg, face at 20.0 31.5 %"), place_of("a.mp4, frame 7, face at 9 3")
    ('trip/1.jpg', 'a.mp4, frame 7')
    """
    return file.rpartition(", face at ")[0] or file


def faces_in(sets: SetBatch, owners: Sequence[str]) -> list[KnownFace]:
    """The faces of the sets of a file of people, and the person of each set."""
    origins = sets.origins
    assert origins is not None  # noqa: S101 (files of people have them)
    people = [owner for owner, n in zip(owners, sets.sizes, strict=True) for _ in range(n)]
    vectors = np.asarray(sets.vectors, dtype=np.float64)
    times = [None if one is None else one.isoformat() for one in origins.times.tolist()]
    rows = zip(people, origins.files, vectors, origins.thumbnails, times, strict=True)
    return [KnownFace(*row) for row in rows]


def faces_seen(sightings: Sequence[Sighting], who: Sequence[str | None]) -> list[KnownFace]:
    """The faces of sightings that have a person."""
    return [
        KnownFace(person, *row)
        for one, person in zip(sightings, who, strict=True)
        if person is not None
        for row in zip(one.files, one.vectors, one.pictures, one.times, strict=True)
    ]


def sets_of(
    faces: Sequence[KnownFace], taken: Sequence[str] = ()
) -> tuple[SetBatch, list[str]]:
    """A set for each person and album, or for some albums of a person, and its person."""
    albums: dict[str, dict[str, list[KnownFace]]] = {}
    for face in faces:
        albums.setdefault(face.person, {}).setdefault(face.album, []).append(face)
    if not albums:
        return SetBatch.from_list([np.zeros((1, 128))]), []
    most = max(MOST_SETS // len(albums), 1)
    names, people, groups = [], [], []
    for person, own in albums.items():
        parts = np.array_split(np.array(list(own), dtype=object), min(len(own), most))
        for part in parts:
            more = f" and {len(part) - 1} more" if len(part) > 1 else ""
            names.append(f"{part[0]}{more}")
            people.append(person)
            groups.append([face for album in part for face in own[album]])
    each = [face for group in groups for face in group]
    origins = Origins.of_files(
        [face.file for face in each],
        [face.time for face in each],
        [face.picture for face in each],
    )
    vectors = [np.stack([face.vector for face in group]) for group in groups]
    sets = SetBatch.from_list(vectors, names=free_names(names, taken))
    return sets.replaced(origins=origins), people
