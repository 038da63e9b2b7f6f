"""The index for galleries that many machines share: rows in a table of PostgreSQL."""

from __future__ import annotations

import os
import ssl
import warnings
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import parse_qs, unquote, urlsplit

import numpy as np

from setwise._support.extras import require
from setwise._support.parameters import check_number, refuse
from setwise._support.types import IntArray
from setwise.errors import SetwiseError, SetwiseWarning, reject
from setwise.index.base import BuiltExact, BuiltIndex, Index, Rows, build_anew, stamp_of

_STAMP = -1  # the key of the row that holds the stamp of the others
_COLUMNS = {"key", "row", "stamp"}
SSL_MODES = (None, "disable", "verify-full")
_BATCH = 500  # rows of one statement
# Connections that no thread uses now, by address, time limit and process.
_IDLE: defaultdict[tuple[str, float, int], list[Any]] = defaultdict(list)


@dataclass(frozen=True)
class PgvectorIndex(Index):
    """Exact search in PostgreSQL with pgvector (``pip install "setwise[pgvector]"``).

    A gallery is searched in memory until it is saved; saving updates the table, and a loaded
    gallery is searched there. Rows and the stamp that names them change in one transaction: a
    reader finds one version or the other, and a gallery of another version gets an error.

    Parameters
    ----------
    uri : str, optional
        ``postgresql://user@host:5432/database``; with ``?host=/folder`` a socket of this
        machine, with ``?sslmode=verify-full`` its certificate is checked. By default
        ``$SETWISE_PGVECTOR_URI``, or a search in memory. A password is read from
        ``$PGPASSWORD``.
    table : str, optional
        One per gallery; by default ``$SETWISE_PGVECTOR_TABLE``, or ``"setwise"``.
    timeout_s : float, default=60.0
        Time limit of one answer.

    Examples
    --------
    >>> from setwise.index import PgvectorIndex
    >>> PgvectorIndex("postgresql://setwise@db.example/faces", "people").table
    'people'
    """

    name: ClassVar[str] = "pgvector"
    uri: str | None = None
    table: str | None = None
    timeout_s: float = 60.0

    def __post_init__(self) -> None:
        if self.uri is not None:
            if not isinstance(self.uri, str) or not self.uri.startswith("postgresql://"):
                expected = "postgresql://user@host/database, or None"
                refuse("PgvectorIndex", "uri", expected, self.uri)
            if urlsplit(self.uri).password is not None:
                expected = "an address without a password, which is read from $PGPASSWORD"
                refuse("PgvectorIndex", "uri", expected, "one with a password")
        name = self.table
        if name is not None and (not isinstance(name, str) or not _is_name(name)):
            expected = "a name of at most 63 letters, digits and underscores, or None"
            refuse("PgvectorIndex", "table", expected, name)
        check_number("PgvectorIndex", "timeout_s", self.timeout_s)

    def build(self, rows: Rows, keys: IntArray) -> BuiltIndex:
        """The rows in memory; saving the gallery puts them into the table."""
        if self._address is None:
            return self._in_memory(rows, keys)
        require("pg8000", "pgvector")
        return BuiltPgvector(self, rows, keys, _Published())

    def open(self, rows: Rows, keys: IntArray, saved: Mapping[str, Any]) -> BuiltIndex:
        """The table, where it holds these rows."""
        if self._address is None:
            return self._in_memory(rows, keys)
        stamp = stamp_of(rows, keys)
        with self._cursor() as cursor:
            if not self._exists(cursor):
                reject(f"{self._place}: there is no such table. {build_anew(self)}")
            self._check_stamp(self._stamp(cursor), stamp)
        return BuiltPgvector(self, rows, keys, _Published(stamp, keys))

    @property
    def _address(self) -> str | None:
        return self.uri or os.environ.get("SETWISE_PGVECTOR_URI")

    @property
    def _name(self) -> str:
        name = self.table or os.environ.get("SETWISE_PGVECTOR_TABLE", "setwise")
        if not _is_name(name):  # it becomes part of statements
            reject(f"PgvectorIndex: $SETWISE_PGVECTOR_TABLE, {name!r}, is no name of a table.")
        return name

    @property
    def _place(self) -> str:
        return f"PgvectorIndex: {self._address}, table {self._name!r}"

    def _in_memory(self, rows: Rows, keys: IntArray) -> BuiltExact:
        msg = (
            "PgvectorIndex: no address is known, so the gallery is searched in memory, with "
            "the same answers. Set SETWISE_PGVECTOR_URI, or give index=PgvectorIndex(uri=...)."
        )
        warnings.warn(msg, SetwiseWarning, stacklevel=2)
        return BuiltExact(rows, keys)

    @contextmanager
    def _cursor(self) -> Iterator[Any]:
        """A transaction, on a connection that is kept; errors name the address."""
        driver = require("pg8000", "pgvector").dbapi
        idle = _IDLE[str(self._address), self.timeout_s, os.getpid()]  # a child needs its own
        connection: Any = None
        try:
            connection = (
                idle.pop() if idle else _connected(driver, str(self._address), self.timeout_s)
            )
            yield connection.cursor()
            connection.commit()
            idle.append(connection)
        except BaseException as error:
            with suppress(Exception):
                connection.close()
            if not isinstance(error, (driver.Error, OSError)):
                raise
            told = error.args[0] if error.args else error
            why = told.get("M") if isinstance(told, dict) else told
            msg = (
                f"{self._place}: {why}. Expected a PostgreSQL with the extension vector that "
                f"answers within {self.timeout_s:g} s; see whether it runs and lets you in."
            )
            raise SetwiseError(msg) from error

    def _exists(self, cursor: Any) -> bool:
        """Whether the table is there; one that setwise did not make is refused."""
        cursor.execute(
            "select attname from pg_attribute where attrelid = to_regclass(%s) and attnum > 0 "
            "and not attisdropped",
            (self._name,),
        )
        columns = {name for (name,) in cursor.fetchall()}
        if columns and columns != _COLUMNS:
            reject(
                f"{self._place}: holds something else, with the columns "
                f"{', '.join(sorted(columns))}. Expected an index of setwise; name another "
                "table."
            )
        return bool(columns)

    def _stamp(self, cursor: Any) -> str:
        cursor.execute(f"select stamp from {self._name} where key = {_STAMP}")  # noqa: S608
        return str(cursor.fetchone()[0])

    def _check_stamp(self, stamp: str, expected: str) -> None:
        """Refuse a table that holds other rows than expected."""
        if stamp != expected:
            reject(
                f"{self._place}: is the index of another gallery, or of another version of "
                f"this one. Read the newest gallery file. If this is it: {build_anew(self)}"
            )


