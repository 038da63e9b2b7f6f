"""Small pictures as ``data:`` addresses, so that a page needs no file beside it."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from setwise.plots.pixels import as_pixels

__all__ = ["Sprite", "png_data_uri", "sprite", "strip_data_uri"]

# Pixels of the longer side of an image in a report: larger ones are made smaller.
LARGEST_SIDE = 40
# Vectors in a strip; of more, evenly spread ones are shown.
LONGEST_STRIP = 240


@dataclass(frozen=True)
class Sprite:
    """Several images in one picture, row by row.

    Attributes
    ----------
    uri : str
        The picture, as a ``data:`` address.
    n_columns, n_rows : int
        How many images lie beside and below each other.
    ratio : float
        Width of one image over its height.
    """

    uri: str
    n_columns: int
    n_rows: int
    ratio: float


def png_data_uri(image: npt.NDArray[Any], largest_side: int = LARGEST_SIDE) -> str:
    """One image as a PNG in a ``data:`` address.

    Parameters
    ----------
    image : array of shape (height, width) or (height, width, n_channels)
        Bytes, or numbers from 0 to 1 or to 255; whatever else is stretched over the greys.
    largest_side : int, default=40
        Pixels that the longer side may have; a larger image is made smaller.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.report.thumbnails import png_data_uri
    >>> png_data_uri(np.zeros((2, 2), dtype=np.uint8))[:22]
    'data:image/png;base64,'
    """
    return _data_uri(_small(as_pixels(image), largest_side))


def sprite(
    images: npt.NDArray[Any], n_columns: int = 12, largest_side: int = LARGEST_SIDE
) -> Sprite:
    """Several images in one PNG, row by row; places left over are black.

    Parameters
    ----------
    images : array of shape (n_images, height, width[, n_channels])
        As for :func:`png_data_uri`; all are stretched alike.
    n_columns : int, default=12
        Images beside each other.
    largest_side : int, default=40
        Of one image.
    """
    small = [np.asarray(_small(one, largest_side)) for one in as_pixels(images, is_many=True)]
    n_columns = min(n_columns, len(small))
    n_rows = -(-len(small) // n_columns)
    blank = np.zeros_like(small[0])
    small += [blank] * (n_rows * n_columns - len(small))
    rows = [
        np.concatenate(small[start : start + n_columns], axis=1)
        for start in range(0, len(small), n_columns)
    ]
    height, width = blank.shape[:2]
    picture = Image.fromarray(np.concatenate(rows))
    return Sprite(_data_uri(picture), n_columns, n_rows, width / height)


def strip_data_uri(vectors: npt.NDArray[Any]) -> str:
    """Vectors that are no images as a picture: one per column, a row for each feature.

    Parameters
    ----------
    vectors : array of shape (n_vectors, n_features)
        Each feature is stretched over the greys by itself.
    """
    stride = -(-len(vectors) // LONGEST_STRIP)
    values = np.nan_to_num(np.asarray(vectors[::stride], dtype=np.float64)).T[:LONGEST_STRIP]
    low, high = np.percentile(values, [2, 98], axis=1, keepdims=True)
    span = np.where(high > low, high - low, 1.0)
    grey = np.clip((values - low) / span, 0, 1)
    return _data_uri(Image.fromarray((235 - 200 * grey).astype(np.uint8)))


def _small(pixels: npt.NDArray[np.uint8], largest_side: int) -> Image.Image:
    picture = Image.fromarray(pixels)
    picture.thumbnail((largest_side, largest_side), Image.Resampling.LANCZOS)
    return picture


def _data_uri(picture: Image.Image) -> str:
    file = io.BytesIO()
    picture.save(file, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode("ascii")
