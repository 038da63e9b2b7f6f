"""A small dataset on disk that is read like the Tsukuba hands: images with a given split."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from tests.striped_sets import striped_sets

from setwise_paper.datasets.known import PREPARED


def write_hands(folder: Path, n_sets: int = 4, seed: int = 0, **changes) -> Path:
    """Write ``n_sets`` sets of each of three classes; every second one is a probe."""
    sets = striped_sets(n_sets, seed)
    classes, codes = np.unique(sets.labels, return_inverse=True)
    table = {
        "images": sets.images,
        "set_index": np.repeat(np.arange(len(sets)), sets.sizes).astype(np.int32),
        "set_labels": codes,
        "class_names": classes,
        "set_names": np.array([f"hand {i}" for i in range(len(sets))]),
        "set_is_test": (np.arange(len(sets)) // 3) % 2 == 1,
        **changes,
    }
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(folder / PREPARED["hands"].file, **table)
    return folder
