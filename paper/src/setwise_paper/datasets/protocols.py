"""Datasets, and the rules that divide their sets into gallery and probes."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from setwise.errors import reject
from setwise.sets import SetBatch
from setwise_paper.support import IntArray, check_count

# Indices of the gallery sets and of the probes.
Fold: TypeAlias = tuple[IntArray, IntArray]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Sets with labels, and the folds of their protocol."""

    name: str
    sets: SetBatch
    labels: npt.NDArray[Any]
    folds: list[Fold]
    class_names: tuple[Any, ...]
    note: str

    def __repr__(self) -> str:
        return (
            f"Dataset {self.name!r}: {self.sets!r}, {len(self.class_names)} classes, "
            f"{len(self.folds)} folds"
        )


def random_folds(
    labels: npt.ArrayLike, n_gallery: int, n_folds: int, *, seed: int = 0
) -> list[Fold]:
    """Draw ``n_gallery`` random gallery sets of each class; all others are probes."""
    check_count("random_folds", "n_gallery", n_gallery)
    check_count("random_folds", "n_folds", n_folds)
    members = _members(labels, n_gallery, "random_folds")
    rng = np.random.default_rng(seed)
    n_sets = sum(map(len, members))
    folds = []
    for _ in range(n_folds):
        drawn = [rng.choice(sets, n_gallery, replace=False) for sets in members]
        gallery = np.sort(np.concatenate(drawn))
        folds.append((gallery, np.setdiff1d(np.arange(n_sets), gallery)))
    return folds


def spread_folds(
    labels: npt.ArrayLike, n_gallery: int, n_probes: int, n_folds: int, *, seed: int = 0
) -> list[Fold]:
    """Choose sets for each fold so that folds overlap as little as possible."""
    for name, value in (("n_gallery", n_gallery), ("n_probes", n_probes), ("n_folds", n_folds)):
        check_count("spread_folds", name, value)
    width = n_gallery + n_probes
    members = _members(labels, width, "spread_folds")
    rng = np.random.default_rng(seed)
    dealt = [np.resize(rng.permutation(sets), (n_folds, width)) for sets in members]
    return [
        (
            np.sort(np.concatenate([hand[fold, :n_gallery] for hand in dealt])),
            np.sort(np.concatenate([hand[fold, n_gallery:] for hand in dealt])),
        )
        for fold in range(n_folds)
    ]


def rotated_folds(parts: npt.ArrayLike) -> list[Fold]:
    """Make each part in turn the gallery, and all others the probes."""
    part = np.asarray(parts)
    return [
        (np.flatnonzero(part == value), np.flatnonzero(part != value))
        for value in np.unique(part)
    ]


def pair_folds(labels: npt.ArrayLike) -> list[Fold]:
    """Make every two sets of each class the gallery, by their place in the class."""
    members = _members(labels, 2, "pair_folds")
    place = np.zeros(sum(map(len, members)), dtype=np.int64)
    for sets in members:
        place[sets] = np.arange(len(sets))
    folds = []
    for pair in itertools.combinations(range(max(map(len, members))), 2):
        is_gallery = np.isin(place, pair)
        folds.append((np.flatnonzero(is_gallery), np.flatnonzero(~is_gallery)))
    return folds


def _members(labels: npt.ArrayLike, at_least: int, owner: str) -> list[IntArray]:
    """The sets of each class, classes in sorted order."""
    known = np.asarray(labels)
    members = []
    for label in np.unique(known):
        sets = np.flatnonzero(known == label)
        if len(sets) < at_least:
            reject(
                f"{owner}: class {str(label)!r} has {len(sets)} sets. Expected at least "
                f"{at_least}: leave the class out, or ask for fewer sets per fold."
            )
        members.append(sets)
    return members
