"""Solved lasso graphs of galleries, with a Gram matrix or with pools of likely atoms."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from setwise._support.compiled import kernels_of
from setwise._support.parallel import lazy
from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.graph.base import GalleryGraph, Graph, Insertion, graph_of_codes
from setwise.lasso import (
    Codes,
    Pools,
    code_blocks,
    code_by_gram,
    code_changed,
    code_with_new,
    inverses_of,
)
from setwise.lasso.pools import BLOCK_BYTES, POOL_SIZE, SLACK

# Codes and graphs, the gallery's own and one with a probe, at 50 atoms a code.
_SPARSE_BYTES = 50 * (16 + 2 * 2 * 12)
# By how much the inverses of the codes' Gram matrices may be larger than the Gram matrix.
_INVERSE_BYTES = 2**24


@dataclass(frozen=True)
class LassoGallery(GalleryGraph):
    """A solved lasso graph: the code of each column on the others."""

    alpha: float
    codes: Codes

    @classmethod
    def of_codes(
        cls, graph: Graph, columns: Any, alpha: float, codes: Codes, *kept: Any
    ) -> Self:
        """The gallery of columns and their codes, and what else its class keeps."""
        return cls(graph, columns, graph_of_codes(codes), alpha, codes, *kept)

    @abstractmethod
    def recoded(
        self, probe: FloatArray, cosines: FloatArray | None = None
    ) -> tuple[IntArray, Codes]:
        """Columns whose codes are new with the probe's (which come last), and those codes."""

    @abstractmethod
    def with_columns(self, columns: FloatArray) -> Self:
        """The gallery with more columns at its end."""

    @abstractmethod
    def without_columns(self, is_kept: BoolArray) -> Self:
        """The gallery without some of its columns."""

    def solution(self) -> dict[str, npt.NDArray[Any]]:
        """The codes; graph and Gram matrix follow from them."""
        return {
            "counts": self.codes.counts.astype(np.int32),
            "atoms": self.codes.atoms.astype(np.int32),
            "values": self.codes.values,
        }

    def insert(self, probe: FloatArray) -> sp.csr_array:
        """Adjacency with the probe's columns last, solving only what the probe changes."""
        return self.insertion(probe).adjacency

    def insertion(self, probe: FloatArray, cosines: FloatArray | None = None) -> LassoInsertion:
        """See :meth:`GalleryGraph.insertion`."""
        return LassoInsertion(self.codes, *self.recoded(probe, cosines))


class LassoInsertion(Insertion):
    """The codes that a probe has changed or added, from which graph and edges are made."""

    known: Codes
    targets: IntArray
    codes: Codes

    def __init__(self, known: Codes, targets: IntArray, codes: Codes) -> None:
        vars(self).update(known=known, targets=targets, codes=codes, n_gallery=len(known))

    @lazy
    def adjacency(self) -> sp.csr_array:  # type: ignore[override]
        """The gallery's columns followed by the probe's."""
        return graph_of_codes(self.known, self.targets, self.codes)

    @lazy
    def edges(self) -> FloatArray:
        """Weights between the probe's columns (rows) and the gallery's."""
        n_new = int((self.targets >= self.n_gallery).sum())
        edges = np.zeros((n_new, self.n_gallery))
        kernels_of("setwise.graph").join_probe(
            self.targets, *self.codes.arrays, self.n_gallery, edges
        )
        return edges


