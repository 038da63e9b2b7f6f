"""A table of PostgreSQL that others read and change too."""

from __future__ import annotations

import threading
from functools import partial

import numpy as np
import pytest
from tests.index.made_rows import keys_of, opened, published, random_rows

from setwise.errors import DataError, ParameterError, SetwiseError, SetwiseWarning
from setwise.index import PgvectorIndex

pytest.importorskip("pg8000", reason='needs pip install "setwise[pgvector]"')
rows = random_rows(20)
keys = keys_of(rows)


@pytest.fixture
def index(pgvector):
    return PgvectorIndex(*pgvector)


def test_nothing_is_sent_before_the_gallery_is_saved(index):
    built = index.build(rows, keys)
    assert built.changed(rows[1:], keys[1:]).nearest(rows[1], 1).tolist() == [keys[1]]
    with pytest.raises(DataError, match=r"there is no such table.*Build it anew"):
        opened(index, rows, keys)
    built.publish()
    assert opened(index, rows, keys).nearest(rows[0], 1).tolist() == [keys[0]]


def test_rows_come_back_to_the_last_bit(index, monkeypatch):
    """The engine ranks the numbers of the gallery, not roundings of them."""
    odd = np.float32([[1e-38, -0.1, 1 / 3, 0.99999994], [0.5, 0.5, 0.5, 0.5]])
    published(index, odd, keys_of(odd))
    with index._session() as cursor:
        cursor.execute(f"select row::text from {index.table} where key >= 0 order by key")
        texts = [text for (text,) in cursor.fetchall()]
    back = np.array([text.strip("[]").split(",") for text in texts], dtype=np.float32)
    np.testing.assert_array_equal(back, odd)


def test_a_gallery_of_another_version_is_refused(index):
    reader = published(index, rows, keys)
    opened(index, rows, keys).changed(rows[1:], keys[1:]).publish()
    for act in (
        partial(opened, index, rows, keys),
        partial(reader.nearest, rows[0], 3),
        reader.changed(rows[2:], keys[2:]).publish,
    ):
        with pytest.raises(DataError, match=r"another version of this one.*Read the newest"):
            act()
    assert opened(index, rows[1:], keys[1:]).nearest(rows[1], 1).tolist() == [keys[1]]


def test_a_change_that_was_cut_short_has_not_happened(index, monkeypatch):
    built = published(index, rows[:10], keys[:10])

    def cut_short(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(PgvectorIndex, "_put", cut_short)
        with pytest.raises(KeyboardInterrupt):
            built.changed(rows[5:], keys[5:]).publish()
    assert opened(index, rows[:10], keys[:10]).nearest(rows[0], 1).tolist() == [keys[0]]


def test_threads_have_connections_of_their_own(index):
    built, found = published(index, rows, keys), []
    threads = [
        threading.Thread(target=lambda i=i: found.append((i, built.nearest(rows[i], 1)[0])))
        for i in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [(i, keys[i]) for i in range(8)]


def test_the_address_comes_from_the_caller_or_the_environment(pgvector, monkeypatch):
    uri, table = pgvector
    from_file = PgvectorIndex.from_config({"name": "pgvector", "uri": uri, "table": table})
    for built in (from_file.build, partial(from_file.open, saved={})):
        with pytest.warns(SetwiseWarning, match=r"searched in memory.*SETWISE_PGVECTOR_URI"):
            assert built(rows, keys).nearest(rows[3], 1).tolist() == [keys[3]]
    monkeypatch.setenv("SETWISE_PGVECTOR_URI", uri)
    monkeypatch.setenv("SETWISE_PGVECTOR_TABLE", table)
    published(from_file, rows, keys)
    assert opened(from_file, rows, keys).nearest(rows[3], 1).tolist() == [keys[3]]
    with pytest.raises(DataError, match=r"holds another gallery. To replace that, give"):
        published(from_file, rows[1:], keys[1:])
    monkeypatch.setenv("SETWISE_PGVECTOR_TABLE", "x; drop table y")
    with pytest.raises(DataError, match=r"SETWISE_PGVECTOR_TABLE.*is no name of a table"):
        opened(from_file, rows, keys)


def test_a_foreign_table_is_left_alone(index):
    with index._session() as cursor:
        cursor.execute(f"create table {index.table} (id int)")
    for act in (published, opened):
        with pytest.raises(DataError, match=r"holds something else.*name another table"):
            act(index, rows, keys)


@pytest.mark.parametrize("place", ["me@127.0.0.1:9/x", "me@/x?host=/no/such/folder"])
def test_a_server_that_does_not_answer_is_named(place):
    uri = f"postgresql://{place}"
    with pytest.raises(SetwiseError, match=r"PgvectorIndex: postgresql.*see whether it runs"):
        opened(PgvectorIndex(uri, timeout_s=2), rows, keys)


@pytest.mark.parametrize(
    ("parameters", "culprit"),
    [
        ({"uri": "http://host"}, "uri"),
        ({"uri": "postgresql://me:secret@host/x"}, "uri"),
        ({"table": "a-b"}, "table"),
        ({"table": "a" * 64}, "table"),
        ({"timeout_s": 0}, "timeout_s"),
    ],
)
def test_bad_parameters_are_refused(parameters, culprit):
    with pytest.raises(ParameterError, match=f"PgvectorIndex: {culprit} must be") as refusal:
        PgvectorIndex(**parameters)
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize("option", ["sslmode=require", "sslmode=verify-ca", "ssl=true"])
def test_a_wish_for_encryption_is_not_overlooked(option):
    index = PgvectorIndex(f"postgresql://me@127.0.0.1:9/faces?{option}")
    with pytest.raises(DataError, match="other options than"):
        index.open(rows, keys, {})
