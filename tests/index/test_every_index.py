"""What all indexes have in common, asked of each."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pytest
from tests.index.made_rows import clustered_rows, keys_of, random_rows

from setwise.errors import MissingExtraError, ParameterError
from setwise.index import ExactIndex, FaissIndex, Index, MilvusIndex, PgvectorIndex, stamp_of

N = 128
NAMES = ["exact", "faiss", "milvus", "pgvector"]


@pytest.fixture(params=NAMES)
def index(request):
    """Each index; that of FAISS with few candidates, so that rows of a test have codes."""
    if request.param == "exact":
        return ExactIndex()
    if request.param == "milvus":
        return MilvusIndex(*request.getfixturevalue("milvus"))
    if request.param == "pgvector":
        return PgvectorIndex(*request.getfixturevalue("pgvector"))
    pytest.importorskip("faiss")
    return FaissIndex(n_candidates=150)


def expected(rows, keys, query, n=N):
    """The definition: sort all products, the smaller key first among equals."""
    return keys[np.argsort(-(rows @ query), kind="stable")[:n]]


@pytest.mark.parametrize("made", [random_rows, clustered_rows])
def test_the_nearest_rows_are_those_of_all_products(index, made):
    rows = made(300)
    keys = keys_of(rows)
    built = index.build(rows, keys)
    for query in made(5, seed=1):
        found = built.nearest(query, 20)
        assert found.dtype == np.int64
        np.testing.assert_array_equal(found, expected(rows, keys, query, 20))


def test_fewer_rows_than_asked_for_are_all_of_them(index):
    rows = random_rows(5)
    found = index.build(rows, keys_of(rows)).nearest(rows[0], N)
    np.testing.assert_array_equal(found, expected(rows, keys_of(rows), rows[0]))


def test_no_rows_have_no_nearest_and_can_become_some(index):
    rows = random_rows(3)
    keys = keys_of(rows)
    none = index.build(rows[:0], keys[:0])
    assert none.nearest(rows[0], N).tolist() == []
    assert none.changed(rows, keys).nearest(rows[1], 1).tolist() == [keys[1]]


def test_equals_come_in_the_order_of_their_keys(index):
    rows = np.repeat(random_rows(1), 4, axis=0)
    assert index.build(rows, keys_of(rows)).nearest(rows[0], 4).tolist() == [7, 10, 13, 16]


def test_zeros_are_rows_as_others(index):
    rows = random_rows(4)
    rows[2] = 0
    keys = keys_of(rows)
    built = index.build(rows, keys)
    np.testing.assert_array_equal(built.nearest(rows[0], N), expected(rows, keys, rows[0]))


def test_a_changed_index_is_that_of_the_other_rows(index):
    """Some go, some come: what is left is found, what went is not."""
    rows = clustered_rows(330)
    keys = keys_of(rows)
    stays = np.r_[0:100, 120:330]
    built = index.build(rows[:300], keys[:300])
    changed = built.changed(rows[stays], keys[stays])
    for query in rows[[0, 110, 299, 310]]:
        np.testing.assert_array_equal(
            changed.nearest(query, 20), expected(rows[stays], keys[stays], query, 20)
        )


def test_an_index_opens_as_it_was_built_and_changed(index):
    rows = clustered_rows(300)
    keys = keys_of(rows)
    built = index.build(rows[:290], keys[:290])
    built.publish()
    changed = built.changed(rows[5:], keys[5:])
    expected = [changed.nearest(query, 30) for query in random_rows(3, seed=2)]
    changed.publish()
    changed.publish()  # saved twice
    opened = index.open(rows[5:], keys[5:], changed.arrays())
    for query, keys_found in zip(random_rows(3, seed=2), expected, strict=True):
        np.testing.assert_array_equal(opened.nearest(query, 30), keys_found)
        np.testing.assert_array_equal(changed.nearest(query, 30), keys_found)


def test_an_index_is_saved_as_its_name_and_numbers(index):
    config = index.to_config()
    assert config["name"] == index.name
    assert all(type(value) in (int, float) for key, value in config.items() if key != "name")
    assert Index.from_config(config).to_config() == config


@pytest.mark.parametrize("kind", NAMES)
def test_places_in_a_file_are_ignored(kind):
    places = {"path": "/etc/passwd", "uri": "http://elsewhere", "collection": "x", "token": "t"}
    places |= {"table": "y"}
    assert Index.from_config({"name": kind} | places) == Index.of(kind, "CVC")
    with pytest.raises(ParameterError, match="no parameter 'n_candidate'"):
        Index.from_config({"name": "faiss", "n_candidate": 3})


def test_a_built_index_travels_to_another_process(index):
    rows = random_rows(300)
    built = index.build(rows, keys_of(rows))
    found = built.nearest(rows[9], 20)
    travelled = pickle.loads(pickle.dumps(built))
    np.testing.assert_array_equal(travelled.nearest(rows[9], 20), found)


def test_inputs_are_not_modified(index):
    rows = random_rows(300)
    keys = keys_of(rows)
    stamp = stamp_of(rows, keys)
    built = index.build(rows, keys)
    built.nearest(rows[0], 5)
    built.changed(rows[1:], keys[1:])
    assert stamp_of(rows, keys) == stamp


@pytest.mark.parametrize(
    ("index", "package", "extra"),
    [
        (FaissIndex(), "faiss", "faiss"),
        (MilvusIndex("http://a:1"), "pymilvus", "milvus"),
        (PgvectorIndex("postgresql://a"), "pg8000", "pgvector"),
    ],
)
@pytest.mark.parametrize("asked", ["build", "open"])
def test_a_missing_package_is_named_with_what_brings_it(
    index, package, extra, asked, monkeypatch
):
    monkeypatch.setitem(sys.modules, package, None)
    rows = random_rows(3)
    with pytest.raises(
        MissingExtraError, match=rf'{package} .*pip install "setwise\[{extra}\]"'
    ):
        getattr(index, asked)(rows, keys_of(rows), *([{}] if asked == "open" else []))


def test_a_stamp_names_rows_and_keys():
    rows = random_rows(4)
    keys = keys_of(rows)
    stamp = stamp_of(rows, keys)
    assert stamp == stamp_of(np.asfortranarray(rows), keys.astype(np.int32))
    others = [(rows[:3], keys[:3]), (rows[::-1], keys), (rows, keys + 1), (rows.T, keys)]
    assert stamp not in {stamp_of(*other) for other in others}
