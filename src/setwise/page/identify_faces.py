"""Uploaded photos and clips as the faces in them, one set per person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from setwise._support.progress import Progress
from setwise.classify import Gallery
from setwise.errors import DataError
from setwise.faces.grouping import group_faces
from setwise.faces.photos import each_photo
from setwise.faces.sightings import (
    Sighting,
    place_of,
    sightings_of_clip,
    sightings_of_photos,
)
from setwise.io.scan import FoundFile
from setwise.page.uploads import ReceivedFile
from setwise.sets import Origins, SetBatch
from setwise.sets.origins import has_photos

N_NUMBERS = 128  # of a face
MOST_PEOPLE = 60  # of an upload


def is_of_faces(gallery: Gallery) -> bool:
    """Whether a gallery holds vectors and pictures of faces, as `setwise people` makes them."""
    sets = gallery.sets
    is_plain = gallery.has_vectors and sets.image_shape is None
    return is_plain and sets.n_features == N_NUMBERS and has_photos(sets)


Box: TypeAlias = tuple[float, float, float, float]  # left, top, width, height as shares


@dataclass(frozen=True)
class PeopleFound:
    """A set per person of an upload, and where each picture is from."""

    sets: list[SetBatch]
    paths: list[list[Path]]  # of each picture of each set
    boxes: list[list[Box | None]]
    left_out: list[tuple[str, str]]  # name and reason


def read_people(
    gallery: Gallery, name: str, files: Sequence[ReceivedFile], progress: Progress
) -> PeopleFound:
    """The faces of one folder or clip as a set per person."""
    found, left_out = _sightings(name, files, progress)
    if not found:
        left_out = left_out or [(name, "shows no face that is large enough.")]
        return PeopleFound([], [], [], left_out)
    groups = [group for _, group in grouped(gallery, found)][:MOST_PEOPLE]
    names = [name] if len(groups) == 1 else [f"{name}, {i + 1}" for i in range(len(groups))]
    return PeopleFound(
        [as_set(called, group) for called, group in zip(names, groups, strict=True)],
        [[one.path for one in group for _ in one.files] for group in groups],
        [[share_of(one) for one in group for _ in one.files] for group in groups],
        left_out,
    )


def _sightings(
    name: str, files: Sequence[ReceivedFile], progress: Progress
) -> tuple[list[Sighting], list[tuple[str, str]]]:
    found: list[Sighting] = []
    left_out: list[tuple[str, str]] = []
    if files[0].is_clip:
        try:
            return list(sightings_of_clip(files[0].path, name, progress)), left_out
        except DataError:
            return found, [(files[0].words, "cannot be read as a clip.")]
    images = [FoundFile(file.path, file.parts) for file in files]
    each = zip(files, each_photo(images), strict=True)
    for done, (file, faces) in enumerate(each):
        progress("find faces", done, len(files))
        seen = sightings_of_photos(Path(), "upload", faces)
        found += [replace(one, path=file.path) for one in seen]
        if faces.skipped:
            left_out.append((file.words, "cannot be read as a photo: it is damaged."))
    return found, left_out


def grouped(gallery: Gallery, found: Sequence[Sighting]) -> list[tuple[bool, list[Sighting]]]:
    """The faces of each person, and whether some of the gallery are near; largest first."""
    sets = gallery.sets
    owners = np.repeat(gallery.codes, sets.sizes).tolist()
    files: Any = () if sets.origins is None else sets.origins.files
    means = np.stack([one.vectors.mean(axis=0) for one in found])
    labels = group_faces(
        np.concatenate([np.asarray(sets.vectors, np.float64), means]),
        [{place_of(file)} for file in files] + [set(one.places) for one in found],
        [*owners, *([-1] * len(found))],
    ).tolist()
    known, labels = set(labels[: len(owners)]), labels[len(owners) :]
    groups: dict[int, list[Sighting]] = {}
    for one, label in zip(found, labels, strict=True):
        groups.setdefault(label, []).append(one)
    made = [(label in known, group) for label, group in groups.items()]
    return sorted(made, key=lambda one: len(one[1]), reverse=True)


def share_of(one: Sighting) -> Box | None:
    """The box of a face as shares of its photo."""
    if one.face is None:
        return None
    (left, top, width, height), (w, h) = one.face.box, one.face.photo_size
    return left / w, top / h, width / w, height / h


def as_set(name: str, group: Sequence[Sighting]) -> SetBatch:
    """The faces of a person as a set with pictures."""
    origins = Origins.of_files(
        [file.removeprefix("upload/") for one in group for file in one.files],
        [time for one in group for time in one.times],
        [picture for one in group for picture in one.pictures],
    )
    vectors = np.concatenate([one.vectors for one in group])
    return SetBatch.from_list([vectors], names=[name]).replaced(origins=origins)
