"""Faces of photos and tracks of clips, as what people are grouped from."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import numpy as np

from setwise.cli.photo_faces import faces_of, photos_and_clips
from setwise.faces import PhotoFace, PhotoFaces
from setwise.faces.grouping import group_faces
from setwise.io.loading_report import Skipped

if TYPE_CHECKING:
    from setwise import SetBatch
    from setwise._support.progress import Progress
    from setwise._support.types import FloatArray

# People who have no name yet.
UNNAMED = re.compile(r"person (\d+)")
# Frames of a track that are given to the network: more would change little.
N_FRAMES = 5


@dataclass(frozen=True)
class Sighting:
    """A person seen once: a face of a photo, or a track of a clip."""

    path: Path
    files: tuple[str, ...]  # one per vector; they name the sighting in a gallery file
    album: str  # the folder it is from
    vectors: FloatArray
    pictures: tuple[bytes, ...]
    times: tuple[str | None, ...]
    places: frozenset[str]  # where nobody else is the same person
    face: PhotoFace | None = None  # of a photo


@dataclass(frozen=True)
class Seen:
    """All sightings of some sources."""

    sightings: tuple[Sighting, ...]
    photos: tuple[Path, ...]
    skipped: tuple[Skipped, ...]


def find_sightings(
    sources: Sequence[Path], min_size: int | None, skip_bad: bool, cache: bool,
    progress: Progress | None,
) -> Seen:  # fmt: skip
    """The faces of all photos and the tracks of all clips of the sources."""
    of_photos, of_clips = photos_and_clips(sources)
    found: list[Sighting] = []
    photos: list[Path] = []
    skipped: list[Skipped] = []
    for source in of_photos:
        faces = faces_of(source, min_size, skip_bad, cache, progress)
        found += _of_photos(source, faces)
        photos += faces.photos
        skipped += faces.skipped
    for source in of_clips:
        for path, name in _clips_of(source):
            found += _of_clip(path, name, progress)
    return Seen(tuple(found), tuple(photos), tuple(skipped))


def _of_photos(source: Path, found: PhotoFaces) -> Iterator[Sighting]:
    root = source.resolve() if source.is_dir() else source.resolve().parent
    for face, vector, picture in zip(found.faces, found.vectors, found.pictures, strict=True):
        named = f"{root.name}/{face.place}"
        photo = f"{root.name}/{face.photo}"
        yield Sighting(
            path=root / face.photo,
            files=(named,),
            album=str(PurePosixPath(photo).parent),
            vectors=vector[None].astype(np.float64),
            pictures=(picture,),
            times=(face.time,),
            places=frozenset([photo]),
            face=face,
        )


def _clips_of(source: Path) -> list[tuple[Path, str]]:
    from setwise.io.video import find_clips

    if not source.is_dir():
        return [(source, source.name)]
    _, paths, _ = find_clips(source, "auto", 100_000)
    root = source.resolve().name
    return [(path, f"{root}/{path.relative_to(source).as_posix()}") for path in paths]


def _of_clip(path: Path, name: str, progress: Progress | None) -> Iterator[Sighting]:
    from setwise.errors import DataError
    from setwise.faces import face_tracks
    from setwise.features import Faces

    try:
        tracks = face_tracks(path, every_s=0.2, size=150, margin=0.25, progress=progress)
    except DataError as error:
        if "face" not in str(error):  # a clip without faces is no fault
            raise
        return
    origins = tracks.origins
    assert origins is not None  # noqa: S101 (face_tracks gives them)
    for i in range(len(tracks)):
        rows = range(int(tracks.offsets[i]), int(tracks.offsets[i + 1]))
        spread = np.linspace(rows[0], rows[-1], min(len(rows), N_FRAMES))
        chosen = [round(place) for place in spread.tolist()]
        frames = {row: origins.files[row].rpartition(", ")[2] for row in rows}
        yield Sighting(
            path=path,
            files=tuple(f"{name}, {frames[row]}" for row in chosen),
            album=name,
            vectors=Faces("dlib").compute(tracks.images[chosen]).astype(np.float64),
            pictures=tuple(origins.thumbnails[row] for row in chosen),
            times=(None,) * len(chosen),
            places=frozenset(f"{name}, {frame}" for frame in frames.values()),
        )


def place_of(file: str) -> str:
    """The place of a vector of a gallery file: its photo, or the frame of a clip."""
    return file.rpartition(", face at ")[0] or file


def people_of(
    sightings: Sequence[Sighting], gallery: SetBatch | None, labels: Sequence[str],
    min_faces: int,
) -> list[str | None]:  # fmt: skip
    """The person of each sighting, None where it is not sure.

    People of the gallery keep their faces and names, whatever is seen now. Of the others,
    groups of ``min_faces`` faces become ``"person 1"`` and so on, the largest first.
    """
    files: tuple[str, ...] = ()
    owners: list[str] = []
    known = np.empty((0, 128))
    if gallery is not None and gallery.origins is not None:
        files = gallery.origins.files
        owners = [one for one, n in zip(labels, gallery.sizes, strict=True) for _ in range(n)]
        known = np.asarray(gallery.vectors, dtype=np.float64)
    owner_of = dict(zip(files, owners, strict=True))
    new = [one for one in sightings if one.files[0] not in owner_of]
    codes = {label: code for code, label in enumerate(dict.fromkeys(owners))}
    means = [np.asarray(one.vectors, dtype=np.float64).mean(axis=0) for one in new]
    groups = group_faces(
        np.concatenate([known, np.reshape(means, (-1, known.shape[1]))]),
        [{place_of(file)} for file in files] + [one.places for one in new],
        [codes[owner] for owner in owners] + [-1] * len(new),
    ).tolist()
    named = dict(zip(groups[: len(owners)], owners, strict=True))
    named |= _new_people(groups[len(owners) :], new, named, codes, min_faces)
    found = dict(zip(map(id, new), groups[len(owners) :], strict=True))
    return [
        owner_of[one.files[0]] if one.files[0] in owner_of else named.get(found[id(one)])
        for one in sightings
    ]


def _new_people(
    groups: Sequence[int], new: Sequence[Sighting], named: dict[int, str],
    taken: Collection[str], min_faces: int,
) -> dict[int, str]:  # fmt: skip
    counts = Counter[int]()
    for group, one in zip(groups, new, strict=True):
        counts[group] += len(one.files)
    sizes = {g: n for g, n in counts.items() if g not in named and n >= min_faces}
    ranked = sorted(sizes, key=lambda group: (-sizes[group], group))
    return dict(zip(ranked, free_people(taken), strict=False))


def free_people(taken: Collection[str]) -> Iterator[str]:
    """Names for people who have none: ``"person 4"``, ``"person 5"``, ... after three people.

    A number is not given again when somebody is named.
    """
    numbers = [int(found[1]) for one in taken if (found := UNNAMED.fullmatch(one))]
    start = max([len(set(taken)), *numbers]) + 1
    return (f"person {number}" for number in count(start))
