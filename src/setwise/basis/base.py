"""The interface of all bases: unit columns for a set."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from setwise._support.parts import Part
from setwise._support.types import FloatArray


class Basis(Part, ABC):
    """A way to turn a set into few unit columns.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.basis import Basis
    >>> bases = Basis.of("svd", "CVC").columns(np.eye(4), (1, 3), np.random.default_rng(0))
    >>> [basis.shape for basis in bases]
    [(4, 1), (4, 3)]
    """

    family: ClassVar[str] = "basis"
    #: Whether columns are orthonormal and of arbitrary sign, so that only their span matters.
    is_orthonormal: ClassVar[bool] = False
    #: Smallest size of a set whose columns are informative.
    fewest: ClassVar[int] = 1

    @property
    def n_starts(self) -> int:
        """Number of random starts; each makes layers of its own."""
        return 1

    def offered(self, dims: Sequence[int]) -> tuple[int, ...]:
        """The dimensionalities of its bases, out of those requested."""
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
            Number of columns of each basis; fewer where the set has a lower rank.
        rng : numpy.random.Generator
            For random starts; the same for every set, so that no answer depends on a set's
            place in its batch.

        Returns
        -------
        list of arrays of shape (n_features, at most d)
            Unit columns.
        """

    def shares(self, vectors: FloatArray, basis: FloatArray) -> FloatArray:
        """Share of each vector in each column of the set's basis; rows sum to 1."""
        energy = (vectors @ basis) ** 2
        total = energy.sum(axis=1, keepdims=True)
        return np.divide(energy, total, out=np.zeros_like(energy), where=total > 0)
