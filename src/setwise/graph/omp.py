"""Fixed sparsity by orthogonal matching pursuit (paper eq. 15)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
from scipy import linalg

from setwise._support.parameters import check_count
from setwise._support.types import FloatArray
from setwise.graph.base import Graph, symmetrised

__all__ = ["OMPGraph", "pursue"]

_EPSILON = np.finfo(np.float64).eps


@dataclass(frozen=True)
class OMPGraph(Graph):
    """Each column is a combination of at most ``n_nonzero`` others, chosen greedily.

    Parameters
    ----------
    n_nonzero : int, default=10
        Non-zero coefficients per column (the paper's ``w``).

    Examples
    --------
    >>> import numpy as np
    >>> columns = np.array([[1.0, 0.8, 0.0], [0.0, 0.6, 1.0]])
    >>> from setwise import OMPGraph
    >>> OMPGraph(n_nonzero=1).adjacency(columns).toarray().round(2)
    array([[0. , 1.6, 0. ],
           [1.6, 0. , 0.6],
           [0. , 0.6, 0. ]])
    """

    name: ClassVar[str] = "omp"
    n_nonzero: int = 10

    def __post_init__(self) -> None:
        check_count("OMPGraph", "n_nonzero", self.n_nonzero)

    def adjacency(self, columns: FloatArray) -> sp.csr_array:
        """Pursue each column with the others."""
        gram = columns.T @ columns
        n = len(gram)
        most = min(self.n_nonzero, n - 1, len(columns))
        codes = np.zeros((n, n))
        for i in range(n):
            atoms, values = pursue(gram, i, most)
            codes[atoms, i] = values
        return symmetrised(sp.csc_array(codes))


def pursue(gram: FloatArray, own: int, most: int) -> tuple[list[int], FloatArray]:
    """Atoms of a column, picked greedily among the others, and their coefficients.

    As scikit-learn's ``orthogonal_mp_gram``, which copies the Gram matrix for each column,
    and warns where it ends early: where the residual is zero, or only copies of picked atoms
    are left. That is normal here.

    Parameters
    ----------
    gram : array of shape (n_columns, n_columns)
        Inner products of the columns.
    own : int
        The column; it is not an atom of itself.
    most : int
        Atoms to pick at most.
    """
    target = gram[own].copy()
    target[own] = 0.0
    atoms: list[int] = []
    values, left = np.zeros(0), target
    factor = np.zeros((most, most))  # Cholesky factor of the picked atoms' Gram matrix
    for k in range(most):
        atom = int(np.abs(left).argmax())
        if atom in atoms or left[atom] ** 2 < _EPSILON:
            break
        row = linalg.solve_triangular(factor[:k, :k], gram[atoms, atom], lower=True)
        height = gram[atom, atom] - row @ row
        if height <= _EPSILON:  # it depends on those that are picked
            break
        factor[k, :k], factor[k, k] = row, np.sqrt(height)
        atoms.append(atom)
        values = linalg.cho_solve((factor[: k + 1, : k + 1], True), target[atoms])
        left = target - gram[:, atoms] @ values
        left[own] = 0.0
    return atoms, values
