"""Faces by dlib, with the model files of ``face_recognition_models``, whose code is not run."""

from __future__ import annotations

import logging
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock, local
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.extras import require
from setwise._support.parameters import check_choice, check_shape
from setwise._support.progress import reported
from setwise._support.types import Array, Bytes, FloatArray, Size
from setwise.features.cache import through_cache
from setwise.features.images import ImageFeature, as_bytes, as_grey, as_steps
from setwise.features.weights import WeightsFile

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
logger = logging.getLogger("setwise")

# A network pass takes a tenth of a second: progress is told often.
AT_ONCE = 16
# Larger images are looked at smaller, so that a photo of a phone takes no longer than a frame.
LARGEST = 1280


def has_face_models() -> bool:
    """Whether dlib and the package of its models are installed."""
    return find_spec("dlib") is not None and find_spec(PACKAGE) is not None


def dlib_version() -> str:
    """Version of the installed library, under any of its package names."""
    return str(require("dlib", FACES_EXTRA).__version__)


def model_path(name: str) -> Path:
    """Path of a model file, once its sha256 is right."""
    weights = WeightsFile(PACKAGE, f"models/{name}", SHA256[name], FACES_EXTRA)
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
        _OF_THREAD.detector = require("dlib", FACES_EXTRA).get_frontal_face_detector()
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
    chip = require("dlib", FACES_EXTRA).get_face_chip
    return chip(whole, _eyes_and_nose(whole, box), CHIP, PADDING)


def steady_box(pixels: Bytes, box: FloatArray) -> FloatArray:
    """A square box placed by eyes and nose, steadier than the detector's; else that one."""
    dlib = require("dlib", FACES_EXTRA)
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
    rectangle = require("dlib", FACES_EXTRA).rectangle
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
    dlib = require("dlib", FACES_EXTRA)
    return getattr(dlib, kind)(str(model_path(name)))


class Faces(ImageFeature):
    """128 numbers per image by dlib's network, similar for faces of one person.

    In each image the largest face is found, turned upright by its eyes and nose, and given to
    the network. Without a face, the whole image is taken for one: right for crops such as
    those of :func:`setwise.face_tracks`, and of little worth elsewhere; their number is logged.

    Needs ``pip install "setwise[faces]"``, which brings the models. An image takes about a
    tenth of a second on one core: see :class:`Cached`. Images are grey or red, green, blue, of
    values from 0 to 255, or floats from 0 to 1. Faces have at least 80 pixels; images with a
    side below 160 are enlarged twice.

    Parameters
    ----------
    model : {"dlib"}, default="dlib"
        dlib's network, for which faces of one person are less than 0.6 apart.
    size : int or (height, width), optional
        Resize images first, as :class:`Pixels` does.

    Examples
    --------
    >>> Faces("dlib").get_params()
    {'model': 'dlib', 'size': None}
    """

    libraries = ("pillow",)
    sees_bytes = True

    def __init__(self, model: str = "dlib", *, size: Size | None = None) -> None:
        self.model = model
        self.size = size

    def check_parameters(self) -> None:
        """Refuse parameters that no images can be transformed with."""
        check_choice("Faces", "model", self.model, ("dlib",))
        check_shape("Faces", "size", self.size, optional=True)

    def fingerprint(self) -> dict[str, Any]:
        """Everything that values depend on besides the images, in JSON types."""
        content = super().fingerprint()
        content["versions"]["dlib"] = dlib_version()
        content["weights"] = dict(SHA256)  # what is on disk is compared with these when read
        return content

    def compute(self, images: Array) -> npt.NDArray[np.float32]:
        """Identity vectors of the largest face of each image."""
        return self._described(images)[0]

    def _values(self, images: Array, X: Any) -> Array:
        starts = range(0, len(images), AT_ONCE)
        chunks = (images[start : start + AT_ONCE] for start in starts)
        described = list(reported(map(self._described, chunks), len(starts), "Faces"))
        n_faceless = sum(n_without for _, n_without in described)
        if n_faceless:
            what = "Faces: no face was found in %d of %d images; each was taken for a face"
            logger.info(what + " as a whole", n_faceless, len(images))
        return np.concatenate([vectors for vectors, _ in described])

    def _described(self, images: Array) -> tuple[npt.NDArray[np.float32], int]:
        """Vectors of images, and the number of new images without a face."""
        n_faceless = 0

        def describe(places: list[int]) -> npt.NDArray[np.float32]:
            nonlocal n_faceless
            greys = as_bytes(images[places], "Faces", self.size)
            boxes = [_largest_face(grey) for grey in greys]
            n_faceless = sum(box is None for box in boxes)
            colours = _as_colour_bytes(images[places], self.size)
            chips = [aligned_face(*pair) for pair in zip(colours, boxes, strict=True)]
            return describe_faces(np.stack(chips))

        about = f"{sorted(SHA256.items())} {dlib_version()} {self.size}"
        return through_cache(images, about, describe), n_faceless


def _largest_face(grey: Bytes) -> Any:
    """The box of the face with the largest area, None without a face."""
    is_small = min(grey.shape) < 2 * SMALLEST
    boxes = find_faces(grey, 2.0 if is_small else min(1.0, LARGEST / max(grey.shape)))
    return boxes[np.argmax(boxes[:, 2] * boxes[:, 3])] if len(boxes) else None


def _as_colour_bytes(images: Array, size: Size | None) -> Bytes:
    """Red, green and blue in 0 to 255; grey ones have three equal channels."""
    if images.ndim == 4 and images.shape[3] == 3:
        return np.ascontiguousarray(as_steps(images, images, size))
    grey = as_bytes(as_grey(images, "Faces"), "Faces", size)
    return np.repeat(grey[..., None], 3, axis=3)
