"""The paper's other graphs: Gaussian (eq. 5), fixed sparsity (eq. 15), least squares."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy import linalg
from scipy.spatial.distance import pdist, squareform

from setwise._support.parameters import check_count, check_number, refuse
from setwise._support.types import FloatArray
from setwise.errors import reject
from setwise.graph.base import GalleryGraph, Graph, symmetrised

_EPSILON = np.finfo(np.float64).eps


@dataclass(frozen=True, eq=False)
class GaussianGraph(Graph):
    """``exp(-1/2 (x_i - x_j)' Sigma^-1 (x_i - x_j))`` between every two columns.

    Parameters
    ----------
    sigma : float, vector, matrix or None, default=None
        The paper's Sigma, a *covariance*: one variance, one per feature, or a matrix. None
        takes the median squared distance between the gallery's columns.

    Examples
    --------
    >>> from setwise import GaussianGraph
    >>> GaussianGraph(sigma=0.5).adjacency(np.eye(2)).toarray().round(2)
    array([[0.  , 0.14],
           [0.14, 0.  ]])
    """

    name: ClassVar[str] = "gaussian"
    sigma: float | FloatArray | None = None

    def adjacency(self, columns: FloatArray) -> sp.csr_array:
        """Weights between all pairs of columns: dense, but stored sparse."""
        squared = pdist(self._whitened(columns), "sqeuclidean")
        if self.sigma is None:
            squared = squared / _median_scale(squared)
        weights = np.exp(-0.5 * squared)
        if len(weights) and not weights.any():
            advice = float(np.median(squared))
            reject(
                "GaussianGraph: every weight underflows to zero, so the graph has no edge. "
                f"sigma is too small for these columns; try sigma={advice:.3g} times it."
            )
        return sp.csr_array(squareform(weights))

    def solve(self, columns: FloatArray, *, n_jobs: int | None = None) -> GalleryGraph:
        """Fix the data-scaled Sigma on the gallery, so that no probe moves it."""
        if self.sigma is not None:
            return super().solve(columns)
        scale = _median_scale(pdist(columns.T, "sqeuclidean"))
        return replace(self, sigma=scale).solve(columns)

    def _whitened(self, columns: FloatArray) -> FloatArray:
        """Columns as rows, scaled so that squared distances are Mahalanobis ones."""
        if self.sigma is None:
            return columns.T
        n = len(columns)
        with suppress(ValueError, np.linalg.LinAlgError):  # ragged, or not positive definite
            sigma = np.asarray(self.sigma)
            is_finite = sigma.dtype.kind in "iuf" and np.isfinite(sigma).all()
            if is_finite and sigma.shape in ((), (n,)) and (sigma > 0).all():
                return columns.T / np.sqrt(sigma.astype(np.float64))
            if is_finite and sigma.shape == (n, n) and np.allclose(sigma, sigma.T):
                factor = np.linalg.cholesky(sigma.astype(np.float64))
                whitened: Any = np.linalg.solve(factor, columns)
                return whitened.T
        expected = (
            f"a positive number, a vector of {n} positive variances or a symmetric positive "
            f"definite {n} x {n} matrix"
        )
        return refuse("GaussianGraph", "sigma", expected, self.sigma)


def _median_scale(squared: FloatArray) -> float:
    """Median squared distance, or 1 where all columns coincide."""
    positive = squared[squared > 0]
    return float(np.median(positive)) if len(positive) else 1.0


@dataclass(frozen=True)
class OMPGraph(Graph):
    """Each column is a combination of at most ``n_nonzero`` others, chosen greedily.

    Parameters
    ----------
    n_nonzero : int, default=10
        Non-zero coefficients per column (the paper's ``w``).

    Examples
    --------
    >>> from setwise import OMPGraph
    >>> OMPGraph(1).adjacency(np.array([[1.0, 0.8], [0.0, 0.6]])).toarray().round(2)
    array([[0. , 1.6],
           [1.6, 0. ]])
    """

    name: ClassVar[str] = "omp"
    n_nonzero: int = 10

    def __post_init__(self) -> None:
        check_count("OMPGraph", "n_nonzero", self.n_nonzero)

    def adjacency(self, columns: FloatArray) -> sp.csr_array:
        """Pursue each column with the others."""
        gram = columns.T @ columns
        codes = np.zeros_like(gram)
        most = min(self.n_nonzero, len(gram) - 1, len(columns))
        for i in range(len(gram)):
            atoms, values = pursue(gram, i, most)
            codes[atoms, i] = values
        return symmetrised(sp.csc_array(codes))


def pursue(gram: FloatArray, own: int, most: int) -> tuple[list[int], FloatArray]:
    """Up to ``most`` atoms of column ``own``, picked greedily, and their coefficients.

    As scikit-learn's ``orthogonal_mp_gram``, which copies the Gram matrix for each column and
    warns of an early end: normal here, where the residual is zero or only copies of atoms are
    left.
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
        if height <= _EPSILON:  # it depends on the picked atoms
            break
        factor[k, :k], factor[k, k] = row, np.sqrt(height)
        atoms.append(atom)
        values = linalg.cho_solve((factor[: k + 1, : k + 1], True), target[atoms])
        left = target - gram[:, atoms] @ values
        left[own] = 0.0
    return atoms, values


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
    >>> from setwise import LeastSquaresGraph
    >>> LeastSquaresGraph(1).adjacency(np.array([[1.0, 0.8], [0.0, 0.6]])).toarray().round(2)
    array([[0. , 1.6],
           [1.6, 0. ]])
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
    """Minimum-norm least-squares code of each column on all the others, as columns.

    With ``z = e_i - a_i``, the problem is ``min ||D z||`` with ``z_i = 1`` and smallest ``z``.
    Where column ``i`` lies in the span of the others, ``z`` is the projection of ``e_i`` on the
    null space of ``D``, scaled to ``z_i = 1``; elsewhere column ``i`` of the pseudo-inverse of
    ``D'D``, scaled alike.
    """
    values, vectors = linalg.eigh(columns.T @ columns, check_finite=False)
    is_kept = values > tolerance * values[-1]
    kept, null = vectors[:, is_kept], vectors[:, ~is_kept]
    to_null = null @ null.T
    inverse = (kept / values[is_kept]) @ kept.T
    # Whether column i lies in the span of the others shows on the diagonal of to_null.
    direction = np.where(to_null.diagonal() > 1e-8, to_null, inverse)
    codes = -direction / direction.diagonal()
    np.fill_diagonal(codes, 0.0)
    return codes
