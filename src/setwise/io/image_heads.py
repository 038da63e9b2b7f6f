"""How images begin, looked at before Pillow: some are small and still take it very long."""

from __future__ import annotations

import re
from functools import partial
from typing import BinaryIO

__all__ = ["costly", "is_heif"]

# How a JPEG begins, and how each of its scans does. A scan goes over all pixels, and may be of
# a few bytes. Programs make at most some 20; libtiff has the same limit for JPEGs inside of it.
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
# The kinds of HEIC, after the word that such files begin with. Some have a name that AVIF has,
# too, which then names itself further on.
HEIF = tuple(b"ftyp" + kind for kind in (
    b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs", b"mif1", b"msf1",
))  # fmt: skip


def is_heif(file: BinaryIO) -> bool:
    """Whether a file is HEIC, as phones write it; it is left at its beginning."""
    head = file.read(64)
    file.seek(0)
    return head[4:].startswith(HEIF) and b"avif" not in head


def costly(file: BinaryIO) -> str | None:
    """Why decoding an image would take very long however few pixels it has, if it would.

    The file is left where it was found, at its beginning.
    """
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
