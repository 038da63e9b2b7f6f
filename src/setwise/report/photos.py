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
from setwise.plots.sheet import as_pixels
from setwise.sets import SetBatch
from setwise.sets.origins import photo_name, thumbnail

# Pixels of the longer side of an image that is made from a vector.
LARGEST_SIDE = 64
# Vectors in a strip; of more, evenly spread ones are shown.
LONGEST_STRIP = 240


@dataclass(frozen=True)
class Photo:
    """One vector: its image as a ``data:`` address or "", and its file, or else its number."""

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
    """The photos of a set most like a class of a kind: pairs, each with its gallery set."""

    label: str
    kind: str
    pairs: tuple[tuple[Photo, Photo, str], ...]


def why_nothing_is_alike(gallery: Gallery) -> str:
    """Why no photos of a gallery can be shown; empty where they can."""
    if gallery.has_vectors:
        return ""
    return "The gallery was saved without its photos: the most similar ones cannot be shown."


def likenesses(
    gallery: Gallery, probes: SetBatch, i: int, is_typical: BoolArray, labels: tuple[Any, ...],
    most: int,
) -> tuple[Likeness, ...]:  # fmt: skip
    """The photos of set ``i`` most like the answer and the runner-up, in this order."""
    found = []
    for label, kind in zip(labels, ("first", "second"), strict=False):
        pairs = []
        for pair in nearest_in_class(gallery, probes[i], is_typical, label, most):
            other = photo(gallery.sets, pair.set, pair.other)
            own = photo(probes, i, pair.vector)
            pairs.append((own, other, gallery.sets.names[pair.set]))
        found.append(Likeness(str(label), kind, tuple(pairs)))
    return tuple(found)


def png_data_uri(image: npt.NDArray[Any], largest_side: int = 40) -> str:
    """One image as a PNG in a ``data:`` address, at most so many pixels wide and high."""
    picture = Image.fromarray(as_pixels(image))
    picture.thumbnail((largest_side, largest_side), Image.Resampling.LANCZOS)
    return _data_uri(picture)


def strip_data_uri(vectors: npt.NDArray[Any]) -> str:
    """Vectors as a picture: one per column, a row for each feature, stretched by itself."""
    stride = -(-len(vectors) // LONGEST_STRIP)
    values = np.nan_to_num(np.asarray(vectors[::stride], dtype=np.float64)).T[:LONGEST_STRIP]
    low, high = np.percentile(values, [2, 98], axis=1, keepdims=True)
    span = np.where(high > low, high - low, 1.0)
    grey = np.clip((values - low) / span, 0, 1)
    return _data_uri(Image.fromarray((235 - 200 * grey).astype(np.uint8)))


def _data_uri(picture: Image.Image) -> str:
    file = io.BytesIO()
    picture.save(file, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode("ascii")
