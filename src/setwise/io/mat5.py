"""MATLAB files of version 5 to 7.2, read without trusting a single length.

The format is a chain of elements, each a type, a length and as many bytes. SciPy's reader
believes the lengths inside of cells and compressed data, so that a damaged file takes any
amount of memory, or ends the process. Here, cells are unpacked one by one, and no further than
the numbers that their size asks for.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np
import numpy.typing as npt

from setwise.io.untrusted import broken, check_declared

# Each cell costs time, however small; a file may claim billions.
MAX_CELLS = 100_000
MAX_VARIABLES = 10_000
# Bytes; enough for flags, sizes and name of a variable.
HEAD = 4096
PIECE = 2**20

NUMERIC = {
    "double": "f8", "single": "f4", "int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2",
    "int32": "i4", "uint32": "u4", "int64": "i8", "uint64": "u8", "logical": "u1",
}  # fmt: skip
# Classes whose values are never stored as fractions.
WHOLE = ("char", *(kind for kind, dtype in NUMERIC.items() if dtype[0] != "f"))
CLASSES = (
    "unknown", "cell", "struct", "object", "char", "sparse", "double", "single", "int8",
    "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "function_handle",
    "opaque object",
)  # fmt: skip
WITHOUT_SIZE = ("unknown", "function_handle", "opaque object")
IS_COMPLEX, IS_LOGICAL = 0x0800, 0x0200
# Types of elements.
INT32, MATRIX, COMPRESSED = 5, 14, 15
STORED = {
    1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8",
}  # fmt: skip
TEXT = {16: "utf-8", 17: "utf-16", 18: "utf-32"}

# Type, beginning and length of an element of the file.
Place: TypeAlias = tuple[int, int, int]


def is_mat5(head: bytes) -> bool:
    """Whether the first 128 bytes are those of a MATLAB 5 file."""
    return head[124:128] in (b"\x00\x01IM", b"\x01\x00MI")


@dataclass(frozen=True)
class Value5:
    """A variable or cell: class and size in MATLAB's words, and the stored bytes."""

    name: str  # empty for a cell
    kind: str  # such as "double" or "complex double"
    shape: tuple[int, ...]
    order: str
    stored: int = 0
    payload: bytes | bytearray = b""
    open_cells: Callable[[], Iterator[Value5]] | None = None

    def read(self) -> npt.NDArray[Any]:
        """Numbers, or the codes of characters, in MATLAB's shape."""
        dtype = NUMERIC.get(self.kind, "u4")
        if 0 in self.shape:
            return np.zeros(self.shape, dtype)
        if self.stored in TEXT:
            end = "" if self.stored == 16 else {"<": "-le", ">": "-be"}[self.order]
            text = str(self.payload, TEXT[self.stored] + end)
            values = np.array([ord(c) for c in text], dtype="u4")
        else:
            stored = STORED.get(self.stored, "")
            if not stored or (stored[0] == "f" and self.kind in WHOLE):
                broken(f"type {self.stored} was found where numbers are expected")
            values = np.frombuffer(self.payload, self.order + stored)
        if values.size != math.prod(self.shape):
            broken(f"{values.size} values are stored for the size {self.shape}")
        return values.astype(dtype, copy=False).reshape(self.shape, order="F")

    def cells(self) -> Iterator[Value5]:
        """The cells of a variable, down the columns, read from the file one by one."""
        if math.prod(self.shape) > MAX_CELLS:
            broken(f"a cell array of {math.prod(self.shape)} cells, of at most {MAX_CELLS}")
        return iter(()) if self.open_cells is None else self.open_cells()


class Mat5:
    """A MATLAB 5 file; ``variables`` have names, classes and sizes, `get` the contents."""

    def __init__(self, path: Path, max_bytes: int) -> None:
        self.path, self.max_bytes = path, max_bytes
        self.variables: dict[str, Value5] = {}
        self._places: dict[str, Place] = {}
        with path.open("rb") as stream:
            self._order = "<" if stream.read(128).endswith(b"IM") else ">"
            for place in _places(stream, path.stat().st_size, self._order):
                value = _Content(stream, place, self._order).take_head()
                if value.name in self.variables:
                    broken(f"it holds two variables named {value.name!r}")
                if value.name:  # MATLAB keeps its function handles in one without a name
                    self.variables[value.name] = value
                    self._places[value.name] = place

    def get(self, name: str) -> Value5:
        """A variable with its contents."""
        with self.path.open("rb") as stream:
            content = _Content(stream, self._places[name], self._order)
            what = f"variable {name!r}"
            check_declared("load_mat", self.path, what, content.left, self.max_bytes)
            value = content.take_head()
            if value.kind == "cell":
                return replace(value, open_cells=partial(self._cells, name))
            value = content.take_numbers(value)
            if value.payload:
                content.check_over()
            return value

    def close(self) -> None:
        """Do nothing: no file is held open."""

    def _cells(self, name: str) -> Iterator[Value5]:
        with self.path.open("rb") as stream:
            content = _Content(stream, self._places[name], self._order)
            for _ in range(math.prod(content.take_head().shape)):
                stored, length = content.take_tag()
                if stored != MATRIX:
                    broken(f"type {stored} was found where a cell is expected")
                after = content.left - length
                cell = content.take_numbers(content.take_head()) if length else EMPTY
                yield cell  # a caller that refuses it stops before the rest is unpacked
                content.skip(content.left - after, is_known=bool(cell.payload))
            content.check_over()


