"""Pixels as vectors, and what other features need of them: size, grey, range."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.extras import require
from setwise._support.parameters import check_choice, check_shape, pair
from setwise._support.types import FloatArray
from setwise.errors import reject
from setwise.features.images import ImageFeature
from setwise.features.vectors import unit_rows

# How bright red, green and blue look (ITU-R BT.601); Pillow's "L" uses the same.
LUMA = np.array([0.299, 0.587, 0.114])


class Pixels(ImageFeature):
    """The pixels, row by row, at their own or another size.

    Values keep their range. At their own size they keep their dtype.

    Parameters
    ----------
    size : int or (height, width), optional
        Resize images first, by Pillow's bilinear filter in single precision. Each new pixel
        averages all old ones that it covers, so that nothing is aliased.
    grey : bool, default=False
        Turn colours into brightness, ``0.299 R + 0.587 G + 0.114 B``.
    unit_norm : bool, default=False
        Scale the vector of each image to unit norm, which removes overall brightness. A black
        image stays zero.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise import SetBatch
    >>> sets = SetBatch.from_images([np.ones((3, 8, 6)), np.ones((2, 8, 6))])
    >>> Pixels(size=2).transform(sets)
    SetBatch of 2 sets of 2 to 3 vectors, 4 features
    """

    libraries = ("pillow",)

    def __init__(
        self,
        size: int | tuple[int, int] | None = None,
        *,
        grey: bool = False,
        unit_norm: bool = False,
    ) -> None:
        self.size = size
        self.grey = grey
        self.unit_norm = unit_norm

    def check_parameters(self) -> None:
        """Refuse parameters that no images can be transformed with."""
        check_shape("Pixels", "size", self.size, optional=True)
        for name in ("grey", "unit_norm"):
            check_choice("Pixels", name, getattr(self, name), (True, False))

    def compute(self, images: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Pixels of each image as a row."""
        if self.grey:
            images = as_grey(images, "Pixels")
        if self.size is not None:
            images = resized(images, self.size)
        rows = images.reshape(len(images), -1)
        return unit_rows(rows.astype(np.float64)) if self.unit_norm else rows


def as_grey(images: npt.NDArray[Any], caller: str) -> npt.NDArray[Any]:
    """Brightness of colour images, as float64; grey images stay as they are."""
    if images.ndim == 3:
        return images
    n_channels = images.shape[3]
    if n_channels == 1:
        return images[..., 0]
    if n_channels != 3:
        reject(
            f"{caller}: the images have {n_channels} channels. Expected one (grey) or three "
            "(red, green, blue); leave the others out, such as an alpha channel."
        )
    return images.astype(np.float64) @ LUMA


def as_bytes(
    images: npt.NDArray[Any], caller: str, size: int | tuple[int, int] | None = None
) -> npt.NDArray[np.uint8]:
    """Brightness of images in whole steps of 0 to 255, resized if wanted.

    Floats of an image that do not exceed 1 are multiplied by 255; ranges are checked elsewhere.
    Rounding comes last: the same images as bytes and as floats give the same result.
    """
    levels = as_grey(images, caller)
    if levels.dtype == np.uint8 and size is None:
        return levels
    if images.dtype.kind in "bf":
        is_fraction = images.reshape(len(images), -1).max(axis=1) <= 1
        levels = levels * np.where(is_fraction, 255.0, 1.0)[:, None, None]
    if size is not None:
        levels = resized(levels, size)
    return np.rint(levels).astype(np.uint8)


def resized(images: npt.NDArray[Any], size: int | tuple[int, int]) -> FloatArray:
    """Images at another size, by Pillow's bilinear filter in single precision."""
    from PIL import Image

    height, width = pair(size)
    channels = images.reshape(*images.shape[:3], -1)
    made = np.empty((len(images), height, width, channels.shape[3]))
    with np.errstate(over="ignore"):  # what is too large becomes inf, and is refused as such
        channels = channels.astype(np.float32)
    for i, c in np.ndindex(len(images), channels.shape[3]):
        plane = Image.fromarray(np.ascontiguousarray(channels[i, :, :, c]))
        made[i, :, :, c] = np.asarray(plane.resize((width, height), Image.Resampling.BILINEAR))
    return made.reshape(len(images), height, width, *images.shape[3:])


def check_tiles(
    owner: str, name: str, tile: int | tuple[int, int], shape: tuple[int, ...]
) -> None:
    """Refuse images that do not consist of whole tiles."""
    height, width = pair(tile)
    if shape[0] % height == 0 and shape[1] % width == 0:
        return
    nearest = tuple(
        max(1, round(s / t)) * t for s, t in zip(shape, (height, width), strict=True)
    )
    reject(
        f"{owner}: images of {shape[0]} x {shape[1]} do not consist of whole tiles of "
        f"{height} x {width}, as {name}={tile} asks for. Expected multiples of it: bring "
        f"images to one by size={nearest}, or choose another {name}."
    )


class Equalised(ImageFeature):
    """Equalise the histogram of each image, against differences in lighting.

    A pixel's new value is the share of the image that is at most as bright, times 255. An
    image of one brightness becomes white. Grey images of dtype uint8 come out, for another
    feature. Needs scikit-image: ``pip install "setwise[image]"``.

    Colours become brightness, ``0.299 R + 0.587 G + 0.114 B``. An image of floats none of which
    exceeds 1 has the range 0 to 1; all other values must lie in 0 to 255.

    Examples
    --------
    >>> import numpy as np
    >>> Equalised().transform(np.array([[[10, 10, 20, 30]]], dtype=np.uint8))
    array([[[128, 128, 191, 255]]], dtype=uint8)
    """

    libraries = ("scikit-image",)
    sees_bytes = True

    def compute(self, images: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
        """Equalised images."""
        equalise = require("skimage.exposure", "image").equalize_hist
        shares = [equalise(image) for image in as_bytes(images, "Equalised")]
        return np.rint(255 * np.stack(shares)).astype(np.uint8)
