"""Labels and set ids: kept as they are given, and what splits a gallery by them."""

from __future__ import annotations

import datetime
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.parameters import check_count, is_whole
from setwise._support.types import Array, BoolArray, IntArray
from setwise.errors import reject

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
MOST_LETTERS = 100  # of a class; longer names do not fit into tables and pages
INTEGER, NUMBER = r"[+-]?[0-9]{1,20}", r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?"


def as_identifiers(values: Any, who: str) -> Array:
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


def is_missing(array: Array) -> BoolArray:
    """Whether each value is None, NaN, NaT or pandas.NA."""
    if array.dtype == object:
        return np.array([_is_missing(value) for value in array], dtype=np.bool_)
    return array != array  # true of NaN and NaT alone


def unique_identifiers(array: Array, who: str) -> tuple[Array, IntArray, IntArray]:
    """Sorted distinct values, the first place of each, and the code of each entry."""
    try:
        values, first, inverse = np.unique(array, return_index=True, return_inverse=True)
        is_mixed = array.dtype == object and {"bool"} < _kinds(array)
    except (TypeError, ValueError):
        is_mixed = True
    if is_mixed:  # NumPy takes True for 1
        kinds = " and ".join(sorted(_kinds(array)))
        reject(f"{who} mix {kinds}. Expected one type that can be sorted.")
    return values, first, inverse.astype(np.int64)


def join_labels(old: Array, new: Array, caller: str) -> Array:
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


def same_label(labels: Array, label: Any) -> BoolArray:
    """Whether each label equals the given one, in kind too: True is not 1, nor 1 a 1.0."""
    kind = _kind(label)
    is_same = [_kind(known) == kind and bool(known == label) for known in labels]
    return np.array(is_same, dtype=np.bool_)


def json_label(label: Any) -> Any:
    """A label in JSON types; dates and the like become text."""
    value = label.item() if isinstance(label, np.generic) else label
    return value if value is None or isinstance(value, str | int | float) else str(value)


def typed_label(
    given: str, classes: Array, reserved: str | None = None, where: str = ""
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


def _kinds(array: Array) -> set[str]:
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


def gallery_probe_split(
    labels: npt.ArrayLike, n_gallery: int, *, rng: np.random.Generator | int | None = None
) -> tuple[IntArray, IntArray]:
    """Choose ``n_gallery`` sets of every class as gallery; the others are probes.

    Sets are never divided. Returned are the ascending indices of both.

    Parameters
    ----------
    labels : array of shape (n_sets,)
        Class of each set.
    n_gallery : int
        Gallery sets per class, which must have more.
    rng : Generator or int, optional
        Source of randomness.

    Examples
    --------
    >>> gallery, probes = gallery_probe_split(["a", "a", "b", "b"], 1, rng=0)
    >>> len(gallery), len(probes)
    (2, 2)
    """
    caller = "gallery_probe_split"
    check_count(caller, "n_gallery", n_gallery)
    generator = np.random.default_rng(rng)
    known = as_identifiers(labels, f"{caller}: labels")
    if known.ndim != 1 or len(known) == 0 or is_missing(known).any():
        expected = "of shape (n_sets,), one per set and none missing"
        got = f"{known.dtype} of shape {known.shape}"
        reject(f"{caller}: labels must be {expected}, got {got}.")
    classes, _, codes = unique_identifiers(known, f"{caller}: labels")
    chosen: list[Any] = []
    for code, label in enumerate(classes.tolist()):
        members = np.flatnonzero(codes == code)
        if len(members) <= n_gallery:
            reject(
                f"{caller}: class {label!r} has {len(members)} sets. Expected at least "
                f"{n_gallery + 1}: {n_gallery} for the gallery and one to probe."
            )
        chosen.append(generator.choice(members, size=n_gallery, replace=False))
    gallery = np.sort(np.concatenate(chosen))
    return gallery, np.setdiff1d(np.arange(len(codes)), gallery)


def gallery_probe_splits(
    labels: npt.ArrayLike, n_gallery: int, n_splits: int, *, seed: int = 0
) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield ``n_splits`` independent random splits, for ``cross_val_score(cv=...)`` too.

    Split ``i`` depends on ``seed`` and ``i`` alone, not on how many are asked for.

    Examples
    --------
    >>> from setwise import gallery_probe_splits
    >>> [(g.tolist(), p.tolist()) for g, p in gallery_probe_splits(["a", "a", "b", "b"], 1, 1)]
    [([1, 3], [0, 2])]
    """
    for i in range(n_splits):
        source = np.random.SeedSequence(seed, spawn_key=(i,))
        yield gallery_probe_split(labels, n_gallery, rng=np.random.default_rng(source))


def remaining_sets(
    labels: Any,
    sets: Any,
    *,
    classes: Array,
    codes: IntArray,
    names: Sequence[str],
    caller: str,
) -> BoolArray:
    """Whether each set of a gallery stays when classes and single sets are forgotten."""
    for parameter, given in (("labels", labels), ("sets", sets)):
        is_scalar = isinstance(given, np.ndarray) and given.ndim == 0
        if is_scalar or isinstance(given, str) or not isinstance(given, Iterable):
            expected = f"a sequence, got {given!r}. Write [{given!r}]"
            reject(f"{caller}: {parameter} must be {expected}.")
    stays = np.ones(len(codes), dtype=bool)
    for label in labels:
        is_same = same_label(classes, label)
        if not is_same.any():
            known = ", ".join(map(repr, classes[:10].tolist()))
            what = f"there is no class {label!r} in the gallery"
            reject(f"{caller}: {what}. Expected one of {known}.")
        stays &= codes != int(is_same.argmax())
    for which in sets:
        stays[_place_of(which, names, caller)] = False
    if not stays.any():
        expected = "at least one set to stay; fit a new classifier instead"
        reject(f"{caller}: nothing would be left of the gallery. Expected {expected}.")
    return stays


def _place_of(which: Any, names: Sequence[str], caller: str) -> int:
    """The place of the set that a name or a number stands for."""
    if is_whole(which):
        if not 0 <= which < len(names):
            reject(f"{caller}: there is no set number {which}. Expected 0 to {len(names) - 1}.")
        return int(which)
    is_name = isinstance(which, str)  # an array would be compared entry by entry
    places = [i for i, name in enumerate(names) if is_name and name == which]
    if len(places) != 1:
        what = f"there is {f'{len(places)} sets' if places else 'no set'} named {which!r}"
        expected = "the name of one set, or its place in the gallery"
        reject(f"{caller}: {what} in the gallery. Expected {expected}.")
    return places[0]
