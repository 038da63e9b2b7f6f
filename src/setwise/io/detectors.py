"""Where the faces of a frame are, and how they are cut out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import get_ident
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from setwise._support.extras import require
from setwise._support.face_models import SMALLEST, find_faces, has_face_models, steady_box
from setwise._support.parameters import check_count, check_number
from setwise._support.types import FloatArray
from setwise.errors import DataError, SetwiseError, reject
from setwise.io.frames import Frame

__all__ = [
    "Detector", "DlibFaces", "HaarFaces", "cut_out", "detect_faces", "installed_detector",
]  # fmt: skip

# A grey frame in, boxes (left, top, width, height) out.
Detector: TypeAlias = Callable[[npt.NDArray[np.uint8]], npt.ArrayLike]


@dataclass(frozen=True)
class DlibFaces:
    """Find faces that look at the camera, by dlib's histograms of oriented gradients.

    Surer than :class:`HaarFaces`, which takes folds of clothes for faces, and several times as
    fast. As the boxes are placed by eyes and nose, they tremble less. dlib's network, which
    also knows faces seen from the side, is not used: without a graphics card it takes seconds
    for a frame.

    Parameters
    ----------
    min_size : int, default=40
        Smallest side of a face, in pixels. dlib knows none below 80: frames are resized, so
        that faces of this size have 80 pixels.
    max_width : int, default=1280
        Frames are resized to at most this width, as time grows with the area. Small faces of
        wide frames are missed by this: those below 120 pixels in frames of 1920.
    min_score : float, default=0.2
        How sure dlib must be. Most faces have more than 0.5, and most of what has less than
        0.2 is none.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.io import DlibFaces
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
        from PIL import Image

        grey = pixels if pixels.ndim == 2 else np.asarray(Image.fromarray(pixels).convert("L"))
        scale = min(SMALLEST / self.min_size, self.max_width / grey.shape[1])
        boxes = find_faces(grey, scale, self.min_score)
        return np.array([steady_box(grey, box) for box in boxes]).reshape(-1, 4)


@dataclass(frozen=True)
class HaarFaces:
    """Find faces that look at the camera, by the cascade of Haar features of OpenCV.

    Fast and old: it misses faces that are turned away or in shade, and takes some walls for
    faces. Short tracks, which :func:`face_tracks` leaves out, are mostly such mistakes.

    Parameters
    ----------
    scale_factor : float, default=1.1
        Faces are looked for at sizes that grow by this factor. Smaller finds more, slower.
    min_neighbours : int, default=8
        How many overlapping hits make a face. Larger makes fewer mistakes and finds fewer.
    min_size : int, default=30
        Smallest side of a face, in pixels; the cascade knows none below 24.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.io import HaarFaces
    >>> len(HaarFaces()(np.zeros((120, 160), dtype=np.uint8)))
    0
    """

    scale_factor: float = 1.1
    # Not 5, as usual: in a small trial on photos, 8 made fewer false tracks and found as many
    # faces. Nobody has tried it on many films yet.
    min_neighbours: int = 8
    min_size: int = 30

    def __post_init__(self) -> None:
        check_number("HaarFaces", "scale_factor", self.scale_factor, above=1.0)
        check_count("HaarFaces", "min_neighbours", self.min_neighbours, at_least=0)
        check_count("HaarFaces", "min_size", self.min_size)

    def __call__(self, grey: npt.NDArray[np.uint8]) -> npt.NDArray[Any]:
        """Boxes ``(left, top, width, height)`` of the faces in a grey frame."""
        boxes = _cascade(get_ident()).detectMultiScale(
            grey,
            scaleFactor=self.scale_factor,
            minNeighbors=self.min_neighbours,
            minSize=(self.min_size, self.min_size),
        )
        return np.asarray(boxes, dtype=np.int64).reshape(-1, 4)


def installed_detector(min_size: int | None = None) -> DlibFaces | HaarFaces:
    """The better of the detectors that are installed, for faces of ``min_size`` and more."""
    kind = DlibFaces if has_face_models() else HaarFaces
    return kind() if min_size is None else kind(min_size=min_size)


@cache
def _cascade(thread: int) -> Any:
    """The cascade, one for each thread, for it keeps notes while it looks."""
    cv2 = require("cv2", "faces")
    return cv2.CascadeClassifier(
        str(Path(cv2.data.haarcascades) / "haarcascade_frontalface_default.xml")
    )


def detect_faces(owner: str, detector: Detector, frame: Frame) -> FloatArray:
    """What a detector finds in a frame, checked: it may be anybody's.

    Returns
    -------
    array of shape (n_boxes, 4)
        Boxes ``(left, top, width, height)``, each with some of it inside of the frame.
    """
    try:
        boxes = np.asarray(detector(frame.pixels), dtype=np.float64)
    except SetwiseError:
        raise
    except Exception as error:
        msg = (
            f"{owner}: the detector {detector!r} failed on frame {frame.number}, of shape "
            f"{frame.pixels.shape}: {type(error).__name__}: {error}"
        )
        raise DataError(" ".join(msg.split())) from error
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
    """What a frame shows in a box, made larger by ``margin`` of its sides at each side.

    Examples
    --------
    >>> frame = np.arange(25, dtype=np.uint8).reshape(5, 5)
    >>> cut_out(frame, np.array([3, 0, 2, 2]), margin=0.5)
    array([[ 2,  3,  4],
           [ 7,  8,  9],
           [12, 13, 14]], dtype=uint8)
    """
    starts, ends = _edges(box[None, :], margin, pixels.shape)
    (left, top), (right, bottom) = starts[0], ends[0]
    return np.ascontiguousarray(pixels[top:bottom, left:right])


def _edges(
    boxes: FloatArray, margin: float, shape: tuple[int, ...]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """First pixel, and the one after the last, of each box, across and down, in the frame."""
    inside = np.array([shape[1], shape[0]])
    more = margin * boxes[:, 2:]
    starts = np.clip(np.floor(boxes[:, :2] - more + 0.5), 0, inside)
    ends = np.clip(np.floor(boxes[:, :2] + boxes[:, 2:] + more + 0.5), 0, inside)
    return starts.astype(np.int64), ends.astype(np.int64)
