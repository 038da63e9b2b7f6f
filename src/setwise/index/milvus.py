"""The index for galleries that many machines share: rows in a Milvus collection."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar
from urllib.parse import urlsplit
from uuid import uuid4

import numpy as np

from setwise._support.extras import require
from setwise._support.parameters import check_number, refuse
from setwise._support.types import IntArray
from setwise.errors import SetwiseError, SetwiseWarning, reject
from setwise.index.base import BuiltExact, BuiltIndex, Index, Rows, build_anew, stamp_of

_STAMP = -1  # the key of the row that holds the stamp of the others
_FIELDS = {"key", "row", "stamp"}
_CHANGING = "changing"
_MOST_FOUND = 16_384  # by one search, says Milvus
_BATCH_BYTES = 2**23


@dataclass(frozen=True)
class MilvusIndex(Index):
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
    uri: str | None = None
    collection: str | None = None
    timeout_s: float = 60.0

    def __post_init__(self) -> None:
        if self.uri is not None and (not isinstance(self.uri, str) or not self.uri):
            refuse("MilvusIndex", "uri", "the address of Milvus, or None", self.uri)
        if self.uri is not None and urlsplit(self.uri).password is not None:
            expected = "an address without a password, which is read from $MILVUS_TOKEN"
            refuse("MilvusIndex", "uri", expected, "one with a password")
        name = self.collection
        if name is not None and (not isinstance(name, str) or not name.isidentifier()):
            expected = "a name of letters, digits and underscores, or None"
            refuse("MilvusIndex", "collection", expected, name)
        check_number("MilvusIndex", "timeout_s", self.timeout_s)

    def build(self, rows: Rows, keys: IntArray) -> BuiltIndex:
        """The rows in memory; saving the gallery puts them into the collection."""
        if self._address is None:
            return self._in_memory(rows, keys)
        require("pymilvus", "milvus")
        return BuiltMilvus(self, rows, keys, _Collection())

    def open(self, rows: Rows, keys: IntArray, saved: Mapping[str, Any]) -> BuiltIndex:
        """The collection, where it holds these rows."""
        if self._address is None:
            return self._in_memory(rows, keys)
        stamp = stamp_of(rows, keys)
        with self._client() as client:
            if not client.has_collection(self._name, timeout=self.timeout_s):
                reject(f"{self._place}: there is no such collection. {build_anew(self)}")
            self._check_own(client)
            self._check_stamp(client, stamp)
        return BuiltMilvus(self, rows, keys, _Collection(stamp, keys))

    @property
    def _address(self) -> str | None:
        return self.uri or os.environ.get("SETWISE_MILVUS_URI")

    @property
    def _name(self) -> str:
        return self.collection or os.environ.get("SETWISE_MILVUS_COLLECTION", "setwise")

    @property
    def _place(self) -> str:
        return f"MilvusIndex: {self._address}, collection {self._name!r}"

    def _in_memory(self, rows: Rows, keys: IntArray) -> BuiltExact:
        msg = (
            "MilvusIndex: no address is known, so the gallery is searched in memory, with the "
            "same answers. Set SETWISE_MILVUS_URI, or give index=MilvusIndex(uri=...)."
        )
        warnings.warn(msg, SetwiseWarning, stacklevel=2)
        return BuiltExact(rows, keys)

    @contextmanager
    def _client(self) -> Iterator[Any]:
        """A connection; errors of it name its address."""
        pymilvus = require("pymilvus", "milvus")
        try:
            yield _connected(str(self._address), self.timeout_s, os.getpid())
        except pymilvus.MilvusException as error:
            msg = (
                f"{self._place}: {error.message or error}. Expected a Milvus that answers "
                f"within {self.timeout_s:g} s; see whether it runs there and lets you in."
            )
            raise SetwiseError(msg) from error

    def _check_own(self, client: Any) -> None:
        """Refuse a collection that setwise did not make."""
        described = client.describe_collection(self._name, timeout=self.timeout_s)
        fields = {field["name"] for field in described["fields"]}
        if fields != _FIELDS:
            reject(
                f"{self._place}: holds something else, with the fields "
                f"{', '.join(sorted(fields))}. Expected an index of setwise; name another "
                "collection."
            )

    def _check_stamp(self, client: Any, expected: str) -> None:
        """Refuse a collection that holds other rows than expected."""
        stamp = self._stamp(client)
        if stamp == expected:
            return
        if stamp.startswith(_CHANGING):
            reject(
                f"{self._place}: a change has begun and not ended. Wait for the process that "
                f"makes it; if there is none, it was killed. {build_anew(self)}"
            )
        reject(
            f"{self._place}: is the index of another gallery, or of another version of this "
            f"one. Read the newest gallery file. If this is it: {build_anew(self)}"
        )

    def _stamp(self, client: Any) -> str:
        stamped = client.get(
            self._name, ids=[_STAMP], output_fields=["stamp"], timeout=self.timeout_s
        )
        return stamped[0]["stamp"] if stamped else _CHANGING  # killed before the first row

    def _create(self, client: Any, n_features: int) -> None:
        types = require("pymilvus", "milvus").DataType
        schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
        schema.add_field("key", types.INT64, is_primary=True)
        schema.add_field("row", types.FLOAT_VECTOR, dim=n_features)
        schema.add_field("stamp", types.VARCHAR, max_length=128, nullable=True)
        search = client.prepare_index_params()
        search.add_index("row", index_type="FLAT", metric_type="IP")
        client.create_collection(
            self._name,
            schema=schema,
            index_params=search,
            consistency_level="Strong",  # a reader of the stamp sees the rows it belongs to
            timeout=self.timeout_s,
        )

    @contextmanager
    def _change(self, client: Any, n_features: int, stamp: str) -> Iterator[None]:
        """Mark the collection as changing; an interrupted change leaves the mark."""
        begun = f"{_CHANGING} {uuid4()}"
        self._write_stamp(client, n_features, begun)
        yield
        if self._stamp(client) != begun:
            reject(
                f"{self._place}: another process changed it at the same time, so that rows of "
                f"both are in it. {build_anew(self)}"
            )
        self._write_stamp(client, n_features, stamp)

    def _write_stamp(self, client: Any, n_features: int, stamp: str) -> None:
        nothing = np.zeros(n_features, dtype=np.float32)
        stamped = [{"key": _STAMP, "row": nothing, "stamp": stamp}]
        client.upsert(self._name, stamped, timeout=self.timeout_s)

    def _put(self, client: Any, rows: Rows, keys: IntArray) -> None:
        size = max(1, _BATCH_BYTES // (4 * rows.shape[1]))
        for start in range(0, len(rows), size):
            part = slice(start, start + size)
            batch = [
                {"key": int(key), "row": row, "stamp": None}
                for key, row in zip(keys[part], rows[part], strict=True)
            ]
            client.upsert(self._name, batch, timeout=self.timeout_s)

    def _remove(self, client: Any, keys: IntArray) -> None:
        for start in range(0, len(keys), _MOST_FOUND):
            part = keys[start : start + _MOST_FOUND].tolist()
            client.delete(self._name, ids=part, timeout=self.timeout_s)


@dataclass
class _Collection:
    """Stamp and keys that this process last saw in the collection, or put there."""

    stamp: str = ""
    keys: IntArray | None = None


@dataclass(frozen=True, eq=False)
class BuiltMilvus(BuiltIndex):
    """Rows, and the collection, which may hold another version of them."""

    index: MilvusIndex
    rows: Rows
    keys: IntArray
    collection: _Collection

    def nearest(self, query: Rows, n: int) -> IntArray:
        """The keys that the collection finds, in the order of the exact products."""
        if self.collection.keys is not self.keys:  # not published
            return BuiltExact(self.rows, self.keys).nearest(query, n)
        index, n = self.index, min(n, len(self.rows))
        with index._client() as client:
            answers = client.search(
                index._name,
                [np.ascontiguousarray(query, dtype=np.float32)],
                limit=min(n + 1, _MOST_FOUND),  # the stamp may be among them
                output_fields=["key"],  # or milvus-lite sends the rows too
                timeout=index.timeout_s,
            )
            # The rows were those of this stamp all the time.
            index._check_stamp(client, self.collection.stamp)
        keys = np.array([answer["key"] for answer in answers[0]], dtype=np.int64)
        places = np.searchsorted(self.keys, np.sort(keys[keys != _STAMP]))
        return BuiltExact(self.rows[places], self.keys[places]).nearest(query, n)

    def changed(self, rows: Rows, keys: IntArray) -> BuiltMilvus:
        """The other rows in memory; the collection stays as it is."""
        return BuiltMilvus(self.index, rows, keys, self.collection)

    def publish(self) -> None:
        """Bring the collection to these rows."""
        index, stamp = self.index, stamp_of(self.rows, self.keys)
        with index._client() as client:
            exists = client.has_collection(index._name, timeout=index.timeout_s)
            if exists:
                index._check_own(client)
            if not exists or index._stamp(client) != stamp:
                self._write(client, stamp, exists)
        self.collection.stamp, self.collection.keys = stamp, self.keys

    def _write(self, client: Any, stamp: str, exists: bool) -> None:
        """Write the rows that differ from a known collection; else all rows."""
        index, known = self.index, self.collection.keys
        if known is not None:
            index._check_stamp(client, self.collection.stamp)
            is_new = ~np.isin(self.keys, known)
            with index._change(client, self.rows.shape[1], stamp):
                index._remove(client, np.setdiff1d(known, self.keys))
                index._put(client, self.rows[is_new], self.keys[is_new])
            return
        if exists and index.uri is None:
            reject(
                f"{index._place}: holds another gallery. To replace that, give the address in "
                "index=MilvusIndex(uri=...), or name another collection."
            )
        if exists:
            client.drop_collection(index._name, timeout=index.timeout_s)
        index._create(client, self.rows.shape[1])
        with index._change(client, self.rows.shape[1], stamp):
            index._put(client, self.rows, self.keys)
            # Rows that are not yet in files are sorted anew for every search.
            client.flush(index._name, timeout=index.timeout_s)


@lru_cache(maxsize=8)
def _connected(uri: str, timeout_s: float, process: int) -> Any:
    """One connection per address and process: a child cannot use those of its parent."""
    token = os.environ.get("MILVUS_TOKEN", "")
    return require("pymilvus", "milvus").MilvusClient(uri, token=token, timeout=timeout_s)