# How MATLAB writes [].
EMPTY = Value5("", "double", (0, 0), "<")


def _places(stream: BinaryIO, size: int, order: str) -> Iterator[Place]:
    """Type, beginning and length of every element of the file."""
    at = 128
    for _ in range(MAX_VARIABLES):
        if at >= size:
            return
        stream.seek(at)
        stored, length = struct.unpack(order + "II", stream.read(8))
        if stored not in (MATRIX, COMPRESSED) or length == 0:
            broken(f"type {stored} of {length} bytes was found where a variable is expected")
        if at + 8 + length > size:
            broken(f"it ends after {size} of at least {at + 8 + length} bytes")
        yield stored, at + 8, length
        at += 8 + length
    broken(f"it holds more than {MAX_VARIABLES} variables")


class _Content:
    """The bytes of a variable, unpacked as they are taken; ``left`` is the declared rest."""

    def __init__(self, stream: BinaryIO, place: Place, order: str) -> None:
        stored, at, length = place
        stream.seek(at)
        self.order, self.left = order, length
        self._stream, self._n_packed = stream, length
        self._inflater = zlib.decompressobj() if stored == COMPRESSED else None
        if self._inflater is not None:
            self.left = 8
            stored, self.left = self.take_tag()
            if stored != MATRIX:
                broken(f"compressed data holds type {stored}, where a variable is expected")

    def take_tag(self) -> tuple[int, int]:
        stored, length = struct.unpack(self.order + "II", self._take(8))
        return stored, length

    def take_head(self) -> Value5:
        """Name, class and size of the variable or cell that begins here."""
        _, words = self.take_element(HEAD)
        flags = struct.unpack_from(self.order + "I", words)[0]
        kind = CLASSES[flags & 0xFF] if flags & 0xFF < len(CLASSES) else "unknown"
        shape: tuple[int, ...] = ()
        if kind not in WITHOUT_SIZE:
            stored, sizes = self.take_element(HEAD)
            shape = tuple(np.frombuffer(sizes, self.order + "i4").tolist())
            if stored != INT32 or len(shape) < 2 or min(shape) < 0:
                broken(f"a {kind} array has the size {shape}")
        _, name = self.take_element(HEAD)
        if flags & IS_LOGICAL:
            kind = "logical" if kind in NUMERIC else f"logical {kind}"
        kind = f"complex {kind}" if flags & IS_COMPLEX else kind
        return Value5(str(name, "latin-1"), kind, shape, self.order)

    def take_numbers(self, value: Value5) -> Value5:
        """A value with its stored bytes, if it is of a class that is read."""
        if value.kind not in (*NUMERIC, "char") or 0 in value.shape:
            return value
        # No number and no letter is stored in more than 8 bytes.
        stored, payload = self.take_element(8 * math.prod(value.shape))
        return replace(value, stored=stored, payload=payload)

    def take_element(self, at_most: int) -> tuple[int, bytes | bytearray]:
        tag = self._take(8)
        stored, length = struct.unpack(self.order + "II", tag)
        is_small, limit = stored >> 16, min(at_most, self.left)
        if is_small:  # up to four bytes, kept beside their type
            stored, length, limit = stored & 0xFFFF, stored >> 16, 4
        if length > limit:
            broken(f"an element of {length} bytes is cut off after {limit}")
        if is_small:
            return stored, tag[4 : 4 + length]
        payload = self._take(length)
        self._take(min(-length % 8, self.left))
        return stored, payload

    def skip(self, n_bytes: int, *, is_known: bool) -> None:
        """Go on to the next cell; nothing may follow known numbers in a cell."""
        if n_bytes < 0 or (is_known and n_bytes >= 8):
            broken(f"a cell has {n_bytes} bytes more than its size asks for")
        for start in range(0, n_bytes, PIECE):
            self._take(min(PIECE, n_bytes - start))

    def check_over(self) -> None:
        """Refuse a variable that goes on after its end, or whose checksum is wrong."""
        if self.left >= 8:
            broken(f"a variable has {self.left} bytes more than its size asks for")
        self._take(self.left)
        while self._inflater is not None and not self._inflater.eof:
            packed = self._packed(self._inflater)
            if self._inflater.decompress(packed, 1) or not packed:
                broken("compressed data does not end where it says")

    def _take(self, n_bytes: int) -> bytes | bytearray:
        if n_bytes > self.left:
            broken(f"an element of {n_bytes} bytes is cut off after {self.left}")
        self.left -= n_bytes
        unpack = self._stream.read if self._inflater is None else self._unpack
        taken: bytes | bytearray = unpack(n_bytes)
        if len(taken) < n_bytes:
            broken(f"it ends {n_bytes - len(taken)} bytes too early")
        return taken

    def _unpack(self, n_bytes: int) -> bytearray:
        """The next bytes of compressed data, piece by piece, so that no copy is made."""
        unpacked, inflater = bytearray(), self._inflater
        while inflater is not None and len(unpacked) < n_bytes:
            packed = self._packed(inflater)
            piece = inflater.decompress(packed, min(PIECE, n_bytes - len(unpacked)))
            if not piece and not packed:
                break
            unpacked += piece
        return unpacked

    def _packed(self, inflater: zlib._Decompress) -> bytes:
        """Compressed bytes not looked at yet, none at the end."""
        if inflater.unconsumed_tail:
            return inflater.unconsumed_tail
        packed = self._stream.read(min(self._n_packed, PIECE))
        self._n_packed -= len(packed)
        return packed
