"""Tensors in files of PyTorch, read without PyTorch and without unpickling anything.

Such a file is a pickle, or a zip with one in it, that says how to build a dictionary of tensors
out of blocks of numbers. A pickle can ask for any function to be called; the instructions in it
are therefore not handed to Python's ``pickle``, but followed here one by one: those that make
text, numbers and containers, and the three names that tensors are built with. All others are
refused, and nothing that the file names is ever looked up, imported or called.
"""

from __future__ import annotations

import math
import pickletools
import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from setwise.errors import DataError

__all__ = ["read_tensors"]

MAGIC = 0x1950A86A20F9469CFC6C
PROTOCOL = 1001
# A network of a thousand layers needs fewer; a file that only keeps us busy is given up.
MOST_INSTRUCTIONS = 500_000
MOST_DIMENSIONS = 8
DTYPES = {
    "torch DoubleStorage": "<f8",
    "torch FloatStorage": "<f4",
    "torch HalfStorage": "<f2",
    "torch LongStorage": "<i8",
    "torch IntStorage": "<i4",
    "torch ShortStorage": "<i2",
    "torch CharStorage": "<i1",
    "torch ByteStorage": "<u1",
}
MADE_BY = "torch._utils _rebuild_tensor_v2"
DAMAGES = (
    ArithmeticError,
    EOFError,
    LookupError,
    NotImplementedError,
    RuntimeError,
    TypeError,
    ValueError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)

Tensors = dict[str, npt.NDArray[Any]]


def read_tensors(content: bytes, called: str) -> Tensors:
    """The tensors in a file of PyTorch, by name; they share the memory of the file.

    Parameters
    ----------
    content : bytes
        Of the whole file, as ``torch.save`` wrote it: in the format before PyTorch 1.6, or in
        the zip that came then.
    called : str
        The file, for the message.

    Raises
    ------
    DataError
        When the file is damaged, or holds anything but a dictionary of tensors.
    """
    try:
        is_zip = content.startswith(b"PK")
        return _read_zip(content) if is_zip else _read_legacy(content)
    except DAMAGES as error:
        msg = (
            f"{called}: cannot be read as weights: {error}. Expected a file of PyTorch that "
            "holds a dictionary of tensors and nothing else, whole: install or save it again."
        )
        raise DataError(msg) from error


@dataclass(frozen=True)
class _Name:
    """What a file would have imported."""

    text: str


@dataclass(frozen=True)
class _Storage:
    """A block of numbers, announced."""

    key: str
    dtype: str
    size: int


