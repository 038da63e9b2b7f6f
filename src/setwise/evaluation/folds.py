"""Folds for cross-validation that split no set or group and spread every class."""

from __future__ import annotations

from typing import Any

import numpy as np

from setwise._support.parameters import is_whole, refuse
from setwise._support.types import IntArray
from setwise.errors import reject
from setwise.sets.identifiers import as_identifiers, is_missing, unique_identifiers

ALWAYS_GALLERY = -1  # in place of a fold: sets of a class with a single group


def fold_of_sets(
    codes: IntArray,
    folds: int,
    *,
    groups: Any = None,
    seed: int = 0,
    caller: str = "fold_of_sets",
) -> IntArray:
    """The fold in which each set is judged, by a gallery of the sets of all other folds.

    The largest groups are dealt first, each to the fold that has the smallest share of its
    classes. A class with a single group stays in every gallery: its sets get
    ``ALWAYS_GALLERY``, and the rest of that group is dealt as usual. Without ``groups``, each
    set is one.
    """
    if not is_whole(folds) or folds < 2:
        refuse(caller, "folds", "an int of at least 2", folds)
    group_codes = _group_codes(groups, len(codes), caller)
    sets_of = np.zeros((group_codes.max() + 1, codes.max() + 1), dtype=np.int64)
    np.add.at(sets_of, (group_codes, codes), 1)
    is_single = (sets_of > 0).sum(axis=0) == 1  # classes with one group
    sets_of[:, is_single] = 0
    n_groups = int(sets_of.any(axis=1).sum())
    if n_groups < folds:
        what = "sets" if groups is None else "groups"
        reject(
            f"{caller}: {folds} folds cannot be made of {n_groups} {what} of classes that have "
            f"more than one. Expected at least one of the {what} per fold: give more, or fewer "
            "folds."
        )
    fold_of_group = _deal(sets_of, folds, np.random.default_rng(seed), caller)
    return np.where(is_single[codes], ALWAYS_GALLERY, fold_of_group[group_codes])


def _group_codes(groups: Any, n_sets: int, caller: str) -> IntArray:
    if groups is None:
        return np.arange(n_sets)
    values = as_identifiers(groups, f"{caller}: groups")
    if values.shape != (n_sets,) or is_missing(values).any():
        reject(
            f"{caller}: groups must hold one value for each of the {n_sets} sets, none "
            f"missing, got an array of shape {values.shape}."
        )
    return unique_identifiers(values, f"{caller}: groups")[2]


def _deal(sets_of: IntArray, folds: int, rng: np.random.Generator, caller: str) -> IntArray:
    """The fold of each group, from its number of sets of each class."""
    fold_of_group = np.zeros(len(sets_of), dtype=np.int64)
    n_in_fold = np.zeros((folds, sets_of.shape[1]), dtype=np.int64)
    n_in_class = np.maximum(sets_of.sum(axis=0), 1)
    order = rng.permutation(len(sets_of))
    for group in order[np.argsort(-sets_of[order].sum(axis=1), kind="stable")]:
        after = n_in_fold + sets_of[group]
        # A class that is in one fold alone would be missing in the gallery of that fold.
        n_whole = (after == n_in_class).sum(axis=1)
        share = ((after**2 - n_in_fold**2) / n_in_class**2).sum(axis=1)
        fold = int(np.lexsort((n_in_fold.sum(axis=1), share.round(12), n_whole))[0])
        fold_of_group[group], n_in_fold[fold] = fold, after[fold]
    if ((n_in_fold == n_in_class) & (sets_of.sum(axis=0) > 0)).any():
        reject(
            f"{caller}: the groups cannot be dealt to {folds} folds so that every class is in "
            "two of them. Expected groups that divide the classes differently: give smaller "
            "groups, more folds, or another seed."
        )
    return fold_of_group
