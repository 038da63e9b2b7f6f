"""Images as bytes that can be drawn, whatever numbers they are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["as_pixels"]


def as_pixels(image: npt.NDArray[Any], *, is_many: bool = False) -> npt.NDArray[np.uint8]:
    """Bytes of one image, or of many, in one or three channels."""
    values = np.asarray(image)
    if values.ndim - is_many == 3 and values.shape[-1] != 3:
        # One channel, an alpha channel, or something that only its maker can show.
        values = values[..., :3] if values.shape[-1] == 4 else values.mean(axis=-1)
    if values.dtype == np.uint8:
        return values
    values = np.nan_to_num(values.astype(np.float64))
    low, high = float(values.min(initial=0)), float(values.max(initial=0))
    if low < 0 or high > 255:
        values = (values - low) / (high - low)
        high = 1.0
    return np.rint(values * (255 if high <= 1 else 1)).astype(np.uint8)
