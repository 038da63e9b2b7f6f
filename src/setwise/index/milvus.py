"""The index for galleries that many machines share: rows in a Milvus collection."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar
from uuid import uuid4

import numpy as np

from setwise._support.extras import require
from setwise._support.parameters import refuse
from setwise._support.types import IntArray
from setwise.errors import SetwiseError, reject
from setwise.index.base import Rows, build_anew
from setwise.index.database import STAMP, DatabaseIndex

_FIELDS = {"key", "row", "stamp"}
_CHANGING = "changing"
_MOST_FOUND = 16_384  # by one search, says Milvus
_BATCH_BYTES = 2**23


@dataclass(frozen=True)
class MilvusIndex(DatabaseIndex):
    """Exact search in a collection of Milvus (``pip install "setwise[milvus]"``).

    A gallery is searched in memory until it is saved; saving updates the collection, and a
    loaded gallery is searched there. The collection holds a stamp of its rows: a gallery of
    another version gets an error instead of an answer, as does any after an interrupted change.

    Parameters
    ----------
    uri : str, optional
        Address of Milvus, or a ``.db`` path for ``milvus-lite``; by default
        ``$SETWISE_MILVUS_URI``, or a search in memory. A token is read from ``$MILVUS_TOKEN``.
    collection : str, optional
        One per gallery; by default ``$SETWISE_MILVUS_COLLECTION``, or ``"setwise"``.
    timeout_s : float, default=60.0
        Time limit of one request.

    Examples
    --------
    >>> from setwise.index import MilvusIndex
    >>> MilvusIndex("http://milvus.example:19530", "people").collection
    'people'
    """

    name: ClassVar[str] = "milvus"
    place: ClassVar[str] = "collection"
    package: ClassVar[str] = "pymilvus"
    login: ClassVar[str] = "MILVUS_TOKEN"

    uri: str | None = None
    collection: str | None = None
    timeout_s: float = 60.0

    def __post_init__(self) -> None:
        if self.uri is not None and (not isinstance(self.uri, str) or not self.uri):
            refuse("MilvusIndex", "uri", "the address of Milvus, or None", self.uri)
        name = self.collection
        if name is not None and (not isinstance(name, str) or not name.isidentifier()):
            expected = "a name of letters, digits and underscores, or None"
            refuse("MilvusIndex", "collection", expected, name)
        self._check_parameters()

    @property
    def _given_name(self) -> str | None:
        return self.collection

    @contextmanager
    def _session(self) -> Iterator[Any]:
        """A client; errors of it name its address."""
        pymilvus = require("pymilvus", "milvus")
        try:
            yield _connected(str(self._address), self.timeout_s, os.getpid())
        except pymilvus.MilvusException as error:
            msg = (
                f"{self._where}: {error.message or error}. Expected a Milvus that answers "
                f"within {self.timeout_s:g} s; see whether it runs there and lets you in."
            )
            raise SetwiseError(msg) from error

    def _exists(self, session: Any) -> bool:
        """Whether the collection is there; one that setwise did not make is refused."""
        if not session.has_collection(self._name, timeout=self.timeout_s):
            return False
        described = session.describe_collection(self._name, timeout=self.timeout_s)
        fields = {field["name"] for field in described["fields"]}
        if fields != _FIELDS:
            reject(
                f"{self._where}: holds something else, with the fields "
                f"{', '.join(sorted(fields))}. Expected an index of setwise; name another "
                "collection."
            )
        return True

    def _check_stamp(self, stamp: str, expected: str) -> None:
        """Refuse a collection that holds other rows, or is being changed."""
        if stamp.startswith(_CHANGING):
            reject(
                f"{self._where}: a change has begun and not ended. Wait for the process that "
                f"makes it; if there is none, it was killed. {build_anew(self)}"
            )
        super()._check_stamp(stamp, expected)

    def _stamp(self, session: Any) -> str:
        stamped = session.get(
            self._name, ids=[STAMP], output_fields=["stamp"], timeout=self.timeout_s
        )
        return stamped[0]["stamp"] if stamped else _CHANGING  # killed before the first row

    def _found(self, query: Rows, n: int, stamp: str) -> IntArray:
        """Keys of the nearest rows of the collection."""
        with self._session() as session:
            answers = session.search(
                self._name,
                [np.ascontiguousarray(query, dtype=np.float32)],
                limit=min(n + 1, _MOST_FOUND),  # the stamp may be among them
                output_fields=["key"],  # or milvus-lite sends the rows too
                timeout=self.timeout_s,
            )
            # The rows were those of this stamp all the time.
            self._check_stamp(self._stamp(session), stamp)
        keys = np.array([answer["key"] for answer in answers[0]], dtype=np.int64)
        return keys[keys != STAMP]

    def _update(
        self, session: Any, stamp: str, gone: IntArray, rows: Rows, keys: IntArray
    ) -> None:
        """Remove some rows, and add others."""
        with self._change(session, rows.shape[1], stamp):
            self._remove(session, gone)
            self._put(session, rows, keys)

    def _create(self, session: Any, stamp: str, rows: Rows, keys: IntArray) -> None:
        """Make the collection anew, with these rows."""
        types = require("pymilvus", "milvus").DataType
        if session.has_collection(self._name, timeout=self.timeout_s):
            session.drop_collection(self._name, timeout=self.timeout_s)
        schema = session.create_schema(auto_id=False, enable_dynamic_field=False)
        schema.add_field("key", types.INT64, is_primary=True)
        schema.add_field("row", types.FLOAT_VECTOR, dim=rows.shape[1])
        schema.add_field("stamp", types.VARCHAR, max_length=128, nullable=True)
        search = session.prepare_index_params()
        search.add_index("row", index_type="FLAT", metric_type="IP")
        session.create_collection(
            self._name,
            schema=schema,
            index_params=search,
            consistency_level="Strong",  # a reader of the stamp sees the rows it belongs to
            timeout=self.timeout_s,
        )
        with self._change(session, rows.shape[1], stamp):
            self._put(session, rows, keys)
            # Rows that are not yet in files are sorted anew for every search.
            session.flush(self._name, timeout=self.timeout_s)

    @contextmanager
    def _change(self, session: Any, n_features: int, stamp: str) -> Iterator[None]:
        """Mark the collection as changing; an interrupted change leaves the mark."""
        begun = f"{_CHANGING} {uuid4()}"
        self._write_stamp(session, n_features, begun)
        yield
        if self._stamp(session) != begun:
            reject(
                f"{self._where}: another process changed it at the same time, so that rows of "
                f"both are in it. {build_anew(self)}"
            )
        self._write_stamp(session, n_features, stamp)

    def _write_stamp(self, session: Any, n_features: int, stamp: str) -> None:
        nothing = np.zeros(n_features, dtype=np.float32)
        stamped = [{"key": STAMP, "row": nothing, "stamp": stamp}]
        session.upsert(self._name, stamped, timeout=self.timeout_s)

    def _put(self, session: Any, rows: Rows, keys: IntArray) -> None:
        size = max(1, _BATCH_BYTES // (4 * rows.shape[1]))
        for start in range(0, len(rows), size):
            part = slice(start, start + size)
            batch = [
                {"key": int(key), "row": row, "stamp": None}
                for key, row in zip(keys[part], rows[part], strict=True)
            ]
            session.upsert(self._name, batch, timeout=self.timeout_s)

    def _remove(self, session: Any, keys: IntArray) -> None:
        for start in range(0, len(keys), _MOST_FOUND):
            part = keys[start : start + _MOST_FOUND].tolist()
            session.delete(self._name, ids=part, timeout=self.timeout_s)


@lru_cache(maxsize=8)
def _connected(uri: str, timeout_s: float, process: int) -> Any:
    """One connection per address and process: a child cannot use those of its parent."""
    token = os.environ.get("MILVUS_TOKEN", "")
    return require("pymilvus", "milvus").MilvusClient(uri, token=token, timeout=timeout_s)
