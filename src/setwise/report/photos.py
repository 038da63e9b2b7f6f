"""What the vectors of sets look like, and which files they are, as far as that is known."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from setwise._support.types import BoolArray, IntArray
from setwise.report.thumbnails import png_data_uri
from setwise.sets import SetBatch

__all__ = [
    "Photo",
    "choose",
    "has_photos",
    "noun_of",
    "photo",
    "photo_name",
    "pixels",
    "time_span",
]

# Pixels of the longer side of an image that is made from a vector.
LARGEST_SIDE = 64
_JPEG = b"\xff\xd8\xff"


@dataclass(frozen=True)
class Photo:
    """One vector of a set.

    Attributes
    ----------
    uri : str
        The image as a ``data:`` address; empty where there is none.
    file : str
        Last part of its path, or its number where no file is known.
    path : str
        The whole path; empty where it is not known.
    is_out : bool
        Whether it is out of place in its set.
    """

    uri: str
    file: str
    path: str
    is_out: bool = False


def photo(sets: SetBatch, i: int, j: int, *, is_out: bool = False) -> Photo:
    """Vector ``j`` of set ``i``: its small picture, or else what its numbers show as pixels."""
    row = int(sets.offsets[i]) + j
    path = "" if sets.origins is None else sets.origins.files[row]
    return Photo(_uri(sets, row), photo_name(sets, i, j), path, is_out)


def photo_name(sets: SetBatch, i: int, j: int) -> str:
    """Last part of the path of vector ``j`` of set ``i``; its number where no file is known."""
    path = "" if sets.origins is None else sets.origins.files[int(sets.offsets[i]) + j]
    return PurePath(path.replace("\\", "/")).name or f"{noun_of(sets)} {j + 1}"


def pixels(sets: SetBatch, i: int, j: int) -> npt.NDArray[Any] | None:
    """Vector ``j`` of set ``i`` as an image to be drawn; None where it is none."""
    row = int(sets.offsets[i]) + j
    jpeg = _thumbnail(sets, row)
    if jpeg:
        try:
            with Image.open(io.BytesIO(jpeg), formats=("JPEG",)) as image:
                return np.asarray(image.convert("RGB"))
        except (OSError, ValueError, Image.DecompressionBombError):
            pass  # a damaged thumbnail is no reason to draw nothing at all
    if sets.image_shape is None:
        return None
    return sets.vectors[row].reshape(sets.image_shape)


def has_photos(sets: SetBatch) -> bool:
    """Whether there is any image to show."""
    is_pictured = sets.origins is not None and any(sets.origins.thumbnails)
    return is_pictured or sets.image_shape is not None


def noun_of(sets: SetBatch) -> str:
    """What one of the things in a set is called."""
    return "photo" if has_photos(sets) else "vector"


def choose(is_out: BoolArray, most: int) -> IntArray:
    """Which vectors of a set are shown: all, or so many, evenly spread.

    Those out of place come first of all, as far as half of the places reach.
    """
    if len(is_out) <= most:
        return np.arange(len(is_out))
    out = _spread(np.flatnonzero(is_out), max(most // 2, most - int((~is_out).sum())))
    return np.sort(np.concatenate([out, _spread(np.flatnonzero(~is_out), most - len(out))]))


def time_span(sets: SetBatch, i: int) -> str:
    """When the photos of a set were taken, from the first to the last; empty if unknown."""
    if sets.origins is None:
        return ""
    times = sets.origins.times[sets.offsets[i] : sets.offsets[i + 1]]
    known = np.sort(times[~np.isnat(times)])
    if not len(known):
        return ""
    first, last = (str(one.astype("datetime64[m]")).split("T") for one in (known[0], known[-1]))
    if first == last:
        return " ".join(first)
    return f"{' '.join(first)} to {last[1] if first[0] == last[0] else ' '.join(last)}"


def _spread(chosen: IntArray, most: int) -> IntArray:
    if len(chosen) <= most:
        return chosen
    return chosen[np.linspace(0, len(chosen) - 1, most).round().astype(np.int64)]


def _thumbnail(sets: SetBatch, row: int) -> bytes:
    """The small JPEG of a vector; nothing where there is none, or it is no JPEG."""
    thumbnail = b"" if sets.origins is None else sets.origins.thumbnails[row]
    return thumbnail if thumbnail.startswith(_JPEG) else b""


def _uri(sets: SetBatch, row: int) -> str:
    jpeg = _thumbnail(sets, row)
    if jpeg:
        return "data:image/jpeg;base64," + base64.b64encode(jpeg).decode("ascii")
    if sets.image_shape is None:
        return ""
    return png_data_uri(sets.vectors[row].reshape(sets.image_shape), LARGEST_SIDE)
