"""Tracks of one person are one set: joined by whose faces they show."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
import numpy.typing as npt

from setwise._support.face_models import aligned_face, describe_faces
from setwise._support.types import FloatArray
from setwise.io.tracking import Track, group_tracks

__all__ = ["Person", "aligned_jpeg", "each_alone", "join_people", "person_names"]

# dlib takes two faces less than 0.6 apart for one person's. Means of several faces lie closer
# together than single faces do, so that less is enough; and it is better to keep two sets of
# one person than to make one set of two.
ONE_PERSON = 0.5
# So many faces of a track are looked at, evenly spread: a head turns. More would change the
# mean little, and each takes a tenth of a second.
N_FACES = 5
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


def join_people(tracks: Sequence[Track], jpeg_of: Callable[[int, int], bytes]) -> list[Person]:
    """Join tracks that show one person at different times.

    Parameters
    ----------
    tracks : sequence of Track
        Of one clip.
    jpeg_of : callable
        Gives, for a frame and the place of a face in it, what :func:`aligned_jpeg` made.

    Returns
    -------
    list of Person
        In the order in which they are first seen.
    """
    if len(tracks) < 2:
        return each_alone(tracks)
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


def _mean_face(track: Track, jpeg_of: Callable[[int, int], bytes]) -> FloatArray:
    from PIL import Image

    places = np.unique(np.linspace(0, len(track) - 1, N_FACES).round().astype(int))
    jpegs = [jpeg_of(track.frames[place], track.picks[place]) for place in places]
    faces = np.stack([np.asarray(Image.open(io.BytesIO(jpeg))) for jpeg in jpegs])
    return describe_faces(faces).astype(np.float64).mean(axis=0)
