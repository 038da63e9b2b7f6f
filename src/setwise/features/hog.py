"""Histograms of oriented gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.extras import require
from setwise._support.parameters import check_choice, check_count, check_shape, pair
from setwise._support.types import FloatArray
from setwise.errors import reject
from setwise.features.images import ImageFeature
from setwise.features.pixels import as_grey, check_tiles, resized

__all__ = ["HOG"]

NORMS = ("L2-Hys", "L2", "L1", "L1-sqrt")


class HOG(ImageFeature):
    """Histograms of oriented gradients: which way the edges run in each cell of an image.

    scikit-image computes them: ``pip install "setwise[image]"``. Colour becomes brightness,
    ``0.299 R + 0.587 G + 0.114 B``; values are taken as they are, and as each block is
    normalised their range hardly matters. An image without edges gives zeros, a vector of
    no direction; a set of nothing but such is refused by the classifiers.

    Parameters
    ----------
    size : int or (height, width), optional
        Bring images to this size first, as :class:`Pixels` does.
    cell : int or (height, width), default=8
        Pixels of a cell. Images must consist of whole cells.
    block : int or (height, width), default=2
        Cells of a block, within which histograms are normalised; blocks overlap. At most as
        many as the image has.
    orientations : int, default=9
        Number of directions told apart.
    norm : {"L2-Hys", "L2", "L1", "L1-sqrt"}, default="L2-Hys"
        How a block is normalised.

    Examples
    --------
    >>> import numpy as np
    >>> HOG(cell=8, block=2).transform(np.zeros((3, 64, 64))).shape
    (3, 1764)
    """

    libraries = ("scikit-image", "pillow")

    def __init__(
        self,
        size: int | tuple[int, int] | None = None,
        *,
        cell: int | tuple[int, int] = 8,
        block: int | tuple[int, int] = 2,
        orientations: int = 9,
        norm: str = "L2-Hys",
    ) -> None:
        self.size = size
        self.cell = cell
        self.block = block
        self.orientations = orientations
        self.norm = norm

    def check_parameters(self) -> None:
        """Refuse parameters that no images could be transformed with."""
        check_shape("HOG", "size", self.size, optional=True)
        check_shape("HOG", "cell", self.cell)
        check_shape("HOG", "block", self.block)
        check_count("HOG", "orientations", self.orientations)
        check_choice("HOG", "norm", self.norm, NORMS)

    def compute(self, images: npt.NDArray[Any]) -> FloatArray:
        """Normalised histograms of the blocks of each image, side by side."""
        self._check_size(images.shape[1:3] if self.size is None else pair(self.size))
        grey = as_grey(images, "HOG")
        if self.size is not None:
            grey = resized(grey, self.size)
        hog = require("skimage.feature", "image").hog
        return np.stack(
            [
                hog(image, self.orientations, pair(self.cell), pair(self.block), self.norm)
                for image in grey.astype(np.float64)
            ]
        )

    def _check_size(self, shape: tuple[int, ...]) -> None:
        check_tiles("HOG", "cell", self.cell, shape)
        cell, block = pair(self.cell), pair(self.block)
        if any(side < c * b for side, c, b in zip(shape, cell, block, strict=True)):
            needed = f"{cell[0] * block[0]} x {cell[1] * block[1]}"
            reject(
                f"HOG: images of {shape[0]} x {shape[1]} are smaller than one block. Expected "
                f"at least {needed} for block={self.block} and cell={self.cell}: make them "
                "larger by `size`, or cells or blocks smaller."
            )
