"""Known datasets from the files at hand, with the folds of their protocols."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from setwise._support.parameters import check_known
from setwise.errors import reject
from setwise.io.archives import array_of
from setwise.io.arrays import load_arrays
from setwise.io.datasets.eth80 import eth80_folds, eth80_original
from setwise.io.datasets.honda import load_honda
from setwise.io.datasets.mobo import load_mobo
from setwise.io.datasets.places import find, missing, places
from setwise.io.datasets.protocols import Dataset, Fold, pair_folds, rotated_folds
from setwise.io.datasets.registry import SOURCES
from setwise.sets import SetBatch

__all__ = ["PREPARED", "load"]

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

    Nothing is ever downloaded here; `setwise.io.datasets.fetch` does that, when asked.

    Parameters
    ----------
    name : str
        ``"eth80"``, ``"eth80-64"``, ``"yaleb"``, ``"coil20"``, ``"hands"``, ``"vowels"``,
        ``"honda"`` or ``"mobo"``; or the name of an ``.npz`` archive of yours without its
        ending, which `setwise.load_arrays` can read. Such sets have no folds.
    folder : path, optional
        Where to look; ``$SETWISE_DATA`` by default, then the cache of this user.

    Returns
    -------
    Dataset
        Sets, labels and folds; its ``note`` says which file was read and which folds they are.

    Raises
    ------
    DataError
        When no copy is at hand; the message says where it looked, and the ways out.

    Examples
    --------
    >>> from setwise.io.datasets import load
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
    folds = rotated_folds(array_of(path, "set_subset"))
    return folds, "gallery = one range of light, probes = the others, rotated"


def _quadrants(sets: SetBatch, path: Path, folders: Sequence[Path]) -> tuple[list[Fold], str]:
    folds = pair_folds(np.asarray(sets.labels))
    return folds, "2 gallery and 2 probe quadrants, all six pairs"


def _given(sets: SetBatch, path: Path, folders: Sequence[Path]) -> tuple[list[Fold], str]:
    is_test = array_of(path, "set_is_test").astype(bool)
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
