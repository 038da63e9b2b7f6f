"""Boxes that follow one another through the frames of a video."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import linear_sum_assignment

from setwise._support.types import FloatArray

__all__ = ["Track", "overlaps", "track_boxes"]


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
    starts = np.maximum(first[..., :2], second[..., :2])
    ends = np.minimum(first[..., :2] + first[..., 2:], second[..., :2] + second[..., 2:])
    shared = np.prod(np.maximum(ends - starts, 0.0), axis=-1)
    return shared / (np.prod(first[..., 2:], -1) + np.prod(second[..., 2:], -1) - shared)


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
    if not alive or not len(boxes):
        return {}
    gains = overlaps(boxes, np.array([track.boxes[-1] for track in alive]))
    gains[gains < min_overlap] = 0.0
    pairs = zip(*linear_sum_assignment(gains, maximize=True), strict=True)
    return {int(box): int(track) for box, track in pairs if gains[box, track] > 0}
