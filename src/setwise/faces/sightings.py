"""Faces of photos and tracks of clips, as what people are grouped from."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import numpy as np

from setwise._support.files import cache_folder
from setwise._support.parallel import quiet
from setwise._support.progress import Progress
from setwise.errors import DataError, SkippedFilesWarning
from setwise.faces.clips import clip_tracks
from setwise.faces.grouping import group_faces
from setwise.faces.known import KnownFace, faces_seen, sets_of
from setwise.faces.known import place_of as place_of
from setwise.faces.photos import PhotoFace, PhotoFaces, each_photo, find_faces
from setwise.features.face_networks import NetworkName
from setwise.io.decode import SUFFIXES
from setwise.io.loading_report import Skipped
from setwise.io.scan import FoundFile, scan
from setwise.io.video import VIDEO_SUFFIXES, find_clips
from setwise.sets import SetBatch

if TYPE_CHECKING:
    from setwise._support.types import FloatArray

# Each has networks of its own, of some 160 MB.
MOST_THREADS = 8
# People who have no name yet.
UNNAMED = re.compile(r"person (\d+)")


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


def photos_and_clips(sources: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """The sources that hold photos, and those that hold clips; a folder may hold both."""
    photos, clips = [], []
    for source in sources:
        found = [source]
        if source.is_dir():
            wanted = SUFFIXES | VIDEO_SUFFIXES
            images = scan(source, 100_000, wanted, "photos or clips").images
            found = [one.path for one in images]
        kinds = {path.suffix.lower() for path in found}
        if kinds & SUFFIXES:
            photos.append(source)
        if kinds - SUFFIXES or not found:  # what is neither is refused as a clip
            clips.append(source)
    return photos, clips


@dataclass(frozen=True)
class Finding:
    """How faces are found; what is found is kept in the user's cache by content."""

    min_size: int | None = None
    skip_bad: bool = False
    is_cached: bool = True
    network: NetworkName | None = None

    @property
    def cache(self) -> Path | None:
        """The file of the cache."""
        return cache_folder() / "faces.sqlite" if self.is_cached else None


def faces_of(source: Path, how: Finding, progress: Progress | None) -> PhotoFaces:
    """The faces of the photos of a source."""
    options: dict[str, Any] = {"min_size": how.min_size, "network": how.network}
    options |= {"on_error": "skip" if how.skip_bad else "raise", "cache": how.cache}
    with quiet("", SkippedFilesWarning):  # said by the command
        return find_faces(source, n_jobs=threads(), max_bad=1.0, progress=progress, **options)


def threads() -> int:
    """Number of threads that look for faces."""
    return min(os.cpu_count() or 1, MOST_THREADS)


def find_sightings(
    sources: Sequence[Path], how: Finding, progress: Progress | None = None
) -> Seen:
    """The faces of all photos and the tracks of all clips of the sources."""
    of_photos, of_clips = photos_and_clips(sources)
    found: list[Sighting] = []
    photos: list[Path] = []
    skipped: list[Skipped] = []
    for source in of_photos:
        faces = faces_of(source, how, progress)
        found += _of_photos(source, faces)
        photos += faces.photos
        skipped += faces.skipped
    for source in of_clips:
        for path, name in _clips_of(source):
            try:
                found += sightings_of_clip(path, name, progress, how)
            except DataError as error:
                if not how.skip_bad:
                    raise
                skipped.append(Skipped(path, str(error)))
    return Seen(tuple(found), tuple(photos), tuple(skipped))


def each_sighting(folder: Path, *, cache: bool = True) -> Iterator[Seen]:
    """The faces of one photo or clip of a folder after the other, as soon as they are found.

    Named as by :func:`find_sightings`. Look at :func:`photos_and_clips_in` for their number.
    """
    photos, clips = photos_and_clips_in(folder)
    how = Finding(is_cached=cache)
    each = each_photo(photos, cache=how.cache, n_jobs=threads())
    for image, found in zip(photos, each, strict=True):
        yield Seen(tuple(_of_photos(folder, found)), (image.path,), found.skipped)
    for path, name in clips:
        try:
            yield Seen(tuple(sightings_of_clip(path, name, None, how)), (path,), ())
        except DataError as error:
            yield Seen((), (path,), (Skipped(path, str(error)),))


def photos_and_clips_in(folder: Path) -> tuple[list[FoundFile], list[tuple[Path, str]]]:
    """The photos of a folder at any depth, and its clips with their names."""
    photos = scan(folder, 100_000).images
    has_clips = bool(scan(folder, 100_000, VIDEO_SUFFIXES, "clips").images)
    return photos, _clips_of(folder) if has_clips else []


def _of_photos(source: Path, found: PhotoFaces) -> Iterator[Sighting]:
    root = source.resolve() if source.is_dir() else source.resolve().parent
    return sightings_of_photos(root, root.name, found)


