"""Boxes that follow one another through the frames of a video."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from setwise._support.types import FloatArray

__all__ = ["Track", "drop_nested", "group_tracks", "overlaps", "track_boxes"]

# A box lies inside another with more than half of its area: a forehead whose box is not quite
# straight sticks out a little, while two heads side by side share far less.
INSIDE = 0.6
# A track is nested where that is so in at least half of its frames: detectors miss some, and a
# face that passes another one for a moment is a face of its own.
NESTED = 0.5


@dataclass
class Track:
    """One thing seen in several frames.

    Attributes
    ----------
    frames : list of int
        The frames it was seen in, in order.
    picks : list of int
        Which detection of each of these frames it is.
    boxes : list of tuple of float
        Where it was: ``(left, top, width, height)``.
    """

    frames: list[int] = field(default_factory=list)
    picks: list[int] = field(default_factory=list)
    boxes: list[tuple[float, ...]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.frames)

    def __add__(self, later: Track) -> Track:
        return Track(
            self.frames + later.frames, self.picks + later.picks, self.boxes + later.boxes
        )

    def part(self, begin: int, end: int) -> Track:
        """Some of its detections."""
        return Track(self.frames[begin:end], self.picks[begin:end], self.boxes[begin:end])

    def follow(self, frame: int, pick: int, box: tuple[float, ...]) -> None:
        """Go on with a detection of a later frame."""
        self.frames.append(frame)
        self.picks.append(pick)
        self.boxes.append(box)


def overlaps(boxes: FloatArray, others: FloatArray) -> FloatArray:
    """Overlap of each box with each other: shared area over the area of both together.

    Parameters
    ----------
    boxes : array of shape (n_boxes, 4)
        ``(left, top, width, height)`` of each.
    others : array of shape (n_others, 4)
        Likewise.

    Returns
    -------
    array of shape (n_boxes, n_others)
        1 for equal boxes, 0 for boxes that share nothing.

    Examples
    --------
    >>> import numpy as np
    >>> overlaps(np.array([[0, 0, 2, 2]]), np.array([[1, 0, 2, 2], [5, 5, 1, 1]])).round(3)
    array([[0.333, 0.   ]])
    """
    first, second = boxes[:, None, :], others[None, :, :]
    shared = _shared_areas(first, second)
    return shared / (np.prod(first[..., 2:], -1) + np.prod(second[..., 2:], -1) - shared)


def _shared_areas(boxes: FloatArray, others: FloatArray) -> FloatArray:
    """Area that lies in both of two boxes, for arrays of them that broadcast."""
    starts = np.maximum(boxes[..., :2], others[..., :2])
    ends = np.minimum(boxes[..., :2] + boxes[..., 2:], others[..., :2] + others[..., 2:])
    return np.prod(np.maximum(ends - starts, 0.0), axis=-1)


def track_boxes(
    detections: Sequence[FloatArray], *, min_overlap: float = 0.3, max_gap: int = 3
) -> list[Track]:
    """Join boxes of successive frames that overlap.

    In every frame, the tracks still alive and the boxes are matched so that the overlaps of
    the matched, each at least ``min_overlap``, add up to as much as possible. A box without
    a match begins a track. The order of the boxes inside a frame does not matter.

    Parameters
    ----------
    detections : sequence of arrays of shape (n_boxes_i, 4)
        The boxes ``(left, top, width, height)`` found in each frame.
    min_overlap : float, default=0.3
        How much two boxes of a track must overlap.
    max_gap : int, default=3
        For how many frames a track may go unseen and still go on.

    Returns
    -------
    list of Track
        In the order in which they begin; of those that begin together, from left to right.

    Examples
    --------
    >>> import numpy as np
    >>> right, left = [40, 0, 9, 9], [0, 0, 9, 9]
    >>> seen = [np.array([right]), np.array([left, right]), np.array([left])]
    >>> [track.frames for track in track_boxes(seen)]
    [[0, 1], [1, 2]]
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
            if place in continued:
                track = alive[continued[place]]
            else:
                track = Track()
                tracks.append(track)
                alive.append(track)
            track.follow(frame, int(pick), tuple(boxes[pick].tolist()))
    return tracks


