"""ETH-80 as it is published: one MATLAB file of sets, and one of splits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise.errors import reject
from setwise.io.archives import array_of
from setwise.io.datasets.places import find
from setwise.io.datasets.protocols import Fold, random_folds
from setwise.io.mat import load_mat
from setwise.sets import SetBatch

__all__ = ["eth80_folds", "eth80_original"]

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


def _object_order(path: Path) -> npt.NDArray[np.int64]:
    """Objects of each split and class, from 0: five of the gallery, then five probes.

    The MATLAB file was never read here. Its layout, a cell ``random_index`` of ten matrices
    of 8 classes x 10 objects from 1, is that of the code that goes with it; what does not
    have it is refused.
    """
    if path.suffix == ".npz":
        order = array_of(path, "object_order")
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
