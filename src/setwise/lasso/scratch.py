"""Room for kernels that make no arrays themselves, because that is slow to compile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.lasso.codes import Codes

__all__ = ["MAX_STEPS", "Scratch", "run_with_room"]

# Steps of one descent, more than any took.
MAX_STEPS = 100_000
# Atoms that a working set has room for at first, besides those of a start.
_ROOM = 64


class Scratch(NamedTuple):
    """What one call of a kernel writes to while it works.

    Attributes
    ----------
    floats : array of shape (8, n)
        Products, coefficients, signs, gradients, and what the descent needs.
    ints : array of shape (3, n)
        The working set, its active atoms, and the candidates.
    is_in : array of bool, shape (n,)
        Which candidates are in the working set.
    """

    floats: FloatArray
    ints: IntArray
    is_in: BoolArray


def run_with_room(
    run: Callable[[int, int, Scratch, tuple[Any, ...]], int],
    n_targets: int,
    cap: int,
    n: int,
    start: Codes,
) -> tuple[Codes, BoolArray]:
    """Codes, and whether each has converged, of a kernel that stops where it lacks room.

    Parameters
    ----------
    run : callable
        Goes on after so many targets, with matrices of so many atoms, scratch, and arrays
        for pointers, atoms, values, and whether each code has converged. Returns how many
        targets are done.
    n_targets : int
        How many there are.
    cap : int
        Atoms of a code at most.
    n : int
        Atoms that may come into a working set.
    start : Codes
        Codes that are started from.
    """
    scratch = Scratch(np.empty((8, n)), np.empty((3, n), np.int64), np.zeros(n, np.bool_))
    scratch.ints[2] = np.arange(n)
    pointers, has_converged = np.zeros(n_targets + 1, np.int64), np.zeros(n_targets, np.bool_)
    atoms, values = np.empty(n_targets * cap, np.int64), np.empty(n_targets * cap)
    n_done, room = 0, _ROOM + int(start.counts.max(initial=0))
    while n_done < n_targets:
        n_done = run(n_done, room, scratch, (pointers, atoms, values, has_converged))
        room *= 2
    n_used = pointers[-1]
    codes = Codes(np.diff(pointers), atoms[:n_used].copy(), values[:n_used].copy())
    return codes, has_converged
