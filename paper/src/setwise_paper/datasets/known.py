"""Known datasets from files at hand, with the folds of their protocols."""

from __future__ import annotations

import itertools
import os
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from setwise.errors import DataError, reject
from setwise.io import load_arrays, load_mat
from setwise.sets import SetBatch
from setwise_paper.datasets.sources import SOURCES, find, missing, places
from setwise_paper.support import IntArray, check_count, check_known

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


CLASSES = ("apple", "car", "cow", "cup", "dog", "horse", "pear", "tomato")
# The cars of ETH-80 are not numbered from 1 to 10; the published splits count them like this.
CARS = (1, 2, 3, 11, 5, 6, 7, 12, 9, 14)
OBJECTS = [(name, n) for name in CLASSES for n in (CARS if name == "car" else range(1, 11))]
# Which objects of a class, in the order of their numbers, demo-ETH.mat has as ETH_train and as
# ETH_test: found by comparing its images with those of the original collection.
TRAIN, TEST = (1, 4, 9, 7, 2), (3, 8, 6, 5, 0)
SPLITS_NPZ, SPLITS_MAT = "eth80_splits.npz", "random_index_eth80.mat"


def eth80_original(path: Path) -> SetBatch:
    """Read ``demo-ETH.mat``: 80 sets in the order of the objects, class by class."""
    both = load_mat(path, ["ETH_train", "ETH_test"], image_shape=(20, 20))
    if len(both) != 80:
        reject(f"{path}: holds {len(both)} sets. Expected the 80 of ETH-80, 10 in 8 classes.")
    numbers = {name: sorted(n for c, n in OBJECTS if c == name) for name in CLASSES}
    held = [
        (name, numbers[name][i]) for part in (TRAIN, TEST) for name in CLASSES for i in part
    ]
    batch = both.take([held.index(key) for key in OBJECTS])
    names = [f"{name}{n}" for name, n in OBJECTS]
    labels = np.array([name for name, _ in OBJECTS])
    return batch.replaced(names=names, labels=labels)


def eth80_folds(labels: npt.NDArray[Any], folders: Sequence[Path]) -> tuple[list[Fold], str]:
    """The ten published splits where they are at hand, else ten random ones; and which."""
    path = find(SPLITS_NPZ, folders) or find(SPLITS_MAT, folders)
    if path is None:
        return random_folds(labels, 5, 10, seed=0), (
            f"ten random splits (seed 0), for neither {SPLITS_NPZ} nor {SPLITS_MAT} is here"
        )
    sets_of = [np.flatnonzero(labels == name) for name in CLASSES]
    folds = []
    for order in _object_order(path):
        drawn = [sets[objects] for sets, objects in zip(sets_of, order, strict=True)]
        gallery = np.concatenate([objects[:5] for objects in drawn])
        probes = np.concatenate([objects[5:] for objects in drawn])
        folds.append((gallery, probes))
    return folds, f"the ten published splits of {path.name}"


def _array(path: Path, key: str) -> npt.NDArray[Any]:
    """One array of an archive of NumPy."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            if key not in archive:
                reject(f"{path}: has no array {key!r}.")
            return np.asarray(archive[key])
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        if isinstance(error, DataError):
            raise
        return reject(f"{path}: cannot be read: {error}. Expected an archive of NumPy.", error)


def _object_order(path: Path) -> npt.NDArray[np.int64]:
    """Objects of each split and class, from 0: five of the gallery, then five probes."""
    if path.suffix == ".npz":
        order = _array(path, "object_order")
    else:
        matrices = load_mat(path, "random_index", vectors="rows")
        n = len(matrices)
        order = matrices.vectors.reshape(n, -1, matrices.n_features) - 1
    is_order = order.shape == (10, 8, 10) and (np.sort(order) == np.arange(10)).all()
    if not is_order:
        reject(
            f"{path}: holds an array of shape {order.shape}. Expected 10 splits of 8 classes, "
            "each an order of its 10 objects."
        )
    return order.astype(np.int64)


# How many of the 59 sets, in their order, each of the 20 subjects has, by the settings of the
# code that goes with the file. Subject 19 has one only, and is never a probe.
SETS_OF_SUBJECT = (3, 3, 3, 2, 5, 2, 2, 3, 4, 3, 4, 3, 3, 5, 3, 3, 2, 3, 1, 2)


def load_honda(
    path: str | os.PathLike[str],
    *,
    labels: npt.ArrayLike | None = None,
    n_folds: int = 10,
    seed: int = 0,
) -> Dataset:
    """Read Honda/UCSD from ``honda_heq.mat``, with the paper's folds."""
    sets = load_mat(path, "ImgData", image_shape=(20, 20))
    known = np.repeat([f"subject{i}" for i in range(1, 21)], SETS_OF_SUBJECT)
    if labels is not None:
        known = np.asarray(labels)
    if known.shape != (len(sets),):
        expected = f"labels of {known.shape}" if labels is not None else "the known order of 59"
        reject(
            f"{os.fspath(path)}: ImgData holds {len(sets)} sets, which does not fit "
            f"{expected}. Expected one subject per set: give them as labels."
        )
    return Dataset(
        "honda",
        sets.replaced(labels=known),
        known,
        random_folds(known, 1, n_folds, seed=seed),
        tuple(dict.fromkeys(known.tolist())),
        f"{os.fspath(path)}; {n_folds} random folds (seed {seed}), one gallery set per "
        "subject.",
    )


