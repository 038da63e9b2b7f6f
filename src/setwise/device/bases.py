"""Singular vectors of thousands of sets at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from setwise._support.types import FloatArray
from setwise.device.devices import Device

# The squares of singular values are what is computed. One of less than this share of the
# first has lost half of its digits, and cannot be distinguished from round-off.
_SURE = 1e-6


def principal_directions_of_all(
    device: Device, sets: Sequence[FloatArray], most: int, *, centred: bool
) -> list[FloatArray | None]:
    """First singular vectors of each set, as columns, by one decomposition for all.

    With the signs of :func:`setwise.basis.principal_directions`, which they equal to rounding.

    None for sets that may have fewer than ``most``, and are better left to the processor.
    """
    directions: list[FloatArray | None] = [None] * len(sets)
    sizes = np.array([len(vectors) for vectors in sets])
    for size in np.unique(sizes[sizes > most]):
        of_size = np.flatnonzero(sizes == size)
        width = sets[of_size[0]].shape[1]
        step = max(1, device.block_bytes // (8 * 4 * int(size) * (width + int(size))))
        for i in range(0, len(of_size), step):
            block = of_size[i : i + step]
            found, is_sure = _of_equal(device, [sets[j] for j in block], most, centred)
            for j, columns, is_fine in zip(block, found, is_sure, strict=True):
                directions[j] = columns if is_fine else None
    return directions


def _of_equal(
    device: Device, sets: list[FloatArray], most: int, centred: bool
) -> tuple[Any, Any]:
    """The same of sets of one size, and which of them are sure."""
    xp = device.xp
    vectors = device.put(np.stack(sets))
    if centred:
        vectors = vectors - xp.mean(vectors, axis=1, keepdims=True)
    squares, mixtures = xp.linalg.eigh(xp.matmul(vectors, xp.permute_dims(vectors, (0, 2, 1))))
    # Largest first.
    squares, mixtures = xp.flip(squares, axis=1), xp.flip(mixtures, axis=2)
    is_sure = squares[:, most - 1] > _SURE**2 * squares[:, 0]
    coordinates = mixtures[:, :, :most]
    kept = xp.matmul(xp.permute_dims(vectors, (0, 2, 1)), coordinates)
    kept = kept / xp.linalg.vector_norm(kept, axis=1, keepdims=True)
    lean = xp.sum(coordinates**3, axis=1)
    first = xp.argmax(xp.abs(kept), axis=1, keepdims=True)
    largest = xp.take_along_axis(kept, first, axis=1)[:, 0]
    signs = xp.sign(xp.where(xp.abs(lean) > 1e-9, lean, largest))
    return device.get(kept * signs[:, None, :]), device.get(is_sure)
