"""People of clips, each with its best faces; what was found is kept by content."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from setwise._support.progress import Progress
from setwise._support.types import IntArray
from setwise.faces.detectors import DlibFaces, YuNetFaces
from setwise.faces.people import opened
from setwise.faces.photos import content_key, sharpness
from setwise.faces.tracks import FaceTracks, NoTrackError, face_tracks
from setwise.features.cache import FeatureFile
from setwise.features.face_networks import NetworkName, face_network

# Heads seldom move by more than half of their width in this time, and more frames add little.
EVERY_S = 0.2
MIN_SIZE = 30
# Faces of a track that are described: more would change little.
N_FACES = 5
# Changes with everything that a cached result depends on.
VERSION = 2


@dataclass(frozen=True)
class ClipTrack:
    """One person followed through a clip."""

    frames: IntArray  # all in which the person is
    shown: IntArray  # those of the best faces, and left and top of each, of shape (n, 3)
    vectors: npt.NDArray[np.float32]  # of the best faces
    pictures: tuple[bytes, ...]


def clip_tracks(
    path: Path, min_size: int | None = None, network: NetworkName | None = None,
    cache: Path | None = None, progress: Progress | None = None,
) -> list[ClipTrack]:  # fmt: skip
    """The people of a clip; none where no face is seen for a second."""
    chosen, smallest = face_network(network), min_size or MIN_SIZE
    kept = None if cache is None or not path.is_file() else FeatureFile(cache)
    key = b""
    if kept is not None:
        key = content_key(path, f"clip {VERSION} {smallest}", chosen)
        known = kept.find([key]).get(key)
        if known is not None:
            return _unpacked(known)
    kind = {"sface": YuNetFaces, "dlib": DlibFaces}[chosen.name]
    try:
        followed = face_tracks(
            path, detector=kind(min_size=smallest), every_s=EVERY_S, progress=progress
        )
        tracks = [_best(followed, i, chosen.name) for i in range(len(followed))]
    except NoTrackError:  # a clip without people is no fault
        tracks = []
    if kept is not None:
        kept.keep({key: _packed(tracks)})
    return tracks


def _best(followed: FaceTracks, i: int, network: NetworkName) -> ClipTrack:
    """A track with the sharpest face of each of a few parts of it."""
    origins = followed.origins
    assert origins is not None  # noqa: S101 (face_tracks gives them)
    begin, end = int(followed.offsets[i]), int(followed.offsets[i + 1])
    rows = np.arange(begin, end)
    frames = np.array([int(origins.files[row].rpartition(" ")[2]) for row in rows])
    pictures = [opened(followed.pictures[row]) for row in rows]
    sharp = np.array([sharpness(picture) for picture in pictures])
    parts = np.array_split(np.arange(len(rows)), min(len(rows), N_FACES))
    best = [int(part[np.argmax(sharp[part])]) for part in parts]
    vectors = face_network(network).describe(np.stack([pictures[place] for place in best]))
    jpegs = tuple(followed.pictures[begin + place] for place in best)
    corners = followed.boxes[begin + np.array(best), :2].round().astype(np.int64)
    return ClipTrack(frames, np.column_stack([frames[best], corners]), vectors, jpegs)


def _packed(tracks: Sequence[ClipTrack]) -> npt.NDArray[np.uint8]:
    """Tracks in one array of bytes."""
    pictures = [picture for track in tracks for picture in track.pictures]
    arrays = {
        "n_frames": np.array([len(track.frames) for track in tracks], dtype=np.int64),
        "n_shown": np.array([len(track.shown) for track in tracks], dtype=np.int64),
        "lengths": np.array(list(map(len, pictures)), dtype=np.int64),
        "pictures": np.frombuffer(b"".join(pictures), dtype=np.uint8),
        "frames": np.concatenate([np.empty(0, np.int64), *(one.frames for one in tracks)]),
        "shown": np.concatenate([np.empty((0, 3), np.int64), *(one.shown for one in tracks)]),
        "vectors": np.concatenate(
            [np.empty((0, 128), np.float32), *(one.vectors for one in tracks)]
        ),
    }
    content = io.BytesIO()
    np.savez(content, **arrays)  # type: ignore[arg-type]
    return np.frombuffer(content.getvalue(), dtype=np.uint8)


def _unpacked(content: npt.NDArray[np.uint8]) -> list[ClipTrack]:
    """What :func:`_packed` gave."""
    with np.load(io.BytesIO(content.tobytes()), allow_pickle=False) as arrays:
        frames = np.split(arrays["frames"], np.cumsum(arrays["n_frames"]))[:-1]
        ends = np.cumsum(arrays["n_shown"])
        shown, vectors = np.split(arrays["shown"], ends), np.split(arrays["vectors"], ends)
        cuts = np.cumsum(arrays["lengths"])
        jpegs = [part.tobytes() for part in np.split(arrays["pictures"], cuts)[:-1]]
        begins = [0, *ends.tolist()]
        return [
            ClipTrack(frames[i], shown[i], vectors[i], tuple(jpegs[begins[i] : begins[i + 1]]))
            for i in range(len(frames))
        ]
