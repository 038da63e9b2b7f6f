"""Photos as people want to see them: from the files on disk, as large as the window wants."""

from __future__ import annotations

import io
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path, PurePosixPath

from setwise.errors import DataError
from setwise.io.decode import SIDE, SUFFIXES, Wanted, decode, fitted_size, pillow_at_work

MOST_PIXELS, QUALITY, KEPT = 60_000_000, 82, 400


def from_file(path: Path | None, side: int) -> tuple[bytes, str] | None:
    """A photo with its longer side at most so long, and its type; None if it is unreadable."""
    if path is None or side <= SIDE or path.suffix.lower() not in SUFFIXES:
        return None
    try:
        about = path.stat()
        content = _jpeg(path, about.st_size, about.st_mtime_ns, side)
    except (OSError, DataError):
        return None
    return content, "image/jpeg"


def below(roots: Iterable[Path | None], name: str) -> Path | None:
    """A file that a gallery names, looked for below some folders and nowhere else."""
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if not parts or ".." in parts or parts[0] == "/":
        return None
    for root in filter(None, roots):
        path = root.joinpath(*parts)
        if path.is_file() and path.resolve().is_relative_to(root.resolve()):
            return path
    return None


@lru_cache(maxsize=KEPT)
def _jpeg(path: Path, n_bytes: int, time_ns: int, side: int) -> bytes:
    """The picture of one content of a file."""
    from PIL import Image

    with pillow_at_work():
        pixels = decode(path, Wanted(None, colour=True, max_pixels=MOST_PIXELS)).pixels
    picture = Image.fromarray(pixels)
    size = fitted_size(picture.size, side)
    picture = picture.resize(size, Image.Resampling.LANCZOS, reducing_gap=2.0)
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=QUALITY)
    return buffer.getvalue()
