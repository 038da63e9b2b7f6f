"""A set for each person: tracks split and joined by whose faces they show."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from operator import add
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from setwise._support.face_models import aligned_face, describe_faces
from setwise._support.types import FloatArray
from setwise.io.tracking import Track, group_tracks

__all__ = [
    "Person", "aligned_jpeg", "by_person", "each_alone", "join_people", "person_names",
    "split_people",
]  # fmt: skip

# For a frame and the place of a face in it, what `aligned_jpeg` made.
JpegOf: TypeAlias = Callable[[int, int], bytes]

# dlib takes two faces less than 0.6 apart for one person's. Means of several faces lie closer
# together than single faces do, so that less is enough; and it is better to keep two sets of
# one person than to make one set of two.
ONE_PERSON = 0.5
# So many faces of a track are looked at, evenly spread: a head turns. More would change the
# mean little, and each takes a tenth of a second.
N_FACES = 5
# Upright faces in neighbouring frames have pixels that correlate by 0.9 and more where they are
# of one person, and by less than 0.8 where not (22 faces tried); the network, which takes
# longer, is asked only below.
ALIKE = 0.8
SMALL = 30
# The most tracks that a name lists.
N_NAMED = 6


@dataclass(frozen=True)
class Person:
    """One or more tracks that make a set.

    Attributes
    ----------
    track : Track
        All of them, one after the other.
    numbers : tuple of int
        Which of the tracks of the clip these are, from 1.
    """

    track: Track
    numbers: tuple[int, ...]


def each_alone(tracks: Sequence[Track]) -> list[Person]:
    """Each track for a person of its own."""
    return [Person(track, (number,)) for number, track in enumerate(tracks, start=1)]


def by_person(
    tracks: Sequence[Track], jpeg_of: JpegOf, min_length: int
) -> tuple[list[Person], list[str]]:
    """Tracks by whose faces they show, and notes on what was split, left out and joined.

    Parameters
    ----------
    tracks : sequence of Track
        Of one clip.
    jpeg_of : callable
        Gives, for a frame and the place of a face in it, what :func:`aligned_jpeg` made.
    min_length : int
        Parts of fewer faces are left out.
    """
    notes = []
    parts = split_people(tracks, jpeg_of)
    kept = [part for part in parts if len(part) >= min_length]
    if kept and len(parts) > len(tracks):
        n_left_out = sum(map(len, parts)) - sum(map(len, kept))
        notes.append(
            f"split: {len(tracks)} tracks into {len(parts)}, as another face took the place "
            f"of the first; {n_left_out} faces of short ones left out"
        )
    # Where all is cut to pieces no face is sure, and tracks stay as they are.
    people = join_people(kept or tracks, jpeg_of)
    joined = [len(person.numbers) for person in people if len(person.numbers) > 1]
    if joined:
        whose = f"{len(joined)} people" if len(joined) > 1 else "one person"
        notes.append(f"joined: {sum(joined)} tracks of {whose}")
    return people, notes


def split_people(tracks: Sequence[Track], jpeg_of: JpegOf) -> list[Track]:
    """Split tracks where a face becomes another person's, as where a film is cut.

    A track that is split for no reason does no harm: its parts are joined again.

    Returns
    -------
    list of Track
        In the order in which they begin.
    """
    parts = []
    for track in tracks:
        ends = [0, *_changes(track, jpeg_of), len(track)]
        parts += [track.part(begin, end) for begin, end in pairwise(ends)]
    return sorted(parts, key=lambda part: (part.frames[0], part.boxes[0]))


def join_people(tracks: Sequence[Track], jpeg_of: JpegOf) -> list[Person]:
    """Join tracks that show one person at different times.

    Returns
    -------
    list of Person
        In the order in which they are first seen.
    """
    if len(group_tracks(tracks, np.zeros((len(tracks), 1)), ONE_PERSON)) == len(tracks):
        return each_alone(tracks)  # all are seen at one time: nothing to ask the network
    vectors = np.stack([_mean_face(track, jpeg_of) for track in tracks])
    return [
        Person(reduce(add, [tracks[i] for i in group]), tuple(i + 1 for i in group))
        for group in group_tracks(tracks, vectors, ONE_PERSON)
    ]


def aligned_jpeg(pixels: npt.NDArray[np.uint8], box: FloatArray) -> bytes:
    """The face in a box, upright, as some 5 kB: which ones are looked at turns out later."""
    from PIL import Image

    content = io.BytesIO()
    Image.fromarray(aligned_face(pixels, box)).save(content, "JPEG", quality=90)
    return content.getvalue()


def person_names(people: Sequence[Person], frames: Sequence[str]) -> list[str]:
    """What the sets are called, such as "track 1 (frames 0-9)", where joined "person 1 (...)".

    Names are such that folders can be called so.

    Parameters
    ----------
    people : sequence of Person
        Of one clip.
    frames : sequence of str
        When each is seen, such as ``"frames 0-9"``.
    """
    names, n_joined = [], 0
    for person, when in zip(people, frames, strict=True):
        if len(person.numbers) == 1:
            names.append(f"track {person.numbers[0]} ({when})")
            continue
        n_joined += 1
        listed = f"tracks {'+'.join(map(str, person.numbers))}"
        if len(person.numbers) > N_NAMED:
            listed = f"{len(person.numbers)} tracks"
        names.append(f"person {n_joined} ({listed} {when})")
    return names


def _mean_face(track: Track, jpeg_of: JpegOf) -> FloatArray:
    places = np.unique(np.linspace(0, len(track) - 1, N_FACES).round().astype(int))
    faces = np.stack([_face(track, place, jpeg_of) for place in places.tolist()])
    return describe_faces(faces).astype(np.float64).mean(axis=0)


def _changes(track: Track, jpeg_of: JpegOf) -> list[int]:
    """Where in a track the face is another person's than before."""
    rows = np.stack([_small_row(_face(track, i, jpeg_of)) for i in range(len(track))])
    likeness = np.sum(rows[1:] * rows[:-1], axis=1)
    changes = []
    for i in (np.flatnonzero(likeness < ALIKE) + 1).tolist():
        pair = np.stack([_face(track, place, jpeg_of) for place in (i - 1, i)])
        before, after = describe_faces(pair)
        if np.linalg.norm(after - before) > ONE_PERSON:
            changes.append(i)
    return changes


def _face(track: Track, place: int, jpeg_of: JpegOf) -> npt.NDArray[np.uint8]:
    from PIL import Image

    content = io.BytesIO(jpeg_of(track.frames[place], track.picks[place]))
    with Image.open(content) as image:
        return np.asarray(image)


def _small_row(face: npt.NDArray[np.uint8]) -> FloatArray:
    """Pixels whose products with those of another face are the correlation of both."""
    from PIL import Image

    small = Image.fromarray(face).resize((SMALL, SMALL), Image.Resampling.BILINEAR)
    row = np.asarray(small, dtype=np.float64).ravel()
    row -= row.mean()
    return row / max(float(np.linalg.norm(row)), 1e-9)
