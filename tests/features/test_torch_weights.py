"""Tensors in files of PyTorch, read without PyTorch: sound files, and all kinds of bad ones."""

from __future__ import annotations

import io
import pickle
import sys
import zipfile
from collections import OrderedDict
from functools import partial
from types import ModuleType

import numpy as np
import pytest

from setwise.errors import DataError
from setwise.features.torch_weights import MAGIC, PROTOCOL, read_tensors

WEIGHT = np.arange(12, dtype="<f4").reshape(3, 4)
COUNT = np.array(7, dtype="<i8")


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
    """Names that a file of PyTorch names; the reader must never look for them."""
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
        empty=Tensor(Storage(WEIGHT), (0, 5), (5, 1)),
    )


BLOCKS = {"a": WEIGHT, "b": COUNT}


def legacy(built, *, keys=("a", "b"), magic=MAGIC, protocol=PROTOCOL, little=True):
    about = {"protocol_version": 1001, "little_endian": little}
    parts = [pickled(part) for part in (magic, protocol, about, built, list(keys))]
    for key in keys:
        parts += [BLOCKS[key].size.to_bytes(8, "little"), BLOCKS[key].tobytes()]
    return b"".join(parts)


def zipped(built, *, order=b"little", packing=zipfile.ZIP_STORED, left_out=()):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", packing) as archive:
        archive.writestr("net/data.pkl", pickled(built))
        archive.writestr("net/byteorder", order)
        for key, values in BLOCKS.items():
            if key not in left_out:
                archive.writestr(f"net/data/{key}", values.tobytes())
    return buffer.getvalue()


@pytest.mark.parametrize("write", [legacy, zipped])
def test_reads_what_was_written(write):
    built = tensors()
    vars(built)["_metadata"] = OrderedDict({"": {"version": 1}})
    read = read_tensors(write(built), "net.pth")
    assert list(read) == ["weight", "turned", "count", "empty"]
    np.testing.assert_array_equal(read["weight"], WEIGHT)
    np.testing.assert_array_equal(read["turned"], WEIGHT[1:].T)
    assert read["count"] == 7
    assert read["empty"].shape == (0, 5)
    assert [read[name].dtype.str for name in ("weight", "count")] == ["<f4", "<i8"]
    assert not read["weight"].flags.writeable


class Calls:
    """Pickled, it asks for a function to be called."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize("write", [legacy, zipped])
@pytest.mark.parametrize("where", ["alone", "as a tensor", "as a shape"])
def test_calls_nothing_that_a_file_names(tmp_path, write, where):
    import os

    victim = tmp_path / "victim"
    bad = Calls(os.system, f"touch {victim}")
    built = {
        "alone": bad,
        "as a tensor": {"weight": bad},
        "as a shape": {"weight": Tensor(Storage(WEIGHT), bad, (4, 1))},
    }[where]
    with pytest.raises(DataError, match=r"net\.pth: .*'posix system' to be called|'nt system'"):
        read_tensors(write(built), "net.pth")
    assert not victim.exists()


def bad_tensor(*, shape=(3, 4), strides=(4, 1), offset=0, **storage):
    return {"weight": Tensor(Storage(WEIGHT, **storage), shape, strides, offset)}


@pytest.mark.parametrize("write", [partial(legacy, keys=("a",)), zipped])
@pytest.mark.parametrize(
    ("built", "told"),
    [
        (bad_tensor(size=10**15), "not as long as was said|reaches beyond the end"),
        (bad_tensor(shape=(3, 5)), "reaches beyond its 12 numbers"),
        (bad_tensor(offset=1), "reaches beyond its 12 numbers"),
        (bad_tensor(strides=(2**60, 1)), "reaches beyond its 12 numbers"),
        (bad_tensor(shape=(10**9, 10**9), strides=(0, 0)), "reaches beyond its 12 numbers"),
        (bad_tensor(shape=(-3, 4)), "no shape that an array can have"),
        (bad_tensor(shape=(3.0, 4)), "no shape that an array can have"),
        (bad_tensor(shape=(1,) * 9, strides=(1,) * 9), "no shape that an array can have"),
        (bad_tensor(shape=[3, 4]), "expected a tuple, got list"),
        (bad_tensor(strides=(1,)), "argument"),
        (bad_tensor(kind="BFloat16Storage"), "'torch BFloat16Storage'"),
        (bad_tensor(key="gone"), "'a', a block of no tensor|net/data/gone"),
        ({"weight": 1}, "expected a tensor, got int"),
        ([1], "expected a dict, got list"),
        ({("weight",): 1}, "expected a str, got tuple"),
        ({"weight": b"bytes"}, "_codecs encode"),
    ],
)
def test_lying_files(write, built, told):
    with pytest.raises(DataError, match=rf"net\.pth: cannot be read .*({told})"):
        read_tensors(write(built), "net.pth")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "cannot be read"),
        (b"PK\x03\x04", "zip"),
        (b"\x80\x02h\x05.", "'5', a value that was never kept"),
        (b"\x80\x02t.", "contradict each other"),
        (b"\x80\x02.", "contradict each other"),
        (legacy({}, keys=(), magic=1), "does not begin as those files do"),
        (legacy({}, keys=(), protocol=1), "does not begin as those files do"),
        (legacy({}, keys=(), little=False), "another order"),
        (zipped({}, order=b"big"), "another order"),
        (zipped({}, packing=zipfile.ZIP_DEFLATED), "packed"),
        (b"\x80\x02" + b"N" * 600_000, "more than 500000 instructions"),
        # An index for which the memo of Python's unpickler takes 64 GiB.
        (b"\x80\x02Nr\xff\xff\xff\xff.", "cannot be read"),
        # A text that says it is 4 GiB long.
        (b"\x80\x02X\xff\xff\xff\xff.", "cannot be read"),
    ],
)
def test_other_files(content, told):
    with pytest.raises(DataError, match=told):
        read_tensors(content, "net.pth")


def test_a_block_that_is_not_there():
    with pytest.raises(DataError, match="refers to 'b', a missing block"):
        read_tensors(legacy(tensors(), keys=("a",)), "net.pth")
    with pytest.raises(DataError, match="net/data/b"):
        read_tensors(zipped(tensors(), left_out=("b",)), "net.pth")


@pytest.mark.parametrize("write", [legacy, zipped])
def test_no_cut_and_no_change_gets_further_than_one_error(write):
    whole = write(tensors())
    generator = np.random.default_rng(0)
    messages = []
    for turn in range(500):
        mutant = bytearray(whole)
        if turn % 5 == 0:
            del mutant[generator.integers(len(whole)) :]
        else:
            for place in generator.integers(len(whole), size=1 + turn % 3):
                mutant[place] = generator.integers(256)
        try:
            read = read_tensors(bytes(mutant), "net.pth")
        except DataError as error:
            messages.append(str(error))
        else:  # a number or a name was changed
            assert sum(values.nbytes for values in read.values()) <= len(whole)
    assert len(messages) > 200
    assert all(message.startswith("net.pth: cannot be read") for message in messages)