@dataclass
class _Published:
    """Stamp and keys of the rows that the table has, as far as this process knows."""

    stamp: str = ""
    keys: IntArray | None = None


@dataclass(frozen=True)
class BuiltPgvector(BuiltIndex):
    """Rows, and the table, which may hold another version of them."""

    index: PgvectorIndex
    rows: Rows
    keys: IntArray
    published: _Published

    def nearest(self, query: Rows, n: int) -> IntArray:
        """The keys that the table finds, in the order of the exact products."""
        if self.published.keys is not self.keys:
            return BuiltExact(self.rows, self.keys).nearest(query, n)
        index, name = self.index, self.index._name
        if not min(n, len(self.rows)):
            return self.keys[:0]
        with index._cursor() as cursor:  # one statement sees one version of rows and stamp
            cursor.execute(
                f"(select key, null from {name} where key <> {_STAMP} "  # noqa: S608
                "order by row <#> cast(%s as vector), key limit %s) "
                f"union all select key, stamp from {name} where key = {_STAMP}",
                (_text(query), min(n, len(self.rows))),
            )
            *found, (_, stamp) = cursor.fetchall()
        index._check_stamp(stamp, self.published.stamp)
        keys = np.array([key for key, _ in found], dtype=np.int64)
        places = np.searchsorted(self.keys, np.sort(keys))
        return BuiltExact(self.rows[places], self.keys[places]).nearest(query, n)

    def changed(self, rows: Rows, keys: IntArray) -> BuiltPgvector:
        """The other rows in memory; the table stays as it is."""
        return BuiltPgvector(self.index, rows, keys, self.published)

    def publish(self) -> None:
        """Bring the table to these rows, or leave it as it is."""
        index, stamp = self.index, stamp_of(self.rows, self.keys)
        with index._cursor() as cursor:
            exists = index._exists(cursor)
            if exists:  # others who change it wait here
                cursor.execute(f"lock table {index._name} in share row exclusive mode")
            if not exists or index._stamp(cursor) != stamp:
                self._write(cursor, stamp, exists)
        self.published.stamp, self.published.keys = stamp, self.keys

    def _write(self, cursor: Any, stamp: str, exists: bool) -> None:
        """Write the rows that differ from a known table; else all rows."""
        index, name, known = self.index, self.index._name, self.published.keys
        if known is not None:
            index._check_stamp(index._stamp(cursor), self.published.stamp)
            gone = np.setdiff1d(known, self.keys).tolist()
            cursor.execute(f"delete from {name} where key = any(%s)", (gone,))  # noqa: S608
            is_new = ~np.isin(self.keys, known)
        elif exists and index.uri is None:
            reject(
                f"{index._place}: holds another gallery. To replace that, give the address in "
                "index=PgvectorIndex(uri=...), or name another table."
            )
        else:
            is_new = np.ones(len(self.keys), dtype=bool)
            width = self.rows.shape[1]
            cursor.execute(f"drop table if exists {name}")
            cursor.execute(
                f"create table {name} (key bigint primary key, row vector({width}), stamp text)"
            )
        self._put(cursor, self.rows[is_new], self.keys[is_new])
        cursor.execute(f"delete from {name} where key = {_STAMP}")  # noqa: S608
        cursor.execute(f"insert into {name} values ({_STAMP}, null, %s)", (stamp,))  # noqa: S608

    def _put(self, cursor: Any, rows: Rows, keys: IntArray) -> None:
        insert = (
            f"insert into {self.index._name} (key, row) "  # noqa: S608
            "select * from unnest(cast(%s as bigint[]), cast(%s as vector[]))"
        )
        for start in range(0, len(rows), _BATCH):
            part = slice(start, start + _BATCH)
            texts = [_text(row) for row in rows[part]]
            cursor.execute(insert, (keys[part].tolist(), texts))


