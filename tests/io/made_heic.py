"""A photo as phones write it: one HEVC frame in a HEIF container, box by box."""

from __future__ import annotations

import io
import struct

import numpy as np


def box(kind: bytes, *content: bytes) -> bytes:
    whole = b"".join(content)
    return struct.pack(">I", 8 + len(whole)) + kind + whole


def full_box(kind: bytes, version: int, flags: int, *content: bytes) -> bytes:
    return box(kind, struct.pack(">I", version << 24 | flags), *content)


def hevc_frame(pixels: np.ndarray) -> tuple[bytes, bytes]:
    """How a decoder is set up for a frame of RGB pixels, and the frame."""
    import av

    film = io.BytesIO()
    with av.open(film, "w", format="mp4") as container:
        stream = container.add_stream("libx265", rate=1)
        stream.height, stream.width = pixels.shape[:2]
        stream.pix_fmt = "yuv420p"
        stream.options = {"x265-params": "log-level=none:keyint=1:crf=8:pools=1"}
        frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(pixels), format="rgb24")
        container.mux(stream.encode(frame))
        container.mux(stream.encode())
    content = film.getvalue()
    setup = _box_content(content, b"hvcC")
    film.seek(0)
    with av.open(film) as container:
        packet = next(container.demux(container.streams.video[0]))
        return setup, bytes(packet)


def heic_file(pixels: np.ndarray, announced: tuple[int, int] | None = None) -> bytes:
    """A HEIC of RGB pixels, whose header announces another (width, height) where asked to."""
    setup, frame = hevc_frame(pixels)
    width, height = announced or pixels.shape[1::-1]
    kind = box(b"ftyp", b"heic", bytes(4), b"mif1heic")
    handler = full_box(b"hdlr", 0, 0, bytes(4), b"pict", bytes(13))
    primary = full_box(b"pitm", 0, 0, struct.pack(">H", 1))
    entry = full_box(b"infe", 2, 0, struct.pack(">HH", 1, 0), b"hvc1", b"\0")
    items = full_box(b"iinf", 0, 0, struct.pack(">H", 1), entry)
    properties = box(
        b"iprp",
        box(
            b"ipco",
            box(b"hvcC", setup),
            full_box(b"ispe", 0, 0, struct.pack(">II", width, height)),
        ),
        full_box(b"ipma", 0, 0, struct.pack(">IHBBB", 1, 1, 2, 0x81, 0x02)),
    )

    def meta(start: int) -> bytes:
        place = struct.pack(">BBHHHHII", 0x44, 0, 1, 1, 0, 1, start, len(frame))
        return full_box(
            b"meta", 0, 0, handler, primary, full_box(b"iloc", 0, 0, place), items, properties
        )

    start = len(kind) + len(meta(0)) + 8
    return kind + meta(start) + box(b"mdat", frame)


def _box_content(content: bytes, kind: bytes) -> bytes:
    at = content.index(kind)
    size = struct.unpack(">I", content[at - 4 : at])[0]
    return content[at + 4 : at - 4 + size]
