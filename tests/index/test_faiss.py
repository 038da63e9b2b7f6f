"""Codes that FAISS scans: how much they find, and what a gallery file keeps of them."""

from __future__ import annotations

import numpy as np
import pytest
from tests.index.made_rows import clustered_rows, keys_of, random_rows

from setwise.errors import DataError, ParameterError
from setwise.index import ExactIndex, FaissIndex

pytest.importorskip("faiss")


def recall(built, rows, keys, queries, n=128):
    """How many of the nearest are found."""
    exact = ExactIndex().build(rows, keys)
    found = [np.isin(exact.nearest(q, n), built.nearest(q, n)).mean() for q in queries]
    return np.mean(found)


@pytest.mark.parametrize("made", [random_rows, clustered_rows])
@pytest.mark.parametrize("n_features", [64, 33])
def test_nearly_all_of_the_nearest_are_found(made, n_features):
    rows = made(5000, n_features)
    keys = keys_of(rows)
    built = FaissIndex(n_candidates=1024).build(rows, keys)
    assert built.codes.of_rows.nbytes == 5000 * -(-n_features // 4)  # four bits for two numbers
    assert recall(built, rows, keys, made(20, n_features, seed=1)) >= 0.99


def test_the_same_rows_have_the_same_codes():
    rows = random_rows(3000)
    first, second = (FaissIndex(n_candidates=200).build(rows, keys_of(rows)) for _ in range(2))
    np.testing.assert_array_equal(first.codes.centroids, second.codes.centroids)
    np.testing.assert_array_equal(first.codes.of_rows, second.codes.of_rows)
    np.testing.assert_array_equal(first.nearest(rows[0], 200), second.nearest(rows[0], 200))


def test_few_rows_have_no_codes():
    rows = random_rows(200)
    keys = keys_of(rows)
    few = FaissIndex(n_candidates=200).build(rows, keys)
    assert len(few.codes.of_rows) == 0
    more = random_rows(201)
    grown = few.changed(more, keys_of(more))
    assert len(grown.codes.of_rows) == 201
    assert len(grown.changed(rows, keys).codes.of_rows) == 0


def test_centroids_stay_until_rows_have_doubled():
    rows = random_rows(801)
    keys = keys_of(rows)
    built = FaissIndex(n_candidates=100).build(rows[:400], keys[:400])
    doubled = built.changed(rows[:800], keys[:800])
    assert doubled.codes.centroids is built.codes.centroids
    assert doubled.codes.n_learnt[0] == 400
    assert doubled.changed(rows, keys).codes.n_learnt[0] == 801


def test_an_index_before_a_change_stays_as_it_was():
    rows = random_rows(400)
    keys = keys_of(rows)
    built = FaissIndex(n_candidates=100).build(rows, keys)
    before, codes = built.nearest(rows[0], 10), built.codes.of_rows.copy()
    changed = built.changed(rows[1:], keys[1:])
    np.testing.assert_array_equal(built.nearest(rows[0], 10), before)
    np.testing.assert_array_equal(built.codes.of_rows, codes)
    np.testing.assert_array_equal(changed.codes.of_rows, codes[1:])


LIES = {
    "other rows": lambda codes: codes | {"of_rows": codes["of_rows"][1:]},
    "other features": lambda codes: codes | {"centroids": codes["centroids"][1:]},
    "another type": lambda codes: codes | {"of_rows": codes["of_rows"].astype(np.int64)},
    "no number": lambda codes: codes | {"centroids": codes["centroids"] * np.float32(np.nan)},
    "half of them": lambda codes: {"n_learnt": codes["n_learnt"]},
    "none learnt": lambda codes: codes | {"n_learnt": np.zeros(1, np.int64)},
}


@pytest.mark.parametrize("lie", LIES)
def test_codes_that_are_not_those_of_the_rows_are_refused(lie):
    rows = random_rows(50)
    keys = keys_of(rows)
    index = FaissIndex(n_candidates=10)
    codes = index.build(rows, keys).arrays()
    assert index.open(rows, keys, codes).nearest(rows[3], 1).tolist() == [keys[3]]
    with pytest.raises(DataError, match=r"codes are not those of the rows.*Build it anew"):
        index.open(rows, keys, LIES[lie](codes))


def test_codes_that_were_not_saved_are_computed():
    rows = random_rows(50)
    keys = keys_of(rows)
    index = FaissIndex(n_candidates=10)
    built, opened = index.build(rows, keys), index.open(rows, keys, {})
    np.testing.assert_array_equal(opened.codes.of_rows, built.codes.of_rows)
    assert FaissIndex(n_candidates=50).build(rows, keys).arrays() == {}


@pytest.mark.parametrize(
    ("parameters", "culprit"),
    [({"n_candidates": "people.codes"}, "n_candidates"), ({"n_candidates": 0}, "n_candidates")],
)
def test_bad_parameters_are_refused(parameters, culprit):
    with pytest.raises(ParameterError, match=f"FaissIndex: {culprit} must be"):
        FaissIndex(**parameters)
