"""The real datasets and their protocols, read from ../shared/data or $SETWISE_DATA."""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from setwise import SetBatch

ROOT = Path(__file__).resolve().parents[1]


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
    # Plain mutual-subspace nearest neighbour on raw pixels, from the data's README.
    plain_subspace: float


def _eth80(table, folder: Path):
    order = np.load(folder / "eth80_splits.npz", allow_pickle=False)["object_order"]
    sets_of = [np.flatnonzero(table["set_labels"] == c) for c in range(8)]
    for fold in order:
        gallery = np.concatenate([sets_of[c][fold[c, :5]] for c in range(8)])
        probes = np.concatenate([sets_of[c][fold[c, 5:]] for c in range(8)])
        yield gallery, probes


def _by_subset(table, folder: Path):
    subset = table["set_subset"]
    for one in np.unique(subset):
        yield np.flatnonzero(subset == one), np.flatnonzero(subset != one)


def _pairs_of_quadrants(table, folder: Path):
    labels = table["set_labels"]
    quadrant = np.zeros(len(labels), dtype=int)
    for c in np.unique(labels):
        quadrant[labels == c] = np.arange((labels == c).sum())
    for pair in itertools.combinations(range(4), 2):
        in_gallery = np.isin(quadrant, pair)
        yield np.flatnonzero(in_gallery), np.flatnonzero(~in_gallery)


def _given(table, folder: Path):
    is_test = table["set_is_test"].astype(bool)
    yield np.flatnonzero(~is_test), np.flatnonzero(is_test)


# name -> (file, folds, plain subspace figure)
PROTOCOLS = {
    "eth80": ("eth80_20x20.npz", _eth80, 86.5),
    "yaleb": ("yaleb_24x21.npz", _by_subset, 88.4),
    "coil20": ("coil20_32x32.npz", _pairs_of_quadrants, 84.8),
    "hands": ("tsukuba_hand_24x24.npz", _given, 100.0),
    "vowels": ("japanese_vowels.npz", _given, 78.1),
}


def load(name: str) -> Dataset:
    """One dataset, by its name in PROTOCOLS."""
    folder = data_folder()
    if folder is None:
        msg = f"no datasets in {ROOT.parent / 'shared' / 'data'}; set SETWISE_DATA"
        raise FileNotFoundError(msg)
    file, folds, plain = PROTOCOLS[name]
    table = np.load(folder / file, allow_pickle=False)
    vectors = table["images"] if "images" in table else table["features"]
    sets = SetBatch.from_groups(
        vectors.reshape(len(vectors), -1).astype(np.float64), table["set_index"]
    )
    return Dataset(name, sets, table["set_labels"], list(folds(table, folder)), plain)
