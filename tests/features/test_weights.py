"""Tensors in files of PyTorch, read without PyTorch: sound files, and bad ones."""

from __future__ import annotations

import io
import os
import pickle
import sys
from collections import OrderedDict
from types import ModuleType

import numpy as np
import pytest

from setwise.errors import DataError
from setwise.features.weights import MAGIC, PROTOCOL, read_tensors

WEIGHT = np.arange(12, dtype="<f4").reshape(3, 4)
COUNT = np.array(7, dtype="<i8")
BLOCKS = {"a": WEIGHT, "b": COUNT}


class Storage:
    """Stands for a block of numbers until the pickler asks."""

    def __init__(self, values, kind="FloatStorage", key="a", size=None):
        self.values = values
        self.kind = kind
        self.key = key
        self.size = values.size if size is None else size


class Tensor:
    def __init__(self, storage, shape, strides, offset=0):
        self.made_of = storage, offset, shape, strides, False, OrderedDict()

    def __reduce__(self):
        return sys.modules["torch._utils"]._rebuild_tensor_v2, self.made_of


class Pickler(pickle.Pickler):
    def persistent_id(self, obj):
        if not isinstance(obj, Storage):
            return None
        kind = getattr(sys.modules["torch"], obj.kind)
        return ("storage", kind, obj.key, "cpu", obj.size, None)


@pytest.fixture(autouse=True)
def torch(monkeypatch):
    """Names that a file of PyTorch names; the reader must never import them."""
    outer, inner = ModuleType("torch"), ModuleType("torch._utils")

    def _rebuild_tensor_v2(*parts):
        raise AssertionError

    _rebuild_tensor_v2.__module__ = "torch._utils"
    _rebuild_tensor_v2.__qualname__ = "_rebuild_tensor_v2"
    inner._rebuild_tensor_v2 = _rebuild_tensor_v2
    for kind in ("FloatStorage", "LongStorage", "BFloat16Storage"):
        setattr(outer, kind, type(kind, (), {"__module__": "torch"}))
    outer._utils = inner
    monkeypatch.setitem(sys.modules, "torch", outer)
    monkeypatch.setitem(sys.modules, "torch._utils", inner)


def pickled(value):
    buffer = io.BytesIO()
    Pickler(buffer, protocol=2).dump(value)
    return buffer.getvalue()


def tensors():
    return OrderedDict(
        weight=Tensor(Storage(WEIGHT), (3, 4), (4, 1)),
        turned=Tensor(Storage(WEIGHT), (4, 2), (1, 4), 4),
        count=Tensor(Storage(COUNT, "LongStorage", "b"), (), ()),
    )


def written(built, *, keys=("a", "b"), magic=MAGIC, protocol=PROTOCOL):
    parts = [pickled(part) for part in (magic, protocol, {}, built, list(keys))]
    for key in keys:
        parts += [BLOCKS[key].size.to_bytes(8, "little"), BLOCKS[key].tobytes()]
    return b"".join(parts)


def test_reads_what_was_written():
    built = tensors()
    vars(built)["_metadata"] = OrderedDict({"": {"version": 1}})
    read = read_tensors(written(built), "net.pth")
    assert list(read) == ["weight", "turned", "count"]
    np.testing.assert_array_equal(read["weight"], WEIGHT)
    np.testing.assert_array_equal(read["turned"], WEIGHT[1:].T)
    assert read["count"] == 7
    assert [read[name].dtype.str for name in ("weight", "count")] == ["<f4", "<i8"]
    assert not read["weight"].flags.writeable


class Calls:
    """Pickled, it asks for a function to be called."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize("where", ["alone", "as a tensor", "as a shape"])
@pytest.mark.parametrize("function", [os.system, eval, np.load, getattr, Tensor])
def test_calls_nothing_else_that_a_file_names(tmp_path, where, function):
    victim = tmp_path / "victim"
    bad = Calls(function, f"touch {victim}")
    built = {
        "alone": bad,
        "as a tensor": {"weight": bad},
        "as a shape": {"weight": Tensor(Storage(WEIGHT), bad, (4, 1))},
    }[where]
    with pytest.raises(DataError, match=r"net\.pth: .*it asks for .*, which builds no tensors"):
        read_tensors(written(built), "net.pth")
    assert not victim.exists()


def bad_tensor(*, shape=(3, 4), strides=(4, 1), offset=0, **storage):
    return {"weight": Tensor(Storage(WEIGHT, **storage), shape, strides, offset)}


@pytest.mark.parametrize(
    "built",
    [
        bad_tensor(size=10**15),
        bad_tensor(shape=(3, 5)),
        bad_tensor(offset=1),
        bad_tensor(offset=-1),
        bad_tensor(strides=(2**60, 1)),
        bad_tensor(shape=(10**9, 10**9), strides=(1, 1)),
        bad_tensor(shape=(-3, 4)),
        bad_tensor(shape=(3.0, 4)),
        bad_tensor(strides=(1,)),
        bad_tensor(kind="BFloat16Storage"),
        bad_tensor(key="gone"),
        {"weight": 1},
        [1],
        {"weight": b"bytes"},
    ],
)
def test_lying_files(built):
    with pytest.raises(DataError, match=r"net\.pth: cannot be read as weights"):
        read_tensors(written(built, keys=("a",)), "net.pth")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PK\x03\x04",
        b"\x80\x02h\x05.",
        b"\x80\x02t.",
        b"\x80\x02.",
        written({}, keys=(), magic=1),
        written({}, keys=(), protocol=1),
        b"\x80\x02X\xff\xff\xff\xff.",  # a text that says it is 4 GiB long
        pickle.dumps(MAGIC, 2),
    ],
)
def test_other_files(content):
    with pytest.raises(DataError, match=r"net\.pth: cannot be read as weights"):
        read_tensors(content, "net.pth")


def test_no_cut_gets_further_than_one_error():
    whole = written(tensors())
    for length in range(len(whole)):
        with pytest.raises(DataError, match=r"net\.pth: cannot be read as weights"):
            read_tensors(whole[:length], "net.pth")


def test_a_block_that_is_missing():
    with pytest.raises(DataError, match=r"net\.pth: cannot be read as weights"):
        read_tensors(written(tensors(), keys=("a",)), "net.pth")
