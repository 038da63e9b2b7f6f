"""Faces of a video: found, followed and cut out, each track a set."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

from setwise._support.extras import require
from setwise._support.parameters import check_choice, check_count, check_number, refuse
from setwise._support.progress import Progress, reported
from setwise._support.types import FloatArray
from setwise.errors import DataError, SkippedFilesWarning, reject
from setwise.io.detectors import Detector, HaarFaces, cut_out, detect_faces
from setwise.io.frames import Frame, Reading, VideoFrames, open_video
from setwise.io.loading_report import LoadedSets, LoadReport, Skipped
from setwise.io.tracking import Track, track_boxes
from setwise.io.video import resize_image
from setwise.sets import SetBatch

__all__ = ["Detector", "HaarFaces", "face_tracks"]


def face_tracks(
    source: str | os.PathLike[str] | Iterable[npt.NDArray[np.uint8]],
    *,
    detector: Detector | None = None,
    every: int = 1,
    max_frames: int | None = None,
    start_s: float = 0.0,
    stop_s: float | None = None,
    size: int = 30,
    equalise: bool = False,
    margin: float = 0.0,
    min_overlap: float = 0.3,
    max_gap: int = 3,
    min_length: int = 5,
    max_pixels: int = 25_000_000,
    on_error: str = "raise",
    max_bad: float = 0.05,
    name: str | None = None,
    progress: Progress | None = None,
) -> LoadedSets:
    """Read the faces of a video: each one that is followed through it becomes a set.

    Faces are detected in each frame, joined by how much they overlap from frame to frame, cut
    out, made grey and resized. The paper made its sets of YouTube Celebrities in this way
    ("automatically detected, tracked and cropped to 30 x 30 gray-scale images"), without
    saying by which detector and tracker.

    Parameters
    ----------
    source : path or iterable of arrays
        A video file, or frames: uint8 arrays of shape (height, width) or (height, width, 3).
    detector : callable, optional
        Takes a grey frame, a uint8 array of shape (height, width), and returns boxes
        ``(left, top, width, height)``, array-like of shape (n_faces, 4), in pixels.
        :class:`HaarFaces` by default, which needs ``pip install "setwise[faces]"``.
    every, max_frames, start_s, stop_s, max_pixels, on_error, max_bad
        As for :func:`load_video`. Times need a video file.
    size : int, default=30
        Height and width of the face images.
    equalise : bool, default=False
        Spread the grey values of each face image evenly (histogram equalisation).
    margin : float, default=0.0
        How much more than the box is cut out at each side, as a part of its width and height.
        What lies outside of the frame is left out.
    min_overlap : float, default=0.3
        How much two successive boxes of a track must overlap: shared area over the area of
        both together.
    max_gap : int, default=3
        In how many of the frames looked at a track may go unseen and still go on.
    min_length : int, default=5
        Tracks of fewer faces are left out; most of them are no faces.
    name : str, optional
        What the sets are called; the name of the file by default.
    progress : callable, optional
        Called with what is done, how many frames are over, and of how many (0: nobody knows).

    Returns
    -------
    LoadedSets
        One set per track, such as ``"clip/track 1 (frames 3-40)"``, without labels. Frames are
        numbered from 0, as in the file.

    Raises
    ------
    DataError
        When there is no face, or no track of ``min_length``; or the file cannot be read.
    """
    owner, started = "face_tracks", time.perf_counter()
    reading = Reading(every, max_frames, start_s, stop_s, False, max_pixels, on_error, max_bad)
    reading.check(owner)
    cutting = _Cutting(HaarFaces() if detector is None else detector, size, equalise, margin)
    cutting.check(owner)
    check_number(owner, "min_overlap", min_overlap, at_most=1.0)
    check_count(owner, "max_gap", max_gap, at_least=0)
    check_count(owner, "min_length", min_length)
    with _open_frames(owner, source, reading) as video:
        frames = reported(video, video.expected, "find faces", progress)
        seen = _find_faces(frames, owner, cutting)
    if video.skipped:
        msg = f"{owner}: {len(video.skipped)} frames of {str(video.path)!r} were left out."
        warnings.warn(msg, SkippedFilesWarning, stacklevel=2)
    tracks = track_boxes(seen.boxes, min_overlap=min_overlap, max_gap=max_gap)
    kept = _keep_long_tracks(owner, video.path, tracks, seen, cutting, min_length)
    report = LoadReport(
        source=video.path,
        layout="face tracks",
        files=(video.path,) * sum(map(len, kept)),
        skipped=tuple(video.skipped),
        notes=(_account(tracks, kept, seen, min_length), *video.notes()),
        seconds=time.perf_counter() - started,
    )
    called = video.path.stem if name is None else str(name)
    return LoadedSets(_batch(called, kept, seen), report)


@dataclass(frozen=True)
class _Cutting:
    """How faces are found and cut out."""

    detector: Detector
    size: int
    equalise: bool
    margin: float

    def check(self, owner: str) -> None:
        if not callable(self.detector):
            refuse(owner, "detector", "a callable: grey frame in, boxes out", self.detector)
        check_count(owner, "size", self.size)
        check_choice(owner, "equalise", self.equalise, (False, True))
        if self.margin != 0:
            check_number(owner, "margin", self.margin)

    def image(self, pixels: npt.NDArray[np.uint8], box: FloatArray) -> npt.NDArray[np.uint8]:
        """The face in a box, as an image of the set."""
        face = resize_image(cut_out(pixels, box, self.margin), (self.size, self.size))
        return require("cv2", "faces").equalizeHist(face) if self.equalise else face


@dataclass
class _Seen:
    """What was found in each frame: its number, the boxes, and the face in each box."""

    numbers: list[int] = field(default_factory=list)
    boxes: list[FloatArray] = field(default_factory=list)
    faces: list[list[npt.NDArray[np.uint8]]] = field(default_factory=list)

    @property
    def n_faces(self) -> int:
        return sum(map(len, self.boxes))


def _find_faces(frames: Iterable[Frame], owner: str, cutting: _Cutting) -> _Seen:
    """Find and cut out the faces of each frame; the frames themselves are not kept."""
    seen = _Seen()
    for frame in frames:
        boxes = detect_faces(owner, cutting.detector, frame)
        seen.numbers.append(frame.number)
        seen.boxes.append(boxes)
        seen.faces.append([cutting.image(frame.pixels, box) for box in boxes])
    return seen


def _keep_long_tracks(
    owner: str, path: Path, tracks: list[Track], seen: _Seen, cutting: _Cutting, min_length: int
) -> list[Track]:
    kept = [track for track in tracks if len(track) >= min_length]
    if kept:
        return kept
    looked = f"{owner}: {len(seen.numbers)} frames of {str(path)!r} were looked at"
    if not tracks:
        msg = (
            f"{looked}, and {cutting.detector!r} found no face in them. Expected faces that it "
            "knows: turn the video upright, or give another detector."
        )
    else:
        msg = (
            f"{looked} and {seen.n_faces} faces found, but no face in more than "
            f"{max(map(len, tracks))} frames. Expected min_length = {min_length}: lower it or "
            "min_overlap, or raise max_gap."
        )
    raise DataError(msg)


def _account(tracks: list[Track], kept: list[Track], seen: _Seen, min_length: int) -> str:
    n_left_out = sum(map(len, tracks)) - sum(map(len, kept))
    return (
        f"{len(seen.numbers)} frames looked at, {seen.n_faces} faces found, {n_left_out} of "
        f"them left out in {len(tracks) - len(kept)} tracks of fewer than {min_length}"
    )


def _batch(called: str, tracks: list[Track], seen: _Seen) -> SetBatch:
    """A set for each track."""
    sets, names = [], []
    for i, track in enumerate(tracks, start=1):
        places = zip(track.frames, track.picks, strict=True)
        sets.append(np.stack([seen.faces[frame][pick] for frame, pick in places]))
        first, last = seen.numbers[track.frames[0]], seen.numbers[track.frames[-1]]
        names.append(f"{called}/track {i} (frames {first}-{last})")
    return SetBatch.from_images(sets, names)


@dataclass
class _GivenFrames:
    """Frames that are there already, read as those of a file are."""

    owner: str
    source: Iterable[npt.NDArray[np.uint8]]
    reading: Reading
    path: Path = Path("frames")
    skipped: tuple[Skipped, ...] = ()

    def __iter__(self) -> Iterator[Frame]:
        taken = islice(enumerate(self.source), 0, None, self.reading.every)
        n_taken = 0
        for number, pixels in islice(taken, self.reading.max_frames):
            n_taken += 1
            yield Frame(number, self._grey(number, pixels))
        if n_taken == 0:
            reject(
                f"{self.owner}: there are no frames. Expected a path, or at least one frame."
            )

    @property
    def expected(self) -> int:
        n_frames = len(self.source) if isinstance(self.source, Sized) else 0
        return self.reading.expected(n_frames)

    def notes(self) -> tuple[str, ...]:
        return ()

    def _grey(self, number: int, pixels: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        from PIL import Image

        shape = np.shape(pixels)
        is_image = len(shape) == 2 or (len(shape) == 3 and shape[2] == 3)
        if not is_image or getattr(pixels, "dtype", None) != np.uint8 or 0 in shape:
            reject(
                f"{self.owner}: frame {number} has shape {shape} and dtype "
                f"{getattr(pixels, 'dtype', type(pixels).__name__)}. Expected a uint8 array of "
                "shape (height, width) or (height, width, 3)."
            )
        grey = pixels if len(shape) == 2 else np.asarray(Image.fromarray(pixels).convert("L"))
        return np.ascontiguousarray(grey)


@contextmanager
def _open_frames(
    owner: str,
    source: str | os.PathLike[str] | Iterable[npt.NDArray[np.uint8]],
    reading: Reading,
) -> Iterator[VideoFrames | _GivenFrames]:
    """The frames of a file, or those given."""
    if isinstance(source, str | os.PathLike):
        with open_video(owner, source, reading) as video:
            yield video
        return
    if not isinstance(source, Iterable):
        refuse(owner, "source", "a path or an iterable of frames", source)
    if (reading.start_s, reading.stop_s) != (0.0, None):
        refuse(
            owner,
            "start_s and stop_s",
            "left out where frames are given, which have no times",
            (reading.start_s, reading.stop_s),
        )
    yield _GivenFrames(owner, source, reading)
