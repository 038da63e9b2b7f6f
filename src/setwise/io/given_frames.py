"""Frames of a video, from a file or given as arrays, read alike."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

from setwise._support.parameters import refuse
from setwise.errors import reject
from setwise.io.frames import Frame, Reading, VideoFrames, open_video
from setwise.io.loading_report import Skipped

__all__ = ["GivenFrames", "open_frames"]


@dataclass
class GivenFrames:
    """Frames that are there already, read as those of a file are."""

    owner: str
    source: Iterable[npt.NDArray[np.uint8]]
    reading: Reading
    path: Path = Path("frames")
    skipped: tuple[Skipped, ...] = ()
    # When the last frame is shown: given frames have no times.
    end_s: float = math.nan

    def __iter__(self) -> Iterator[Frame]:
        taken = islice(enumerate(self.source), 0, None, self.reading.every)
        n_taken = 0
        for number, pixels in islice(taken, self.reading.max_frames):
            n_taken += 1
            yield Frame(number, self._grey(number, pixels))
        if n_taken == 0:
            reject(
                f"{self.owner}: there are no frames. Expected a path, or at least one frame."
            )

    @property
    def expected(self) -> int:
        """How many frames will be taken, 0 where nobody knows."""
        n_frames = len(self.source) if isinstance(self.source, Sized) else 0
        return self.reading.expected(n_frames)

    def notes(self) -> tuple[str, ...]:
        """Nothing to be known."""
        return ()

    def _grey(self, number: int, pixels: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        from PIL import Image

        shape = np.shape(pixels)
        is_image = len(shape) == 2 or (len(shape) == 3 and shape[2] == 3)
        if not is_image or getattr(pixels, "dtype", None) != np.uint8 or 0 in shape:
            reject(
                f"{self.owner}: frame {number} has shape {shape} and dtype "
                f"{getattr(pixels, 'dtype', type(pixels).__name__)}. Expected a uint8 array of "
                "shape (height, width) or (height, width, 3)."
            )
        grey = pixels if len(shape) == 2 else np.asarray(Image.fromarray(pixels).convert("L"))
        return np.ascontiguousarray(grey)


@contextmanager
def open_frames(
    owner: str,
    source: str | os.PathLike[str] | Iterable[npt.NDArray[np.uint8]],
    reading: Reading,
) -> Iterator[VideoFrames | GivenFrames]:
    """The frames of a file, or those given."""
    if isinstance(source, str | os.PathLike):
        with open_video(owner, source, reading) as video:
            yield video
        return
    if not isinstance(source, Iterable):
        refuse(owner, "source", "a path or an iterable of frames", source)
    times = (reading.start_s, reading.stop_s, reading.every_s)
    if times != (0.0, None, None):
        names = "start_s and stop_s" if reading.every_s is None else "every_s"
        refuse(owner, names, "left out where frames are given, which have no times", times)
    yield GivenFrames(owner, source, reading)
