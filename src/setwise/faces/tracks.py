"""Faces of a video: found, followed and cut out, one set per person."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setwise._support.extras import require
from setwise._support.parameters import (
    check_choice,
    check_count,
    check_number,
    check_progress,
    refuse,
)
from setwise._support.progress import Progress, reported
from setwise._support.types import FloatArray
from setwise.errors import DataError, SkippedFilesWarning
from setwise.faces.detectors import (
    Detector,
    DlibFaces,
    GivenFrames,
    HaarFaces,
    YuNetFaces,
    as_grey,
    cut_out,
    detect_faces,
    installed_detector,
    network_beside,
    open_frames,
)
from setwise.faces.people import (
    Person,
    Track,
    TrackFaces,
    as_jpeg,
    by_person,
    drop_nested,
    each_alone,
    person_names,
    track_boxes,
)
from setwise.features.face_networks import FaceNetwork
from setwise.io.decode import small_jpeg
from setwise.io.frames import Reading, VideoFrames
from setwise.io.loading_report import LoadedSets, LoadReport
from setwise.io.video import resize_image
from setwise.sets import SetBatch
from setwise.sets.origins import Origins


class NoTrackError(DataError):
    """A video in which no face is followed."""


@dataclass(frozen=True)
class FaceTrack:
    """When a followed face was seen, how often, and how large."""

    first_frame: int  # from 0, as in the file
    last_frame: int
    start_s: float  # NaN for given frames, which have no times
    seconds: float
    n_faces: int
    median_size: float  # shorter side of the box, in pixels
    n_tracks: int = 1  # more if tracks of one person were joined


class FaceTracks(LoadedSets):
    """One set per person or followed face; ``tracks`` describes each.

    ``boxes`` has left, top, width and height of each face, in pixels of its frame. Where tracks
    were joined, ``pictures`` has an upright JPEG of each, in colour.
    """

    def __init__(
        self, sets: SetBatch, report: LoadReport, tracks: tuple[FaceTrack, ...],
        boxes: FloatArray, pictures: tuple[bytes, ...] = (),
    ) -> None:  # fmt: skip
        super().__init__(sets, report)
        self.tracks = tracks
        self.boxes, self.pictures = boxes, pictures


def face_tracks(
    source: str | os.PathLike[str] | Iterable[npt.NDArray[np.uint8]],
    *,
    detector: Detector | None = None,
    every: int = 1,
    every_s: float | None = None,
    max_frames: int | None = None,
    start_s: float = 0.0,
    stop_s: float | None = None,
    size: int = 30,
    equalise: bool = False,
    margin: float = 0.0,
    min_overlap: float = 0.3,
    max_gap: int = 3,
    min_length: int = 5,
    min_size: int | None = None,
    join: bool | None = None,
    max_pixels: int = 25_000_000,
    on_error: str = "raise",
    max_bad: float = 0.05,
    name: str | None = None,
    progress: Progress | None = None,
) -> FaceTracks:
    """Read the faces of a video: one set per followed face.

    Faces are detected in each frame, followed by the overlap of their boxes, cut out, made grey
    and resized, as the paper did for YouTube Celebrities. Tracks of one person at different
    times are joined. Boxes followed inside of a face, such as a forehead, are left out.
    ``tracks`` says when each was seen, ``origins`` the frame of each image, from 0, and the
    notes of the ``report`` what was left out.

    Parameters
    ----------
    source : path or iterable of arrays
        A video file, or frames: uint8 arrays of shape (height, width) or (height, width, 3).
    detector : callable, optional
        Takes a grey frame, a uint8 array of shape (height, width), and returns boxes
        ``(left, top, width, height)``, of shape (n_faces, 4), in pixels. One with a true
        ``sees_colour`` gets (height, width, 3). By default :class:`YuNetFaces` of the extra
        ``faces``; without its networks :class:`DlibFaces` or :class:`HaarFaces`.
    every, every_s, max_frames, start_s, stop_s, max_pixels, on_error, max_bad
        As for :func:`load_video`. Times need a video file.
    size : int, default=30
        Height and width of the face images.
    equalise : bool, default=False
        Equalise the histogram of each face image.
    margin : float, default=0.0
        Enlargement of the box at each side, as a share of its width and height.
    min_overlap : float, default=0.3
        Least overlap of successive boxes of a track (intersection over union). At the default,
        a face may move by half of its width between two frames.
    max_gap : int, default=3
        Most frames read in a row in which a track may be missing.
    min_length : int, default=5
        Tracks of fewer faces are left out; most of them are no faces.
    min_size : int, optional
        Faces with a side of fewer pixels are left out; by default the detector's own.
    join : bool, optional
        Split tracks where the face becomes another, as at a cut, and join tracks at different
        times that a network takes for one person's. By default with :class:`YuNetFaces` and
        :class:`DlibFaces`.
    name : str, optional
        Name of the sets; by default that of the file.
    progress : callable, optional
        Called with ``"find faces"``, the frames done, and the number of frames (0: unknown).

    Examples
    --------
    >>> frames = np.zeros((6, 60, 80), dtype=np.uint8)
    >>> tracks = face_tracks(frames, detector=lambda frame: [(20, 10, 40, 40)], size=20)
    >>> tracks.sizes, tracks.image_shape
    (array([6]), (20, 20))
    """
    owner, started = "face_tracks", time.perf_counter()
    check_progress(owner, progress)
    check_choice(owner, "join", join, (None, False, True))
    smallest = 1 if min_size is None else min_size
    check_count(owner, "min_size", smallest)
    chosen = installed_detector(min_size) if detector is None else detector
    is_joined = isinstance(chosen, YuNetFaces | DlibFaces) if join is None else join
    is_coloured = is_joined or getattr(chosen, "sees_colour", False)
    selection = (every, max_frames, start_s, stop_s, is_coloured)
    reading = Reading(*selection, max_pixels, on_error, max_bad, every_s=every_s)
    reading.check(owner)
    following = (min_overlap, max_gap, min_length, smallest)
    network = network_beside(chosen) if is_joined else None
    options = _Options(chosen, size, equalise, margin, *following, network)
    options.check(owner)
    with open_frames(owner, source, reading) as video:
        seen = _find_faces(video, options, progress)
    if video.skipped:
        msg = f"{owner}: {len(video.skipped)} frames of {str(video.path)!r} were left out."
        warnings.warn(msg, SkippedFilesWarning, stacklevel=2)
    people, notes = _follow(owner, video.path, seen, options)
    if detector is None:
        notes.append(f"faces found by {type(chosen).__name__}")
        if isinstance(chosen, HaarFaces):
            notes[-1] += ", as YuNet, which makes fewer mistakes, is not installed: "
            notes[-1] += 'pip install "setwise[faces]"'
    report = LoadReport(
        source=video.path,
        layout="face tracks",
        files=(video.path,) * sum(len(person.track) for person in people),
        skipped=tuple(video.skipped),
        notes=(*notes, *video.notes()),
        seconds=time.perf_counter() - started,
    )
    called = video.path.stem if name is None else str(name)
    summaries = tuple(_summary(person, seen) for person in people)
    kept = [
        seen.faces[frame][pick].upright
        for person in people
        for frame, pick in zip(person.track.frames, person.track.picks, strict=True)
    ]
    pictures = tuple(kept) if is_joined else ()
    batch = _batch(called, video.path, people, seen)
    boxes = np.array([box for person in people for box in person.track.boxes])
    return FaceTracks(batch, report, summaries, boxes, pictures)


@dataclass(frozen=True)
class _Options:
    """How faces are found, cut out and followed; see `face_tracks`."""

    detector: Detector
    size: int
    equalise: bool
    margin: float
    min_overlap: float
    max_gap: int
    min_length: int
    min_size: int
    network: FaceNetwork | None  # tracks are joined by it

    def check(self, owner: str) -> None:
        check_number(owner, "min_overlap", self.min_overlap, at_most=1.0)
        check_count(owner, "max_gap", self.max_gap, at_least=0)
        check_count(owner, "min_length", self.min_length)
        if not callable(self.detector):
            refuse(owner, "detector", "a callable: grey frame in, boxes out", self.detector)
        check_count(owner, "size", self.size)
        check_choice(owner, "equalise", self.equalise, (False, True))
        if self.margin != 0:
            check_number(owner, "margin", self.margin)

    def cut(self, pixels: npt.NDArray[np.uint8], box: FloatArray) -> _Face:
        from PIL import Image

        crop = cut_out(pixels, box, self.margin)
        face = resize_image(as_grey(crop), (self.size, self.size))
        image = require("cv2", "faces").equalizeHist(face) if self.equalise else face
        upright = as_jpeg(self.network.upright(pixels, box)[0]) if self.network else b""
        return _Face(image, small_jpeg(Image.fromarray(crop)), upright)


class _Face(NamedTuple):
    """An image for the set, a small JPEG, and one to recognise the person by."""

    image: npt.NDArray[np.uint8]
    thumbnail: bytes
    upright: bytes


@dataclass
class _Seen:
    numbers: list[int] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    boxes: list[FloatArray] = field(default_factory=list)
    faces: list[list[_Face]] = field(default_factory=list)
    n_small: int = 0

    @property
    def n_faces(self) -> int:
        return sum(map(len, self.boxes))


def _find_faces(
    video: VideoFrames | GivenFrames, options: _Options, progress: Progress | None
) -> _Seen:
    """Find and cut out the faces of each frame; frames are not kept."""
    seen = _Seen()
    for frame in reported(video, video.expected, "find faces", progress):
        boxes = detect_faces(video.owner, options.detector, frame)
        is_large = boxes[:, 2:].min(axis=1) >= options.min_size
        seen.n_small += int(np.sum(~is_large))
        seen.numbers.append(frame.number)
        seen.times.append(video.end_s)
        seen.boxes.append(boxes[is_large])
        seen.faces.append([options.cut(frame.pixels, box) for box in boxes[is_large]])
    return seen


def _follow(
    owner: str, path: Path, seen: _Seen, options: _Options
) -> tuple[list[Person], list[str]]:
    overlap, gap = options.min_overlap, options.max_gap
    tracks = track_boxes(seen.boxes, min_overlap=overlap, max_gap=gap)
    long = [track for track in tracks if len(track) >= options.min_length]
    if not long:
        looked = f"{owner}: {len(seen.numbers)} frames of {str(path)!r} were looked at"
        msg = f"{looked}{_why_no_track(tracks, seen, options)}"
        raise NoTrackError(msg)
    kept = drop_nested(long)
    n_short = sum(map(len, tracks)) - sum(map(len, long))
    notes = [
        f"{len(seen.numbers)} frames looked at, {seen.n_faces} faces found, {n_short} of them "
        f"left out in {len(tracks) - len(long)} tracks of fewer than {options.min_length}"
    ]
    if seen.n_small:
        notes.append(f"left out: {seen.n_small} faces below {options.min_size} pixels")
    if len(kept) < len(long):
        n_nested = len(long) - len(kept)
        notes.append(f"left out: {n_nested} tracks inside others, as a forehead in a face")
    if options.network is None:
        return each_alone(kept), notes
    faces = TrackFaces(options.network, lambda frame, pick: seen.faces[frame][pick].upright)
    people, more_notes = by_person(kept, faces, options.min_length)
    return people, notes + more_notes


def _why_no_track(tracks: list[Track], seen: _Seen, options: _Options) -> str:
    if tracks:
        return (
            f" and {seen.n_faces} faces found, but no face in more than "
            f"{max(map(len, tracks))} frames. Expected min_length = {options.min_length}: "
            "lower it or min_overlap, raise max_gap, or look at more frames (every, every_s)."
        )
    if seen.n_small:
        return (
            f", and all {seen.n_small} faces in them are smaller than min_size = "
            f"{options.min_size} pixels. Lower it, or give a video of more pixels."
        )
    return (
        f", and {options.detector!r} found no face in them. Expected faces that it knows: turn "
        "the video upright, or give another detector."
    )


def _summary(person: Person, seen: _Seen) -> FaceTrack:
    track = person.track
    first, last = track.frames[0], track.frames[-1]
    return FaceTrack(
        first_frame=seen.numbers[first],
        last_frame=seen.numbers[last],
        start_s=seen.times[first],
        seconds=seen.times[last] - seen.times[first],
        n_faces=len(track),
        median_size=float(np.median(np.array(track.boxes)[:, 2:].min(axis=1))),
        n_tracks=len(person.numbers),
    )


def _batch(called: str, path: Path, people: list[Person], seen: _Seen) -> SetBatch:
    sets, frames = [], []
    files: list[str] = []
    thumbnails: list[bytes] = []
    for track in (person.track for person in people):
        places = list(zip(track.frames, track.picks, strict=True))
        faces = [seen.faces[frame][pick] for frame, pick in places]
        sets.append(np.stack([face.image for face in faces]))
        thumbnails += [face.thumbnail for face in faces]
        numbers = [seen.numbers[frame] for frame in track.frames]
        files += [f"{path}, frame {number}" for number in numbers]
        frames.append(f"frames {numbers[0]}-{numbers[-1]}")
    names = [f"{called}/{name}" for name in person_names(people, frames)]
    batch = SetBatch.from_images(sets, names)
    batch.origins = Origins.of_files(files, thumbnails=thumbnails)
    return batch
