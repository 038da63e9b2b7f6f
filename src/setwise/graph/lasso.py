"""The lasso graph, and exact insertion of a probe into a solved one.

Each column is coded on all the others, ``min 1/2 ||x - D a||^2 + alpha ||a||_1`` (paper
eq. 14), and ``A = |S| + |S'|``.

When new atoms ``b`` arrive, an old code ``a_i`` stays optimal if and only if no new atom
violates its conditions: ``|b'(x_i - D a_i)| <= alpha``. One matrix product finds the columns
that must be solved again; the rest is kept. The result is the graph that solving from
scratch would give, not an approximation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from setwise.graph.base import Graph, GraphSolution, check_positive, symmetrised
from setwise.lasso import lasso_codes
from setwise.types import FloatArray

__all__ = ["LassoGraph", "LassoSolution"]


@dataclass(frozen=True)
class LassoGraph(Graph):
    """Each column is a sparse combination of the others.

    Parameters
    ----------
    alpha : float, default=0.05
        Weight of the l1 norm (the paper's ``w``, 0.01 there), for unit columns.
    """

    alpha: float = 0.05

    def __post_init__(self) -> None:
        check_positive("LassoGraph", "alpha", self.alpha)

    def adjacency(self, columns: FloatArray) -> sp.csr_array:
        """Solve from scratch."""
        return self.solve(columns).adjacency

    def solve(self, columns: FloatArray) -> LassoSolution:
        """Code the gallery's columns on each other, and keep what a probe will need."""
        gram = columns.T @ columns
        codes = lasso_codes(gram, self.alpha, rank=min(columns.shape))
        return LassoSolution(
            graph=self,
            columns=columns,
            adjacency=symmetrised(codes),
            gram=gram,
            codes=codes,
            residuals=columns - columns @ codes,
        )


@dataclass(frozen=True)
class LassoSolution(GraphSolution):
    """A solved lasso graph: Gram matrix, codes and residuals of the gallery's columns."""

    gram: FloatArray
    codes: sp.csc_array
    residuals: FloatArray

    def insert(self, probe: FloatArray) -> sp.csr_array:
        """Adjacency with the probe's columns last, solving only what the probe changes."""
        return symmetrised(self.codes_with(probe))

    def codes_with(self, probe: FloatArray) -> sp.csc_array:
        """Codes of all columns, the gallery's and the probe's, on all others."""
        alpha = self.graph.alpha  # type: ignore[attr-defined]
        n, n_new = self.columns.shape[1], probe.shape[1]
        strip = self.columns.T @ probe
        gram = np.block([[self.gram, strip], [strip.T, probe.T @ probe]])

        is_changed = (np.abs(self.residuals.T @ probe) > alpha).any(axis=1)
        changed = np.flatnonzero(is_changed)
        grown = sp.csc_array(
            (self.codes.data, self.codes.indices, self.codes.indptr),
            shape=(n + n_new, n),
        )
        solved = lasso_codes(
            gram,
            alpha,
            rank=min(self.columns.shape[0], n + n_new),
            columns=np.concatenate([changed, np.arange(n, n + n_new)]),
            start=sp.hstack(
                [grown[:, changed], sp.csc_array((n + n_new, n_new))], format="csc"
            ),
        )
        together = sp.hstack([grown, solved], format="csc")
        source = np.concatenate([np.arange(n), n + len(changed) + np.arange(n_new)])
        source[changed] = n + np.arange(len(changed))
        return together[:, source]
