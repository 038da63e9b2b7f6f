"""Videos made on the spot, of frames that say their number."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

WIDTH, HEIGHT, STEP = 64, 48, 2
RATE = 10


def numbered_frame(number: int) -> np.ndarray:
    """A black frame with a white bar: its left edge is at ``STEP * number``."""
    pixels = np.zeros((HEIGHT, WIDTH, 3), dtype=np.uint8)
    pixels[:, STEP * number : STEP * number + 4] = 255
    return pixels


def number_of(image: np.ndarray) -> int:
    """Which frame this is, by where its bar is; images may be smaller than frames."""
    column = image.reshape(image.shape[0], image.shape[1], -1).mean(axis=(0, 2))
    centre = (column * (np.arange(len(column)) + 0.5)).sum() / column.sum()
    return round((centre * WIDTH / len(column) - 2) / STEP)


def numbered_frames(n_frames: int = 30) -> list[np.ndarray]:
    return [numbered_frame(i) for i in range(n_frames)]


def write_video(
    path: Path,
    frames,
    *,
    codec: str = "libx264",
    pixel_format: str = "yuv420p",
    metadata: dict[str, str] | None = None,
    **options,
) -> Path:
    """Write RGB or grey frames as a video of 10 a second; the suffix chooses the container."""
    import av

    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w", **options) as container:
        container.metadata.update(metadata or {})
        stream = container.add_stream(codec, rate=RATE)
        stream.height, stream.width = frames[0].shape[:2]
        stream.pix_fmt = pixel_format
        for pixels in frames:
            kind = "gray" if pixels.ndim == 2 else "rgb24"
            picture = av.VideoFrame.from_ndarray(np.ascontiguousarray(pixels), format=kind)
            container.mux(stream.encode(picture))
        container.mux(stream.encode())
    return path


def write_sound(path: Path) -> Path:
    """Write a tenth of a second of silence."""
    import av

    with av.open(str(path), "w") as container:
        stream = container.add_stream("pcm_s16le", rate=8000, layout="mono")
        sound = av.AudioFrame.from_ndarray(np.zeros((1, 800), dtype=np.int16), layout="mono")
        sound.sample_rate, sound.pts = 8000, 0
        container.mux(stream.encode(sound))
        container.mux(stream.encode())
    return path


def turned(path: Path, to: Path) -> Path:
    """A copy of an mp4 that asks to be shown a quarter turned clockwise."""
    content = bytearray(path.read_bytes())
    one = 1 << 16
    matrix = struct.pack(">9i", 0, one, 0, -one, 0, 0, 0, 0, 1 << 30)
    start = content.index(b"tkhd") + 44
    content[start : start + 36] = matrix
    to.write_bytes(content)
    return to
