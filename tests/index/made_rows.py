"""Rows to search: unit vectors of one number per feature, and keys with gaps."""

from __future__ import annotations

import numpy as np


def random_rows(n_rows: int, n_features: int = 64, seed: int = 0) -> np.ndarray:
    """Directions that are all alike far apart: the hardest there are."""
    rows = np.random.default_rng(seed).standard_normal((n_rows, n_features), dtype=np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def clustered_rows(n_rows: int, n_features: int = 64, seed: int = 0) -> np.ndarray:
    """Directions in groups of ten."""
    rng = np.random.default_rng(seed)
    centres = np.repeat(random_rows(-(-n_rows // 10), n_features, seed), 10, axis=0)[:n_rows]
    rows = centres + 0.1 * rng.standard_normal(centres.shape, dtype=np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def keys_of(rows: np.ndarray) -> np.ndarray:
    """Ascending keys, not all of them in use."""
    return 3 * np.arange(len(rows), dtype=np.int64) + 7


def published(index, rows, keys):
    """The index of a gallery that was fitted and saved."""
    built = index.build(rows, keys)
    built.publish()
    return built


def opened(index, rows, keys):
    """The index of a gallery that was loaded."""
    return index.open(rows, keys, {})
