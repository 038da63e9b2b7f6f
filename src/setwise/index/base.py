"""The interface of all indexes, the nearest of many unit vectors, and the exact index."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from setwise._support.parts import Part
from setwise._support.types import Array, IntArray

Rows = npt.NDArray[np.float32]
Arrays = dict[str, Array]


class Index(Part, ABC):
    """A way to find the nearest of many vectors; its parameters and nothing else.

    A gallery file keeps the kind of an index and its numbers. Paths, addresses and other text
    are neither written nor read: a file must not decide what is opened or connected to.

    Examples
    --------
    >>> from setwise.index import Index
    >>> Index.of("exact", "CVC")
    ExactIndex()
    """

    family: ClassVar[str] = "index"

    @abstractmethod
    def build(self, rows: Rows, keys: IntArray) -> BuiltIndex:
        """An index of these rows, in memory.

        Parameters
        ----------
        rows : array of float32, shape (n_sets, n_features)
            Unit vectors, or zeros.
        keys : array of int, shape (n_sets,)
            Name of each row, ascending; a key is never given to another row.
        """

    def open(self, rows: Rows, keys: IntArray, saved: Mapping[str, Any]) -> BuiltIndex:
        """The index from what a file has of :meth:`BuiltIndex.arrays`, checked."""
        return self.build(rows, keys)

    def to_config(self) -> dict[str, Any]:
        """Its name and its numbers."""
        return _without_places(super().to_config())

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """The index that :meth:`to_config` wrote down; text but its name is ignored."""
        return super().from_config(_without_places(config))


def _without_places(config: Any) -> Any:
    if not isinstance(config, Mapping):
        return config
    return {k: v for k, v in config.items() if k == "name" or isinstance(v, int | float)}


class BuiltIndex(ABC):
    """An index that holds the rows of one version of a gallery.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.index import ExactIndex
    >>> built = ExactIndex().build(np.eye(3, dtype=np.float32), np.array([10, 11, 12]))
    >>> built.nearest(np.array([0.6, 0.8, 0.0], dtype=np.float32), 2)
    array([11, 10])
    """

    @abstractmethod
    def nearest(self, query: Rows, n: int) -> IntArray:
        """Keys of ``n`` rows (or all) of largest inner products with a unit vector."""

    def nearest_of_each(self, queries: Rows, n: int) -> IntArray:
        """:meth:`nearest` for each of many vectors, shape (n_queries, n); for ``n`` rows."""
        return np.stack([self.nearest(query, n) for query in queries])

    @abstractmethod
    def changed(self, rows: Rows, keys: IntArray) -> BuiltIndex:
        """The index of other rows, in memory; those of known keys are unchanged."""

    def arrays(self) -> Arrays:
        """What a gallery file keeps, so that the index need not be built again."""
        return {}

    def publish(self) -> None:  # noqa: B027 (most indexes keep nothing elsewhere)
        """Update what is kept outside the gallery file, just before that is replaced."""


def stamp_of(rows: Rows, keys: IntArray) -> str:
    """SHA-256 of rows and keys.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.index import stamp_of
    >>> len(stamp_of(np.eye(3, dtype=np.float32), np.array([10, 11, 12])))
    64
    """
    digest = sha256(repr(rows.shape).encode())
    digest.update(np.ascontiguousarray(keys, dtype=np.int64).data)
    digest.update(np.ascontiguousarray(rows, dtype=np.float32).data)
    return digest.hexdigest()


def build_anew(index: Index) -> str:
    """How to build the index of a gallery anew, for messages."""
    return f"Build it anew: fit the gallery again with index={index!r}, and save it."


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

    def nearest_of_each(self, queries: Rows, n: int) -> IntArray:
        """As :meth:`nearest`, by one product of matrices; equals come in any order."""
        cosines = queries @ self.rows.T
        found = np.argpartition(-cosines, n - 1, axis=1)[:, :n]
        order = np.argsort(-np.take_along_axis(cosines, found, axis=1), axis=1, kind="stable")
        return self.keys[np.take_along_axis(found, order, axis=1)]

    def changed(self, rows: Rows, keys: IntArray) -> BuiltExact:
        """The other rows themselves."""
        return BuiltExact(rows, keys)
