"""Exact lasso codes of more columns than a Gram matrix of them would fit in memory.

The gradients ``D'r`` of a block of columns are one product in float32, and rank the atoms. Each
column is then solved in float64 on its *pool*, a few hundred atoms of largest gradient. Outside
the pool, atoms are unit vectors whose gradient was at most ``cutoff``:

    ``|d_j'r_new| <= |d_j'r_old| + ||r_new - r_old|| <= cutoff + moved``.

Where that stays below the penalty, the code is optimal over all atoms. The rest of the
distance, the *margin*, says how far a probe may move the residual before more than the pool
must be looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, count

import numpy as np
import numpy.typing as npt

from setwise._support.compiled import kernels_of
from setwise._support.parallel import in_threads
from setwise._support.progress import reported
from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.lasso.solver import Codes, Start, run_with_room, warn_of_steps

POOL_SIZE = 256  # atoms a column is solved on at first
# Columns whose gradients are computed at once, and how many bytes they may take.
_BLOCK, BLOCK_BYTES = 256, 2**27
SLACK = 1e-5  # more than rounding to float32 does to a gradient of unit vectors

Rows = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Pools:
    """Likely atoms of each code: the first ``counts`` of each row of ``atoms``.

    Every old atom outside the pool is at least ``margins`` away from entering the code.

    Examples
    --------
    >>> from setwise.lasso import Pools
    >>> Pools(np.array([[1, 2]], dtype=np.int32), np.array([2]), np.zeros(1)).counts
    array([2])
    """

    atoms: npt.NDArray[np.int32]
    counts: IntArray
    margins: FloatArray

    def take(self, chosen: IntArray) -> Pools:
        """Some of the pools, in the order asked for."""
        return Pools(self.atoms[chosen], self.counts[chosen], self.margins[chosen])

    def replaced(self, targets: IntArray, new: Pools) -> Pools:
        """The pools of ``targets`` (ascending) replaced by new ones; those beyond are added."""
        n = len(self.counts)
        source = np.arange(n + int((targets >= n).sum()))
        source[targets] = n + np.arange(len(targets))
        return Pools.join([self, new]).take(source)

    def with_atoms(self, gradients: FloatArray, penalty: float, first: int) -> Pools:
        """Pools that know of new atoms, numbered from ``first``, of these gradients.

        One nearer than a pool's margin joins it; without room, the margin shrinks.
        """
        atoms, counts, margins = self.atoms.copy(), self.counts.copy(), self.margins.copy()
        target, new = np.nonzero(gradients > penalty - margins[:, None])
        for t, j in zip(target, new, strict=True):
            if counts[t] < atoms.shape[1]:
                atoms[t, counts[t]] = first + j
                counts[t] += 1
            else:
                margins[t] = max(0.0, min(margins[t], penalty - gradients[t, j]))
        return Pools(atoms, counts, margins)

    def without_atoms(self, is_kept: BoolArray) -> Pools:
        """Pools after some atoms are gone and the others renumbered."""
        is_used = np.arange(self.atoms.shape[1]) < self.counts[:, None]
        is_used &= is_kept[self.atoms]
        order = np.argsort(~is_used, axis=1, kind="stable")
        number = (np.cumsum(is_kept) - 1).astype(np.int32)
        atoms = number[np.take_along_axis(self.atoms, order, axis=1)]
        return Pools(atoms, is_used.sum(axis=1), self.margins)

    @staticmethod
    def join(parts: list[Pools]) -> Pools:
        """One after the other."""
        width = max(part.atoms.shape[1] for part in parts)
        atoms = [np.pad(p.atoms, ((0, 0), (0, width - p.atoms.shape[1]))) for p in parts]
        counts, margins = zip(*((p.counts, p.margins) for p in parts), strict=True)
        return Pools(np.concatenate(atoms), np.concatenate(counts), np.concatenate(margins))


def code_changed(
    rows: Rows, extra: Rows, targets: IntArray, penalty: float, start: Codes, before: Rows,
    pools: Pools,
) -> tuple[Codes, Rows, Pools]:  # fmt: skip
    """Codes of columns whose atoms have changed, on all the others, see :func:`code_blocks`.

    ``before`` are the residuals that the ``pools`` were made for. Columns are solved on their
    pools and all extra columns. Where the residual moves by more than the margin, all atoms are
    looked at; where one of them could enter, the column is solved again.

    Examples
    --------
    >>> from setwise.lasso import Codes, code_blocks, code_changed
    >>> rows, targets = np.eye(2, dtype=np.float32), np.arange(2)
    >>> known = code_blocks(rows, rows[:0], targets, 0.1, Codes.none(2), rows)
    >>> code_changed(rows, np.float32([[0.6, 0.8]]), targets, 0.1, *known)[0].counts
    array([2, 2])
    """
    codes, residuals = _code_in_pools(rows, extra, targets, penalty, start, pools)
    margins = pools.margins - np.linalg.norm(residuals - before, axis=1)
    for block in _blocks(np.flatnonzero(margins < 0), len(rows)):
        outside = kernels_of("setwise.lasso", "pool_kernels").largest_outside(
            residuals[block] @ rows.T, targets[block], pools.atoms[block], pools.counts[block]
        )
        margins[block] = penalty - outside - SLACK
    unsure = np.flatnonzero(margins < 0)
    known = Pools(pools.atoms, pools.counts, np.maximum(margins, 0.0))
    if not len(unsure):
        return codes, residuals, known
    new, residuals[unsure], found = code_blocks(
        rows, extra, targets[unsure], penalty, codes.take(unsure), residuals[unsure]
    )
    return codes.replaced(unsure, new), residuals, known.replaced(unsure, found)


def _blocks(chosen: IntArray, n_rows: int) -> list[IntArray]:
    """As many at a time as fit in a block of gradients."""
    size = max(1, min(_BLOCK, BLOCK_BYTES // (4 * max(1, n_rows))))
    return np.split(chosen, np.arange(size, len(chosen), size)) if len(chosen) else []


def code_blocks(
    rows: Rows, extra: Rows, targets: IntArray, penalty: float, start: Codes, residuals: Rows,
    *, n_jobs: int | None = None,
) -> tuple[Codes, Rows, Pools]:  # fmt: skip
    """Codes of some columns, ``targets``, on all the others, by blocks, in ``n_jobs`` threads.

    ``rows`` are unit columns, as rows, and ``extra`` more of them, numbered after the first.
    ``start`` has a code for each target, which changes the time, not the result; ``residuals``
    are what the starts leave, for empty ones the columns themselves.

    Examples
    --------
    >>> from setwise.lasso import Codes, code_blocks
    >>> rows = np.array([[1.0, 0.0], [0.6, 0.8]], dtype=np.float32)
    >>> code_blocks(rows, rows[:0], np.arange(2), 0.1, Codes.none(2), rows)[0].counts
    array([1, 1])
    """

    def solve(block: IntArray) -> tuple[Codes, Rows, Pools]:
        return _code_block(
            rows, extra, targets[block], penalty, start.take(block), residuals[block]
        )

    blocks = _blocks(np.arange(len(targets)), len(rows)) or [np.arange(0)]
    solved = reported(
        in_threads(solve, blocks, n_jobs), len(blocks), f"lasso graph of {len(targets)} columns"
    )
    codes, left, pools = zip(*solved, strict=True)
    return Codes.join(list(codes)), np.concatenate(left), Pools.join(list(pools))


def _code_block(
    rows: Rows, extra: Rows, targets: IntArray, penalty: float, codes: Codes, residuals: Rows
) -> tuple[Codes, Rows, Pools]:
    """Rank all atoms, solve on the best, and again, until what was left out cannot enter."""
    parts: list[tuple[IntArray, Codes, Rows, Pools]] = []
    waiting = np.arange(len(targets))
    for pool_size in _pool_sizes(len(rows)):
        gradients = residuals @ rows.T
        atoms, counts, cutoffs = kernels_of("setwise.lasso", "pool_kernels").choose_pools(
            gradients, targets[waiting], pool_size
        )
        pools = Pools(atoms, counts, penalty - cutoffs - SLACK)
        before = residuals
        codes, residuals = _code_in_pools(rows, extra, targets[waiting], penalty, codes, pools)
        margins = pools.margins - np.linalg.norm(residuals - before, axis=1)
        is_done = (margins >= 0) | (counts == len(rows))
        done, left = np.flatnonzero(is_done), np.flatnonzero(~is_done)
        # Pools that had to grow are not kept whole: the rest of one is as if never compared.
        is_whole = counts[done] <= POOL_SIZE
        known = Pools(
            atoms[done, :POOL_SIZE],
            np.minimum(counts[done], POOL_SIZE),
            np.where(is_whole, np.maximum(margins[done], 0.0), 0.0),
        )
        parts.append((waiting[done], codes.take(done), residuals[done], known))
        if not len(left):
            break
        waiting, codes, residuals = waiting[left], codes.take(left), residuals[left]
    places = np.argsort(np.concatenate([place for place, *_ in parts]))
    return (
        Codes.join([code for _, code, _, _ in parts]).take(places),
        np.concatenate([residual for _, _, residual, _ in parts])[places],
        Pools.join([pool for *_, pool in parts]).take(places),
    )


def _pool_sizes(n_rows: int) -> Iterator[int]:
    """The same a few times, because the first pools are guesses, then larger and larger."""
    for doublings in chain([0, 0, 0], count()):
        yield min(POOL_SIZE << doublings, n_rows)


def _code_in_pools(
    rows: Rows, extra: Rows, targets: IntArray, penalty: float, start: Codes, pools: Pools
) -> tuple[Codes, Rows]:
    """Codes of some columns on their pools and on all extra columns, and their residuals."""
    n, kernels = len(rows) + len(extra), kernels_of("setwise.lasso")
    products = kernels.Products(None, None, None, rows, extra, pools.atoms, pools.counts)
    begin = Start(*start.begins_and_ends, 0, np.empty(0), np.full(len(targets), -1))
    n_entering = pools.atoms.shape[1] + len(extra) + int(start.counts.max(initial=0))
    cap = max(1, min(rows.shape[1], n))
    codes, converged, residuals = run_with_room(
        products, targets, penalty, begin, n_entering, cap
    )
    warn_of_steps(converged, len(targets), cap)
    assert residuals is not None  # noqa: S101
    return codes, residuals
