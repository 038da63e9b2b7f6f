"""What every index offers: the nearest of many unit vectors, one per gallery set."""

from __future__ import annotations

from abc import ABC, abstractmethod
from hashlib import sha256
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from setwise._support.parts import Part
from setwise._support.types import IntArray

__all__ = ["BuiltIndex", "Index", "Rows", "build_anew", "stamp_of"]

Rows = npt.NDArray[np.float32]


class Index(Part, ABC):
    """A way to find the nearest of many vectors; its parameters and nothing else.

    Examples
    --------
    >>> from setwise.index import Index
    >>> Index.of("exact", "CVC")
    ExactIndex()
    """

    family: ClassVar[str] = "index"

    @abstractmethod
    def build(self, rows: Rows, keys: IntArray) -> BuiltIndex:
        """An index of these rows, whatever was there before.

        Parameters
        ----------
        rows : array of float32, shape (n_sets, n_features)
            Unit vectors, or zeros.
        keys : array of int, shape (n_sets,)
            What each row is called, ascending; a key is never given to another row.
        """

    @abstractmethod
    def open(self, rows: Rows, keys: IntArray) -> BuiltIndex:
        """The index of these rows that was built before, perhaps by another process.

        Raises
        ------
        DataError
            Where it is not there, or is of other rows: it says so and how to build it anew.
        """


class BuiltIndex(ABC):
    """An index that holds the rows of one version of a gallery.

    Examples
    --------
    >>> import numpy as np
    >>> rows, keys = np.eye(3, dtype=np.float32), np.array([10, 11, 12])
    >>> query = np.array([0.6, 0.8, 0.0], dtype=np.float32)
    >>> from setwise.index import ExactIndex
    >>> built = ExactIndex().build(rows, keys)
    >>> built.changed(rows[:2], keys[:2]).nearest(query, 3)
    array([11, 10])
    """

    @abstractmethod
    def nearest(self, query: Rows, n: int) -> IntArray:
        """Keys of about ``n`` rows with the largest inner products with a query, in order.

        Parameters
        ----------
        query : array of float32, shape (n_features,)
            A unit vector.
        n : int
            How many; all where there are fewer.
        """

    @abstractmethod
    def changed(self, rows: Rows, keys: IntArray) -> BuiltIndex:
        """The index of other rows: those whose keys it knows are as they were.

        Keys that it has and that are not given go; those it does not know come.
        """


def stamp_of(rows: Rows, keys: IntArray) -> str:
    """A name of these rows and keys that no others have.

    Examples
    --------
    >>> import numpy as np
    >>> rows, keys = np.eye(3, dtype=np.float32), np.array([10, 11, 12])
    >>> from setwise.index import stamp_of
    >>> stamp_of(rows, keys) == stamp_of(rows, keys + 1)
    False
    """
    digest = sha256(repr(rows.shape).encode())
    digest.update(np.ascontiguousarray(keys, dtype=np.int64).data)
    digest.update(np.ascontiguousarray(rows, dtype=np.float32).data)
    return digest.hexdigest()


def build_anew(index: Index) -> str:
    """What to do about an index that is not that of a gallery, for messages."""
    return f"Build it anew: fit the gallery again with index={index!r}, and save it."
