"""A collection that others read and change too."""

from __future__ import annotations

from functools import partial

import pytest
from tests.index.made_rows import keys_of, opened, published, random_rows

from setwise.errors import DataError, ParameterError, SetwiseError, SetwiseWarning
from setwise.index import MilvusIndex
from setwise.index.milvus import _connected

pytest.importorskip("pymilvus")


@pytest.fixture
def index(milvus):
    return MilvusIndex(*milvus)


@pytest.fixture
def client(index):
    """A client beside setwise."""
    with index._session() as connected:
        yield connected


rows = random_rows(20)
keys = keys_of(rows)


def test_nothing_is_sent_before_the_gallery_is_saved(index, client):
    built = index.build(rows, keys)
    assert built.changed(rows[1:], keys[1:]).nearest(rows[1], 1).tolist() == [keys[1]]
    assert not client.has_collection(index.collection)
    built.publish()
    built.changed(rows[1:], keys[1:])
    assert opened(index, rows, keys).nearest(rows[0], 1).tolist() == [keys[0]]


def test_an_older_version_can_be_saved_again(index):
    built = published(index, rows, keys)
    built.changed(rows[3:], keys[3:]).publish()
    built.publish()
    assert opened(index, rows, keys).nearest(rows[0], 1).tolist() == [keys[0]]


def test_a_gallery_of_another_version_is_refused(index):
    published(index, rows, keys)
    with pytest.raises(DataError, match=r"shared.db, collection .* another gallery.*anew"):
        opened(index, rows[1:], keys[1:])


def test_a_reader_notices_what_another_machine_changes(index):
    reader = published(index, rows, keys)
    writer = opened(index, rows, keys)
    writer.changed(rows[1:], keys[1:]).publish()
    with pytest.raises(DataError, match=r"another version of this one. Read the newest"):
        reader.nearest(rows[0], 3)
    with pytest.raises(DataError, match=r"another version of this one"):
        reader.changed(rows[2:], keys[2:]).publish()
    assert opened(index, rows[1:], keys[1:]).nearest(rows[1], 1).tolist() == [keys[1]]


@pytest.mark.parametrize("step", ["_put", "_remove"])
def test_a_change_that_was_cut_short_is_noticed_by_all(index, step, monkeypatch):
    built = published(index, rows[:10], keys[:10])
    with monkeypatch.context() as patch:
        patch.setattr(MilvusIndex, step, _killed)
        with pytest.raises(KeyboardInterrupt):
            built.changed(rows[5:], keys[5:]).publish()
    for version in (slice(0, 10), slice(5, 20)):
        with pytest.raises(DataError, match=r"has begun and not ended.*Build it anew"):
            opened(index, rows[version], keys[version])
    with pytest.raises(DataError, match=r"has begun and not ended"):
        built.nearest(rows[0], 3)
    published(index, rows[5:], keys[5:])
    assert opened(index, rows[5:], keys[5:]).nearest(rows[5], 1).tolist() == [keys[5]]


def _killed(*_):
    raise KeyboardInterrupt


def test_a_build_that_was_cut_short_is_noticed(index, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(MilvusIndex, "_write_stamp", _killed)
        with pytest.raises(KeyboardInterrupt):
            published(index, rows, keys)
    with pytest.raises(DataError, match=r"has begun and not ended"):
        opened(index, rows, keys)


def test_two_that_change_at_once_are_told(index, monkeypatch):
    built = published(index, rows[:10], keys[:10])
    put = MilvusIndex._put

    def put_while_another_begins(self, client, *given):
        put(self, client, *given)
        self._write_stamp(client, rows.shape[1], "changing, says another")

    monkeypatch.setattr(MilvusIndex, "_put", put_while_another_begins)
    with pytest.raises(DataError, match=r"another process changed it at the same time"):
        built.changed(rows, keys).publish()


def test_more_rows_than_one_request_carries(index, monkeypatch):
    monkeypatch.setattr("setwise.index.milvus._BATCH_BYTES", 3 * 4 * rows.shape[1])
    monkeypatch.setattr("setwise.index.milvus._MOST_FOUND", 4)
    changed = published(index, rows, keys).changed(rows[9:], keys[9:])
    changed.publish()
    assert changed.nearest(rows[10], 1).tolist() == [keys[10]]


def test_the_address_comes_from_the_caller_or_the_environment(milvus, monkeypatch):
    uri, collection = milvus
    from_file = MilvusIndex.from_config(
        {"name": "milvus", "uri": uri, "collection": collection}
    )
    for built in (from_file.build, partial(from_file.open, saved={})):
        with pytest.warns(SetwiseWarning, match=r"searched in memory.*SETWISE_MILVUS_URI"):
            assert built(rows, keys).nearest(rows[3], 1).tolist() == [keys[3]]
    monkeypatch.setenv("SETWISE_MILVUS_URI", uri)
    monkeypatch.setenv("SETWISE_MILVUS_COLLECTION", collection)
    published(from_file, rows, keys)
    assert opened(from_file, rows, keys).nearest(rows[3], 1).tolist() == [keys[3]]


def test_another_gallery_is_replaced_by_an_explicit_address_alone(milvus, monkeypatch):
    uri, collection = milvus
    published(MilvusIndex(uri, collection), rows, keys)
    monkeypatch.setenv("SETWISE_MILVUS_URI", uri)
    with pytest.raises(DataError, match=r"holds another gallery. To replace that, give"):
        published(MilvusIndex(collection=collection), rows[1:], keys[1:])
    assert opened(MilvusIndex(uri, collection), rows, keys)


def test_a_foreign_collection_is_left_alone(index, client):
    client.create_collection(index.collection, dimension=4)
    for act in (published, opened):
        with pytest.raises(DataError, match=r"holds something else.*name another collection"):
            act(index, rows, keys)
    assert client.has_collection(index.collection)


def test_a_collection_that_is_not_there_is_refused(index):
    with pytest.raises(DataError, match=r"there is no such collection.*Build it anew"):
        opened(index, rows, keys)


@pytest.mark.parametrize("uri", ["http://127.0.0.1:9", "/no/such/folder/x.db", "elsewhere"])
def test_a_milvus_that_does_not_answer_is_named(uri):
    with pytest.raises(SetwiseError, match=f"MilvusIndex: {uri}, .*see whether it runs there"):
        opened(MilvusIndex(uri, timeout_s=2), rows, keys)


def test_a_connection_is_kept_for_the_process(index):
    published(index, rows, keys).nearest(rows[0], 2)
    n_opened = _connected.cache_info().misses
    opened(index, rows, keys).nearest(rows[0], 2)
    assert _connected.cache_info().misses == n_opened


@pytest.mark.parametrize(
    ("parameters", "culprit"),
    [
        ({"uri": ""}, "uri"),
        ({"uri": "http://me:secret@host:19530"}, "uri"),
        ({"collection": "a-b"}, "collection"),
        ({"timeout_s": 0}, "timeout_s"),
    ],
)
def test_bad_parameters_are_refused(parameters, culprit):
    with pytest.raises(ParameterError, match=f"MilvusIndex: {culprit} must be") as refusal:
        MilvusIndex(**parameters)
    assert "secret" not in str(refusal.value)
