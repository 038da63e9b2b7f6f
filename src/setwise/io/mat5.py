"""MATLAB files of version 5 to 7.2: variables, read without trusting a single length.

The format is a chain of elements, each a type, a length and as many bytes. The reader is our
own and not SciPy's: that one believes the lengths inside a cell array and inside what is
compressed, so that a damaged file takes any amount of memory, or the process with it.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from setwise.io.untrusted import check_declared

__all__ = ["MAX_CELLS", "MAX_VARIABLES", "NUMERIC", "WHOLE", "Mat5", "Value5", "is_mat5"]

# Every cell costs time, however small; a file may claim billions.
MAX_CELLS = 100_000
MAX_VARIABLES = 10_000
# Enough for flags, sizes and name of a variable.
HEAD = 4096

NUMERIC = {
    "double": "f8",
    "single": "f4",
    "int8": "i1",
    "uint8": "u1",
    "int16": "i2",
    "uint16": "u2",
    "int32": "i4",
    "uint32": "u4",
    "int64": "i8",
    "uint64": "u8",
    "logical": "u1",
}
# Classes whose values are never stored as fractions.
WHOLE = ("char", *(kind for kind, dtype in NUMERIC.items() if dtype[0] != "f"))
CLASSES = [
    *("unknown", "cell", "struct", "object", "char", "sparse", "double", "single", "int8"),
    *("uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "function_handle"),
    "opaque object",
]
WITHOUT_SIZE = ("unknown", "function_handle", "opaque object")
IS_COMPLEX, IS_LOGICAL = 0x0800, 0x0200

STORED = {
    **{1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8"},
    **{12: "i8", 13: "u8"},
}
TEXT = {16: "utf-8", 17: "utf-16", 18: "utf-32"}
INT32, MATRIX, COMPRESSED = 5, 14, 15


def is_mat5(head: bytes) -> bool:
    """Whether the first 128 bytes are those of a MATLAB 5 file."""
    return head[124:128] in (b"\x00\x01IM", b"\x01\x00MI")


@dataclass(frozen=True)
class Value5:
    """A variable or a cell: what it is, its size, and its bytes.

    Attributes
    ----------
    name : str
        Empty for a cell.
    kind : str
        Its class, as MATLAB calls it; ``"complex double"`` and the like where it is complex.
    shape : tuple of int
        Its size, as MATLAB shows it.
    """

    name: str
    kind: str
    shape: tuple[int, ...]
    body: memoryview
    order: str

    def read(self) -> npt.NDArray[Any]:
        """Numbers, or the codes of characters, in MATLAB's shape."""
        stored, payload, _ = _element(self.body, 0, self.order)
        if stored in TEXT:
            codec = TEXT[stored] + ("" if stored == 16 else _endian(self.order))
            values = np.array([ord(c) for c in str(payload, codec)], dtype="u4")
        elif stored in STORED and not (STORED[stored][0] == "f" and self.kind in WHOLE):
            values = np.frombuffer(payload, self.order + STORED[stored])
        else:
            msg = f"type {stored} was found where numbers are expected"
            raise ValueError(msg)
        if values.size != math.prod(self.shape):
            msg = f"{values.size} values are stored for the size {self.shape}"
            raise ValueError(msg)
        return values.astype(NUMERIC.get(self.kind, "u4")).reshape(self.shape, order="F")

    def cells(self) -> Iterator[Value5]:
        """The cells, down the columns."""
        if math.prod(self.shape) > MAX_CELLS:
            msg = f"a cell array of {math.prod(self.shape)} cells, of at most {MAX_CELLS}"
            raise ValueError(msg)
        at = 0
        for _ in range(math.prod(self.shape)):
            stored, payload, at = _element(self.body, at, self.order)
            if stored != MATRIX:
                msg = f"type {stored} was found where a cell is expected"
                raise ValueError(msg)
            yield _value(payload, self.order)


