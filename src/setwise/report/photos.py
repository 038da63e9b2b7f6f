"""What the vectors of sets look like on a page: files, small pictures, most similar photos."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from setwise._support.types import BoolArray
from setwise.classify.pictured import nearest_in_class
from setwise.gallery import Gallery
from setwise.plots.answer_picture import choose
from setwise.plots.sheet import as_pixels
from setwise.sets import SetBatch
from setwise.sets.origins import has_photos, noun_of, photo_name, thumbnail

__all__ = [
    "Likeness", "Photo", "Sprite", "choose", "has_photos", "likenesses", "noun_of", "photo",
    "photo_name", "png_data_uri", "sprite", "strip_data_uri", "time_span",
    "why_nothing_is_alike",
]  # fmt: skip

# Pixels of the longer side of an image that is made from a vector, and of smaller ones.
LARGEST_SIDE, SPRITE_SIDE = 64, 40
# Vectors in a strip; of more, evenly spread ones are shown.
LONGEST_STRIP = 240


@dataclass(frozen=True)
class Photo:
    """One vector of a set: its image as a ``data:`` address or "", and its file.

    ``file`` is the last part of its ``path``, or its number where no path is known.
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


def _uri(sets: SetBatch, row: int) -> str:
    jpeg = thumbnail(sets, row)
    if jpeg:
        return "data:image/jpeg;base64," + base64.b64encode(jpeg).decode("ascii")
    if sets.image_shape is None:
        return ""
    return png_data_uri(sets.vectors[row].reshape(sets.image_shape), LARGEST_SIDE)


@dataclass(frozen=True)
class Likeness:
    """The photos of a set most like a class: pairs, each with its gallery set.

    The kind is ``"first"`` for the answer, ``"second"`` for the runner-up.
    """

    label: str
    kind: str
    pairs: tuple[tuple[Photo, Photo, str], ...]


def why_nothing_is_alike(gallery: Gallery) -> str:
    """Why no photos of a gallery can be shown; empty where they can."""
    if gallery.has_vectors:
        return ""
    return "The gallery was saved without its photos: the most similar ones cannot be shown."


def likenesses(
    gallery: Gallery,
    probes: SetBatch,
    i: int,
    is_typical: BoolArray,
    labels: tuple[Any, ...],
    most: int,
) -> tuple[Likeness, ...]:
    """The photos of set ``i`` most like the answer and the runner-up, in this order."""
    found = []
    for label, kind in zip(labels, ("first", "second"), strict=False):
        nearest = nearest_in_class(gallery, probes[i], is_typical, label, most)
        pairs = tuple(
            (
                photo(probes, i, pair.vector),
                photo(gallery.sets, pair.set, pair.other),
                gallery.sets.names[pair.set],
            )
            for pair in nearest
        )
        found.append(Likeness(str(label), kind, pairs))
    return tuple(found)


@dataclass(frozen=True)
class Sprite:
    """Several images in one picture, row by row; ``ratio`` is width over height of each."""

    uri: str
    n_columns: int
    n_rows: int
    ratio: float


def png_data_uri(image: npt.NDArray[Any], largest_side: int = SPRITE_SIDE) -> str:
    """One image as a PNG in a ``data:`` address, at most so many pixels wide and high.

    Bytes, or numbers from 0 to 1 or to 255; other numbers are stretched over the greys.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.report.photos import png_data_uri
    >>> png_data_uri(np.zeros((2, 2), dtype=np.uint8))[:22]
    'data:image/png;base64,'
    """
    return _data_uri(_small(as_pixels(image), largest_side))


def sprite(
    images: npt.NDArray[Any], n_columns: int = 12, largest_side: int = SPRITE_SIDE
) -> Sprite:
    """Several images in one PNG, row by row, stretched alike; places left over are black."""
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
    """Vectors as a picture: one per column, a row for each feature, stretched by itself."""
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
