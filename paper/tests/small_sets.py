"""A small dataset on disk that is read like the Tsukuba hands: images with a given split."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.striped_sets import striped_sets, stripes

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


def write_objects(
    folder: Path, n_classes: int, n_sets: int, n_views: int, size: int, seed: int = 0
) -> Path:
    """Write ``objects.npz``, stripes of one direction per class, and return the folder."""
    rng = np.random.default_rng(seed)
    angles = np.repeat(np.pi * np.arange(n_classes) / n_classes, n_sets)
    labels = [f"class {i // n_sets}" for i in range(n_classes * n_sets)]
    images = [stripes(angle, n_views, rng, (size, size)) for angle in angles]
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        folder / "objects.npz",
        images=np.concatenate(images),
        set_index=np.repeat(np.arange(len(angles)), n_views).astype(np.int32),
        set_labels=np.array(labels),
        set_names=np.array([f"{label}/object {i}" for i, label in enumerate(labels)]),
    )
    return folder


def objects_at_hand(**shape):
    """A fixture: for all tests of a module, ``$SETWISE_DATA`` is a folder of objects."""

    @pytest.fixture(scope="module", autouse=True)
    def at_hand(tmp_path_factory):
        folder = write_objects(tmp_path_factory.mktemp("objects"), **shape)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SETWISE_DATA", str(folder))
            yield folder

    return at_hand
