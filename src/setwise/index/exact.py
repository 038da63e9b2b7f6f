"""The index that is exact and needs nothing: one product with all rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from setwise._support.types import IntArray
from setwise.index.base import BuiltIndex, Index, Rows


@dataclass(frozen=True)
class ExactIndex(Index):
    """All inner products, and the largest of them.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.index import ExactIndex
    >>> built = ExactIndex().build(np.eye(3, dtype=np.float32), np.array([10, 11, 12]))
    >>> built.nearest(np.array([0.6, 0.8, 0.0], dtype=np.float32), 2)
    array([11, 10])
    """

    name: ClassVar[str] = "exact"

    def build(self, rows: Rows, keys: IntArray) -> BuiltExact:
        """The rows themselves."""
        return BuiltExact(rows, keys)


@dataclass(frozen=True)
class BuiltExact(BuiltIndex):
    """Rows and their keys."""

    rows: Rows
    keys: IntArray

    def nearest(self, query: Rows, n: int) -> IntArray:
        """The keys of the largest inner products; of equal ones, the smaller key first."""
        cosines = self.rows @ query
        n = min(n, len(cosines))
        if n == 0:
            return self.keys[:0]
        # All that are as near as the n-th, so that no row's place decides between equals.
        least = np.partition(cosines, len(cosines) - n)[len(cosines) - n]
        found = np.flatnonzero(cosines >= least)
        return self.keys[found[np.argsort(-cosines[found], kind="stable")[:n]]]

    def changed(self, rows: Rows, keys: IntArray) -> BuiltExact:
        """The other rows themselves."""
        return BuiltExact(rows, keys)
