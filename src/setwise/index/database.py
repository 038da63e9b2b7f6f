"""What indexes in a database share: an address, a place there, and a stamp of its rows."""

from __future__ import annotations

import os
import warnings
from abc import abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar
from urllib.parse import urlsplit

import numpy as np

from setwise._support.extras import require
from setwise._support.parameters import check_number, refuse
from setwise._support.types import IntArray
from setwise.errors import SetwiseWarning, reject
from setwise.index.base import BuiltExact, BuiltIndex, Index, Rows, build_anew, stamp_of

STAMP = -1  # the key of the row that holds the stamp of the others


class DatabaseIndex(Index):
    """Exact search by a server. A gallery is searched in memory until it is saved."""

    #: What the server calls the rows of one gallery, the package that talks to it, and where
    #: its password is read from.
    place: ClassVar[str]
    package: ClassVar[str]
    login: ClassVar[str]

    uri: str | None
    timeout_s: float

    @property
    @abstractmethod
    def _given_name(self) -> str | None:
        """Name of the place that a parameter gives."""

    @abstractmethod
    def _session(self) -> AbstractContextManager[Any]:
        """A connection; errors of it name its address."""

    @abstractmethod
    def _exists(self, session: Any) -> bool:
        """Whether the place is there; one that setwise did not make is refused."""

    @abstractmethod
    def _stamp(self, session: Any) -> str:
        """The stamp of the rows in the database."""

    @abstractmethod
    def _found(self, query: Rows, n: int, stamp: str) -> IntArray:
        """Keys of the nearest rows in the database, of which the stamp is checked."""

    @abstractmethod
    def _update(
        self, session: Any, stamp: str, gone: IntArray, rows: Rows, keys: IntArray
    ) -> None:
        """Remove some rows, and add others."""

    @abstractmethod
    def _create(self, session: Any, stamp: str, rows: Rows, keys: IntArray) -> None:
        """Make the place anew, with these rows."""

    def _lock(self, session: Any) -> None:
        """Make others who change the place wait, where the server can."""

    def _check_parameters(self) -> None:
        owner = type(self).__name__
        if self.uri is not None and urlsplit(self.uri).password is not None:
            expected = f"an address without a password, which is read from ${self.login}"
            refuse(owner, "uri", expected, "one with a password")
        check_number(owner, "timeout_s", self.timeout_s)

    def build(self, rows: Rows, keys: IntArray) -> BuiltIndex:
        """The rows in memory; saving the gallery puts them into the database."""
        if self._address is None:
            return self._in_memory(rows, keys)
        require(self.package, self.name)
        return BuiltDatabase(self, rows, keys)

    def open(self, rows: Rows, keys: IntArray, saved: Mapping[str, Any]) -> BuiltIndex:
        """The rows in the database, where it holds these."""
        if self._address is None:
            return self._in_memory(rows, keys)
        stamp = stamp_of(rows, keys)
        with self._session() as session:
            if not self._exists(session):
                reject(f"{self._where}: there is no such {self.place}. {build_anew(self)}")
            self._check_stamp(self._stamp(session), stamp)
        return BuiltDatabase(self, rows, keys, _Published(stamp, keys))

    def _variable(self, what: str) -> str:
        return f"SETWISE_{self.name.upper()}_{what.upper()}"

    @property
    def _address(self) -> str | None:
        return self.uri or os.environ.get(self._variable("uri"))

    @property
    def _name(self) -> str:
        return self._given_name or os.environ.get(self._variable(self.place), "setwise")

    @property
    def _where(self) -> str:
        return f"{type(self).__name__}: {self._address}, {self.place} {self._name!r}"

    def _in_memory(self, rows: Rows, keys: IntArray) -> BuiltExact:
        owner = type(self).__name__
        msg = (
            f"{owner}: no address is known, so the gallery is searched in memory, with the "
            f"same answers. Set {self._variable('uri')}, or give index={owner}(uri=...)."
        )
        warnings.warn(msg, SetwiseWarning, stacklevel=3)
        return BuiltExact(rows, keys)

    def _check_stamp(self, stamp: str, expected: str) -> None:
        """Refuse a database that holds other rows than expected."""
        if stamp != expected:
            reject(
                f"{self._where}: is the index of another gallery, or of another version of "
                f"this one. Read the newest gallery file. If this is it: {build_anew(self)}"
            )


@dataclass
class _Published:
    """Stamp and keys of the rows in the database, as far as this process knows."""

    stamp: str = ""
    keys: IntArray | None = None


@dataclass(frozen=True, eq=False)
class BuiltDatabase(BuiltIndex):
    """Rows, and the database, which may hold another version of them."""

    index: DatabaseIndex
    rows: Rows
    keys: IntArray
    published: _Published = field(default_factory=_Published)

    def nearest(self, query: Rows, n: int) -> IntArray:
        """The keys that the database finds, in the order of the exact products."""
        n = min(n, len(self.rows))
        if self.published.keys is not self.keys or not n:
            return BuiltExact(self.rows, self.keys).nearest(query, n)
        found = self.index._found(query, n, self.published.stamp)
        places = np.searchsorted(self.keys, np.sort(found))
        return BuiltExact(self.rows[places], self.keys[places]).nearest(query, n)

    def changed(self, rows: Rows, keys: IntArray) -> BuiltDatabase:
        """The other rows in memory; the database stays as it is."""
        return replace(self, rows=rows, keys=keys)

    def publish(self) -> None:
        """Bring the database to these rows."""
        index, stamp = self.index, stamp_of(self.rows, self.keys)
        with index._session() as session:
            exists = index._exists(session)
            if exists:
                index._lock(session)
            if not exists or index._stamp(session) != stamp:
                self._write(session, stamp, exists)
        self.published.stamp, self.published.keys = stamp, self.keys

    def _write(self, session: Any, stamp: str, exists: bool) -> None:
        """Write the rows that differ from known ones; else all rows."""
        index, known = self.index, self.published.keys
        if known is not None:
            index._check_stamp(index._stamp(session), self.published.stamp)
            gone, is_new = np.setdiff1d(known, self.keys), ~np.isin(self.keys, known)
            index._update(session, stamp, gone, self.rows[is_new], self.keys[is_new])
            return
        if exists and index.uri is None:
            reject(
                f"{index._where}: holds another gallery. To replace that, give the address in "
                f"index={type(index).__name__}(uri=...), or name another {index.place}."
            )
        index._create(session, stamp, self.rows, self.keys)
