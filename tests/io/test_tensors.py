"""Arrays in one file: safetensors, read and written one at a time."""

from __future__ import annotations

import json
import tracemalloc

import numpy as np
import pytest

from setwise.errors import DataError
from setwise.io import tensors
from setwise.io.tensors import read_tensors, write_tensors

ARRAYS = {
    "bytes": np.arange(5, dtype=np.uint8),
    "doubles": np.arange(6.0).reshape(2, 3),
    "columns": np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3)),
    "strided": np.arange(10)[::3],
    "none": np.zeros((0, 4)),
    "truth": np.array([True, False]),
    "half \u00e4": np.ones(3, dtype=np.float16),
}


def assert_equal(found, expected):
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)


def test_arrays_and_document_come_back(tmp_path):
    write_tensors(tmp_path / "a", {"format": 1, "names": ["\u00e4", "\udcff"]}, ARRAYS)
    document, found = read_tensors(tmp_path / "a", "test")
    assert document["names"] == ["\u00e4", "\udcff"]
    assert_equal(found, ARRAYS)


def test_files_are_those_of_safetensors(tmp_path):
    library = pytest.importorskip("safetensors.numpy")
    write_tensors(tmp_path / "a", {}, ARRAYS)
    assert_equal(library.load((tmp_path / "a").read_bytes()), ARRAYS)
    metadata = {"setwise": json.dumps({"sha256": tensors._digest({}, ARRAYS)})}
    plain = {name: np.ascontiguousarray(array) for name, array in ARRAYS.items()}
    (tmp_path / "b").write_bytes(library.save(plain, metadata))
    assert_equal(read_tensors(tmp_path / "b", "test")[1], ARRAYS)


def test_neither_way_takes_the_memory_of_a_second_copy(tmp_path):
    arrays = {name: np.zeros(2**19) for name in "abcd"}  # 4 MiB each
    tracemalloc.start()
    write_tensors(tmp_path / "a", {}, arrays)
    of_writing = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    read_tensors(tmp_path / "a", "test")
    of_reading = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert of_writing < 2**20
    assert of_reading < 17 * 2**20


def test_a_file_that_is_cut_short_while_it_is_read_is_refused(tmp_path, monkeypatch):
    """Mapped, it would end the process."""
    path = tmp_path / "a"
    write_tensors(path, {}, {"a": np.zeros(2**17), "b": np.zeros(2**17)})
    read_one = tensors._array

    def cut(*given):
        with path.open("rb+") as file:
            file.truncate(2**19)
        return read_one(*given)

    monkeypatch.setattr(tensors, "_array", cut)
    with pytest.raises(DataError, match="it ends early"):
        read_tensors(path, "test")


ENTRY = {"dtype": "F64", "shape": [2], "data_offsets": [0, 16]}
LIES = {
    "no table": [],
    "no entry": {"a": 3},
    "no type": {"a": ENTRY | {"dtype": "F8"}},
    "another length": {"a": ENTRY | {"shape": [3]}},
    "too far": {"a": ENTRY | {"shape": [4], "data_offsets": [0, 32]}},
    "a gap": {"a": ENTRY | {"data_offsets": [8, 24]}},
    "no arrays": {},
    "overlapping": {"a": ENTRY, "b": ENTRY},
    "negative": {"a": ENTRY | {"shape": [-1, -2]}},
    "truth as a length": {"a": ENTRY | {"shape": [True, 2]}},
    "huge": {"a": ENTRY | {"shape": [2**62] * 10_000}},
    "other truths": {"a": {"dtype": "BOOL", "shape": [16], "data_offsets": [0, 16]}},
    "nested": None,
}


@pytest.mark.parametrize("lie", LIES)
def test_a_table_that_lies_is_refused(tmp_path, lie):
    text = ("[" * 10**6 if LIES[lie] is None else json.dumps(LIES[lie])).encode()
    (tmp_path / "a").write_bytes(len(text).to_bytes(8, "little") + text + b"\x07" * 16)
    with pytest.raises(DataError, match="no gallery file, or a damaged one"):
        read_tensors(tmp_path / "a", "test")
