"""Which sets of a gallery stay when some are forgotten."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.parameters import is_whole
from setwise._support.types import BoolArray, IntArray
from setwise.errors import reject
from setwise.sets.identifiers import same_label

__all__ = ["remaining_sets"]


def remaining_sets(
    labels: Any,
    sets: Any,
    *,
    classes: npt.NDArray[Any],
    codes: IntArray,
    names: Sequence[str],
    caller: str,
) -> BoolArray:
    """Whether each set of a gallery stays when classes and single sets are forgotten.

    Parameters
    ----------
    labels : sequence of labels
        Classes all of whose sets go.
    sets : sequence of str or int
        Single sets that go, by their names or their places in the gallery.
    classes, codes, names
        Of the gallery: its labels, the class code of each set, the name of each set.
    caller : str
        Who asks, for messages.

    Raises
    ------
    DataError
        For a class or set that the gallery does not have, and where nothing would stay.

    Examples
    --------
    >>> import numpy as np
    >>> gallery = {"classes": np.array(["anna", "bert"]), "codes": np.array([0, 1, 0, 1])}
    >>> names = ("a", "b", "c", "d")
    >>> remaining_sets(["anna"], ["d"], **gallery, names=names, caller="forget").tolist()
    [False, True, False, False]
    """
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