def sightings_of_photos(root: Path, name: str, found: PhotoFaces) -> Iterator[Sighting]:
    """Each face of some photos below a folder; ``name`` is that of the folder."""
    for face, vector, picture in zip(found.faces, found.vectors, found.pictures, strict=True):
        photo = f"{name}/{face.photo}"
        yield Sighting(
            path=root / face.photo,
            files=(f"{name}/{face.place}",),
            album=str(PurePosixPath(photo).parent),
            vectors=vector[None].astype(np.float64),
            pictures=(picture,),
            times=(face.time,),
            places=frozenset([photo]),
            face=face,
        )


def _clips_of(source: Path) -> list[tuple[Path, str]]:
    if not source.is_dir():
        return [(source, source.name)]
    _, paths, _ = find_clips(source, "auto", 100_000)
    root = source.resolve().name
    return [(path, f"{root}/{path.relative_to(source).as_posix()}") for path in paths]


def sightings_of_clip(
    path: Path, name: str, progress: Progress | None, how: Finding | None = None
) -> Iterator[Sighting]:
    """The people of a clip, each followed through it; ``name`` is that of the clip."""
    how = how or Finding(is_cached=False)
    for track in clip_tracks(path, how.min_size, how.network, how.cache, progress):
        yield Sighting(
            path=path,
            files=tuple(
                f"{name}, frame {frame}, face at {left} {top}"
                for frame, left, top in track.shown.tolist()
            ),
            album=name,
            vectors=track.vectors.astype(np.float64),
            pictures=track.pictures,
            times=(None,) * len(track.pictures),
            places=frozenset(f"{name}, frame {frame}" for frame in track.frames.tolist()),
        )


def mean_vectors(sightings: Sequence[Sighting]) -> FloatArray:
    """The mean vector of each sighting, as long as its vectors are."""
    means = []
    for one in sightings:
        mean = one.vectors.mean(axis=0)
        length = float(np.linalg.norm(one.vectors, axis=1).mean())
        means.append(mean * (length / max(float(np.linalg.norm(mean)), 1e-9)))
    return np.reshape(means, (-1, 128))


def people_of(
    sightings: Sequence[Sighting], known: Sequence[KnownFace], min_faces: int
) -> list[str | None]:
    """The person of each sighting, None where it is not sure.

    Known faces keep their people and names, whatever is seen now. Of the others, groups of
    ``min_faces`` faces become ``"person 1"`` and so on, the largest first.
    """
    owner_of = {face.file: face.person for face in known}
    new = [one for one in sightings if one.files[0] not in owner_of]
    codes = {person: code for code, person in enumerate(dict.fromkeys(owner_of.values()))}
    settled = [codes[face.person] for face in known]
    groups: list[int] = []
    if known or new:
        rows = [np.reshape([face.vector for face in known], (-1, 128)), mean_vectors(new)]
        vectors = np.concatenate(rows)
        groups = group_faces(
            vectors,
            [{face.place} for face in known] + [one.places for one in new],
            settled + [-1] * len(new),
        ).tolist()
    of_new = groups[len(known) :]
    named = {group: face.person for group, face in zip(groups, known, strict=False)}
    named |= _new_people(of_new, new, named, codes, min_faces)
    found = dict(zip(map(id, new), of_new, strict=True))
    return [
        owner_of[one.files[0]] if one.files[0] in owner_of else named.get(found[id(one)])
        for one in sightings
    ]


def _new_people(
    groups: Sequence[int], new: Sequence[Sighting], named: dict[int, str],
    taken: Collection[str], min_faces: int,
) -> dict[int, str]:  # fmt: skip
    n_faces, n_seen = Counter[int](), Counter(groups)
    for group, one in zip(groups, new, strict=True):
        n_faces[group] += len(one.files)
    sizes = {g: n for g, n in n_faces.items() if g not in named and n >= min_faces}
    ranked = sorted(sizes, key=lambda group: (-n_seen[group], -sizes[group], group))
    return dict(zip(ranked, free_people(taken), strict=False))


def free_people(taken: Collection[str]) -> Iterator[str]:
    """Names for people who have none: ``"person 4"``, ``"person 5"``, ... after three people.

    A number is not given again when somebody is named.
    """
    numbers = [int(found[1]) for one in taken if (found := UNNAMED.fullmatch(one))]
    start = max([len(set(taken)), *numbers]) + 1
    return (f"person {number}" for number in count(start))


def sets_of_people(
    sightings: Sequence[Sighting], who: Sequence[str | None], taken: Sequence[str] = ()
) -> tuple[SetBatch, list[str]]:
    """Sets of the people of sightings, by album, and the person of each set."""
    return sets_of(faces_seen(sightings, who), taken)