def load_mobo(
    path: str | os.PathLike[str],
    *,
    only_complete: bool = True,
    n_folds: int = 10,
    seed: int = 0,
) -> Dataset:
    """Read CMU MoBo from ``MOBO.mat``, with the paper's folds."""
    sets = load_mat(path, "MOBO")
    if sets.labels is None:
        reject(
            f"{os.fspath(path)}: MOBO is a row of {len(sets)} sets. Expected a cell array with "
            "one row per subject, 25 x 4."
        )
    subjects, counts = np.unique(sets.labels, return_counts=True)
    complete = subjects[counts == counts.max()]
    kept = complete if only_complete else subjects
    batch = sets.take(np.flatnonzero(np.isin(sets.labels, kept)))
    labels = np.array([f"subject{subject}" for subject in np.asarray(batch.labels)])
    left_out = ", ".join(f"subject{s}" for s in np.setdiff1d(subjects, kept)) or "none"
    return Dataset(
        "mobo",
        batch.replaced(labels=labels),
        labels,
        random_folds(labels, 1, n_folds, seed=seed),
        tuple(f"subject{subject}" for subject in kept),
        f"{os.fspath(path)}; {n_folds} random folds (seed {seed}), one gallery set per "
        f"subject; left out: {left_out}.",
    )


# Folds of the sets that were read from a file, and what to say of them. The folders are where
# more files may be.
Protocol: TypeAlias = Callable[[SetBatch, Path, Sequence[Path]], tuple[list[Fold], str]]


@dataclass(frozen=True)
class Prepared:
    """A prepared archive, the protocol of its sets, and the original where it can be read."""

    file: str
    protocol: Protocol
    original: str | None = None
    read_original: Callable[[Path], SetBatch] | None = None


def load(name: str, folder: str | os.PathLike[str] | None = None) -> Dataset:
    """Read a known dataset that is at hand, with the folds of its protocol.

    A name is one of those of `SOURCES`, or that of an ``.npz`` archive of yours, without its
    ending, which `setwise.load_arrays` can read; such sets have no folds. Nothing is ever
    downloaded here. The folder is ``$SETWISE_DATA`` by default, then the cache of this user.

    Examples
    --------
    >>> from setwise_paper.datasets import load
    >>> data = load("eth80")  # doctest: +SKIP
    >>> gallery, probes = data.folds[0]  # doctest: +SKIP
    """
    folders = places(folder)
    if name in PREPARED:
        return _load_prepared(name, PREPARED[name], folders)
    if name in PAPER:
        file = SOURCES[name].files[0].name
        path = find(file, folders)
        if path is None:
            raise missing(name, [file], folders, can_fetch=True)
        return PAPER[name](path)
    if find(f"{name}.npz", folders) is not None:
        return _load_prepared(name, Prepared(f"{name}.npz", _none), folders)
    where = ", ".join(map(str, folders))
    check_known("load", f"archive {name}.npz in {where}, nor a dataset", name, SOURCES)
    return reject(f"{SOURCES[name].title} has a loader of its own. {SOURCES[name].note}")


def _load_prepared(name: str, known: Prepared, folders: Sequence[Path]) -> Dataset:
    path = find(known.file, folders)
    if path is not None:
        sets: SetBatch = load_arrays(path)
    else:
        original = None if known.original is None else find(known.original, folders)
        if original is None or known.read_original is None:
            files = [known.file] + ([known.original] if known.original else [])
            raise missing(name, files, folders, can_fetch=known.original is not None)
        path, sets = original, known.read_original(original)
    if sets.labels is None:
        reject(f"{path}: has no labels. Expected one per set, in 'set_labels'.")
    folds, which = known.protocol(sets, path, folders)
    class_names = tuple(dict.fromkeys(sets.labels.tolist()))
    return Dataset(name, sets, sets.labels, folds, class_names, f"{path}; {which}.")


def _published(sets: SetBatch, path: Path, folders: Sequence[Path]) -> tuple[list[Fold], str]:
    return eth80_folds(np.asarray(sets.labels), folders)


def _light(sets: SetBatch, path: Path, folders: Sequence[Path]) -> tuple[list[Fold], str]:
    folds = rotated_folds(_array(path, "set_subset"))
    return folds, "gallery = one range of light, probes = the others, rotated"


def _quadrants(sets: SetBatch, path: Path, folders: Sequence[Path]) -> tuple[list[Fold], str]:
    folds = pair_folds(np.asarray(sets.labels))
    return folds, "2 gallery and 2 probe quadrants, all six pairs"


def _given(sets: SetBatch, path: Path, folders: Sequence[Path]) -> tuple[list[Fold], str]:
    is_test = _array(path, "set_is_test").astype(bool)
    return [(np.flatnonzero(~is_test), np.flatnonzero(is_test))], "the given split"


def _none(sets: SetBatch, path: Path, folders: Sequence[Path]) -> tuple[list[Fold], str]:
    return [], "without folds"


PREPARED: dict[str, Prepared] = {
    "eth80": Prepared("eth80_20x20.npz", _published, "demo-ETH.mat", eth80_original),
    "eth80-64": Prepared("eth80_64x64.npz", _published),
    "yaleb": Prepared("yaleb_24x21.npz", _light),
    "coil20": Prepared("coil20_32x32.npz", _quadrants),
    "hands": Prepared("tsukuba_hand_24x24.npz", _given),
    "vowels": Prepared("japanese_vowels.npz", _given),
}
PAPER: dict[str, Callable[[Path], Dataset]] = {"honda": load_honda, "mobo": load_mobo}
