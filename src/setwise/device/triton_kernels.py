"""The loops that run on the device, one program for each problem, written in Triton.

Triton's interpreter runs them without a GPU (``TRITON_INTERPRET=1``), which is how the tests
see them. Everything else is products of matrices (:mod:`setwise.device.lasso`).
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def choose(
    gradients, owns, pools, counts, cutoffs, n, stride, share,
    MOST: tl.constexpr, SAMPLE: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Fill each pool up to ``MOST`` with places of the row whose gradient exceeds a cutoff.

    A row has ``n`` gradients without place ``owns``; pools begin with ``counts`` atoms.
    Bisection on a sample of the row, whose places are ``stride`` apart, finds the cutoff that
    fills ``share`` of the room; it is infinite where more gradients exceed it than there is
    room for.
    """
    t = tl.program_id(0).to(tl.int64)
    row, own = gradients + t * n, tl.load(owns + t)
    count = tl.load(counts + t)
    wanted = ((MOST - count) * share / stride).to(tl.int32)
    place = tl.arange(0, SAMPLE) * stride
    sample = tl.abs(tl.load(row + place, mask=(place < n) & (place != own), other=0.0))
    high = tl.max(sample, axis=0)
    low = high * 0.0
    for _ in range(24):
        middle = 0.5 * (low + high)
        is_low = tl.sum((sample > middle).to(tl.int32), axis=0) > wanted
        low = tl.where(is_low, middle, low)
        high = tl.where(is_low, high, middle)
    # A gradient of zero belongs in no pool: those of atoms in use are set to it.
    cutoff = tl.where(n > MOST - count, high, 0.0)
    for first in range(0, n, TILE):
        j = first + tl.arange(0, TILE)
        size = tl.abs(tl.load(row + j, mask=j < n, other=0.0))
        is_in = (size > cutoff) & (j != own)
        slot = count + tl.cumsum(is_in.to(tl.int32), axis=0) - 1
        tl.store(pools + t * MOST + slot, j.to(tl.int64), mask=is_in & (slot < MOST))
        count += tl.sum(is_in.to(tl.int32), axis=0)
    # Where there was no room for all, nothing is known of atoms that were left out.
    tl.store(cutoffs + t, tl.where(count > MOST, float("inf"), cutoff))
    tl.store(counts + t, tl.minimum(count, MOST))


@triton.jit
def descend(H, gradients, a, counts, penalty, tolerance, most, SIZE: tl.constexpr):
    """Greedy coordinate descent of a lasso on its Gram matrix, from ``a``.

    The coordinate that moves farthest moves, until none would by more than ``tolerance``, or
    ``most`` times. The gradient stays in registers; each step reads one row of ``H``.
    """
    t = tl.program_id(0).to(tl.int64)
    lane = tl.arange(0, SIZE)
    is_atom = lane < tl.load(counts + t)
    rows = H + t * SIZE * SIZE
    square = tl.load(rows + lane * (SIZE + 1))
    g = tl.load(gradients + t * SIZE + lane)
    x = tl.load(a + t * SIZE + lane)
    farthest, step = tolerance + 1.0, 0
    while (farthest > tolerance) & (step < most):
        target = g + square * x
        size = tl.maximum(tl.abs(target) - penalty, 0.0) / square
        change = tl.where(is_atom, tl.where(target > 0, size, -size) - x, 0.0)
        farthest, j = tl.max(tl.abs(change), axis=0, return_indices=True)
        moved = tl.sum(tl.where(lane == j, change, 0.0), axis=0)
        x += tl.where(lane == j, moved, 0.0)
        g -= moved * tl.load(rows + j * SIZE + lane)
        step += 1
    tl.store(a + t * SIZE + lane, x)


@triton.jit
def strongest(gradients, values, places, n, STRIPS: tl.constexpr, TILE: tl.constexpr):
    """The largest gradient in each of a few strips of a row, and where it is.

    Strip ``s`` has ``TILE`` columns of every ``STRIPS * TILE``: one pass finds several large
    ones.
    """
    t = tl.program_id(0).to(tl.int64)
    inside = tl.arange(0, STRIPS)[:, None] * TILE + tl.arange(0, TILE)[None, :]
    best = tl.full([STRIPS, TILE], -1.0, gradients.dtype.element_ty)
    where = inside * 0
    for first in range(0, n, STRIPS * TILE):
        j = first + inside
        size = tl.abs(tl.load(gradients + t * n + j, mask=j < n, other=0.0))
        is_better = (size > best) & (j < n)
        best = tl.where(is_better, size, best)
        where = tl.where(is_better, j, where)
    top, lane = tl.max(best, axis=1, return_indices=True)
    is_top = tl.arange(0, TILE)[None, :] == lane[:, None]
    strip = tl.arange(0, STRIPS)
    tl.store(values + t * STRIPS + strip, top)
    place = tl.sum(tl.where(is_top, where, 0), axis=1)
    tl.store(places + t * STRIPS + strip, place.to(tl.int64))
