"""Rank-truncated least squares, keeping the largest coefficients.

The paper's ``alpha_i = U S^-1 U' D' x_i`` over the other columns, by one eigendecomposition of
the Gram matrix instead of one per column. With ``z = e_i - alpha_i``, ``D z`` is the residual
and the problem is ``min ||D z||`` with ``z_i = 1``, smallest ``z`` among the minimisers:

* where column ``i`` lies in the span of the others, ``z`` is the projection of ``e_i`` on the
  null space of ``D``, scaled to ``z_i = 1``;
* where it does not, ``z`` is column ``i`` of the pseudo-inverse of ``D'D``, scaled alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
from scipy import linalg

from setwise._support.parameters import check_count, check_number
from setwise._support.types import FloatArray
from setwise.graph.base import Graph, symmetrised

__all__ = ["LeastSquaresGraph", "leave_one_out_least_squares"]


@dataclass(frozen=True)
class LeastSquaresGraph(Graph):
    """Each column is a least-squares combination of the others, largest terms kept.

    Parameters
    ----------
    n_largest : int, default=10
        Coefficients kept a column (the paper's ``w`` largest).
    tolerance : float, default=1e-10
        Eigenvalues of the Gram matrix below this share of the largest count as zero.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise import LeastSquaresGraph
    >>> columns = np.array([[1.0, 0.8, 0.6], [0.0, 0.6, 0.8]])
    >>> LeastSquaresGraph(n_largest=1).adjacency(columns).toarray().round(2)
    array([[0.  , 2.86, 0.  ],
           [2.86, 0.  , 2.08],
           [0.  , 2.08, 0.  ]])
    """

    name: ClassVar[str] = "least_squares"
    n_largest: int = 10
    tolerance: float = 1e-10

    def __post_init__(self) -> None:
        check_count("LeastSquaresGraph", "n_largest", self.n_largest)
        check_number("LeastSquaresGraph", "tolerance", self.tolerance)

    def adjacency(self, columns: FloatArray) -> sp.csr_array:
        """Solve for all columns at once, then truncate."""
        codes = leave_one_out_least_squares(columns, tolerance=self.tolerance)
        n = len(codes)
        if n > self.n_largest:
            smallest = np.argsort(np.abs(codes), axis=0, kind="stable")[: -self.n_largest]
            codes[smallest, np.arange(n)] = 0.0
        return symmetrised(sp.csc_array(codes))


def leave_one_out_least_squares(columns: FloatArray, *, tolerance: float = 1e-10) -> FloatArray:
    """Minimum-norm least-squares code of each column on all the others.

    Returns
    -------
    array of shape (n_columns, n_columns)
        One code a column, zero on the diagonal.
    """
    values, vectors = linalg.eigh(columns.T @ columns, check_finite=False)
    is_kept = values > tolerance * values[-1]
    kept = vectors[:, is_kept]
    null = vectors[:, ~is_kept]
    to_null = null @ null.T
    inverse = (kept / values[is_kept]) @ kept.T
    # Whether column i lies in the span of the others shows on the diagonal of to_null.
    direction = np.where(to_null.diagonal() > 1e-8, to_null, inverse)
    codes = -direction / direction.diagonal()
    np.fill_diagonal(codes, 0.0)
    return codes
