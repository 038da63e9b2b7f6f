"""How many frames an mp4 file announces, looked at before FFmpeg believes it.

FFmpeg makes an index of all announced frames, of about 70 bytes each, when it opens such a
file: 1 kB of file can make it take gigabytes. No option of FFmpeg prevents that.

The file is read piece by piece and never mapped into memory, where a file that another process
cuts short meanwhile would end this one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from setwise._support.memory import require_memory
from setwise.errors import reject

__all__ = ["check_announced", "is_other_container"]

# How files of the other containers begin: avi, matroska, ogg, flv, asf, mpegts and gif.
OTHERS = (b"RIFF", b"\x1a\x45\xdf\xa3", b"OggS", b"FLV", b"\x30\x26\xb2\x75", b"G")
MPEG = b"\x00\x00\x01\xba"
# The boxes that announce frames, and where, counted from their name, the number is.
TABLES = {b"stsz": 12, b"stz2": 12, b"trun": 8}
# A header that is packed with zlib may hide such boxes.
PACKED = b"cmov"
BYTES_OF_INDEX = 70
MOST_BOXES = 100_000
# The tables of a film of ten hours take some 40 MB.
MOST_SEARCHED = 2**28
PIECE = 2**20


def is_other_container(file: BinaryIO) -> bool:
    """Whether a file begins like a video, but not like an mp4 or mov."""
    head = _read(file, 0, 8)
    file.seek(0)
    # The packets of an m2ts begin with the time; no box of an mp4 has such a name.
    is_m2ts = head[4:5] == b"G"
    # A box of an mp4 file may be 442 bytes long, but then a name follows.
    is_mpeg = head.startswith(MPEG) and not head[4:].isalpha()
    return head.startswith(OTHERS) or is_m2ts or is_mpeg


def check_announced(owner: str, path: Path, file: BinaryIO) -> None:
    """Refuse a file that announces more frames than it can hold."""
    n_bytes = file.seek(0, os.SEEK_END)
    boxes = list(islice(_boxes(file, n_bytes), MOST_BOXES + 1))
    # The pictures and sounds themselves are not searched.
    places = [(start, end) for start, end, name in boxes if name != b"mdat"]
    n_searched = sum(end - start for start, end in places)
    announced, problem = 0, None
    if len(boxes) > MOST_BOXES:
        problem = f"is made of more than {MOST_BOXES} pieces"
    elif n_searched > MOST_SEARCHED:
        problem = f"has {n_searched} bytes that are neither pictures nor sounds"
    else:
        announced, problem = _announced(file, places, n_bytes)
    file.seek(0)
    if problem:
        reject(f"{owner}: {str(path)!r} {problem}. Expected an undamaged video: convert it.")
    what = f"{owner}: the index of the {announced} frames of {str(path)!r}"
    require_memory(BYTES_OF_INDEX * announced, what, "Cut the video into shorter ones.")


def _announced(
    file: BinaryIO, places: list[tuple[int, int]], n_bytes: int
) -> tuple[int, str | None]:
    """The sum of the numbers in all tables, and what is wrong with them."""
    announced = 0
    for count, (name, at) in enumerate(_tables(file, places)):
        if name == PACKED:
            return announced, "has a packed header, as no mp4 or mov of this century has"
        has_long_size = _number(file, at - 4) == 1
        announced += _number(file, at + TABLES[name] + 8 * has_long_size)
        # Half a byte per frame: old sound comes close to it, no picture does.
        if announced > 2 * n_bytes:
            return announced, f"announces {announced} frames or sounds in {n_bytes} bytes"
        if count >= MOST_BOXES:
            return announced, f"has more than {MOST_BOXES} tables of frames"
    return announced, None


def _tables(file: BinaryIO, places: list[tuple[int, int]]) -> Iterator[tuple[bytes, int]]:
    """Name and place of each table, wherever it is: FFmpeg finds them in odd places, too."""
    for start, end in places:
        for begin in range(start, end, PIECE):
            # A name may begin in this piece and end in the next one.
            piece = _read(file, begin, min(PIECE + 3, end - begin))
            for name in (*TABLES, PACKED):
                at = piece.find(name)
                while at >= 0:
                    yield name, begin + at
                    at = piece.find(name, at + 4)


def _boxes(file: BinaryIO, n_bytes: int) -> Iterator[tuple[int, int, bytes]]:
    """Where the boxes that a file is made of begin and end, and their names."""
    start = 0
    while start < n_bytes:
        head = _read(file, start, 16)
        size = int.from_bytes(head[:4])
        if size == 1:
            size = int.from_bytes(head[8:])
        end = start + size if 8 <= size <= n_bytes - start else n_bytes
        yield start, end, head[4:8]
        start = end


def _number(file: BinaryIO, place: int) -> int:
    return int.from_bytes(_read(file, max(place, 0), 4))


def _read(file: BinaryIO, place: int, n_bytes: int) -> bytes:
    """Some bytes of a file, fewer where it ends before."""
    file.seek(place)
    return file.read(n_bytes)
