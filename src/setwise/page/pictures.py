"""Photos as people want to see them: from the files on disk, as large as the window wants."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path, PurePosixPath

from setwise.errors import DataError
from setwise.io.decode import SIDE, SUFFIXES, Wanted, decode, fitted_size, pillow_at_work
from setwise.page.payload import Box

MOST_PIXELS, QUALITY = 60_000_000, 82
KEPT, SMALL = 1000, 480  # pictures in memory, and the longer side of those
AROUND = 0.25  # of a face, on each side of its box


def from_file(path: Path | None, side: int, box: Box | None = None) -> tuple[bytes, str] | None:
    """A photo, or a part of it, with its longer side at most so long, and its type.

    None if it is unreadable, or asked for so small that the gallery's own picture will do.
    """
    if path is None or side <= SIDE or path.suffix.lower() not in SUFFIXES:
        return None
    try:
        about = path.stat()
        made = _jpeg if side <= SMALL else _jpeg.__wrapped__  # large ones browsers keep
        content = made(path, about.st_size, about.st_mtime_ns, side, box)
    except (OSError, DataError):
        return None
    return content, "image/jpeg"


def below(roots: Iterable[Path], name: str) -> Path | None:
    """A file that a gallery names, looked for below some folders and nowhere else.

    The name may begin with that of the folder.
    """
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if not parts or ".." in parts or parts[0] == "/":
        return None
    for root in roots:
        for inside in (parts, parts[1:] if parts[0] == root.resolve().name else ()):
            path = root.joinpath(*inside)
            if path.is_file() and path.resolve().is_relative_to(root.resolve()):
                return path
    return None


@lru_cache(maxsize=KEPT)
def _jpeg(path: Path, n_bytes: int, time_ns: int, side: int, box: Box | None) -> bytes:
    """The picture of one content of a file."""
    from PIL import Image

    # Decoders that can halve an image on the way do so, and are told how much is needed.
    share = 1.0 if box is None else max(min(box[2:]), 0.01)
    wanted = Wanted(None, colour=True, max_pixels=MOST_PIXELS, longest=math.ceil(side / share))
    with pillow_at_work():
        pixels = decode(path, wanted).pixels
    picture = Image.fromarray(pixels)
    if box is not None:
        picture = picture.crop(_around(box, picture.size))
    size = fitted_size(picture.size, side)
    picture = picture.resize(size, Image.Resampling.LANCZOS, reducing_gap=2.0)
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=QUALITY)
    return buffer.getvalue()


def _around(box: Box, size: tuple[int, int]) -> tuple[int, int, int, int]:
    """A square around a box, as far as the picture goes."""
    left, top, width, height = (value * size[i % 2] for i, value in enumerate(box))
    side = min(round((1 + 2 * AROUND) * max(width, height)), *size)
    x = min(max(round(left + (width - side) / 2), 0), size[0] - side)
    y = min(max(round(top + (height - side) / 2), 0), size[1] - side)
    return x, y, x + side, y + side
