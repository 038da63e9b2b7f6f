"""What every kind of basis offers: columns for a set, and what they stand for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from setwise._support.parts import Part
from setwise._support.types import FloatArray

__all__ = ["Basis"]


class Basis(Part, ABC):
    """A way to turn a set into few columns; its parameters and nothing else.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.basis import Basis
    >>> svd = Basis.of("svd", "CVC")
    >>> [basis.shape for basis in svd.columns(np.eye(4), (1, 3), np.random.default_rng(0))]
    [(4, 1), (4, 3)]
    """

    family: ClassVar[str] = "basis"
    #: Whether columns are orthonormal and of arbitrary sign, so that only what they span
    #: tells anything; else each column points somewhere.
    is_orthonormal: ClassVar[bool] = False
    #: Vectors of a set from which its columns mean anything.
    fewest: ClassVar[int] = 1

    @property
    def n_starts(self) -> int:
        """How many random starts there are; each makes classifiers of its own."""
        return 1

    def offered(self, dims: Sequence[int]) -> tuple[int, ...]:
        """Of the dimensionalities asked for, those that it makes bases of."""
        return tuple(dims)

    @abstractmethod
    def columns(
        self, vectors: FloatArray, dims: Sequence[int], rng: np.random.Generator
    ) -> list[FloatArray]:
        """Bases of one set, one for each of ``dims``.

        Parameters
        ----------
        vectors : array of shape (n_vectors, n_features)
            One set, one vector per row, unit or zero rows, not all zero.
        dims : sequence of int
            How many columns each basis should have; fewer where the set has fewer to give.
        rng : numpy.random.Generator
            For those that need a start. It is the same for every set: an answer must not
            depend on a set's place in its batch.

        Returns
        -------
        list of arrays of shape (n_features, at most d)
            Unit columns.
        """

    def shares(self, vectors: FloatArray, basis: FloatArray) -> FloatArray:
        """How much of each vector each column of the set's basis carries, rows summing to 1."""
        energy = (vectors @ basis) ** 2
        total = energy.sum(axis=1, keepdims=True)
        return np.divide(energy, total, out=np.zeros_like(energy), where=total > 0)
