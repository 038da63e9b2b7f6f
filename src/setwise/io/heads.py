"""First bytes of images and videos, checked before Pillow and FFmpeg read them.

Some small images take Pillow minutes. FFmpeg allocates about 70 bytes for each frame that an
mp4 announces, so that 1 kB of file can take gigabytes; none of its options prevents that.
Files are not mapped into memory: a mapped file cut short by another process ends this one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from setwise._support.memory import require_memory
from setwise.errors import reject
from setwise.io.untrusted import broken

# A scan of a JPEG goes over all pixels, with a few bytes. Programs write some 20 at most.
JPEG, SCAN = b"\xff\xd8", b"\xff\xda"
MOST_SCANS = 100
# Headers of JPEGs that are coded row by row, and markers that may stand before the first scan.
SEQUENTIAL = (b"\xff\xc0", b"\xff\xc1")
HARMLESS = (b"\xff\xc4", b"\xff\xdb", b"\xff\xdd", b"\xff\xfe", *(
    bytes([0xFF, 0xE0 + i]) for i in range(16)
))  # fmt: skip
# Pillow reads comments and blanks in the header of a PPM one byte at a time.
PNM = tuple(b"P%c" % letter for letter in b"0123456fy")
PNM_HEAD = 4096
_NUMBER = rb"(?:\s|#[^\r\n]*[\r\n])+-?\d+"
PNM_SIZE = re.compile(rb"P(?:[14]" + 2 * _NUMBER + rb"|[^14]\w*" + 3 * _NUMBER + rb")")
# Kinds of HEIC. AVIF shares some of these names, and then names itself further on.
HEIF = tuple(b"ftyp" + kind for kind in (
    b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs", b"mif1", b"msf1",
))  # fmt: skip
# First bytes of other containers: avi, matroska, ogg, flv, asf, mpegts and gif.
OTHERS = (b"RIFF", b"\x1a\x45\xdf\xa3", b"OggS", b"FLV", b"\x30\x26\xb2\x75", b"G")
MPEG = b"\x00\x00\x01\xba"
# Boxes that announce frames, and the offset of the number from their name.
TABLES = {b"stsz": 12, b"stz2": 12, b"trun": 8}
# A header that is packed with zlib may hide such boxes.
PACKED = b"cmov"
BYTES_OF_INDEX = 70
MOST_BOXES = 100_000
# The tables of a film of ten hours take some 40 MB.
MOST_SEARCHED = 2**28
PIECE = 2**20


def is_heif(file: BinaryIO) -> bool:
    """Whether a file is HEIC, as phones write it. The file stays at its beginning."""
    head = file.read(64)
    file.seek(0)
    return head[4:].startswith(HEIF) and b"avif" not in head


def costly(file: BinaryIO) -> str | None:
    """Why an image takes very long to decode, or None; the file stays at its beginning."""
    head = file.read(PNM_HEAD)
    problem = None
    if head.startswith(PNM) and len(head) == PNM_HEAD and not PNM_SIZE.match(head):
        problem = f"does not say its size in its first {PNM_HEAD} bytes"
    elif head.startswith(JPEG) and not _has_one_scan(file):
        file.seek(0)
        n_scans = sum(piece.count(SCAN) for piece in iter(partial(file.read, 2**20), b""))
        if n_scans > MOST_SCANS:
            problem = f"is made of {n_scans} scans, of at most {MOST_SCANS}"
    file.seek(0)
    return problem


def _has_one_scan(file: BinaryIO) -> bool:
    """Whether the first scan of a JPEG holds all its channels, after which libjpeg stops."""
    file.seek(len(JPEG))
    n_channels = 0
    while head := file.read(4):
        marker, length = head[:2], int.from_bytes(head[2:])
        if marker == SCAN:
            return 0 < n_channels == int.from_bytes(file.read(1))
        if marker in SEQUENTIAL:
            n_channels = int.from_bytes(file.read(6)[5:])
            length -= 6
        elif marker not in HARMLESS:
            return False
        file.seek(max(length - 2, 0), 1)
    return False


def is_other_container(file: BinaryIO) -> bool:
    """Whether a file begins like a video that is neither mp4 nor mov."""
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
    try:
        if len(boxes) > MOST_BOXES:
            broken(f"is made of more than {MOST_BOXES} pieces")
        if n_searched > MOST_SEARCHED:
            broken(f"has {n_searched} bytes that are neither pictures nor sounds")
        announced = _announced(file, places, n_bytes)
    except ValueError as error:
        reject(f"{owner}: {str(path)!r} {error}. Expected an undamaged video: convert it.")
    file.seek(0)
    what = f"{owner}: the index of the {announced} frames of {str(path)!r}"
    require_memory(BYTES_OF_INDEX * announced, what, "Cut the video into shorter ones.")


def _announced(file: BinaryIO, places: list[tuple[int, int]], n_bytes: int) -> int:
    """Sum of the numbers in all tables."""
    announced = 0
    for count, (name, at) in enumerate(_tables(file, places)):
        if name == PACKED:
            broken("has a packed header, as no mp4 or mov of this century has")
        has_long_size = _number(file, at - 4) == 1
        announced += _number(file, at + TABLES[name] + 8 * has_long_size)
        # Half a byte per frame: old sound comes close to it, no picture does.
        if announced > 2 * n_bytes:
            broken(f"announces {announced} frames or sounds in {n_bytes} bytes")
        if count >= MOST_BOXES:
            broken(f"has more than {MOST_BOXES} tables of frames")
    return announced


def _tables(file: BinaryIO, places: list[tuple[int, int]]) -> Iterator[tuple[bytes, int]]:
    """Name and place of each table; FFmpeg finds them in odd places, too."""
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
    file.seek(place)
    return file.read(n_bytes)
