"""Numbers to be drawn: as many as there should be, and all of them finite."""

from __future__ import annotations

from collections.abc import Sized
from typing import Any

import numpy as np

from setwise._support.types import FloatArray
from setwise.errors import DataError

__all__ = ["finite", "matrix", "same_length", "some"]


def some(owner: str, **named: Sized) -> None:
    """Refuse what is empty."""
    for name, values in named.items():
        if not len(values):
            msg = f"{owner}: {name} is empty. Expected at least one entry to draw."
            raise DataError(msg)


def same_length(owner: str, **named: Sized) -> None:
    """Refuse sequences that should go together and have different lengths."""
    lengths = {name: len(values) for name, values in named.items()}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{n} in {name}" for name, n in lengths.items())
        msg = f"{owner}: {found}. Expected as many in each."
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


def matrix(owner: str, name: str, values: Any) -> FloatArray:
    """The values as rows and columns of finite numbers, at least one of each."""
    numbers = finite(owner, name, values)
    if numbers.ndim != 2 or not numbers.size:
        msg = f"{owner}: {name} has the shape {numbers.shape}. Expected rows and columns."
        raise DataError(msg)
    return numbers
