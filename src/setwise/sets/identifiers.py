"""Labels and set ids as arrays, without the conversions NumPy makes silently."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.types import BoolArray, IntArray
from setwise.errors import DataError

__all__ = ["as_identifiers", "is_missing", "unique_identifiers"]


def as_identifiers(values: Any, who: str) -> npt.NDArray[Any]:
    """An array of what was given; a number or NaN among strings does not become a string."""
    try:
        array = np.asarray(values)
    except ValueError:
        msg = f"{who} is ragged. Expected one value each."
        raise DataError(msg) from None
    if array.dtype.kind in "US" and not isinstance(values, np.ndarray):
        original = np.asarray(values, dtype=object)
        if not all(isinstance(value, str | bytes) for value in original.flat):
            return original
    return array


def is_missing(array: npt.NDArray[Any]) -> BoolArray:
    """Where None, NaN, NaT or pandas.NA stands."""
    if array.dtype == object:
        return np.array([_is_missing(value) for value in array], dtype=np.bool_)
    return array != array  # true of NaN and NaT alone


def unique_identifiers(
    array: npt.NDArray[Any], who: str
) -> tuple[npt.NDArray[Any], IntArray, IntArray]:
    """Sorted distinct values, where each first stands, and which of them each entry is."""
    try:
        values, first, inverse = np.unique(array, return_index=True, return_inverse=True)
    except (TypeError, ValueError):
        kinds = sorted({type(value).__name__ for value in array.flat})
        msg = f"{who} mix {' and '.join(kinds)}. Expected one type that can be sorted."
        raise DataError(msg) from None
    return values, first, inverse.astype(np.int64)


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA will not say
        return True
    except ValueError:  # an array: not an identifier, but there
        return False


def join_labels(old, new, caller):  # TEMPORARY: taken from h-support at the merge
    return np.concatenate([old, new])


def same_label(labels, label):  # TEMPORARY
    return labels == label
