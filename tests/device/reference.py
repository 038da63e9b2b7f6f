"""The device's loops in plain NumPy: what the Triton kernels are compared with.

And a device that runs them: Triton's interpreter takes milliseconds for each step of a loop.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.device.host import Host


def choose(gradients, owns, pools, counts, cutoffs, n, stride, share, *, MOST, SAMPLE, TILE):
    for t, row in enumerate(np.abs(gradients)):
        row = row.copy()
        if owns[t] < n:
            row[owns[t]] = 0.0
        sample = row[: SAMPLE * stride : stride]
        room = MOST - counts[t]
        wanted = int(room * share / stride)
        low, high = 0.0, sample.max()
        for _ in range(24):
            middle = 0.5 * (low + high)
            if (sample > middle).sum() > wanted:
                low = middle
            else:
                high = middle
        cutoff = high if n > room else 0.0
        places = np.flatnonzero(row > cutoff)
        pools[t, counts[t] : counts[t] + len(places)] = places[:room]
        cutoffs[t] = cutoff if len(places) <= room else np.inf
        counts[t] += min(len(places), room)


def descend(H, gradients, a, counts, penalty, tolerance, most, *, SIZE):
    for t in range(len(H)):
        g, x, rows = gradients[t].copy(), a[t], H[t]
        square, is_atom = np.diag(rows), np.arange(SIZE) < counts[t]
        for _ in range(most):
            target = g + square * x
            size = np.maximum(np.abs(target) - penalty, 0.0) / square
            change = np.where(is_atom, np.where(target > 0, size, -size) - x, 0.0)
            j = np.abs(change).argmax()
            x[j] += change[j]
            g -= change[j] * rows[j]
            if abs(change[j]) <= tolerance:
                break


def strongest(gradients, values, places, n, *, STRIPS, TILE):
    strip = np.arange(n) // TILE % STRIPS
    for t, row in enumerate(np.abs(gradients)):
        for s in range(STRIPS):
            inside = np.flatnonzero(strip == s)
            if len(inside):
                places[t, s] = inside[row[inside].argmax()]
                values[t, s] = row[places[t, s]]
            else:
                places[t, s], values[t, s] = 0, -1.0


class PlainHost(Host):
    """A device that runs these."""

    def run(self, kernel: str, n_programs: int, *arguments: Any, **constants: Any) -> None:
        constants.pop("num_warps", None)
        if n_programs:
            {"choose": choose, "descend": descend, "strongest": strongest}[kernel](
                *arguments, **constants
            )
