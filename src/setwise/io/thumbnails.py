"""Small pictures of images, by which people recognise them."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["SIDE", "fitted_size", "small_jpeg"]

# The longest side, in pixels.
SIDE = 64
QUALITY = 80


def fitted_size(size: tuple[int, int], side: int = SIDE) -> tuple[int, int]:
    """The ``(width, height)`` of an image whose longest side is at most ``side``.

    Examples
    --------
    >>> fitted_size((4000, 3000)), fitted_size((20, 30))
    ((64, 48), (20, 30))
    """
    longest = max(size)
    if longest <= side:
        return size
    width, height = (max(1, round(length * side / longest)) for length in size)
    return width, height


def small_jpeg(image: Image) -> bytes:
    """A JPEG of at most 64 x 64 pixels, in colour, of a grey or coloured image, and no more."""
    from PIL import Image as pillow

    # Whole pixels are added up first, which is much faster.
    size, method = fitted_size(image.size), pillow.Resampling.BILINEAR
    small = image.resize(size, method, reducing_gap=1.0)
    if small.mode != "YCbCr":  # as which JPEG has its colours
        small = small.convert("RGB")
    # Pillow writes the profile and comment that it finds there.
    small.info = {}
    buffer = io.BytesIO()
    small.save(buffer, "JPEG", quality=QUALITY)
    return buffer.getvalue()
