"""The index for galleries that many machines share: rows in a Milvus collection."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, ClassVar, NamedTuple
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
        uri, name = self.uri, self.collection
        if uri is not None and (not isinstance(uri, str) or not uri):
            refuse("MilvusIndex", "uri", "the address of Milvus, or None", uri)
        if uri is not None and urlsplit(uri).password is not None:
            expected = "an address without a password, which is read from $MILVUS_TOKEN"
            refuse("MilvusIndex", "uri", expected, "one with a password")
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
            if not client.has_collection():
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
        what = "no address is known, so the gallery is searched in memory, with equal answers"
        advice = "Set SETWISE_MILVUS_URI, or give index=MilvusIndex(uri=...)"
        warnings.warn(f"MilvusIndex: {what}. {advice}.", SetwiseWarning, stacklevel=2)
        return BuiltExact(rows, keys)

    @contextmanager
    def _client(self) -> Iterator[_Client]:
        """A connection to the collection; errors of it name its address."""
        pymilvus = require("pymilvus", "milvus")
        try:
            connected = _connected(str(self._address), self.timeout_s, os.getpid())
            yield _Client(connected, self._name, self.timeout_s)
        except pymilvus.MilvusException as error:
            msg = (
                f"{self._place}: {error.message or error}. Expected a Milvus that answers "
                f"within {self.timeout_s:g} s; see whether it runs there and lets you in."
            )
            raise SetwiseError(msg) from error

    def _check_own(self, client: _Client) -> None:
        """Refuse a collection that setwise did not make."""
        fields = {field["name"] for field in client.describe_collection()["fields"]}
        if fields != _FIELDS:
            what = f"holds something else, with the fields {', '.join(sorted(fields))}"
            expected = "an index of setwise; name another collection"
            reject(f"{self._place}: {what}. Expected {expected}.")

    def _check_stamp(self, client: _Client, expected: str) -> None:
        """Refuse a collection that holds other rows than expected."""
        stamp = self._stamp(client)
        if stamp.startswith(_CHANGING):
            reject(
                f"{self._place}: a change has begun and not ended. Wait for the process that "
                f"makes it; if there is none, it was killed. {build_anew(self)}"
            )
        if stamp != expected:
            reject(
                f"{self._place}: is the index of another gallery, or of another version of "
                f"this one. Read the newest gallery file. If this is it: {build_anew(self)}"
            )

    def _stamp(self, client: _Client) -> str:
        stamped = client.get(ids=[_STAMP], output_fields=["stamp"])
        return stamped[0]["stamp"] if stamped else _CHANGING  # killed before the first row

    def _create(self, client: _Client, n_features: int) -> None:
        types = require("pymilvus", "milvus").DataType
        schema = client.client.create_schema(auto_id=False, enable_dynamic_field=False)
        schema.add_field("key", types.INT64, is_primary=True)
        schema.add_field("row", types.FLOAT_VECTOR, dim=n_features)
        schema.add_field("stamp", types.VARCHAR, max_length=128, nullable=True)
        search = client.client.prepare_index_params()
        search.add_index("row", index_type="FLAT", metric_type="IP")
        # Strong, so that a reader of the stamp sees the rows it belongs to.
        options = {"index_params": search, "consistency_level": "Strong"}
        client.create_collection(schema=schema, **options)

    @contextmanager
    def _change(self, client: _Client, n_features: int, stamp: str) -> Iterator[None]:
        """Mark the collection as changing; an interrupted change leaves the mark."""
        begun, nothing = f"{_CHANGING} {uuid4()}", np.zeros(n_features, dtype=np.float32)
        client.upsert([{"key": _STAMP, "row": nothing, "stamp": begun}])
        yield
        if self._stamp(client) != begun:
            what = "another process changed it at the same time, so that rows of both are in it"
            reject(f"{self._place}: {what}. {build_anew(self)}")
        client.upsert([{"key": _STAMP, "row": nothing, "stamp": stamp}])

    def _put(self, client: _Client, rows: Rows, keys: IntArray) -> None:
        size = max(1, _BATCH_BYTES // (4 * rows.shape[1]))
        for start in range(0, len(rows), size):
            part = slice(start, start + size)
            pairs = zip(keys[part].tolist(), rows[part], strict=True)
            client.upsert([{"key": key, "row": row, "stamp": None} for key, row in pairs])


class _Client(NamedTuple):
    """A client whose methods know the collection and the time limit."""

    client: Any
    collection: str
    timeout_s: float

    def __getattr__(self, method: str) -> Any:
        return partial(getattr(self.client, method), self.collection, timeout=self.timeout_s)


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
        n = min(n, len(self.rows))
        with self.index._client() as client:
            # The stamp may be found too. Without output_fields, milvus-lite sends the rows.
            options = {"limit": min(n + 1, _MOST_FOUND), "output_fields": ["key"]}
            answers = client.search([np.ascontiguousarray(query, dtype=np.float32)], **options)
            # The rows were those of this stamp all the time.
            self.index._check_stamp(client, self.collection.stamp)
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
            exists = client.has_collection()
            if exists:
                index._check_own(client)
            if not exists or index._stamp(client) != stamp:
                self._write(client, stamp, exists)
        self.collection.stamp, self.collection.keys = stamp, self.keys

    def _write(self, client: _Client, stamp: str, exists: bool) -> None:
        """Write the rows that differ from a known collection; else all rows."""
        index, known = self.index, self.collection.keys
        if known is not None:
            index._check_stamp(client, self.collection.stamp)
            is_new = ~np.isin(self.keys, known)
            gone = np.setdiff1d(known, self.keys)
            with index._change(client, self.rows.shape[1], stamp):
                for start in range(0, len(gone), _MOST_FOUND):
                    client.delete(ids=gone[start : start + _MOST_FOUND].tolist())
                index._put(client, self.rows[is_new], self.keys[is_new])
            return
        if exists and index.uri is None:
            advice = "give its address, index=MilvusIndex(uri=...), or another collection"
            reject(f"{index._place}: holds another gallery. To replace that, {advice}.")
        if exists:
            client.drop_collection()
        index._create(client, self.rows.shape[1])
        with index._change(client, self.rows.shape[1], stamp):
            index._put(client, self.rows, self.keys)
            client.flush()  # rows that are not yet in files are sorted anew for every search


@lru_cache(maxsize=8)
def _connected(uri: str, timeout_s: float, process: int) -> Any:
    """One connection per address and process: a child cannot use those of its parent."""
    token = os.environ.get("MILVUS_TOKEN", "")
    return require("pymilvus", "milvus").MilvusClient(uri, token=token, timeout=timeout_s)
