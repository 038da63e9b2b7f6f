"""Data frames of embeddings become sets, and bad ones are refused by column."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest
from tests.conftest import toy_sets

import setwise
from setwise import SetBatch
from setwise.errors import DataError

MAKERS = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}


@pytest.fixture(params=MAKERS)
def frame(request):
    """Makes a frame of each library that is installed."""
    pytest.importorskip(request.param)
    return getattr(import_module(request.param), MAKERS[request.param])


def embeddings():
    sets, labels = toy_sets(0)
    sizes = [len(s) for s in sets]
    columns = dict(zip([f"e{i}" for i in range(20)], np.concatenate(sets).T, strict=True))
    columns["album"] = np.repeat([f"album {i}" for i in range(len(sets))], sizes).tolist()
    columns["person"] = np.repeat([f"person {c}" for c in labels], sizes).tolist()
    return columns


def test_a_frame_becomes_labels_in_three_lines(frame):
    table = frame(embeddings())

    batch = SetBatch.from_frame(table, set="album", label="person")
    classifier = setwise.CVC().fit(batch[::2], batch.labels[::2])
    predicted = classifier.predict(batch[1::2])

    assert predicted.tolist() == batch.labels[1::2].tolist()


def small(**changes):
    columns = {"s": ["a", "a", "b"], "x": [1.0, 2.0, 3.0], "y": [1, 2, 3], "c": [0, 0, 1]}
    return {**columns, **changes}


def test_rows_are_gathered_and_keep_their_values(frame):
    batch = SetBatch.from_frame(
        frame(small(s=["a", "b", "a"], c=[0, 1, 0])), set="s", label="c"
    )
    assert batch.names == ("a", "b")
    assert batch[0].tolist() == [[1.0, 1.0], [3.0, 3.0]]
    assert batch.labels.tolist() == [0, 1]


def refusal(table, **columns):
    with pytest.raises(DataError) as caught:
        SetBatch.from_frame(table, **columns)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_missing_columns_are_named(frame):
    assert "'album'" in refusal(frame(small()), set="album")
    assert "'person'" in refusal(frame(small()), set="s", label="person")


def test_features_that_are_no_numbers_are_named(frame):
    assert "'x'" in refusal(frame(small(x=["1", "2", "three"])), set="s", label="c")


def test_missing_features_are_named(frame):
    assert "'x'" in refusal(frame(small(x=[1.0, None, 3.0])), set="s", label="c")


def test_missing_sets_are_refused(frame):
    assert "row 1" in refusal(frame(small(s=["a", None, "b"])), set="s", label="c")


def test_two_labels_of_a_set_are_refused(frame):
    assert "two labels" in refusal(frame(small(c=[0, 1, 1])), set="s", label="c")


def test_a_frame_without_features_is_refused(frame):
    assert "no feature columns" in refusal(frame({"s": ["a"]}), set="s")


def test_what_is_no_frame_is_refused():
    assert "data frame" in refusal(np.eye(3), set="s")
