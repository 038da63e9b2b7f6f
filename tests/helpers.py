"""What several test files build or measure in the same way."""

from __future__ import annotations

import hashlib

import numpy as np


def unit_columns(rng: np.random.Generator, n_features: int, n_columns: int) -> np.ndarray:
    """Random directions, one per column."""
    columns = rng.standard_normal((n_features, n_columns))
    return columns / np.linalg.norm(columns, axis=0)


def low_rank_columns(
    rng: np.random.Generator, n_features: int, n_columns: int, rank: int
) -> np.ndarray:
    """Random unit columns inside a space of ``rank`` dimensions."""
    columns = rng.standard_normal((n_features, rank)) @ rng.standard_normal((rank, n_columns))
    return columns / np.linalg.norm(columns, axis=0)


def fingerprint(*arrays: np.ndarray) -> str:
    """A hash of values, shapes and types: equal before and after means untouched."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
