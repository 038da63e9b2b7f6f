"""A minimal DNG, the public RAW format, made by hand: a preview, and the mosaic of a sensor."""

from __future__ import annotations

import io
import struct
from pathlib import Path

import numpy as np
from PIL import Image

SIZES = {"B": 1, "H": 3, "I": 4}
MOSAIC = (64, 48)


def made_dng(
    path: Path, preview: Image.Image, *, orientation: int = 1, taken: str = ""
) -> Path:
    """Write a DNG with this preview."""
    content = io.BytesIO()
    preview.save(content, "JPEG", quality=90)
    jpeg = content.getvalue()
    jpeg += b"\0" * (len(jpeg) % 2)
    mosaic = np.random.default_rng(0).integers(0, 4000, MOSAIC, dtype=np.uint16).tobytes()
    places = [0] * 5
    for _ in range(2):  # lengths first, then places
        tables = [
            _table(places[0], [
                (254, "I", [1]), (256, "I", [preview.width]), (257, "I", [preview.height]),
                (258, "H", [8, 8, 8]), (259, "H", [7]), (262, "H", [6]), (271, "", b"Setwise"),
                (272, "", b"Test"), (273, "I", [places[3]]), (274, "H", [orientation]),
                (277, "H", [3]), (278, "I", [preview.height]), (279, "I", [len(jpeg)]),
                (330, "I", [places[1]]), (34665, "I", [places[2]]), (50706, "B", [1, 4, 0, 0]),
                (50708, "", b"Setwise Test"),
            ]),
            _table(places[1], [
                (254, "I", [0]), (256, "I", [MOSAIC[0]]), (257, "I", [MOSAIC[1]]),
                (258, "H", [16]), (259, "H", [1]), (262, "H", [32803]), (273, "I", [places[4]]),
                (277, "H", [1]), (278, "I", [MOSAIC[1]]), (279, "I", [len(mosaic)]),
                (33421, "H", [2, 2]), (33422, "B", [0, 1, 1, 2]),
            ]),
            _table(places[2], [(36867, "", taken.encode())] if taken else []),
            jpeg,
            mosaic,
        ]  # fmt: skip
        places = [8 + sum(map(len, tables[:i])) for i in range(5)]
    path.write_bytes(b"II*\0" + struct.pack("<I", 8) + b"".join(tables))
    return path


def _table(place: int, entries: list[tuple[int, str, list[int] | bytes]]) -> bytes:
    """A directory of TIFF and what does not fit into its entries."""
    made, behind = struct.pack("<H", len(entries)), b""
    begin = place + 6 + 12 * len(entries)
    for tag, kind, given in entries:
        values = given + b"\0" if kind == "" else struct.pack(f"<{len(given)}{kind}", *given)
        field = values.ljust(4, b"\0")
        if len(values) > 4:
            field = struct.pack("<I", begin + len(behind))
            behind += values + b"\0" * (len(values) % 2)
        n_values = len(values) if kind == "" else len(given)
        made += struct.pack("<HHI", tag, SIZES.get(kind, 2), n_values) + field
    return made + struct.pack("<I", 0) + behind