@dataclass(frozen=True)
class _Tensor:
    """Which numbers of a block a tensor consists of."""

    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def of(self, block: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The tensor as a view of its block; one that reaches beyond it is refused."""
        last = sum((n - 1) * step for n, step in zip(self.shape, self.strides, strict=True))
        size = math.prod(self.shape)
        if size and (size > block.size or self.offset + last >= block.size):
            msg = f"a tensor of shape {self.shape} reaches beyond its {block.size} numbers"
            raise ValueError(msg)
        if not size:
            return np.empty(self.shape, block.dtype)
        strides = [step * block.itemsize for step in self.strides]
        return np.lib.stride_tricks.as_strided(
            block[self.offset :], self.shape, strides, writeable=False
        )


class _Machine:
    """Follows the instructions of a pickle that builds tensors, and no others."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: dict[int, Any] = {}

    def run(self, file: IO[bytes]) -> Any:
        """What the pickle that comes next in a file builds."""
        for code, argument, _ in islice(pickletools.genops(file), MOST_INSTRUCTIONS):
            if code.name == "STOP":
                return self.taken(1)[0]
            action = _ACTIONS.get(code.name)
            if action is None:
                msg = (
                    f"it has the instruction {code.name}, with which no tensors are built here"
                )
                raise ValueError(msg)
            action(self, argument)
        msg = f"it has more than {MOST_INSTRUCTIONS} instructions"
        raise ValueError(msg)

    @property
    def top(self) -> Any:
        (value,) = self.taken(1)
        self.stack.append(value)
        return value

    def mark(self, _: Any) -> None:
        self.marks.append(len(self.stack))

    def get(self, index: int) -> None:
        self.stack.append(_entry(self.memo, index, "value that was never kept"))

    def put(self, index: int) -> None:
        self.memo[index] = self.top

    def since_mark(self) -> list[Any]:
        """Take everything off the stack that was put there since the last mark."""
        if not self.marks:
            return self.taken(-1)
        return self.taken(len(self.stack) - self.marks.pop())

    def taken(self, count: int) -> list[Any]:
        if not 0 <= count <= len(self.stack):
            msg = "its instructions contradict each other"
            raise ValueError(msg)
        start = len(self.stack) - count
        items = self.stack[start:]
        del self.stack[start:]
        return items

    def set_items(self, items: list[Any]) -> None:
        target = _of(dict, self.top)
        for key, value in zip(items[::2], items[1::2], strict=True):
            # Text alone: what a deep tuple of tuples is hashed by is the C stack.
            target[_of(str, key)] = value

    def append(self, items: list[Any]) -> None:
        _of(list, self.top).extend(items)

    def build(self, _: Any) -> None:
        """Leave out the attributes of a dictionary: PyTorch keeps versions of layers there."""
        self.taken(1)
        _of(dict, self.top)

    def call(self, _: Any) -> None:
        name, arguments = self.taken(2)
        called, given = _of(_Name, name).text, _of(tuple, arguments)
        if called == "collections OrderedDict" and not given:
            self.stack.append({})
        elif called == MADE_BY:
            storage, offset, shape, strides = given[:4]
            (start,) = _counts((offset,))
            tensor = _Tensor(_of(_Storage, storage), start, _counts(shape), _counts(strides))
            self.stack.append(tensor)
        else:
            msg = f"it asks for {called[:80]!r} to be called"
            raise ValueError(msg)

    def find_storage(self, _: Any) -> None:
        kind, dtype, key, _, size = _of(tuple, self.taken(1)[0])[:5]
        name = _of(_Name, dtype).text
        if kind != "storage" or name not in DTYPES:
            msg = f"it refers to {name[:80]!r}, which is no block of numbers known here"
            raise ValueError(msg)
        self.stack.append(_Storage(_of(str, key), DTYPES[name], *_counts((size,))))


def _constant(make: Callable[[], Any]) -> Callable[[_Machine, Any], None]:
    return lambda machine, _: machine.stack.append(make())


def _tuple_of(count: int) -> Callable[[_Machine, Any], None]:
    return lambda machine, _: machine.stack.append(tuple(machine.taken(count)))


_NUMBERS_AND_TEXT = (
    "BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT", "BINUNICODE", "SHORT_BINUNICODE",
)  # fmt: skip
_ACTIONS: dict[str, Callable[[_Machine, Any], None]] = {
    "PROTO": lambda machine, version: None,
    "NONE": _constant(lambda: None),
    "NEWTRUE": _constant(lambda: True),
    "NEWFALSE": _constant(lambda: False),
    "EMPTY_DICT": _constant(dict),
    "EMPTY_LIST": _constant(list),
    "EMPTY_TUPLE": _constant(tuple),
    "TUPLE1": _tuple_of(1),
    "TUPLE2": _tuple_of(2),
    "TUPLE3": _tuple_of(3),
    "TUPLE": lambda machine, _: machine.stack.append(tuple(machine.since_mark())),
    "MARK": _Machine.mark,
    "BINGET": _Machine.get,
    "LONG_BINGET": _Machine.get,
    "BINPUT": _Machine.put,
    "LONG_BINPUT": _Machine.put,
    "SETITEM": lambda machine, _: machine.set_items(machine.taken(2)),
    "SETITEMS": lambda machine, _: machine.set_items(machine.since_mark()),
    "APPEND": lambda machine, _: machine.append(machine.taken(1)),
    "APPENDS": lambda machine, _: machine.append(machine.since_mark()),
    "GLOBAL": lambda machine, name: machine.stack.append(_Name(name)),
    "BUILD": _Machine.build,
    "REDUCE": _Machine.call,
    "BINPERSID": _Machine.find_storage,
    **dict.fromkeys(_NUMBERS_AND_TEXT, lambda machine, value: machine.stack.append(value)),
}


def _read_legacy(content: bytes) -> Tensors:
    """Five pickles, the fourth of which is the dictionary, and the blocks one after another."""
    file = BytesIO(content)
    magic, protocol, about = (_Machine().run(file) for _ in range(3))
    if (magic, protocol) != (MAGIC, PROTOCOL) or not _of(dict, about).get("little_endian"):
        msg = "it does not begin as those files do, or has its bytes in another order"
        raise ValueError(msg)
    tensors = _tensors(_Machine().run(file))
    storages = {tensor.storage.key: tensor.storage for tensor in tensors.values()}
    blocks: dict[str, npt.NDArray[Any]] = {}
    for key in _of(list, _Machine().run(file)):
        storage = _entry(storages, _of(str, key), "block of no tensor")
        if int.from_bytes(file.read(8), "little") != storage.size:
            msg = f"block {key[:80]!r} is not as long as was said before"
            raise ValueError(msg)
        blocks[key] = _block(storage, content, file.tell())
        file.seek(blocks[key].nbytes, 1)
    return {
        name: tensor.of(_entry(blocks, tensor.storage.key, "missing block"))
        for name, tensor in tensors.items()
    }


def _read_zip(content: bytes) -> Tensors:
    """A pickle of the dictionary, and beside it a file for each block, none of it packed."""
    with zipfile.ZipFile(BytesIO(content)) as archive:
        if any(entry.compress_type != zipfile.ZIP_STORED for entry in archive.infolist()):
            msg = "it is a packed zip, and PyTorch packs none"
            raise ValueError(msg)
        top = archive.namelist()[0].partition("/")[0]
        if f"{top}/byteorder" in archive.namelist():
            _require_little(archive.read(f"{top}/byteorder"))
        tensors = _tensors(_Machine().run(BytesIO(archive.read(f"{top}/data.pkl"))))
        blocks = {
            storage: _block(storage, archive.read(f"{top}/data/{storage.key}"), 0)
            for storage in {tensor.storage for tensor in tensors.values()}
        }
    return {name: tensor.of(blocks[tensor.storage]) for name, tensor in tensors.items()}


def _require_little(order: bytes) -> None:
    if order != b"little":
        msg = "it has its bytes in another order"
        raise ValueError(msg)


def _block(storage: _Storage, content: bytes, start: int) -> npt.NDArray[Any]:
    """The numbers of a block; a file that is too short for them takes no memory."""
    n_bytes = storage.size * np.dtype(storage.dtype).itemsize
    if start + n_bytes > len(content):
        msg = f"block {storage.key[:80]!r} of {n_bytes} bytes reaches beyond the end"
        raise ValueError(msg)
    return np.frombuffer(memoryview(content)[start : start + n_bytes], storage.dtype)


def _tensors(built: Any) -> dict[str, _Tensor]:
    return {name: _of(_Tensor, value) for name, value in _of(dict, built).items()}


def _counts(values: Any) -> tuple[int, ...]:
    """A few whole numbers that are not negative, such as a shape."""
    counts = _of(tuple, values)
    if len(counts) > MOST_DIMENSIONS or any(type(n) is not int or n < 0 for n in counts):
        msg = "a tensor has no shape that an array can have"
        raise ValueError(msg)
    return counts


def _entry(entries: dict[Any, Any], key: Any, what: str) -> Any:
    if key not in entries:
        msg = f"it refers to {str(key)[:80]!r}, a {what}"
        raise ValueError(msg)
    return entries[key]


def _of(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        what = f"{kind.__name__.strip('_').lower()}, got {type(value).__name__}"
        msg = f"its instructions do not build tensors: expected a {what}"
        raise ValueError(msg)
    return value