def _matches(alive: list[Track], boxes: FloatArray, min_overlap: float) -> dict[int, int]:
    """Which track each box continues; boxes that continue none are left out."""
    from scipy.optimize import linear_sum_assignment

    if not alive or not len(boxes):
        return {}
    gains = overlaps(boxes, np.array([track.boxes[-1] for track in alive]))
    gains[gains < min_overlap] = 0.0
    pairs = zip(*linear_sum_assignment(gains, maximize=True), strict=True)
    return {int(box): int(track) for box, track in pairs if gains[box, track] > 0}


def drop_nested(tracks: Sequence[Track]) -> list[Track]:
    """Leave out tracks inside others, such as a forehead that is followed inside of its face.

    A track goes where, in at least half of its frames, at least 60 % of its box lies in the
    box that another track has in the same frame, and that other track covers more: its boxes
    have the larger sum of areas, as they are larger or there are more of them.

    Parameters
    ----------
    tracks : sequence of Track
        Whose frames are numbered alike. Their order decides that of the result only.

    Returns
    -------
    list of Track
        Those that are left, in the order given. The one that covers most is always among them.

    Examples
    --------
    >>> face = Track([0, 1], [0, 0], [(0, 0, 9, 9), (1, 0, 9, 9)])
    >>> forehead = Track([1], [1], [(3, 1, 4, 4)])
    >>> drop_nested([forehead, face]) == [face]
    True
    """
    areas = [sum(width * height for _, _, width, height in track.boxes) for track in tracks]
    # Equally large ones are told apart by what they are, so that their order does not count.
    ranked = sorted(
        range(len(tracks)), key=lambda i: (areas[i], tracks[i].frames, tracks[i].boxes)
    )
    nested = {
        i
        for place, i in enumerate(ranked)
        if any(_is_inside(tracks[i], tracks[j]) for j in ranked[place + 1 :])
    }
    return [track for i, track in enumerate(tracks) if i not in nested]


def _is_inside(track: Track, other: Track) -> bool:
    """Whether a track lies in another one in enough of its frames."""
    there = dict(zip(other.frames, other.boxes, strict=True))
    pairs = [
        (box, there[frame])
        for frame, box in zip(track.frames, track.boxes, strict=True)
        if frame in there
    ]
    if len(pairs) < NESTED * len(track):
        return False
    boxes, others = np.asarray(pairs, dtype=np.float64).transpose(1, 0, 2)
    shares = _shared_areas(boxes, others) / np.prod(boxes[:, 2:], axis=1)
    return bool(np.sum(shares >= INSIDE) >= NESTED * len(track))


def group_tracks(
    tracks: Sequence[Track], vectors: FloatArray, max_distance: float
) -> list[list[int]]:
    """Group tracks that may be of one thing: never seen at one time, and alike.

    Complete linkage: the two groups whose farthest members are closest are joined, again and
    again, as long as these are at most ``max_distance`` apart. Two tracks of which one begins
    before the other one ends are never in one group.

    Parameters
    ----------
    tracks : sequence of Track
        Whose frames are numbered alike.
    vectors : array of shape (n_tracks, n_features)
        What is seen in each.
    max_distance : float
        How far apart, in Euclidean distance, two tracks of a group may be.

    Returns
    -------
    list of list of int
        The places of the tracks of each group, by when they begin; groups in the order of
        their first tracks. The order of the tracks given does not matter otherwise.

    Examples
    --------
    >>> one, two, three = (Track([i], [0], [(0, 0, 9, 9)]) for i in (0, 0, 1))
    >>> group_tracks([one, two, three], np.array([[0.0], [0.1], [0.2]]), 0.5)
    [[0], [1, 2]]
    """
    # Ties fall by what the tracks are, so that their order does not count.
    ranked = sorted(
        range(len(tracks)),
        key=lambda i: (tracks[i].frames, tracks[i].boxes, vectors[i].tolist()),
    )
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
    """Distances of the vectors of each two tracks, inf where these overlap in time."""
    values = np.asarray(vectors, dtype=np.float64)
    distances = np.linalg.norm(values[:, None, :] - values[None, :, :], axis=2)
    firsts = np.array([track.frames[0] for track in tracks])
    lasts = np.array([track.frames[-1] for track in tracks])
    # A track overlaps itself.
    overlap = (firsts[:, None] <= lasts[None, :]) & (firsts[None, :] <= lasts[:, None])
    distances[overlap] = np.inf
    return distances
