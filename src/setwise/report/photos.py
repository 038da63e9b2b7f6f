"""What the vectors of sets look like, and which files they are, as far as that is known."""

from __future__ import annotations

import base64
from dataclasses import dataclass

import numpy as np

from setwise.plots.answer_picture import choose
from setwise.report.thumbnails import png_data_uri
from setwise.sets import SetBatch
from setwise.sets.origins import has_photos, noun_of, photo_name, pixels, thumbnail

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
