"""Faces by dlib: where they are, turned upright, and 128 numbers that say whose they are.

The models are files of the package ``face_recognition_models``, whose code is not imported.
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
from setwise._support.types import FloatArray
from setwise._support.weights_file import WeightsFile

__all__ = [
    "FACES_EXTRA", "LANDMARKS", "NETWORK", "SHA256", "SMALLEST", "aligned_face",
    "describe_faces", "dlib_version", "find_faces", "has_face_models", "model_path",
    "steady_box",
]  # fmt: skip

FACES_EXTRA = "faces"
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


def has_face_models() -> bool:
    """Whether dlib and the package of its models are installed."""
    return find_spec("dlib") is not None and find_spec(PACKAGE) is not None


def dlib_version() -> str:
    """Of the library that is installed, under whichever name it was."""
    return str(require("dlib", FACES_EXTRA).__version__)


def model_path(name: str) -> Path:
    """Where a file of the models is, which is there and undamaged."""
    weights = WeightsFile(PACKAGE, f"models/{name}", SHA256[name], FACES_EXTRA)
    weights.read()  # dlib reads it itself, and does not say what is wrong
    return weights.locate()


def find_faces(
    grey: npt.NDArray[np.uint8], scale: float = 1.0, min_score: float = 0.0
) -> FloatArray:
    """Boxes of the faces in a grey image that look at the camera, the surest first.

    Parameters
    ----------
    grey : uint8 array of shape (height, width)
        The image.
    scale : float, default=1.0
        Look at the image so much larger, or smaller. Faces of about ``80 / scale`` pixels and
        more are found.
    min_score : float, default=0.0
        How sure dlib must be: 0 is its own limit, most faces have more than 0.5.

    Returns
    -------
    array of shape (n_faces, 4)
        ``(left, top, width, height)`` in pixels of the image as given.
    """
    from PIL import Image

    height, width = (max(round(side * scale), 1) for side in grey.shape)
    seen = np.ascontiguousarray(grey)
    if (height, width) != grey.shape:
        seen = np.asarray(
            Image.fromarray(grey).resize((width, height), Image.Resampling.BILINEAR)
        )
    boxes, _, _ = _detector().run(seen, 0, min_score)
    found = [(box.left(), box.top(), box.width(), box.height()) for box in boxes]
    stretch = np.array([grey.shape[1] / width, grey.shape[0] / height] * 2)
    return np.array(found, dtype=np.float64).reshape(-1, 4) * stretch


def aligned_face(
    pixels: npt.NDArray[np.uint8], box: FloatArray | None = None
) -> npt.NDArray[np.uint8]:
    """The face in a box, turned upright by its eyes and nose, as the network wants it.

    Parameters
    ----------
    pixels : uint8 array of shape (height, width[, 3])
        The image.
    box : array of shape (4,), optional
        ``(left, top, width, height)`` of the face; without it, the face fills the image.

    Returns
    -------
    array of shape (150, 150[, 3])
        What lies outside of the image is black.
    """
    dlib = require("dlib", FACES_EXTRA)
    if box is None:
        box = np.array([0, 0, pixels.shape[1], pixels.shape[0]], dtype=np.float64)
    whole = np.ascontiguousarray(pixels)  # dlib takes no views
    return dlib.get_face_chip(whole, _eyes_and_nose(whole, box), CHIP, PADDING)


def steady_box(pixels: npt.NDArray[np.uint8], box: FloatArray) -> FloatArray:
    """The box of a face by its eyes and nose, which trembles less than that of the detector.

    The detector moves in steps of a tenth of a face, and its sizes in steps of a fifth; a face
    that moves evenly is cut out unevenly.

    Parameters
    ----------
    pixels : uint8 array of shape (height, width[, 3])
        The image.
    box : array of shape (4,)
        ``(left, top, width, height)`` of :func:`find_faces`.

    Returns
    -------
    array of shape (4,)
        Square, of about the same size; the box itself where eyes and nose are not inside.
    """
    dlib = require("dlib", FACES_EXTRA)
    place = _eyes_and_nose(np.ascontiguousarray(pixels), box)
    found = dlib.get_face_chip_details(place, CHIP, BOX_PADDING).rect
    centre = np.array([found.left() + found.right(), found.top() + found.bottom()]) / 2
    is_inside = (np.abs(centre - box[:2] - box[2:] / 2) < box[2:] / 2).all()
    is_alike = 0.5 < found.width() / box[2] < 2
    if not (is_inside and is_alike):
        return box
    return np.array([found.left(), found.top(), found.width(), found.height()])


def _eyes_and_nose(pixels: npt.NDArray[np.uint8], box: FloatArray) -> Any:
    left, top, width, height = (round(float(value)) for value in box)
    place = require("dlib", FACES_EXTRA).rectangle(
        left, top, left + width - 1, top + height - 1
    )
    return _loaded("shape_predictor", LANDMARKS)(pixels, place)


def describe_faces(chips: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
    """128 numbers for each aligned face; those of one person are less than 0.6 apart.

    Parameters
    ----------
    chips : uint8 array of shape (n_faces, 150, 150[, 3])
        Of :func:`aligned_face`, grey or coloured.
    """
    colour = np.repeat(chips[..., None], 3, axis=-1) if chips.ndim == 3 else chips
    network = _loaded("face_recognition_model_v1", NETWORK)
    made = np.empty((len(colour), 128), dtype=np.float32)
    for i, chip in enumerate(colour):
        with _NETWORK_LOCK:
            made[i] = network.compute_face_descriptor(np.ascontiguousarray(chip))
    return made


def _detector() -> Any:
    if not hasattr(_OF_THREAD, "detector"):
        _OF_THREAD.detector = require("dlib", FACES_EXTRA).get_frontal_face_detector()
    return _OF_THREAD.detector


_LOADING = Lock()


def _loaded(kind: str, name: str) -> Any:
    """A model, read once per process, by whichever thread comes first."""
    with _LOADING:
        return _read(kind, name)


@cache
def _read(kind: str, name: str) -> Any:
    dlib = require("dlib", FACES_EXTRA)
    return getattr(dlib, kind)(str(model_path(name)))
