"""Faces followed through a clip, and the tracks of one person joined."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import pairwise
from operator import add

import numpy as np

from setwise._support.types import Bytes, FloatArray
from setwise.features.face_networks import FaceNetwork

# Least share of the box of a forehead in that of its face: two heads side by side share less.
INSIDE = 0.6
# Least share of the frames in which a nested track lies so: detectors miss some.
NESTED = 0.5
# Faces of a track that are averaged: more would change little.
N_FACES = 5
# Pixels of upright faces in neighbouring frames correlate by 0.9 and more for one person, and
# by less than 0.8 for two. The network, which takes longer, decides only below.
ALIKE = 0.8
SMALL = 30
# Most tracks that a name lists.
N_NAMED = 6


@dataclass(frozen=True)
class TrackFaces:
    """The faces of tracks: upright pictures, and vectors by a network."""

    network: FaceNetwork
    jpeg_of: Callable[[int, int], bytes]  # by frame, and index of the face in it

    def picture(self, track: Track, place: int) -> Bytes:
        """The upright picture of a face of a track."""
        return opened(self.jpeg_of(track.frames[place], track.picks[place]))

    def describe(self, track: Track, places: Sequence[int]) -> FloatArray:
        """Vectors of some faces of a track."""
        pictures = np.stack([self.picture(track, place) for place in places])
        return self.network.describe(pictures).astype(np.float64)


@dataclass
class Track:
    """One object seen in several frames, in order."""

    frames: list[int] = field(default_factory=list)
    picks: list[int] = field(default_factory=list)  # index of the detection in its frame
    boxes: list[tuple[float, ...]] = field(default_factory=list)  # left, top, width, height

    def __len__(self) -> int:
        return len(self.frames)

    def __add__(self, later: Track) -> Track:
        frames, picks = self.frames + later.frames, self.picks + later.picks
        return Track(frames, picks, self.boxes + later.boxes)

    def part(self, begin: int, end: int) -> Track:
        """The detections between two places."""
        return Track(self.frames[begin:end], self.picks[begin:end], self.boxes[begin:end])

    def follow(self, frame: int, pick: int, box: tuple[float, ...]) -> None:
        """Add the detection of a later frame."""
        self.frames.append(frame)
        self.picks.append(pick)
        self.boxes.append(box)


def overlaps(boxes: FloatArray, others: FloatArray) -> FloatArray:
    """Intersection over union of each two boxes ``(left, top, width, height)``."""
    first, second = boxes[:, None, :], others[None, :, :]
    shared = _shared_areas(first, second)
    return shared / (np.prod(first[..., 2:], -1) + np.prod(second[..., 2:], -1) - shared)


def _shared_areas(boxes: FloatArray, others: FloatArray) -> FloatArray:
    """Area of the intersection of boxes, for arrays of them that broadcast."""
    starts = np.maximum(boxes[..., :2], others[..., :2])
    ends = np.minimum(boxes[..., :2] + boxes[..., 2:], others[..., :2] + others[..., 2:])
    return np.prod(np.maximum(ends - starts, 0.0), axis=-1)


def track_boxes(
    detections: Sequence[FloatArray], *, min_overlap: float = 0.3, max_gap: int = 3
) -> list[Track]:
    """Join boxes of successive frames that overlap.

    In each frame, living tracks and boxes are matched so that the sum of the overlaps, each at
    least ``min_overlap``, is largest. A track may miss ``max_gap`` frames. A box without a
    match begins a track.
    """
    tracks: list[Track] = []
    alive: list[Track] = []
    for frame, boxes_found in enumerate(detections):
        boxes = np.asarray(boxes_found, dtype=np.float64).reshape(-1, 4)
        # From left to right, so that ties do not hang on the order of the detections.
        order = np.lexsort(boxes.T[::-1])
        alive = [track for track in alive if frame - track.frames[-1] <= max_gap + 1]
        continued = _matches(alive, boxes[order], min_overlap)
        for place, pick in enumerate(order):
            if place not in continued:
                continued[place] = len(alive)
                alive.append(Track())
                tracks.append(alive[-1])
            track = alive[continued[place]]
            track.follow(frame, int(pick), tuple(boxes[pick].tolist()))
    return tracks


def _matches(alive: list[Track], boxes: FloatArray, min_overlap: float) -> dict[int, int]:
    from scipy.optimize import linear_sum_assignment

    if not alive or not len(boxes):
        return {}
    gains = overlaps(boxes, np.array([track.boxes[-1] for track in alive]))
    gains[gains < min_overlap] = 0.0
    pairs = zip(*linear_sum_assignment(gains, maximize=True), strict=True)
    return {int(box): int(track) for box, track in pairs if gains[box, track] > 0}


def drop_nested(tracks: Sequence[Track]) -> list[Track]:
    """Leave out tracks inside others, such as a forehead that is followed inside of its face.

    A track is dropped if, in at least half of its frames, at least 60 % of its box lies in the
    box of another track whose boxes have the larger sum of areas.
    """
    areas = [sum(width * height for _, _, width, height in track.boxes) for track in tracks]
    pairs = zip(areas, tracks, strict=True)
    # Ties are broken by content, so that the order of the tracks does not count.
    content = [(area, track.frames, track.boxes) for area, track in pairs]
    ranked = sorted(range(len(tracks)), key=content.__getitem__)
    kept = []
    for place, i in enumerate(ranked):
        if not any(_is_inside(tracks[i], tracks[j]) for j in ranked[place + 1 :]):
            kept.append(i)
    return [tracks[i] for i in sorted(kept)]


def _is_inside(track: Track, other: Track) -> bool:
    there = dict(zip(other.frames, other.boxes, strict=True))
    own = zip(track.frames, track.boxes, strict=True)
    pairs = [(box, there[frame]) for frame, box in own if frame in there]
    if len(pairs) < NESTED * len(track):
        return False
    boxes, others = np.asarray(pairs, dtype=np.float64).transpose(1, 0, 2)
    shares = _shared_areas(boxes, others) / np.prod(boxes[:, 2:], axis=1)
    return bool(np.sum(shares >= INSIDE) >= NESTED * len(track))


def group_tracks(
    tracks: Sequence[Track], vectors: FloatArray, max_distance: float
) -> list[list[int]]:
    """Group similar tracks that do not overlap in time.

    Returns places in ``tracks``, groups in the order of their first tracks. Complete linkage:
    the two groups whose farthest members are closest are joined, as long as these are at most
    ``max_distance`` apart.
    """
    # Ties are broken by content, so that the order of the tracks does not count.
    pairs = zip(tracks, vectors, strict=True)
    content = [(track.frames, track.boxes, vector.tolist()) for track, vector in pairs]
    ranked = sorted(range(len(tracks)), key=content.__getitem__)
    distances = _track_distances([tracks[i] for i in ranked], vectors[ranked])
    groups = [[place] for place in range(len(ranked))]
    while len(groups) > 1:
        closest = np.unravel_index(np.argmin(distances), distances.shape)
        if not distances[closest] <= max_distance:
            break
        first, second = sorted(int(place) for place in closest)
        groups[first] = sorted(groups[first] + groups.pop(second))
        farthest = np.maximum(distances[first], distances[second])
        distances[first], distances[:, first] = farthest, farthest
        distances = np.delete(np.delete(distances, second, axis=0), second, axis=1)
    return [[ranked[place] for place in group] for group in sorted(groups)]


def _track_distances(tracks: Sequence[Track], vectors: FloatArray) -> FloatArray:
    """Distances of the vectors of each two tracks, inf for tracks that overlap in time."""
    values = np.asarray(vectors, dtype=np.float64)
    distances = np.linalg.norm(values[:, None, :] - values[None, :, :], axis=2)
    firsts = np.array([track.frames[0] for track in tracks])
    lasts = np.array([track.frames[-1] for track in tracks])
    # A track overlaps itself.
    overlap = (firsts[:, None] <= lasts[None, :]) & (firsts[None, :] <= lasts[:, None])
    distances[overlap] = np.inf
    return distances


@dataclass(frozen=True)
class Person:
    """One or more tracks that make a set."""

    track: Track  # all of them, one after the other
    numbers: tuple[int, ...]  # of the tracks in the clip, from 1


def each_alone(tracks: Sequence[Track]) -> list[Person]:
    """One person per track."""
    return [Person(track, (number,)) for number, track in enumerate(tracks, start=1)]


def by_person(
    tracks: Sequence[Track], faces: TrackFaces, min_length: int
) -> tuple[list[Person], list[str]]:
    """Tracks of ``min_length`` faces or more, split and joined by person, and notes."""
    notes = []
    parts = split_people(tracks, faces)
    kept = [part for part in parts if len(part) >= min_length]
    if kept and len(parts) > len(tracks):
        n_left_out = sum(map(len, parts)) - sum(map(len, kept))
        notes.append(
            f"split: {len(tracks)} tracks into {len(parts)}, as another face took the place "
            f"of the first; {n_left_out} faces of short ones left out"
        )
    # If no part is long enough, tracks stay as they are.
    people = join_people(kept or tracks, faces)
    joined = [len(person.numbers) for person in people if len(person.numbers) > 1]
    if joined:
        whose = f"{len(joined)} people" if len(joined) > 1 else "one person"
        notes.append(f"joined: {sum(joined)} tracks of {whose}")
    return people, notes


def split_people(tracks: Sequence[Track], faces: TrackFaces) -> list[Track]:
    """Tracks split at changes of person, as at a cut; needless splits are joined again."""
    parts = []
    for track in tracks:
        ends = [0, *_changes(track, faces), len(track)]
        parts += [track.part(begin, end) for begin, end in pairwise(ends)]
    return sorted(parts, key=lambda part: (part.frames[0], part.boxes[0]))


def join_people(tracks: Sequence[Track], faces: TrackFaces) -> list[Person]:
    """Join tracks of one person at different times, in the order of their first frames."""
    near = faces.network.near
    if len(group_tracks(tracks, np.zeros((len(tracks), 1)), near)) == len(tracks):
        return each_alone(tracks)  # all are seen at one time: nothing to ask the network
    vectors = np.stack([_mean_face(track, faces) for track in tracks])
    groups = group_tracks(tracks, vectors, near)
    whole = [reduce(add, [tracks[i] for i in group]) for group in groups]
    numbers = [tuple(i + 1 for i in group) for group in groups]
    return list(map(Person, whole, numbers))


def as_jpeg(picture: Bytes) -> bytes:
    """An upright picture of a face as a JPEG of some 7 kB, kept until it is needed."""
    from PIL import Image

    content = io.BytesIO()
    Image.fromarray(picture).save(content, "JPEG", quality=90)
    return content.getvalue()


def opened(jpeg: bytes) -> Bytes:
    """The pixels of such a JPEG, in red, green and blue."""
    from PIL import Image

    with Image.open(io.BytesIO(jpeg)) as image:
        return np.asarray(image.convert("RGB"))


def person_names(people: Sequence[Person], frames: Sequence[str]) -> list[str]:
    """Names of sets and folders, "track 1 (frames 0-9)", or "person 1 (...)" if joined."""
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


def _mean_face(track: Track, faces: TrackFaces) -> FloatArray:
    places = np.unique(np.linspace(0, len(track) - 1, N_FACES).round().astype(int))
    return faces.describe(track, places.tolist()).mean(axis=0)


def _changes(track: Track, faces: TrackFaces) -> list[int]:
    rows = np.stack([_small_row(faces.picture(track, i)) for i in range(len(track))])
    likeness = np.sum(rows[1:] * rows[:-1], axis=1)
    changes = []
    for i in (np.flatnonzero(likeness < ALIKE) + 1).tolist():
        before, after = faces.describe(track, (i - 1, i))
        if np.linalg.norm(after - before) > faces.network.near:
            changes.append(i)
    return changes


def _small_row(face: Bytes) -> FloatArray:
    """Pixels of a face, scaled so that products of two faces are their correlations."""
    from PIL import Image

    grey = Image.fromarray(face).convert("L")
    small = grey.resize((SMALL, SMALL), Image.Resampling.BILINEAR)
    row = np.asarray(small, dtype=np.float64).ravel()
    row -= row.mean()
    return row / max(float(np.linalg.norm(row)), 1e-9)
