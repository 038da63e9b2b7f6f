"""Data frames of embeddings become sets, and bad ones are refused by column."""

from __future__ import annotations

from datetime import datetime
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


VECTORS = {
    "lists": lambda rows: [list(row) for row in rows],
    "tuples": lambda rows: [tuple(row) for row in rows],
    "arrays": list,
}


@pytest.mark.parametrize("kind", VECTORS)
@pytest.mark.parametrize("library", MAKERS)
def test_a_column_of_vectors(library, kind):
    make = getattr(pytest.importorskip(library), MAKERS[library])
    rows = np.arange(12.0).reshape(3, 4)
    table = make({"s": ["b", "a", "b"], "note": ["x", "y", "z"], "e": VECTORS[kind](rows)})
    batch = SetBatch.from_frame(table, set="s", vector="e")
    assert batch.names == ("b", "a")
    assert batch.vectors.tolist() == rows[[0, 2, 1]].tolist()
    assert batch.vectors.dtype == np.float64
    assert batch.origins is None


def test_columns_that_polars_knows_to_hold_vectors():
    pl = pytest.importorskip("polars")
    rows = [[1.0, 2.0], [3.0, 4.0]]
    for kind in (pl.List(pl.Float32), pl.Array(pl.Float32, 2)):
        table = pl.DataFrame({"s": ["a", "b"], "e": pl.Series(rows, dtype=kind)})
        batch = SetBatch.from_frame(table, set="s", vector="e")
        assert batch.vectors.tolist() == rows
        assert batch.vectors.dtype == np.float32
        said = refusal(table, set="s")
        assert "column 'e'" in said
        assert "vector='e'" in said


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ([[1.0, 2.0], [1.0], [1.0, 2.0]], "holds 1 numbers in row 1 and 2 in row 0"),
        ([[1.0, 2.0], None, [1.0, 2.0]], "holds NoneType None in row 1"),
        ([[1.0, 2.0], [1.0, float("nan")], [1.0, 2.0]], "holds nan in row 1, at place 1"),
        ([[1.0, 2.0], [1.0, 2.0], [float("inf"), 2.0]], "holds inf in row 2, at place 0"),
        ([["a", "b"], ["a", "b"], ["a", "b"]], r"in row 0\. Expected a list"),
        ([[], [], []], r"in row 0\. Expected a list"),
        ([[[1.0], [2.0]]] * 3, r"in row 0\. Expected a list"),
        ([[1.0, [2.0]]] * 3, "holds a ragged list in row 0"),
        (["a", "b", "c"], "holds str 'a' in row 0"),
        ([1.0, 2.0, 3.0], "in row 0"),
    ],
)
def test_vectors_that_are_none_name_their_row(column, said):
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"s": ["a", "a", "b"], "e": column})
    with pytest.raises(DataError, match=rf"SetBatch\.from_frame: column 'e' .*{said}"):
        SetBatch.from_frame(table, set="s", vector="e")


def test_a_column_of_vectors_must_be_named(frame):
    said = refusal(frame({"s": ["a", "b"], "e": [[1.0, 2.0], [3.0, 4.0]]}), set="s")
    assert "column 'e'" in said
    assert "vector='e'" in said


def test_files_and_times_become_origins(frame):
    noon = datetime(2024, 5, 1, 12)
    table = frame({
        "s": ["b", "a", "b"], "x": [1.0, 2.0, 3.0],
        "f": ["1.jpg", None, "3.jpg"], "t": [noon, noon, None],
    })  # fmt: skip
    batch = SetBatch.from_frame(table, set="s", file="f", time="t")
    assert batch.vectors.tolist() == [[1.0], [3.0], [2.0]]
    assert batch.origins.files == ("1.jpg", "3.jpg", "")
    assert batch.origins.times.astype(str).tolist() == [
        "2024-05-01T12:00:00.000000", "NaT", "2024-05-01T12:00:00.000000",
    ]  # fmt: skip
    only_times = frame({"s": ["a"], "x": [1.0], "t": [noon]})
    assert SetBatch.from_frame(only_times, set="s", time="t").origins.files == ("",)


def test_times_of_a_zone_are_those_on_its_clocks():
    pd = pytest.importorskip("pandas")
    times = pd.to_datetime(["2024-05-01 12:00"]).tz_localize("Europe/Vienna")
    table = pd.DataFrame({"s": ["a"], "x": [1.0], "t": times})
    batch = SetBatch.from_frame(table, set="s", time="t")
    assert batch.origins.times[0] == np.datetime64("2024-05-01T12:00")


def test_columns_of_origins_that_are_none(frame):
    table = frame({"s": ["a", "b"], "x": [1.0, 2.0], "t": ["noon", "night"]})
    assert "column 't' is of type" in refusal(table, set="s", time="t")
    assert "there is no column 'f'" in refusal(table, set="s", file="f")
