"""The lasso graph, and exact insertion of a probe into a solved one.

Each column is coded on all the others, ``min 1/2 ||x - D a||^2 + alpha ||a||_1`` (paper eq.
14), and ``A = |S| + |S'|``. Insertion, enrolling and forgetting solve only the codes that
change, and give the graph that solving from scratch would give (docs/insertion.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from setwise._support.parameters import check_number
from setwise._support.types import BoolArray, FloatArray
from setwise.graph.base import GalleryGraph, Graph, graph_of_codes
from setwise.graph.lasso_gallery import (
    GramLasso,
    LassoGallery,
    PooledLasso,
    solved_codes,
)
from setwise.lasso import Codes, Pools

# Up to this many columns their Gram matrix is kept. Beyond, it would take more memory than
# everything else together, and reading its rows more time than doing without.
GRAM_LIMIT = 4000


@dataclass(frozen=True)
class LassoGraph(Graph):
    """Each column is a sparse combination of the others.

    Parameters
    ----------
    alpha : float, default=0.05
        Weight of the l1 norm (the paper's ``w``, 0.01 there), for unit columns.

    Examples
    --------
    >>> from setwise import LassoGraph
    >>> LassoGraph(alpha=0.05).adjacency(np.array([[1.0, 0.8], [0.0, 0.6]])).toarray().round(2)
    array([[0. , 1.5],
           [1.5, 0. ]])
    """

    name: ClassVar[str] = "lasso"
    alpha: float = 0.05

    def __post_init__(self) -> None:
        check_number("LassoGraph", "alpha", self.alpha)

    def adjacency(self, columns: FloatArray) -> sp.csr_array:
        """Solve from scratch."""
        if columns.shape[1] > GRAM_LIMIT:
            return self.solve(columns).adjacency
        codes, _ = solved_codes(np.asarray(columns, dtype=np.float64), self.alpha)
        return graph_of_codes(codes)

    def solve(self, columns: FloatArray, *, n_jobs: int | None = None) -> LassoGallery:
        """Code the gallery's columns on each other, and keep what a probe will need."""
        if columns.shape[1] <= GRAM_LIMIT:
            return GramLasso.solved(self, columns, self.alpha)
        return PooledLasso.solved(self, columns, self.alpha, n_jobs)

    def for_one_probe(self, columns: FloatArray) -> GalleryGraph:
        """The columns, without edges until the probe comes: all is solved then, at once."""
        n = columns.shape[1]
        return GalleryGraph(self, columns, sp.csr_array((n, n)))

    def enroll(self, gallery: GalleryGraph, columns: FloatArray) -> LassoGallery:
        """Solve only what the new columns change."""
        assert isinstance(gallery, LassoGallery)  # noqa: S101
        return gallery.with_columns(columns)

    def forget(self, gallery: GalleryGraph, is_kept: BoolArray) -> LassoGallery:
        """Solve only what the lost columns were used by."""
        assert isinstance(gallery, LassoGallery)  # noqa: S101
        return gallery.without_columns(is_kept)

    def can_update(self, gallery: GalleryGraph, n_columns: int) -> bool:
        """Whether a gallery of so many columns is kept as this one is."""
        return isinstance(gallery, GramLasso) == (n_columns <= GRAM_LIMIT)

    def restored(self, columns: FloatArray, solution: Mapping[str, Any]) -> LassoGallery:
        """The solved graph of these columns and their codes."""
        counts, atoms = solution["counts"].astype(np.int64), solution["atoms"].astype(np.int64)
        codes = Codes(counts, atoms, solution["values"])
        if columns.shape[1] <= GRAM_LIMIT:
            gram = columns.T @ columns
            return GramLasso.of_codes(self, columns, self.alpha, codes, gram)
        counts = solution["pool_counts"].astype(np.int64)
        pools = Pools(solution["pool_atoms"], counts, solution["pool_margins"])
        return PooledLasso.of_codes(
            self, columns, self.alpha, codes, solution["residuals"], pools
        )

    def memory(self, n_features: int, n_columns: int) -> int:
        """Columns, residuals, codes and graphs, and the Gram matrix or the pools."""
        kind = GramLasso if n_columns <= GRAM_LIMIT else PooledLasso
        return kind.bytes_needed(n_features, n_columns)
