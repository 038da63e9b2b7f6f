"""Fixed sparsity by orthogonal matching pursuit (paper eq. 15)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from setwise._support.parameters import check_count
from setwise._support.types import FloatArray
from setwise.graph.base import Graph, symmetrised

__all__ = ["OMPGraph"]


@dataclass(frozen=True)
class OMPGraph(Graph):
    """Each column is a combination of at most ``n_nonzero`` others, chosen greedily.

    Parameters
    ----------
    n_nonzero : int, default=10
        Non-zero coefficients a column (the paper's ``w``).
    """

    name: ClassVar[str] = "omp"
    n_nonzero: int = 10

    def __post_init__(self) -> None:
        check_count("OMPGraph", "n_nonzero", self.n_nonzero)

    def adjacency(self, columns: FloatArray) -> sp.csr_array:
        """Run scikit-learn's pursuit for each column, the column itself out of reach."""
        from sklearn.linear_model import orthogonal_mp_gram

        gram = columns.T @ columns
        n = len(gram)
        most = min(self.n_nonzero, n - 1, len(columns))
        codes = np.zeros((n, n))
        for i in range(n if most else 0):
            # An atom that is orthogonal to everything is never picked.
            others = gram.copy()
            others[i, :] = others[:, i] = 0.0
            others[i, i] = 1.0
            correlation = gram[:, i].copy()
            correlation[i] = 0.0
            with warnings.catch_warnings():
                # It ends early when the residual is zero or only copies are left: fine.
                warnings.filterwarnings("ignore", message="[\\s\\S]*linear dependence")
                codes[:, i] = orthogonal_mp_gram(
                    others, correlation, n_nonzero_coefs=most, copy_Gram=False
                )
        np.fill_diagonal(codes, 0.0)
        return symmetrised(sp.csc_array(codes))