class Mat5:
    """The variables of a MATLAB 5 file.

    Parameters
    ----------
    path : Path
        A file for which `is_mat5` holds.
    max_bytes : int
        The most memory a variable may take.

    Attributes
    ----------
    variables : dict of str to Value5
        Name, class and size of each; their contents are for `get`.
    """

    def __init__(self, path: Path, max_bytes: int) -> None:
        self.path, self.max_bytes = path, max_bytes
        self.variables: dict[str, Value5] = {}
        self._places: dict[str, tuple[int, int, int]] = {}
        with path.open("rb") as stream:
            self._order = "<" if stream.read(128).endswith(b"IM") else ">"
            for place in _places(stream, path.stat().st_size, self._order):
                value = _value(_matrix(stream, place, self._order, HEAD)[0], self._order)
                if value.name in self.variables:
                    msg = f"it holds two variables named {value.name!r}"
                    raise ValueError(msg)
                if value.name:  # without a name: what MATLAB keeps for its function handles
                    self.variables[value.name] = value
                    self._places[value.name] = place

    def get(self, name: str) -> Value5:
        """A variable with its contents."""
        place = self._places[name]
        with self.path.open("rb") as stream:
            _, length = _matrix(stream, place, self._order, HEAD)
            check_declared("load_mat", self.path, name, length, self.max_bytes)
            payload, _ = _matrix(stream, place, self._order, length)
        if len(payload) < length:
            msg = f"{name} ends after {len(payload)} of {length} bytes"
            raise ValueError(msg)
        return _value(payload, self._order)

    def close(self) -> None:
        """Nothing is held open."""


def _places(stream: BinaryIO, size: int, order: str) -> Iterator[tuple[int, int, int]]:
    """Type, beginning and length of every element of the file."""
    at = 128
    for _ in range(MAX_VARIABLES):
        if at >= size:
            return
        stream.seek(at)
        stored, length = struct.unpack(order + "II", stream.read(8))
        if stored not in (MATRIX, COMPRESSED) or length == 0:
            msg = f"type {stored} of {length} bytes was found where a variable is expected"
            raise ValueError(msg)
        if at + 8 + length > size:
            msg = f"it ends after {size} of at least {at + 8 + length} bytes"
            raise ValueError(msg)
        yield stored, at + 8, length
        at += 8 + length
    msg = f"it holds more than {MAX_VARIABLES} variables"
    raise ValueError(msg)


def _matrix(
    stream: BinaryIO, place: tuple[int, int, int], order: str, at_most: int
) -> tuple[memoryview, int]:
    """The first bytes of a variable, and how many there should be."""
    stored, at, length = place
    stream.seek(at)
    if stored == MATRIX:
        return memoryview(stream.read(min(length, at_most))), length
    # zlib never makes data much longer, so that this holds all that is asked for.
    packed = stream.read(min(length, at_most + at_most // 100 + 1024))
    inflater = zlib.decompressobj()
    unpacked = inflater.decompress(packed, at_most + 8)
    stored, length = struct.unpack(order + "II", unpacked[:8])
    if stored != MATRIX:
        msg = f"type {stored} was found in compressed data where a variable is expected"
        raise ValueError(msg)
    if length <= at_most:  # the end, where zlib compares its checksum
        beyond = inflater.decompress(inflater.unconsumed_tail, 1)
        if beyond or not inflater.eof:
            msg = "compressed data does not end where it says"
            raise ValueError(msg)
    return memoryview(unpacked)[8:], length


def _element(data: memoryview, at: int, order: str) -> tuple[int, memoryview, int]:
    """Type and bytes of the element at a place, and where the next one is."""
    stored, length = struct.unpack_from(order + "II", data, at)
    if stored >> 16:  # up to four bytes, kept beside their type
        stored, length, begin, after = stored & 0xFFFF, stored >> 16, at + 4, at + 8
    else:
        begin, after = at + 8, at + 8 + length + -length % 8
    payload = data[begin : begin + length]
    if len(payload) < length or (after == at + 8 and length > 4):
        msg = f"an element of {length} bytes is cut off after {len(payload)}"
        raise ValueError(msg)
    return stored, payload, after


def _value(data: memoryview, order: str) -> Value5:
    """The variable or cell that these bytes begin."""
    if len(data) == 0:  # how MATLAB writes []
        return Value5("", "double", (0, 0), data, order)
    _, words, at = _element(data, 0, order)
    flags = struct.unpack_from(order + "I", words)[0]
    kind = CLASSES[flags & 0xFF] if flags & 0xFF < len(CLASSES) else "unknown"
    shape: tuple[int, ...] = ()
    if kind not in WITHOUT_SIZE:
        stored, sizes, at = _element(data, at, order)
        shape = tuple(np.frombuffer(sizes, order + "i4").tolist())
        if stored != INT32 or len(shape) < 2 or min(shape) < 0:
            msg = f"a {kind} array has the size {shape}"
            raise ValueError(msg)
    _, name, at = _element(data, at, order)
    if flags & IS_LOGICAL:
        kind = "logical" if kind in NUMERIC else f"logical {kind}"
    if flags & IS_COMPLEX:
        kind = f"complex {kind}"
    return Value5(str(name, "latin-1"), kind, shape, data[at:], order)


def _endian(order: str) -> str:
    return "-le" if order == "<" else "-be"
