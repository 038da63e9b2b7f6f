"""Where the vectors of sets come from: files, times, and what they looked like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise.errors import reject

__all__ = ["Origins"]


@dataclass(frozen=True)
class Origins:
    """File, time and small picture of each vector; empty where one is not known.

    Attributes
    ----------
    files : tuple of str
        The path of each vector's file, with the frame where it is one of a clip:
        ``"clip.mp4, frame 12"``.
    times : array of datetime64, shape (n_vectors,)
        When each photo was taken, by the clock of the camera; NaT where nothing says so.
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
        times: Sequence[Any] | npt.NDArray[Any] | None = None,
        thumbnails: Sequence[bytes] | None = None,
    ) -> Origins:
        """Of files, and of what else is known of them.

        Parameters
        ----------
        files : sequence of str or Path
            One per vector.
        times : sequence of datetime or None, optional
            One per vector.
        thumbnails : sequence of bytes, optional
            One per vector.
        """
        n_vectors = len(files)
        return cls(
            tuple(map(str, files)),
            np.array([None] * n_vectors if times is None else times, dtype="datetime64[us]"),
            (b"",) * n_vectors if thumbnails is None else tuple(thumbnails),
        )

    def __len__(self) -> int:
        return len(self.files)

    def take(self, rows: npt.ArrayLike) -> Origins:
        """Those of some vectors."""
        chosen = np.asarray(rows, dtype=np.int64)
        return Origins(
            tuple(self.files[i] for i in chosen),
            self.times[chosen],
            tuple(self.thumbnails[i] for i in chosen),
        )

    @classmethod
    def join(cls, parts: Sequence[Origins | None], sizes: Sequence[int]) -> Origins | None:
        """One after the other; ``None`` where nothing is known of any of them.

        Parameters
        ----------
        parts : sequence of Origins or None
            To be joined.
        sizes : sequence of int
            How many vectors each part has, also one of which nothing is known.
        """
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
