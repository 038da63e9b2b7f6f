"""What the vectors of sets look like, and which files they are, as far as that is known."""

from __future__ import annotations

import io
from pathlib import PurePath
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from setwise.sets.batch import SetBatch

__all__ = ["has_photos", "noun_of", "photo_name", "pixels", "thumbnail"]

_JPEG = b"\xff\xd8\xff"


def has_photos(sets: SetBatch) -> bool:
    """Whether there is any image to show."""
    is_pictured = sets.origins is not None and any(sets.origins.thumbnails)
    return is_pictured or sets.image_shape is not None


def noun_of(sets: SetBatch) -> str:
    """What one of the things in a set is called."""
    return "photo" if has_photos(sets) else "vector"


def photo_name(sets: SetBatch, i: int, j: int) -> str:
    """Last part of the path of vector ``j`` of set ``i``; its number where no file is known."""
    path = "" if sets.origins is None else sets.origins.files[int(sets.offsets[i]) + j]
    return PurePath(path.replace("\\", "/")).name or f"{noun_of(sets)} {j + 1}"


def pixels(sets: SetBatch, i: int, j: int) -> npt.NDArray[Any] | None:
    """Vector ``j`` of set ``i`` as an image to be drawn; None where it is none."""
    row = int(sets.offsets[i]) + j
    jpeg = thumbnail(sets, row)
    if jpeg:
        try:
            with Image.open(io.BytesIO(jpeg), formats=("JPEG",)) as image:
                return np.asarray(image.convert("RGB"))
        except (OSError, ValueError, Image.DecompressionBombError):
            pass  # a damaged thumbnail is no reason to draw nothing at all
    if sets.image_shape is None:
        return None
    return sets.vectors[row].reshape(sets.image_shape)


def thumbnail(sets: SetBatch, row: int) -> bytes:
    """The small JPEG of a vector; nothing where there is none, or it is no JPEG."""
    content = b"" if sets.origins is None else sets.origins.thumbnails[row]
    return content if content.startswith(_JPEG) else b""
