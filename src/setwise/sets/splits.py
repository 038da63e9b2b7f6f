"""Which sets stand in the gallery: splits into gallery and probes, and forgotten sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.parameters import check_count, is_whole
from setwise._support.types import BoolArray, IntArray
from setwise.errors import reject
from setwise.sets.identifiers import as_identifiers, is_missing, same_label, unique_identifiers


def gallery_probe_split(
    labels: npt.ArrayLike, n_gallery: int, *, rng: np.random.Generator | int | None = None
) -> tuple[IntArray, IntArray]:
    """Choose ``n_gallery`` sets of every class as gallery; the others are probes.

    Sets are never divided, so frames of one clip stand on one side.

    Parameters
    ----------
    labels : array of shape (n_sets,)
        Class of each set.
    n_gallery : int
        Gallery sets per class, which must have more.
    rng : Generator or int, optional
        Source of randomness.

    Returns
    -------
    gallery, probes : arrays of int
        Indices of sets, ascending.

    Examples
    --------
    >>> gallery, probes = gallery_probe_split(["a", "a", "b", "b"], 1, rng=0)
    >>> len(gallery), len(probes)
    (2, 2)
    """
    check_count("gallery_probe_split", "n_gallery", n_gallery)
    generator = np.random.default_rng(rng)
    known = as_identifiers(labels, "gallery_probe_split: labels")
    if known.ndim != 1 or len(known) == 0 or is_missing(known).any():
        reject(
            "gallery_probe_split: labels must be of shape (n_sets,), one per set and none "
            f"missing, got {known.dtype} of shape {known.shape}."
        )
    classes, _, codes = unique_identifiers(known, "gallery_probe_split: labels")
    chosen: list[Any] = []
    for code, label in enumerate(classes.tolist()):
        members = np.flatnonzero(codes == code)
        if len(members) <= n_gallery:
            reject(
                f"gallery_probe_split: class {label!r} has {len(members)} sets. Expected "
                f"at least {n_gallery + 1}: {n_gallery} for the gallery and one to probe."
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
    >>> for gallery, probes in gallery_probe_splits(["a", "a", "b", "b"], 1, n_splits=2):
    ...     print(gallery, probes)
    [1 3] [0 2]
    [1 3] [0 2]
    """
    for i in range(n_splits):
        source = np.random.SeedSequence(seed, spawn_key=(i,))
        yield gallery_probe_split(labels, n_gallery, rng=np.random.default_rng(source))


def remaining_sets(
    labels: Any,
    sets: Any,
    *,
    classes: npt.NDArray[Any],
    codes: IntArray,
    names: Sequence[str],
    caller: str,
) -> BoolArray:
    """Whether each set of a gallery stays when classes and single sets are forgotten."""
    for parameter, given in (("labels", labels), ("sets", sets)):
        if isinstance(given, str) or not isinstance(given, Iterable):
            reject(
                f"{caller}: {parameter} must be a sequence, got {given!r}. Write [{given!r}]."
            )
    stays = np.ones(len(codes), dtype=bool)
    for label in labels:
        stays &= codes != _code_of(label, classes, caller)
    for which in sets:
        stays[_place_of(which, names, caller)] = False
    if not stays.any():
        reject(
            f"{caller}: nothing would be left of the gallery. Expected at least one set to "
            "stay; fit a new classifier instead."
        )
    return stays


def _code_of(label: Any, classes: npt.NDArray[Any], caller: str) -> int:
    """The place of a label among the classes."""
    is_same = same_label(classes, label)
    if not is_same.any():
        known = ", ".join(map(repr, classes[:10].tolist()))
        reject(
            f"{caller}: there is no class {label!r} in the gallery. Expected one of {known}."
        )
    return int(is_same.argmax())


def _place_of(which: Any, names: Sequence[str], caller: str) -> int:
    """The place of the set that a name or a number stands for."""
    if is_whole(which):
        if not 0 <= which < len(names):
            reject(f"{caller}: there is no set number {which}. Expected 0 to {len(names) - 1}.")
        return int(which)
    places = [i for i, name in enumerate(names) if name == which]
    if len(places) != 1:
        number = f"{len(places)} sets" if places else "no set"
        reject(
            f"{caller}: there is {number} named {which!r} in the gallery. Expected the name of "
            "one set, or its place in the gallery."
        )
    return places[0]