def _text(row: Rows) -> str:
    """A vector as pgvector reads it; nine digits are a number of single precision exactly."""
    return "[" + ",".join(f"{value:.9g}" for value in row.tolist()) + "]"


def _is_name(name: str) -> bool:
    return name.isidentifier() and name.isascii() and len(name) <= 63


def _connected(driver: Any, uri: str, timeout_s: float) -> Any:
    """A connection to an address."""
    parts = urlsplit(uri)
    options = {name: values[0] for name, values in parse_qs(parts.query).items()}
    # An option that is not known might have asked for encryption.
    if options.keys() - {"host", "sslmode"} or options.get("sslmode") not in SSL_MODES:
        reject(
            f"PgvectorIndex: the address {uri} has other options than host=/folder, "
            "sslmode=verify-full and sslmode=disable. Take them out."
        )
    known: dict[str, Any] = {"host": parts.hostname or "localhost", "port": parts.port or 5432}
    if "host" in options:
        known = {"unix_sock": f"{options['host']}/.s.PGSQL.{known['port']}"}
    elif options.get("sslmode") == "verify-full":
        known["ssl_context"] = ssl.create_default_context()
    return driver.connect(
        user=unquote(parts.username or "postgres"),
        password=os.environ.get("PGPASSWORD"),
        database=unquote(parts.path.strip("/")) or None,
        timeout=timeout_s,
        application_name="setwise",
        **known,
    )
