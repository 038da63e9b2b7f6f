"""Principal directions with lengths, by which the second moments of sets are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from setwise._support.parameters import check_choice, check_count, check_number
from setwise._support.types import FloatArray
from setwise.basis.base import FEWEST_TO_VARY, Basis


@dataclass(frozen=True)
class Spread(Basis):
    """How widely a set is spread in each direction: principal directions with lengths.

    Sets are compared by the sum of the squares of all inner products of their columns. That is
    ``tr(A^p B^p)`` of their matrices of second moments, scaled so that a set has 1 with itself:
    with a power ``p`` of 1/2 the Bhattacharyya coefficient of matrices, and with one near 0 the
    mean squared cosine of canonical angles. No graph is made of the columns.

    Parameters
    ----------
    centred : bool, default=False
        Whether moments are about the mean of the set.
    power : float, default=0.25
        The power ``p``.
    most : int, default=10
        Number of directions, widest first.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.basis import Spread
    >>> vectors = np.repeat(np.eye(2), [16, 1], axis=0)
    >>> (columns,) = Spread(power=0.5).columns(vectors, (1,), np.random.default_rng(0))
    >>> np.abs(columns.T).round(3)
    array([[0.985, 0.   ],
           [0.   , 0.492]])
    >>> float(((columns.T @ columns) ** 2).sum().round(9))
    1.0
    """

    name: ClassVar[str] = "spread"
    is_random: ClassVar[bool] = False
    has_lengths: ClassVar[bool] = True
    has_graph: ClassVar[bool] = False
    centred: bool = False
    power: float = 0.25
    most: int = 10

    def __post_init__(self) -> None:
        check_choice("Spread", "centred", self.centred, (True, False))
        check_number("Spread", "power", self.power, at_most=1.0)
        check_count("Spread", "most", self.most)

    @property
    def fewest(self) -> int:
        """Fewer vectors do not show how a set varies about its mean."""
        return FEWEST_TO_VARY if self.centred else 1

    def offered(self, dims: Sequence[int]) -> tuple[int, ...]:
        """One basis, whatever ``dims``."""
        return (1,)

    def most_columns(self, d: int) -> int:
        """The number of directions."""
        return self.most

    def columns(self, vectors: FloatArray, dims: Sequence[int], rng: Any) -> list[FloatArray]:
        """See :func:`spread_basis`."""
        made = spread_basis(vectors, self.most, power=self.power, centred=self.centred)
        return [made]

    def shares(self, vectors: FloatArray, basis: FloatArray) -> FloatArray:
        """Share of each vector in each column, by the squares of its coordinates."""
        lengths = np.linalg.norm(basis, axis=0)
        return super().shares(vectors, basis / np.where(lengths > 0, lengths, 1.0))


def spread_basis(
    vectors: FloatArray, n_columns: int, *, power: float = 0.25, centred: bool = False
) -> FloatArray:
    """Principal directions of a set, whose lengths are moments along them to half a power.

    All are scaled so that the sum of the squares of their inner products is 1. A set that does
    not vary about its mean is as it is without ``centred``.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.basis import spread_basis
    >>> np.abs(spread_basis(np.array([[3.0, 4.0]]), 2).T)
    array([[0.6, 0.8]])
    """
    rows = vectors - vectors.mean(axis=0) if centred else vectors
    n, width = rows.shape
    gram = rows @ rows.T if n < width else rows.T @ rows
    moments, found = np.linalg.eigh(gram)
    moments, found = moments[-n_columns:], found[:, -n_columns:]
    # Moments are rounded in proportion to the largest, and to the vectors if these are centred.
    floor = float(np.einsum("ij,ij->", vectors, vectors)) * max(n, width) * _ROUNDING
    is_kept = moments > floor
    if not is_kept.any():
        return spread_basis(vectors, n_columns, power=power)
    moments, found = moments[is_kept][::-1], found[:, is_kept][:, ::-1]
    directions = rows.T @ found / np.sqrt(moments) if n < width else found
    lengths = (moments / moments[0]) ** (power / 2)
    return np.ascontiguousarray(directions * (lengths / (lengths**4).sum() ** 0.25))


_ROUNDING = float(np.finfo(np.float64).eps)
