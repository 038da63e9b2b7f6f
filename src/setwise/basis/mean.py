"""The mean of a set: one column, whatever the dimensionality of the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from setwise._support.types import FloatArray
from setwise.basis.base import Basis
from setwise.basis.means import means_bases

__all__ = ["Mean"]


@dataclass(frozen=True)
class Mean(Basis):
    """Where a set is: the direction of its mean. What people compare embeddings by.

    Examples
    --------
    >>> import numpy as np
    >>> vectors = np.array([[3.0, 0.0, 1.0], [3.0, 0.0, -1.0], [3.0, 0.0, 0.0]])
    >>> rng = np.random.default_rng(0)
    >>> from setwise.basis import Mean
    >>> (basis,) = Mean().columns(vectors, (1,), rng)
    >>> np.abs(basis.T.round(2))
    array([[1., 0., 0.]])
    """

    name: ClassVar[str] = "mean"

    def offered(self, dims: Sequence[int]) -> tuple[int, ...]:
        """One column, always."""
        return (1,)

    def columns(
        self, vectors: FloatArray, dims: Sequence[int], rng: np.random.Generator
    ) -> list[FloatArray]:
        """The mean of all vectors, or the main direction of vectors that cancel."""
        return means_bases(vectors, [1])
