"""Frames of a video and the faces in them."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from threading import get_ident
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from setwise._support.extras import require
from setwise._support.parameters import check_count, check_number, refuse
from setwise._support.types import FloatArray
from setwise.errors import SetwiseError, reject
from setwise.features.dlib_faces import SMALLEST, find_faces, steady_box
from setwise.features.face_networks import DLIB, SFACE, FaceNetwork, face_network
from setwise.features.sface import find_faces as find_by_yunet
from setwise.io.frames import Frame, Reading, VideoFrames, open_video
from setwise.io.loading_report import Skipped

# A grey frame in, boxes (left, top, width, height) out.
Detector: TypeAlias = Callable[[npt.NDArray[np.uint8]], npt.ArrayLike]


@dataclass(frozen=True)
class YuNetFaces:
    """Find faces by the network YuNet, run by OpenCV; also small, turned and covered ones.

    Parameters
    ----------
    min_size : int, default=30
        Smallest side of a face, in pixels; time grows with the square of what is smaller.
    min_score : float, default=0.6
        Lowest score, from 0 to 1. Most faces have more than 0.8; little that is none has 0.7.

    Examples
    --------
    >>> len(YuNetFaces()(np.zeros((120, 160, 3), dtype=np.uint8)))
    0
    """

    min_size: int = 30
    min_score: float = 0.6
    #: Frames are given in red, green and blue; other detectors get grey ones.
    sees_colour: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_count("YuNetFaces", "min_size", self.min_size)
        check_number("YuNetFaces", "min_score", self.min_score, at_most=1.0)

    def __call__(self, pixels: npt.NDArray[np.uint8]) -> FloatArray:
        """Square boxes ``(left, top, width, height)`` of the faces in a frame."""
        rgb = np.repeat(pixels[..., None], 3, axis=2) if pixels.ndim == 2 else pixels
        boxes = find_by_yunet(rgb, self.min_size, self.min_score)[:, :4]
        sides = boxes[:, 2:].mean(axis=1, keepdims=True)
        return np.hstack([boxes[:, :2] + (boxes[:, 2:] - sides) / 2, sides, sides])


@dataclass(frozen=True)
class DlibFaces:
    """Find faces that look at the camera, by dlib's histograms of oriented gradients.

    Needs ``pip install "setwise[dlib]"``. Makes fewer mistakes than :class:`HaarFaces`, and is
    several times as fast. Boxes are placed by eyes and nose, which makes them steadier.

    Parameters
    ----------
    min_size : int, default=40
        Smallest side of a face, in pixels. dlib finds none below 80, so frames are enlarged.
    max_width : int, default=1280
        Frames are resized to at most this width, as time grows with the area.
    min_score : float, default=0.2
        Lowest score of dlib. Most faces have more than 0.5; most below 0.2 are no faces.

    Examples
    --------
    >>> len(DlibFaces()(np.zeros((120, 160), dtype=np.uint8)))
    0
    """

    min_size: int = 40
    max_width: int = 1280
    min_score: float = 0.2

    def __post_init__(self) -> None:
        check_count("DlibFaces", "min_size", self.min_size)
        check_count("DlibFaces", "max_width", self.max_width)
        check_number("DlibFaces", "min_score", self.min_score, above=-np.inf)

    def __call__(self, pixels: npt.NDArray[np.uint8]) -> FloatArray:
        """Boxes ``(left, top, width, height)`` of the faces in a grey or RGB frame."""
        grey = as_grey(pixels)
        scale = min(SMALLEST / self.min_size, self.max_width / grey.shape[1])
        boxes = find_faces(grey, scale, self.min_score)
        return np.array([steady_box(grey, box) for box in boxes]).reshape(-1, 4)


@dataclass(frozen=True)
class HaarFaces:
    """Find faces that look at the camera, by OpenCV's cascade of Haar features.

    Fast and old: it misses faces that are turned away or in shade, and takes some walls for
    faces.

    Parameters
    ----------
    scale_factor : float, default=1.1
        Factor between the sizes that are searched. Smaller finds more, slower.
    min_neighbours : int, default=8
        Overlapping hits that make a face. Larger makes fewer mistakes and finds fewer.
    min_size : int, default=30
        Smallest side of a face, in pixels; the cascade finds none below 24.

    Examples
    --------
    >>> len(HaarFaces()(np.zeros((120, 160), dtype=np.uint8)))
    0
    """

    scale_factor: float = 1.1
    # More than the usual 5: on a few photos, 8 found as many faces with fewer mistakes.
    min_neighbours: int = 8
    min_size: int = 30

    def __post_init__(self) -> None:
        check_number("HaarFaces", "scale_factor", self.scale_factor, above=1.0)
        check_count("HaarFaces", "min_neighbours", self.min_neighbours, at_least=0)
        check_count("HaarFaces", "min_size", self.min_size)

    def __call__(self, grey: npt.NDArray[np.uint8]) -> npt.NDArray[Any]:
        """Boxes ``(left, top, width, height)`` of the faces in a grey frame."""
        sizes = {"scaleFactor": self.scale_factor, "minSize": (self.min_size,) * 2}
        cascade = _cascade(get_ident())
        boxes = cascade.detectMultiScale(grey, minNeighbors=self.min_neighbours, **sizes)
        return np.asarray(boxes, dtype=np.int64).reshape(-1, 4)


def installed_detector(min_size: int | None = None) -> YuNetFaces | DlibFaces | HaarFaces:
    """The best of the installed detectors, for faces of ``min_size`` and more."""
    kind: type[YuNetFaces | DlibFaces | HaarFaces] = HaarFaces
    if SFACE.is_installed():
        kind = YuNetFaces
    elif DLIB.is_installed():
        kind = DlibFaces
    return kind() if min_size is None else kind(min_size=min_size)


def network_beside(detector: Detector) -> FaceNetwork:
    """The network that describes what a detector finds."""
    own = {YuNetFaces: "sface", DlibFaces: "dlib"}
    return face_network(own.get(type(detector)))


@cache
def _cascade(thread: int) -> Any:
    """The cascade, one per thread, as it has a state while it searches."""
    cv2 = require("cv2", "faces")
    folder = Path(cv2.data.haarcascades)
    return cv2.CascadeClassifier(str(folder / "haarcascade_frontalface_default.xml"))


def detect_faces(owner: str, detector: Detector, frame: Frame) -> FloatArray:
    """Boxes ``(left, top, width, height)`` of a detector, checked."""
    if not getattr(detector, "sees_colour", False):
        frame = frame._replace(pixels=as_grey(frame.pixels))
    try:
        boxes = np.asarray(detector(frame.pixels), dtype=np.float64)
    except SetwiseError:
        raise
    except Exception as error:
        where = f"frame {frame.number}, of shape {frame.pixels.shape}"
        why = f"{type(error).__name__}: {error}"
        msg = f"{owner}: the detector {detector!r} failed on {where}: {why}"
        reject(" ".join(msg.split()), error)
    if boxes.size == 0:
        boxes = boxes.reshape(-1, 4)
    problem = _problem(boxes, frame.pixels.shape)
    if problem:
        reject(
            f"{owner}: the detector {detector!r} returned {problem} for frame {frame.number}, "
            f"of shape {frame.pixels.shape}. Expected boxes (left, top, width, height) in "
            "pixels, an array of shape (n_faces, 4)."
        )
    return boxes


def _problem(boxes: FloatArray, shape: tuple[int, ...]) -> str | None:
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        return f"an array of shape {boxes.shape}"
    # The bound leaves no room for areas that overflow.
    is_good = (np.abs(boxes) < 1e9).all(axis=1) & (boxes[:, 2:] > 0).all(axis=1)
    if not is_good.all():
        return f"the box {boxes[~is_good][0].tolist()}"
    starts, ends = _edges(boxes, 0.0, shape)
    is_outside = (ends <= starts).any(axis=1)
    if is_outside.any():
        return f"the box {boxes[is_outside][0].tolist()}, which holds no pixel of it,"
    return None


def cut_out(
    pixels: npt.NDArray[np.uint8], box: FloatArray, margin: float = 0.0
) -> npt.NDArray[np.uint8]:
    """The part of a frame in a box, enlarged by ``margin`` of its sides at each side."""
    starts, ends = _edges(box[None, :], margin, pixels.shape)
    (left, top), (right, bottom) = starts[0], ends[0]
    return np.ascontiguousarray(pixels[top:bottom, left:right])


def _edges(
    boxes: FloatArray, margin: float, shape: tuple[int, ...]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """First pixel, and the one after the last, of each box, clipped to the frame."""
    inside = np.array([shape[1], shape[0]])
    more = margin * boxes[:, 2:]
    starts = np.clip(np.floor(boxes[:, :2] - more + 0.5), 0, inside)
    ends = np.clip(np.floor(boxes[:, :2] + boxes[:, 2:] + more + 0.5), 0, inside)
    return starts.astype(np.int64), ends.astype(np.int64)


@dataclass
class GivenFrames:
    """Frames given as arrays, read like those of a file."""

    owner: str
    source: Iterable[npt.NDArray[np.uint8]]
    reading: Reading
    path: Path = Path("frames")
    skipped: tuple[Skipped, ...] = ()
    # When the last frame is shown: given frames have no times.
    end_s: float = math.nan

    def __iter__(self) -> Iterator[Frame]:
        taken = islice(enumerate(self.source), 0, None, self.reading.every)
        n_taken = 0
        for number, pixels in islice(taken, self.reading.max_frames):
            n_taken += 1
            yield Frame(number, self._checked(number, pixels))
        if n_taken == 0:
            reject(f"{self.owner}: there are no frames. Expected a path or at least one frame.")

    @property
    def expected(self) -> int:
        """How many frames are taken, 0 if unknown."""
        n_frames = len(self.source) if isinstance(self.source, Sized) else 0
        return self.reading.expected(n_frames)

    def notes(self) -> tuple[str, ...]:
        """No notes."""
        return ()

    def _checked(self, number: int, pixels: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        shape = np.shape(pixels)
        is_image = len(shape) == 2 or (len(shape) == 3 and shape[2] == 3)
        if not is_image or getattr(pixels, "dtype", None) != np.uint8 or 0 in shape:
            reject(
                f"{self.owner}: frame {number} has shape {shape} and dtype "
                f"{getattr(pixels, 'dtype', type(pixels).__name__)}. Expected a uint8 array of "
                "shape (height, width) or (height, width, 3)."
            )
        if not self.reading.colour:
            return np.ascontiguousarray(as_grey(pixels))
        whole = pixels if len(shape) == 3 else np.repeat(pixels[..., None], 3, axis=2)
        return np.ascontiguousarray(whole)


def as_grey(pixels: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Brightness of an image in colours."""
    from PIL import Image

    return pixels if pixels.ndim == 2 else np.asarray(Image.fromarray(pixels).convert("L"))


@contextmanager
def open_frames(
    owner: str,
    source: str | os.PathLike[str] | Iterable[npt.NDArray[np.uint8]],
    reading: Reading,
) -> Iterator[VideoFrames | GivenFrames]:
    """The frames of a file, or the given frames."""
    if isinstance(source, str | os.PathLike):
        with open_video(owner, source, reading) as video:
            yield video
        return
    if not isinstance(source, Iterable):
        refuse(owner, "source", "a path or an iterable of frames", source)
    times = (reading.start_s, reading.stop_s, reading.every_s)
    if times != (0.0, None, None):
        names = "start_s and stop_s" if reading.every_s is None else "every_s"
        refuse(owner, names, "left out where frames are given, which have no times", times)
    yield GivenFrames(owner, source, reading)
