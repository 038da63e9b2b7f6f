"""The index for galleries that many machines share: rows in a table of PostgreSQL."""

from __future__ import annotations

import os
import ssl
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import parse_qs, unquote, urlsplit

import numpy as np

from setwise._support.extras import require
from setwise._support.parameters import refuse
from setwise._support.types import IntArray
from setwise.errors import SetwiseError, reject
from setwise.index.base import Rows
from setwise.index.database import STAMP, DatabaseIndex

_COLUMNS = {"key", "row", "stamp"}
SSL_MODES = (None, "disable", "verify-full")
_BATCH = 500  # rows of one statement
# Connections that no thread uses now, by address, time limit and process.
_IDLE: defaultdict[tuple[str, float, int], list[Any]] = defaultdict(list)


@dataclass(frozen=True)
class PgvectorIndex(DatabaseIndex):
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
    place: ClassVar[str] = "table"
    package: ClassVar[str] = "pg8000"
    login: ClassVar[str] = "PGPASSWORD"

    uri: str | None = None
    table: str | None = None
    timeout_s: float = 60.0

    def __post_init__(self) -> None:
        uri = self.uri
        if uri is not None and not (isinstance(uri, str) and uri.startswith("postgresql://")):
            refuse("PgvectorIndex", "uri", "postgresql://user@host/database, or None", uri)
        name = self.table
        if name is not None and (not isinstance(name, str) or not _is_name(name)):
            expected = "a name of at most 63 letters, digits and underscores, or None"
            refuse("PgvectorIndex", "table", expected, name)
        self._check_parameters()

    @property
    def _given_name(self) -> str | None:
        return self.table

    @property
    def _name(self) -> str:
        name = super()._name
        if not _is_name(name):  # it becomes part of statements
            reject(f"PgvectorIndex: $SETWISE_PGVECTOR_TABLE, {name!r}, is no name of a table.")
        return name

    @contextmanager
    def _session(self) -> Iterator[Any]:
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
            first = error.args[0] if error.args else error
            why = first.get("M") if isinstance(first, dict) else first
            msg = (
                f"{self._where}: {why}. Expected a PostgreSQL with the extension vector that "
                f"answers within {self.timeout_s:g} s; see whether it runs and lets you in."
            )
            raise SetwiseError(msg) from error

    def _exists(self, session: Any) -> bool:
        """Whether the table is there; one that setwise did not make is refused."""
        session.execute(
            "select attname from pg_attribute where attrelid = to_regclass(%s) and attnum > 0 "
            "and not attisdropped",
            (self._name,),
        )
        columns = {name for (name,) in session.fetchall()}
        if columns and columns != _COLUMNS:
            reject(
                f"{self._where}: holds something else, with the columns "
                f"{', '.join(sorted(columns))}. Expected an index of setwise; name another "
                "table."
            )
        return bool(columns)

    def _lock(self, session: Any) -> None:
        """Make others who change the table wait."""
        session.execute(f"lock table {self._name} in share row exclusive mode")

    def _stamp(self, session: Any) -> str:
        session.execute(f"select stamp from {self._name} where key = {STAMP}")  # noqa: S608
        return str(session.fetchone()[0])

    def _found(self, query: Rows, n: int, stamp: str) -> IntArray:
        """Keys of the nearest rows of the table."""
        with self._session() as session:  # one statement sees one version of rows and stamp
            session.execute(
                f"(select key, null from {self._name} where key <> {STAMP} "  # noqa: S608
                "order by row <#> cast(%s as vector), key limit %s) "
                f"union all select key, stamp from {self._name} where key = {STAMP}",
                (_text(query), n),
            )
            *found, (_, stamp_there) = session.fetchall()
        self._check_stamp(stamp_there, stamp)
        return np.array([key for key, _ in found], dtype=np.int64)

    def _update(
        self, session: Any, stamp: str, gone: IntArray, rows: Rows, keys: IntArray
    ) -> None:
        """Remove some rows, and add others."""
        delete = f"delete from {self._name} where key = any(%s)"  # noqa: S608
        session.execute(delete, ([*gone.tolist(), STAMP],))
        self._put(session, stamp, rows, keys)

    def _create(self, session: Any, stamp: str, rows: Rows, keys: IntArray) -> None:
        """Make the table anew, with these rows."""
        name, width = self._name, rows.shape[1]
        session.execute(f"drop table if exists {name}")
        session.execute(
            f"create table {name} (key bigint primary key, row vector({width}), stamp text)"
        )
        self._put(session, stamp, rows, keys)

    def _put(self, session: Any, stamp: str, rows: Rows, keys: IntArray) -> None:
        name = self._name
        insert = (
            f"insert into {name} (key, row) "  # noqa: S608
            "select * from unnest(cast(%s as bigint[]), cast(%s as vector[]))"
        )
        for start in range(0, len(rows), _BATCH):
            part = slice(start, start + _BATCH)
            texts = [_text(row) for row in rows[part]]
            session.execute(insert, (keys[part].tolist(), texts))
        session.execute(f"insert into {name} values ({STAMP}, null, %s)", (stamp,))  # noqa: S608


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
