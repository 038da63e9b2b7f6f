"""Labels and set ids as arrays, without the conversions NumPy makes silently."""

from __future__ import annotations

import datetime
import re
import unicodedata
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.types import BoolArray, IntArray
from setwise.errors import DataError, reject

MOST_LETTERS = 100  # of a class; longer names do not fit into tables and pages
INTEGER, NUMBER = r"[+-]?[0-9]{1,20}", r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?"
# In this order: to Python, True is an int; to NumPy, a duration.
_KINDS: dict[str, tuple[type, ...]] = {
    "date": (np.datetime64, datetime.date),
    "duration": (np.timedelta64, datetime.timedelta),
    "bool": (bool, np.bool_),
    "int": (int, np.integer),
    "float": (float, np.floating),
    "str": (str,),
    "bytes": (bytes,),
}


def as_identifiers(values: Any, who: str) -> npt.NDArray[Any]:
    """An array of the values, of dtype object where NumPy would change them silently.

    NumPy turns numbers among strings into strings, True among ints into 1, ints of 63 bits
    among floats into floats, and drops zero characters at the end of strings.
    """
    try:
        array = np.asarray(values)
    except ValueError:
        reject(f"{who} is ragged. Expected one value each.")
    if isinstance(values, np.ndarray) or array.dtype.kind not in "USiuf":
        return array
    original = np.asarray(values, dtype=object)
    pairs = zip(original.flat, array.ravel().tolist(), strict=True)
    return array if all(_is_unchanged(*pair) for pair in pairs) else original


def is_missing(array: npt.NDArray[Any]) -> BoolArray:
    """Whether each value is None, NaN, NaT or pandas.NA."""
    if array.dtype == object:
        return np.array([_is_missing(value) for value in array], dtype=np.bool_)
    return array != array  # true of NaN and NaT alone


def unique_identifiers(
    array: npt.NDArray[Any], who: str
) -> tuple[npt.NDArray[Any], IntArray, IntArray]:
    """Sorted distinct values, the first place of each, and the code of each entry."""
    try:
        values, first, inverse = np.unique(array, return_index=True, return_inverse=True)
    except (TypeError, ValueError):
        raise DataError(_mixed(array, who)) from None
    if array.dtype == object and "bool" in _kinds(array) and len(_kinds(array)) > 1:
        raise DataError(_mixed(array, who))  # NumPy takes True for 1
    return values, first, inverse.astype(np.int64)


def _mixed(array: npt.NDArray[Any], who: str) -> str:
    kinds = " and ".join(sorted(_kinds(array)))
    return f"{who} mix {kinds}. Expected one type that can be sorted."


def join_labels(old: npt.NDArray[Any], new: npt.NDArray[Any], caller: str) -> npt.NDArray[Any]:
    """Labels of a gallery, then of more sets; refused where no type holds all unchanged."""
    if len(_kinds(old) | _kinds(new)) == 1:
        joined = np.concatenate([old, new])
        if joined.dtype.kind == "f" and old.dtype.kind in "iu":  # int64 and uint64
            joined = np.concatenate([old.astype(object), new.astype(object)])
        parts = (joined[: len(old)], old), (joined[len(old) :], new)
        # Days of the year 3000 cannot be told in nanoseconds.
        if all((part.astype(given.dtype) == given).all() for part, given in parts):
            return joined
    return reject(
        f"{caller}: the labels are of dtype {new.dtype}, those of the gallery of dtype "
        f"{old.dtype}. Expected labels of one kind: convert them."
    )


def same_label(labels: npt.NDArray[Any], label: Any) -> BoolArray:
    """Whether each label equals the given one, in kind too: True is not 1, nor 1 a 1.0."""
    kind = _kind(label)
    is_same = [_kind(known) == kind and bool(known == label) for known in labels]
    return np.array(is_same, dtype=np.bool_)


def typed_label(
    given: str, classes: npt.NDArray[Any], reserved: str | None = None, where: str = ""
) -> Any:
    """A typed name as a class of a gallery, or as a new one of the same type.

    Messages begin with ``where``; ``reserved`` is the answer for unknown sets, if there is one.
    """
    label, known = unicodedata.normalize("NFC", given).strip(), classes.tolist()
    for one in known:
        if str(one) in (given, label):
            return one
    if not label or not label.isprintable() or len(label) > MOST_LETTERS:
        reject(
            f"{where}{given!r} is no name of a class. Expected 1 to {MOST_LETTERS} letters "
            "without control characters."
        )
    if label == reserved:
        reject(f"{where}{label!r} is the answer for unknown sets. Choose another name.")
    if all(isinstance(one, str) for one in known):
        return label
    kind = classes.dtype.kind
    if kind in "iu" and re.fullmatch(INTEGER, label):
        limits = np.iinfo(f"{kind}8")
        if limits.min <= int(label) <= limits.max:
            return int(label)
    if kind == "f" and re.fullmatch(NUMBER, label) and float(label).is_integer():
        return float(label)
    names = "whole numbers" if kind in "iuf" else f"of dtype {classes.dtype}"
    return reject(f"{where}the names of this gallery are {names}, and {label!r} is none.")


def _kinds(array: npt.NDArray[Any]) -> set[str]:
    return {_kind(value) for value in array.flat}


def _kind(value: Any) -> str:
    """The kind of a label, NumPy's or Python's."""
    for kind, types in _KINDS.items():
        if isinstance(value, types):
            return kind
    return type(value).__name__


def _is_unchanged(value: Any, converted: Any) -> bool:
    """Whether NumPy has kept a value, NaN aside."""
    kinds = _kind(value), _kind(converted)
    if kinds == ("int", "float"):
        return bool(int(value) == converted)  # Python compares exactly
    return kinds[0] == kinds[1] and bool(value == converted or value != value)


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA will not say
        return True
    except ValueError:  # an array: not an identifier, but there
        return False
