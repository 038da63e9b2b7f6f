"""The real datasets and their protocols, read from ../shared/data or $SETWISE_DATA."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from setwise import SetBatch
from setwise_paper.datasets import load as load_dataset

ROOT = Path(__file__).resolve().parents[1]

# Plain mutual-subspace nearest neighbour on raw pixels, from the data's README.
PLAIN_SUBSPACE = {"eth80": 86.5, "yaleb": 88.4, "coil20": 84.8, "hands": 100.0, "vowels": 78.1}
PROTOCOLS = tuple(PLAIN_SUBSPACE)


def data_folder() -> Path | None:
    """Where the datasets are, or None."""
    named = os.environ.get("SETWISE_DATA")
    folder = Path(named) if named else ROOT.parent / "shared" / "data"
    return folder if (folder / "eth80_20x20.npz").is_file() else None


@dataclass(frozen=True)
class Dataset:
    """Sets with labels, and the (gallery, probes) folds of its protocol."""

    name: str
    sets: SetBatch
    labels: np.ndarray
    folds: list[tuple[np.ndarray, np.ndarray]]
    plain_subspace: float | None


def load(name: str) -> Dataset:
    """One dataset, as floats, with classes as numbers in the order of its source."""
    folder = data_folder()
    if folder is None:
        msg = f"no datasets in {ROOT.parent / 'shared' / 'data'}; set SETWISE_DATA"
        raise FileNotFoundError(msg)
    found = load_dataset(name, folder)
    sets = SetBatch(
        found.sets.vectors.astype(np.float64),
        found.sets.offsets,
        found.sets.names,
        image_shape=found.sets.image_shape,
    )
    labels = np.array([found.class_names.index(label) for label in found.labels])
    return Dataset(name, sets, labels, found.folds, PLAIN_SUBSPACE.get(name))
