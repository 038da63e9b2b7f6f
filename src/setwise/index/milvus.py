"""The index for galleries that many machines share: rows in a Milvus collection."""

from __future__ import annotations

import os
from collections.abc import Iterator
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
from setwise.errors import SetwiseError, reject
from setwise.index.base import BuiltIndex, Index, Rows, build_anew, stamp_of
from setwise.index.exact import BuiltExact

__all__ = ["BuiltMilvus", "MilvusIndex"]

_STAMP = -1  # the key of the row that says whose rows the others are
_FIELDS = {"key", "row", "stamp"}
_CHANGING = "changing"
_MOST_FOUND = 16_384  # by one search, says Milvus
_BATCH_BYTES = 2**23


@dataclass(frozen=True)
class MilvusIndex(Index):
    """Exact search in a collection of Milvus (``pip install "setwise[milvus]"``).

    The collection says whose rows it holds. One who has another gallery, or another version of
    it, gets an error instead of an answer; so does everybody after a change that was not
    brought to its end.

    Parameters
    ----------
    uri : str, default="http://localhost:19530"
        Where Milvus is; a path that ends in ``.db`` is that of the embedded ``milvus-lite``.
        A token is read from the environment variable ``MILVUS_TOKEN``: what stands here is
        written into gallery files.
    collection : str, default="setwise"
        One per gallery.
    timeout_s : float, default=60.0
        How long one request may take.

    Examples
    --------
    >>> from setwise import CVC
    >>> from setwise.index import MilvusIndex
    >>> clf = CVC(index=MilvusIndex("http://milvus.example:19530", collection="people"))
    >>> clf.get_params()["index"].collection
    'people'
    """

    name: ClassVar[str] = "milvus"
    uri: str = "http://localhost:19530"
    collection: str = "setwise"
    timeout_s: float = 60.0

    def __post_init__(self) -> None:
        if not isinstance(self.uri, str) or not self.uri:
            refuse("MilvusIndex", "uri", "the address of Milvus", self.uri)
        if urlsplit(self.uri).password is not None:
            expected = "an address without a password, which is read from $MILVUS_TOKEN"
            refuse("MilvusIndex", "uri", expected, "one with a password")
        if not isinstance(self.collection, str) or not self.collection.isidentifier():
            expected = "a name of letters, digits and underscores"
            refuse("MilvusIndex", "collection", expected, self.collection)
        check_number("MilvusIndex", "timeout_s", self.timeout_s)

    def build(self, rows: Rows, keys: IntArray) -> BuiltMilvus:
        """Put the rows into a new collection, in place of the index that was there."""
        stamp = stamp_of(rows, keys)
        with self._client() as client:
            if client.has_collection(self.collection, timeout=self.timeout_s):
                self._check_own(client)
                client.drop_collection(self.collection, timeout=self.timeout_s)
            self._create(client, rows.shape[1])
            with self._change(client, rows.shape[1], stamp):
                self._put(client, rows, keys)
                # Rows that are not yet in files are sorted anew for every search.
                client.flush(self.collection, timeout=self.timeout_s)
        return BuiltMilvus(self, rows, keys, stamp)

    def open(self, rows: Rows, keys: IntArray) -> BuiltMilvus:
        """The collection, where it holds these rows."""
        built = BuiltMilvus(self, rows, keys, stamp_of(rows, keys))
        with self._client() as client:
            if not client.has_collection(self.collection, timeout=self.timeout_s):
                reject(f"{self._place}: there is no such collection. {build_anew(self)}")
            self._check_own(client)
            self._check_stamp(client, built.stamp)
        return built

    @property
    def _place(self) -> str:
        return f"MilvusIndex: {self.uri}, collection {self.collection!r}"

    @contextmanager
    def _client(self) -> Iterator[Any]:
        """A connection; what goes wrong with it is said with its address."""
        pymilvus = require("pymilvus", "milvus")
        try:
            yield _connected(self.uri, self.timeout_s, os.getpid())
        except pymilvus.MilvusException as error:
            msg = (
                f"{self._place}: {error.message or error}. Expected a Milvus that answers "
                f"within {self.timeout_s:g} s; see whether it runs there and lets you in."
            )
            raise SetwiseError(msg) from error

    def _check_own(self, client: Any) -> None:
        """Refuse a collection that others made for something else."""
        described = client.describe_collection(self.collection, timeout=self.timeout_s)
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
            self.collection, ids=[_STAMP], output_fields=["stamp"], timeout=self.timeout_s
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
            self.collection,
            schema=schema,
            index_params=search,
            consistency_level="Strong",  # whoever reads the stamp sees the rows it is of
            timeout=self.timeout_s,
        )

    @contextmanager
    def _change(self, client: Any, n_features: int, stamp: str) -> Iterator[None]:
        """Say that rows change, and in the end whose they are now.

        Where this is not brought to its end, the first word stays, and nobody reads.
        """
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
        client.upsert(self.collection, stamped, timeout=self.timeout_s)

    def _put(self, client: Any, rows: Rows, keys: IntArray) -> None:
        size = max(1, _BATCH_BYTES // (4 * rows.shape[1]))
        for start in range(0, len(rows), size):
            batch = [
                {"key": int(key), "row": row, "stamp": None}
                for key, row in zip(
                    keys[start : start + size], rows[start : start + size], strict=True
                )
            ]
            client.upsert(self.collection, batch, timeout=self.timeout_s)

    def _remove(self, client: Any, keys: IntArray) -> None:
        for start in range(0, len(keys), _MOST_FOUND):
            part = keys[start : start + _MOST_FOUND].tolist()
            client.delete(self.collection, ids=part, timeout=self.timeout_s)


@dataclass(frozen=True, eq=False)
class BuiltMilvus(BuiltIndex):
    """Rows that are in a collection too, and the stamp it has while it holds them."""

    index: MilvusIndex
    rows: Rows
    keys: IntArray
    stamp: str

    def nearest(self, query: Rows, n: int) -> IntArray:
        """The keys that the collection finds, in the order of the exact products."""
        index, n = self.index, min(n, len(self.rows))
        with index._client() as client:
            answers = client.search(
                index.collection,
                [np.ascontiguousarray(query, dtype=np.float32)],
                limit=min(n + 1, _MOST_FOUND),  # the stamp may be among them
                output_fields=["key"],  # or milvus-lite sends the rows too
                timeout=index.timeout_s,
            )
            index._check_stamp(client, self.stamp)  # of rows that were there all the time
        keys = np.array([answer["key"] for answer in answers[0]], dtype=np.int64)
        places = np.searchsorted(self.keys, np.sort(keys[keys != _STAMP]))
        return BuiltExact(self.rows[places], self.keys[places]).nearest(query, n)

    def changed(self, rows: Rows, keys: IntArray) -> BuiltMilvus:
        """Put in and take out the rows that differ, and stamp the collection anew."""
        index, stamp = self.index, stamp_of(rows, keys)
        is_new = ~np.isin(keys, self.keys)
        with index._client() as client:
            index._check_stamp(client, self.stamp)
            with index._change(client, rows.shape[1], stamp):
                index._remove(client, np.setdiff1d(self.keys, keys))
                index._put(client, rows[is_new], keys[is_new])
        return BuiltMilvus(index, rows, keys, stamp)


@lru_cache(maxsize=8)
def _connected(uri: str, timeout_s: float, process: int) -> Any:
    """One connection per address and process: those of a parent are of no use to its child."""
    token = os.environ.get("MILVUS_TOKEN", "")
    return require("pymilvus", "milvus").MilvusClient(uri, token=token, timeout=timeout_s)
