"""How many frames an mp4 file announces, looked at before FFmpeg believes it.

FFmpeg makes an index of all announced frames, of about 70 bytes each, when it opens such a
file: 1 kB of file can make it take gigabytes. No option of FFmpeg prevents that.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from setwise._support.memory import require_memory
from setwise.errors import DataError

__all__ = ["check_announced", "is_other_container"]

# How files of the other containers begin: avi, matroska, ogg, flv, asf, mpegts and gif.
OTHERS = (b"RIFF", b"\x1a\x45\xdf\xa3", b"OggS", b"FLV", b"\x30\x26\xb2\x75", b"G")
MPEG = b"\x00\x00\x01\xba"
# The boxes that announce frames, and where, counted from their name, the number is.
TABLES = ((b"stsz", 12), (b"stz2", 12), (b"trun", 8))
# A header that is packed with zlib may hide such boxes.
PACKED = b"cmov"
BYTES_OF_INDEX = 70
MOST_BOXES = 100_000


def is_other_container(file: BinaryIO) -> bool:
    """Whether a file begins like a video, but not like an mp4 or mov."""
    head = file.read(8)
    file.seek(0)
    # A box of an mp4 file may be 442 bytes long, but then a name follows.
    return head.startswith(OTHERS) or (head.startswith(MPEG) and not head[4:].isalpha())


def check_announced(owner: str, path: Path, file: BinaryIO) -> None:
    """Refuse a file that announces more frames than it can hold."""
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        boxes = list(islice(_boxes(content), MOST_BOXES + 1))
        # The pictures and sounds themselves are not searched.
        places = [(start, end) for start, end, name in boxes if name != b"mdat"]
        announced = sum(_announced(content, places))
        problem = None
        if len(boxes) > MOST_BOXES:
            problem = f"is made of more than {MOST_BOXES} pieces"
        elif any(content.find(PACKED, *place) >= 0 for place in places):
            problem = "has a packed header, as no mp4 or mov of this century has"
        elif announced > 2 * len(content):
            # Half a byte a frame: old sound comes close to it, no picture does.
            problem = f"announces {announced} frames or sounds in {len(content)} bytes"
    if problem:
        msg = f"{owner}: {str(path)!r} {problem}. Expected an undamaged video: convert it."
        raise DataError(msg)
    what = f"{owner}: the index of the {announced} frames of {str(path)!r}"
    require_memory(BYTES_OF_INDEX * announced, what, "Cut the video into shorter ones.")


def _announced(content: mmap.mmap, places: list[tuple[int, int]]) -> Iterator[int]:
    """The number in each table, wherever it is: FFmpeg finds them in odd places, too."""
    for start, end in places:
        for name, place in TABLES:
            found = content.find(name, start, end)
            while found >= 0:
                has_long_size = _number(content, found - 4) == 1
                yield _number(content, found + place + 8 * has_long_size)
                found = content.find(name, found + 4, end)


def _boxes(content: mmap.mmap) -> Iterator[tuple[int, int, bytes]]:
    """Where the boxes that a file is made of begin and end, and their names."""
    start = 0
    while start < len(content):
        size = _number(content, start)
        if size == 1:
            size = int.from_bytes(content[start + 8 : start + 16])
        end = start + size if 8 <= size <= len(content) - start else len(content)
        yield start, end, content[start + 4 : start + 8]
        start = end


def _number(content: mmap.mmap, place: int) -> int:
    return int.from_bytes(content[max(place, 0) : place + 4])
