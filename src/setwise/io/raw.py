"""The preview in a RAW photo: a JPEG that the camera has developed. LibRaw finds it."""

from __future__ import annotations

import io
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from setwise._support.extras import require
from setwise.errors import reject

# What cameras write beside, or instead of, JPEG.
RAW_SUFFIXES = frozenset((
    ".3fr", ".arw", ".cr2", ".cr3", ".dng", ".iiq", ".nef", ".nrw", ".orf", ".pef", ".raf",
    ".rw2", ".srw", ".x3f",
))  # fmt: skip
# Turns of LibRaw as those of EXIF.
_ORIENTATIONS = {0: 1, 3: 3, 5: 8, 6: 6}


class Preview(NamedTuple):
    """A JPEG, how it has to be turned (as EXIF says it), and when the photo was taken."""

    jpeg: bytes
    orientation: int
    time: datetime | None


def is_raw(path: Path) -> bool:
    """Whether a file is RAW, by its name."""
    return path.suffix.lower() in RAW_SUFFIXES


def reads_raw() -> bool:
    """Whether previews of RAW photos can be read."""
    return find_spec("rawpy") is not None


def read_preview(path: Path) -> Preview:
    """The preview of a RAW photo; what is developed is never the RAW data itself."""
    rawpy = require("rawpy", "raw")
    try:
        with path.open("rb") as file, rawpy.imread(file) as raw:
            found = raw.extract_thumb()
            flip, time = raw.sizes.flip, raw.other.timestamp
    except rawpy.LibRawError as error:
        why = b"".join(one for one in error.args if isinstance(one, bytes)).decode()
        return reject(f"{path} has no preview ({why or error}). Export it as JPEG.", error)
    if found.format == rawpy.ThumbFormat.JPEG:
        jpeg = bytes(found.data)
    else:
        from PIL import Image

        content = io.BytesIO()
        Image.fromarray(found.data).save(content, "JPEG", quality=95)
        jpeg = content.getvalue()
    taken = time if isinstance(time, datetime) and time.year > 1980 else None
    return Preview(jpeg, _ORIENTATIONS.get(flip, 1), taken)
