"""Sets as subspaces, and the angles between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from setwise._support.types import FloatArray, IntArray
from setwise.basis.svd import numerical_rank

__all__ = ["Subspaces", "orthonormalised", "set_subspace", "usable_dims"]


def set_subspace(
    vectors: FloatArray,
    *,
    n_dims: int | None = None,
    energy: float = 1.0,
    centred: bool = False,
) -> FloatArray:
    """Orthonormal basis of the directions a set is strongest in.

    Parameters
    ----------
    vectors : array of shape (n_vectors, n_features)
        One set.
    n_dims : int, optional
        At most so many directions.
    energy : float
        The fewest directions that hold this share of the sum of squares.
    centred : bool
        Subtract the mean of the set first: how it varies, not where it is.

    Returns
    -------
    array of shape (n_features, n_kept)
        Empty for a set that does not vary, if centred. Never more than its rank.
    """
    scale = float(np.linalg.norm(vectors))
    shown = vectors - vectors.mean(axis=0) if centred else vectors
    _, strengths, directions = linalg.svd(shown, full_matrices=False, check_finite=False)
    rank = numerical_rank(strengths, vectors.shape, scale)
    squares = strengths[:rank] ** 2
    # A hair less, so that rounding never asks for one direction more than there is.
    needed = int(np.searchsorted(np.cumsum(squares), (energy - 1e-12) * squares.sum())) + 1
    n_kept = min(rank, needed, rank if n_dims is None else n_dims)
    return np.ascontiguousarray(directions[:n_kept].T)


def usable_dims(n_dims: int, n_features: int) -> int:
    """``n_dims``, or half of the features: larger subspaces meet, whatever their classes."""
    return max(1, min(n_dims, n_features // 2))


def orthonormalised(columns: FloatArray) -> FloatArray:
    """Orthonormal basis of the span of some columns, the direction most have first."""
    if columns.shape[1] == 0:
        return columns
    left, strengths, _ = linalg.svd(columns, full_matrices=False, check_finite=False)
    return left[:, : numerical_rank(strengths, columns.shape)]


@dataclass(frozen=True)
class Subspaces:
    """Many subspaces side by side, so that one product compares them all with another.

    Attributes
    ----------
    stacked : array of shape (n_features, total number of dimensions)
        Orthonormal bases, one after the other.
    offsets : array of int, shape (n_subspaces + 1,)
        Where each begins.
    """

    stacked: FloatArray
    offsets: IntArray

    @classmethod
    def of(cls, bases: Sequence[FloatArray]) -> Subspaces:
        """Stack bases; any may be empty."""
        sizes = [basis.shape[1] for basis in bases]
        return cls(np.hstack(bases), np.concatenate([[0], np.cumsum(sizes)]))

    @property
    def n_dims(self) -> IntArray:
        """Dimensionality of each."""
        return np.diff(self.offsets)

    def summed(self, column_values: FloatArray) -> FloatArray:
        """Sum of the values of each subspace's columns, along the last axis."""
        nothing = np.zeros((*column_values.shape[:-1], 1))
        sums = np.concatenate([nothing, np.cumsum(column_values, axis=-1)], axis=-1)
        return np.diff(sums[..., self.offsets], axis=-1)

    def squared_cosines(self, basis: FloatArray) -> FloatArray:
        """Sum of the squared cosines of the principal angles with another subspace."""
        return self.summed(((basis.T @ self.stacked) ** 2).sum(axis=0))

    def cosines(self, basis: FloatArray) -> list[FloatArray]:
        """Cosines of the principal angles with another subspace, largest first, of each."""
        products = basis.T @ self.stacked
        found: list[FloatArray] = [np.empty(0)] * len(self.n_dims)
        for width in np.unique(self.n_dims[self.n_dims > 0]):
            chosen = np.flatnonzero(self.n_dims == width)
            columns = self.offsets[chosen][:, None] + np.arange(width)
            blocks = np.moveaxis(products[:, columns], 0, 1)
            for i, cosines in zip(chosen, np.linalg.svd(blocks, compute_uv=False), strict=True):
                found[i] = np.clip(cosines, 0.0, 1.0)
        return found
