"""Local descriptors: histograms of oriented gradients, and local binary patterns."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from setwise._support.extras import require
from setwise._support.parameters import (
    check_choice,
    check_count,
    check_number,
    check_shape,
    pair,
)
from setwise._support.types import Array, FloatArray, IntArray, Size
from setwise.errors import reject
from setwise.features.images import ImageFeature, as_bytes, as_grey, check_tiles, resized

NORMS = ("L2-Hys", "L2", "L1", "L1-sqrt")
METHODS = ("nri_uniform", "uniform")


class HOG(ImageFeature):
    """Histograms of oriented gradients: the directions of edges in each cell of an image.

    Computed from the brightness of colours, ``0.299 R + 0.587 G + 0.114 B``. The values are
    those of scikit-image. Blocks are normalised, so that the range of values hardly
    matters. An image without edges gives zeros.

    Parameters
    ----------
    size : int or (height, width), optional
        Resize images first, as :class:`Pixels` does.
    cell : int or (height, width), default=8
        Pixels of a cell. Images must consist of whole cells.
    block : int or (height, width), default=2
        Cells of a block, within which histograms are normalised; blocks overlap.
    orientations : int, default=9
        Number of directions.
    norm : {"L2-Hys", "L2", "L1", "L1-sqrt"}, default="L2-Hys"
        Normalisation of a block.

    Examples
    --------
    >>> import numpy as np
    >>> HOG(cell=8, block=2).transform(np.zeros((3, 64, 64))).shape
    (3, 1764)
    """

    libraries = ("pillow",)

    def __init__(
        self,
        size: Size | None = None,
        *,
        cell: Size = 8,
        block: Size = 2,
        orientations: int = 9,
        norm: str = "L2-Hys",
    ) -> None:
        self.size = size
        self.cell = cell
        self.block = block
        self.orientations = orientations
        self.norm = norm

    def check_parameters(self) -> None:
        """Refuse parameters that no images can be transformed with."""
        check_shape("HOG", "size", self.size, optional=True)
        check_shape("HOG", "cell", self.cell)
        check_shape("HOG", "block", self.block)
        check_count("HOG", "orientations", self.orientations)
        check_choice("HOG", "norm", self.norm, NORMS)

    def compute(self, images: Array) -> FloatArray:
        """Normalised histograms of the blocks of each image, side by side."""
        self._check_size(images.shape[1:3] if self.size is None else pair(self.size))
        grey = as_grey(images, "HOG")
        if self.size is not None:
            grey = resized(grey, self.size)
        cells = _cell_histograms(grey.astype(np.float64), self.orientations, pair(self.cell))
        made = sliding_window_view(cells, pair(self.block), axis=(1, 2))
        # Cells of a block, then orientations, as scikit-image has them.
        blocks = made.transpose(0, 1, 2, 4, 5, 3).reshape(*made.shape[:3], -1)
        return _NORMALISED[self.norm](blocks).reshape(len(images), -1)

    def _check_size(self, shape: tuple[int, ...]) -> None:
        check_tiles("HOG", "cell", self.cell, shape)
        height, width = np.multiply(pair(self.cell), pair(self.block)).tolist()
        if shape[0] < height or shape[1] < width:
            reject(
                f"HOG: images of {shape[0]} x {shape[1]} are smaller than one block. Expected "
                f"at least {height} x {width} for block={self.block} and cell={self.cell}: "
                "make them larger by `size`, or cells or blocks smaller."
            )


def _cell_histograms(
    images: FloatArray, orientations: int, cell: tuple[int, int]
) -> FloatArray:
    """Mean length of the gradients of each orientation in each cell of images."""
    n_images, height, width = images.shape
    down, right = np.zeros_like(images), np.zeros_like(images)
    down[:, 1:-1] = images[:, 2:] - images[:, :-2]
    right[:, :, 1:-1] = images[:, :, 2:] - images[:, :, :-2]
    angles = np.rad2deg(np.arctan2(down, right)) % 180.0
    bounds = 180.0 / orientations * np.arange(1, orientations)
    bins = np.searchsorted(bounds, angles.ravel(), side="right").reshape(images.shape)
    rows, columns = height // cell[0], width // cell[1]
    cells = np.repeat(np.arange(rows), cell[0])[:, None] * columns
    cells = cells + np.repeat(np.arange(columns), cell[1])
    cells = cells + rows * columns * np.arange(n_images)[:, None, None]
    places = (cells * orientations + bins).ravel()
    n_bins = n_images * rows * columns * orientations
    sums = np.bincount(places, np.hypot(down, right).ravel(), n_bins)
    return sums.reshape(n_images, rows, columns, orientations) / (cell[0] * cell[1])


def _scaled(blocks: FloatArray) -> FloatArray:
    return blocks / np.sqrt((blocks**2).sum(axis=-1, keepdims=True) + _SMALL**2)


def _summed(blocks: FloatArray) -> FloatArray:
    return blocks / (np.abs(blocks).sum(axis=-1, keepdims=True) + _SMALL)


# Keeps blocks without edges from being divided by zero.
_SMALL = 1e-5
_NORMALISED: Mapping[str, Callable[[FloatArray], FloatArray]] = {
    "L2-Hys": lambda blocks: _scaled(np.minimum(_scaled(blocks), 0.2)),
    "L2": _scaled,
    "L1": _summed,
    "L1-sqrt": lambda blocks: np.sqrt(_summed(blocks)),
}


class LBP(ImageFeature):
    """Local binary patterns: frequencies of small textures in each patch of an image.

    A pixel's pattern says which points around it are at least as bright; points beyond the
    image are black. Patterns with at most two changes on the way round have a bin each, all
    others share one. A patch's histogram sums to 1. Needs scikit-image: ``pip install
    "setwise[image]"``.

    Colours become brightness, ``0.299 R + 0.587 G + 0.114 B``, in 256 steps. An image of floats
    none of which exceeds 1 has the range 0 to 1; all other values must lie in 0 to 255.

    Parameters
    ----------
    size : int or (height, width), optional
        Resize images first, as :class:`Pixels` does.
    patch : int or (height, width), default=8
        Pixels of a patch. Images must consist of whole patches.
    points : int, default=8
        Number of points around a pixel.
    radius : float, default=1
        Distance of the points from the pixel.
    method : {"nri_uniform", "uniform"}, default="nri_uniform"
        Whether rotated patterns differ, in ``p (p - 1) + 3`` bins, or not, in ``p + 2`` bins.
    root : bool, default=True
        Take the square root of the shares: each patch is then a vector of unit norm.

    Examples
    --------
    >>> import numpy as np
    >>> LBP(40, patch=8).transform(np.zeros((2, 60, 50), dtype=np.uint8)).shape
    (2, 1475)
    """

    libraries = ("scikit-image", "pillow")
    sees_bytes = True

    def __init__(
        self,
        size: Size | None = None,
        *,
        patch: Size = 8,
        points: int = 8,
        radius: float = 1,
        method: str = "nri_uniform",
        root: bool = True,
    ) -> None:
        self.size = size
        self.patch = patch
        self.points = points
        self.radius = radius
        self.method = method
        self.root = root

    @property
    def n_bins(self) -> int:
        """Number of bins of the histogram of a patch."""
        p = self.points
        return p * (p - 1) + 3 if self.method == "nri_uniform" else p + 2

    def check_parameters(self) -> None:
        """Refuse parameters that no images can be transformed with."""
        check_shape("LBP", "size", self.size, optional=True)
        check_shape("LBP", "patch", self.patch)
        check_count("LBP", "points", self.points, at_least=2)
        check_number("LBP", "radius", self.radius)
        check_choice("LBP", "method", self.method, METHODS)
        check_choice("LBP", "root", self.root, (True, False))

    def compute(self, images: Array) -> FloatArray:
        """Histograms of the patches of each image, side by side."""
        shape = images.shape[1:3] if self.size is None else pair(self.size)
        check_tiles("LBP", "patch", self.patch, shape)
        find = require("skimage.feature", "image").local_binary_pattern
        parameters = (self.points, self.radius, self.method)
        greys = as_bytes(images, "LBP", self.size)
        patterns = np.stack([find(grey, *parameters).astype(np.int64) for grey in greys])
        shares = _patch_histograms(patterns, pair(self.patch), self.n_bins)
        return np.sqrt(shares) if self.root else shares


def _patch_histograms(patterns: IntArray, patch: tuple[int, int], n_bins: int) -> FloatArray:
    """Shares of the patterns in each patch, of all images at once."""
    n_images, height, width = patterns.shape
    rows, columns = height // patch[0], width // patch[1]
    patches = patterns.reshape(n_images, rows, patch[0], columns, patch[1]).swapaxes(2, 3)
    n_patches = n_images * rows * columns
    first_bins = n_bins * np.arange(n_patches)[:, None]
    counts = np.bincount(
        (patches.reshape(n_patches, -1) + first_bins).ravel(), minlength=n_bins * n_patches
    )
    return counts.reshape(n_images, -1) / (patch[0] * patch[1])
