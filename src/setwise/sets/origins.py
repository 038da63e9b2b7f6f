"""Origins of the vectors of sets: files, times and small pictures."""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from setwise._support.types import Array
from setwise.errors import reject

if TYPE_CHECKING:
    from setwise.sets.batch import SetBatch


_JPEG = b"\xff\xd8\xff"


@dataclass(frozen=True)
class Origins:
    """File, time and small picture of each vector; empty where one is not known.

    Attributes
    ----------
    files : tuple of str
        Paths, with the frame of a clip: ``"clip.mp4, frame 12"``.
    times : array of datetime64, shape (n_vectors,)
        When each photo was taken, by the clock of the camera; NaT where unknown.
    thumbnails : tuple of bytes
        A small JPEG of each.

    Examples
    --------
    >>> Origins.of_files(["anna/1.jpg", "anna/2.jpg"]).take([1]).files
    ('anna/2.jpg',)
    """

    files: tuple[str, ...]
    times: npt.NDArray[np.datetime64]
    thumbnails: tuple[bytes, ...]

    def __post_init__(self) -> None:
        n_vectors = len(self.files)
        for what, given in (("times", self.times), ("thumbnails", self.thumbnails)):
            if len(given) != n_vectors:
                reject(f"Origins: expected {n_vectors} {what}, one per file, got {len(given)}.")

    @classmethod
    def of_files(
        cls,
        files: Sequence[Any],
        times: Sequence[Any] | Array | None = None,
        thumbnails: Sequence[bytes] | None = None,
    ) -> Origins:
        """Origins from files, and their times and thumbnails where known, one per vector."""
        n_vectors = len(files)
        return cls(
            tuple(map(str, files)),
            np.array([None] * n_vectors if times is None else times, dtype="datetime64[us]"),
            (b"",) * n_vectors if thumbnails is None else tuple(thumbnails),
        )

    def __len__(self) -> int:
        return len(self.files)

    def take(self, rows: npt.ArrayLike) -> Origins:
        """The origins of some vectors."""
        chosen = np.asarray(rows, dtype=np.int64)
        return Origins(
            tuple(self.files[i] for i in chosen),
            self.times[chosen],
            tuple(self.thumbnails[i] for i in chosen),
        )

    @classmethod
    def join(cls, parts: Sequence[Origins | None], sizes: Sequence[int]) -> Origins | None:
        """One after the other, of ``sizes`` vectors each; None where no part is known."""
        if all(part is None for part in parts):
            return None
        known = [
            cls.of_files([""] * size) if part is None else part
            for part, size in zip(parts, sizes, strict=True)
        ]
        return cls(
            tuple(file for part in known for file in part.files),
            np.concatenate([part.times for part in known]),
            tuple(image for part in known for image in part.thumbnails),
        )


def has_photos(sets: SetBatch) -> bool:
    """Whether there is any image to show."""
    is_pictured = sets.origins is not None and any(sets.origins.thumbnails)
    return is_pictured or sets.image_shape is not None


def noun_of(sets: SetBatch) -> str:
    """What a vector of these sets is called: ``"photo"`` or ``"vector"``."""
    return "photo" if has_photos(sets) else "vector"


def photo_name(sets: SetBatch, i: int, j: int) -> str:
    """Last part of the path of vector ``j`` of set ``i``; its number where no file is known."""
    path = "" if sets.origins is None else sets.origins.files[int(sets.offsets[i]) + j]
    return PurePath(path.replace("\\", "/")).name or f"{noun_of(sets)} {j + 1}"


def pixels(sets: SetBatch, i: int, j: int) -> Array | None:
    """Vector ``j`` of set ``i`` as an image; None where it is no image."""
    from PIL import Image

    row = int(sets.offsets[i]) + j
    if jpeg := thumbnail(sets, row):
        # Of a damaged thumbnail, draw the vector.
        damages = (OSError, ValueError, Image.DecompressionBombError)
        with suppress(*damages), Image.open(io.BytesIO(jpeg), formats=("JPEG",)) as image:
            return np.asarray(image.convert("RGB"))
    shape = sets.image_shape
    return None if shape is None else sets.vectors[row].reshape(shape)


def thumbnail(sets: SetBatch, row: int) -> bytes:
    """The small JPEG of a vector; empty where there is none, or it is no JPEG."""
    content = b"" if sets.origins is None else sets.origins.thumbnails[row]
    return content if content.startswith(_JPEG) else b""