@dataclass(frozen=True)
class GramLasso(LassoGallery):
    """A solved lasso graph that keeps the Gram matrix of its columns."""

    needs_cosines: ClassVar[bool] = True

    gram: FloatArray

    @classmethod
    def solved(cls, graph: Graph, columns: FloatArray, alpha: float) -> Self:
        """Solve from scratch."""
        columns = np.asarray(columns, dtype=np.float64)
        return cls.of_codes(graph, columns, alpha, *solved_codes(columns, alpha))

    @staticmethod
    def bytes_needed(n_features: int, n_columns: int) -> int:
        """Estimate of what is kept and used, in bytes."""
        largest = 8 * n_columns * min(n_columns, n_features) ** 2 // 2
        inverses = min(largest, _INVERSE_BYTES + 8 * n_columns**2)
        return n_columns * (8 * (n_columns + 2 * n_features) + _SPARSE_BYTES) + inverses

    @lazy
    def inverses(self) -> tuple[FloatArray, IntArray]:
        """Of the Gram matrices of the codes' atoms; none that would take too much memory."""
        counts = self.codes.counts
        if 8 * (counts * (counts + 1) // 2).sum() > _INVERSE_BYTES + self.gram.nbytes:
            return np.empty(0), np.full(len(counts), -1)
        return inverses_of(self.gram, self.codes)

    def __getstate__(self) -> dict[str, Any]:
        """All but the inverses, which are made again more quickly than sent."""
        return {name: kept for name, kept in vars(self).items() if name != "inverses"}

    def recoded(
        self, probe: FloatArray, cosines: FloatArray | None = None
    ) -> tuple[IntArray, Codes]:
        """See :meth:`LassoGallery.recoded`."""
        n, n_new = self.columns.shape[1], probe.shape[1]
        border = np.empty((n_new, n + n_new))
        border[:, :n] = probe.T @ self.columns if cosines is None else cosines
        border[:, n:] = probe.T @ probe
        rank, kept = min(self.columns.shape[0], n + n_new), self.inverses
        return code_with_new(
            self.gram, self.alpha, border, rank=rank, known=self.codes, inverses=kept
        )

    def with_columns(self, columns: FloatArray) -> Self:
        """The gallery with more columns at its end."""
        targets, new = self.recoded(columns)
        strip = self.columns.T @ columns
        everything = np.hstack([self.columns, columns])
        gram = np.block([[self.gram, strip], [strip.T, columns.T @ columns]])
        codes = self.codes.replaced(targets, new)
        return self.of_codes(self.graph, everything, self.alpha, codes, gram)

    def without_columns(self, is_kept: BoolArray) -> Self:
        """The gallery without some of its columns."""
        kept = np.flatnonzero(is_kept)
        columns, gram = self.columns[:, kept], self.gram[np.ix_(kept, kept)]
        codes, changed = self.codes.take(kept).without_atoms(is_kept)
        start, rank = codes.take(changed), min(columns.shape)
        new = code_by_gram(gram, self.alpha, changed, rank=rank, start=start)
        codes = codes.replaced(changed, new)
        return self.of_codes(self.graph, columns, self.alpha, codes, gram)


@dataclass(frozen=True)
class PooledLasso(LassoGallery):
    """A solved lasso graph of many columns: no Gram matrix, but a pool for each column.

    Columns, and residuals, a row each, are rounded to float32 before anything is computed.
    """

    residuals: npt.NDArray[np.float32]
    pools: Pools

    @classmethod
    def solved(
        cls, graph: Graph, columns: FloatArray, alpha: float, n_jobs: int | None
    ) -> Self:
        """Solve from scratch."""
        rows = _as_rows(columns)
        targets, none = np.arange(len(rows)), Codes.none(len(rows))
        solved = code_blocks(rows, rows[:0], targets, alpha, none, rows, n_jobs=n_jobs)
        return cls.of_codes(graph, rows.T, alpha, *solved)

    @staticmethod
    def bytes_needed(n_features: int, n_columns: int) -> int:
        """Estimate of what is kept and used, in bytes."""
        # Columns come twice in float64; results of blocks are kept twice; two threads work.
        by_column = (2 * 8 + 4 * 4) * n_features + 2 * 4 * POOL_SIZE + _SPARSE_BYTES
        return n_columns * by_column + 2 * BLOCK_BYTES

    def solution(self) -> dict[str, npt.NDArray[Any]]:
        """Codes, what they leave, and the pools."""
        return super().solution() | {
            "residuals": self.residuals,
            "pool_atoms": self.pools.atoms,
            "pool_counts": self.pools.counts.astype(np.int32),
            "pool_margins": self.pools.margins,
        }

    @property
    def rows(self) -> npt.NDArray[np.float32]:
        """The columns, as rows."""
        return self.columns.T  # type: ignore[return-value]

    def recoded(
        self, probe: FloatArray, cosines: FloatArray | None = None
    ) -> tuple[IntArray, Codes]:
        """See :meth:`LassoGallery.recoded`."""
        return self._recoded(_as_rows(probe))[:2]

    def _recoded(
        self, extra: npt.NDArray[np.float32]
    ) -> tuple[IntArray, Codes, npt.NDArray[np.float32], Pools]:
        nearest = np.abs(self.residuals @ extra.T).max(axis=1, initial=0.0)
        changed = np.flatnonzero(nearest > self.alpha - SLACK)
        codes, residuals, pools = code_changed(
            self.rows, extra, changed, self.alpha, self.codes.take(changed),
            self.residuals[changed], self.pools.take(changed),
        )  # fmt: skip
        own = len(self.rows) + np.arange(len(extra))
        own_codes, own_residuals, own_pools = code_blocks(
            self.rows, extra, own, self.alpha, Codes.none(len(own)), extra
        )
        targets, codes = np.concatenate([changed, own]), Codes.join([codes, own_codes])
        residuals = np.concatenate([residuals, own_residuals])
        return targets, codes, residuals, Pools.join([pools, own_pools])

    def with_columns(self, columns: FloatArray) -> Self:
        """The gallery with more columns at its end."""
        extra = _as_rows(columns)
        targets, codes, new_residuals, new_pools = self._recoded(extra)
        rows = np.concatenate([self.rows, extra])
        residuals = np.concatenate([self.residuals, extra])
        residuals[targets] = new_residuals
        pools = self.pools.replaced(targets, new_pools).with_atoms(
            np.abs(residuals @ extra.T), self.alpha - SLACK, len(self.rows)
        )
        codes = self.codes.replaced(targets, codes)
        return self.of_codes(self.graph, rows.T, self.alpha, codes, residuals, pools)

    def without_columns(self, is_kept: BoolArray) -> Self:
        """The gallery without some of its columns."""
        kept = np.flatnonzero(is_kept)
        rows, residuals = self.rows[kept], self.residuals[kept]
        pools = self.pools.take(kept).without_atoms(is_kept)
        codes, changed = self.codes.take(kept).without_atoms(is_kept)
        new, residuals[changed], new_pools = code_changed(
            rows, rows[:0], changed, self.alpha, codes.take(changed), residuals[changed],
            pools.take(changed),
        )  # fmt: skip
        codes, pools = codes.replaced(changed, new), pools.replaced(changed, new_pools)
        return self.of_codes(self.graph, rows.T, self.alpha, codes, residuals, pools)


def solved_codes(columns: FloatArray, alpha: float) -> tuple[Codes, FloatArray]:
    """The code of each column on the others, and the Gram matrix it is found by."""
    gram = columns.T @ columns
    return code_by_gram(gram, alpha, np.arange(len(gram)), rank=min(columns.shape)), gram


def _as_rows(columns: FloatArray) -> npt.NDArray[np.float32]:
    return np.ascontiguousarray(columns.T, dtype=np.float32)
