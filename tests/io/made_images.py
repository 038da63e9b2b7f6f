"""Image files made on the spot."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
from PIL import Image

ORIENTATION, EXIF, TIME, SUB_SECONDS = 0x0112, 0x8769, 0x9003, 0x9291


def scene(seed: int = 0, height: int = 48, width: int = 64, colour: bool = False) -> np.ndarray:
    """A smooth picture that differs from seed to seed and has no symmetry."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width] / 16
    channels = [
        100 + 10 * x + 20 * np.sin(x * a + b) + 30 * np.cos(y * c)
        for a, b, c in rng.uniform(0.3, 1.0, (3, 3))
    ]
    picture = np.stack(channels, axis=-1) if colour else channels[0]
    return picture.clip(0, 255).astype(np.uint8)


def write(path: Path, pixels: np.ndarray | None = None, **options: object) -> Path:
    """Save pixels, a scene named after the path by default; folders are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if pixels is None:
        pixels = scene(zlib.crc32(path.name.encode()))
    Image.fromarray(pixels).save(path, **options)
    return path


def photo(
    path: Path, time: str | None = None, fraction: str = "", orientation: int = 1
) -> Path:
    """Save a JPEG with EXIF tags."""
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    if time is not None:
        tags = exif.get_ifd(EXIF)
        tags[TIME] = time
        if fraction:
            tags[SUB_SECONDS] = fraction
    return write(path, exif=exif)


def damaged_exif(path: Path) -> Path:
    """A good JPEG whose EXIF block ends in the middle of its first tag."""
    whole = write(path, scene()).read_bytes()
    block = b"Exif\0\0II*\0\x08\0\0\0\x05\0\x12\x01"
    segment = b"\xff\xe1" + (len(block) + 2).to_bytes(2, "big") + block
    path.write_bytes(whole[:2] + segment + whole[2:])
    return path


def tree(root: Path, *paths: str) -> Path:
    """A folder with an image at each path."""
    for path in paths:
        write(root / path)
    return root


def files(root: Path, *paths: str) -> Path:
    """A folder with an empty file at each path."""
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).touch()
    return root


def heic(kind: bytes = b"heic") -> bytes:
    """How a photo of a phone begins, and no more of it."""
    return b"\0\0\0\x18ftyp" + kind + b"\0\0\0\0mif1heic" + bytes(1000)


def chunk(kind: bytes, content: bytes) -> bytes:
    """One chunk of a PNG."""
    checksum = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", checksum)


def png(width: int, height: int, *extra: bytes, n_rows: int | None = None) -> bytes:
    """A PNG of black bits and further chunks; of ``n_rows`` where its height is to be a lie."""
    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    row = bytes(1 + (width + 7) // 8)
    packer = zlib.compressobj(9)
    rows = range(height if n_rows is None else n_rows)
    pixels = b"".join(packer.compress(row) for _ in rows) + packer.flush()
    return b"".join([
        b"\x89PNG\r\n\x1a\n", chunk(b"IHDR", header), *extra, chunk(b"IDAT", pixels),
        chunk(b"IEND", b""),
    ])  # fmt: skip
