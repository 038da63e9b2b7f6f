"""Numbers to be drawn: as many as there should be, and all of them finite."""

from __future__ import annotations

from collections.abc import Sized
from typing import Any

import numpy as np

from setwise._support.types import FloatArray
from setwise.errors import DataError

__all__ = ["finite", "some"]


def some(owner: str, **named: Sized) -> None:
    """Refuse what is empty."""
    for name, values in named.items():
        if not len(values):
            msg = f"{owner}: {name} is empty. Expected at least one entry to draw."
            raise DataError(msg)


def finite(owner: str, name: str, values: Any) -> FloatArray:
    """The values as an array of finite numbers."""
    try:
        numbers = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        msg = (
            f"{owner}: {name} holds something that is no number, or rows of different lengths."
        )
        raise DataError(msg) from None
    if not np.isfinite(numbers).all():
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(numbers))[0])
        where = place[0] if len(place) == 1 else place
        msg = f"{owner}: {name} holds {numbers[place]} at {where}. Expected finite numbers."
        raise DataError(msg)
    return numbers
