"""MATLAB files of version 5 to 7.2: variables, read without trusting a single length.

The format is a chain of elements, each a type, a length and as many bytes. The reader is our
own and not SciPy's: that one believes the lengths inside a cell array and inside what is
compressed, so that a damaged file takes any amount of memory, or the process with it. Cells
are unpacked one by one, and no further than the numbers that their size asks for.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np
import numpy.typing as npt

from setwise.io.mat5_content import COMPRESSED, MATRIX, Content
from setwise.io.untrusted import broken, check_declared

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
INT32 = 5


# Type, beginning and length of an element of the file.
Place: TypeAlias = tuple[int, int, int]


def is_mat5(head: bytes) -> bool:
    """Whether the first 128 bytes are those of a MATLAB 5 file."""
    return head[124:128] in (b"\x00\x01IM", b"\x01\x00MI")


@dataclass(frozen=True)
class Value5:
    """A variable or a cell: what it is, its size, and its numbers as they are stored.

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
    order: str
    stored: int = 0
    payload: bytes | bytearray = b""
    open_cells: Callable[[], Iterator[Value5]] | None = None

    def read(self) -> npt.NDArray[Any]:
        """Numbers, or the codes of characters, in MATLAB's shape."""
        if 0 in self.shape:
            return np.zeros(self.shape, NUMERIC.get(self.kind, "u4"))
        if self.stored in TEXT:
            codec = TEXT[self.stored] + ("" if self.stored == 16 else _endian(self.order))
            values = np.array([ord(c) for c in str(self.payload, codec)], dtype="u4")
        elif self.stored in STORED and not (
            STORED[self.stored][0] == "f" and self.kind in WHOLE
        ):
            values = np.frombuffer(self.payload, self.order + STORED[self.stored])
        else:
            broken(f"type {self.stored} was found where numbers are expected")
        if values.size != math.prod(self.shape):
            broken(f"{values.size} values are stored for the size {self.shape}")
        numbers = values.astype(NUMERIC.get(self.kind, "u4"), copy=False)
        return numbers.reshape(self.shape, order="F")

    def cells(self) -> Iterator[Value5]:
        """The cells of a variable, down the columns, read from the file one by one."""
        if math.prod(self.shape) > MAX_CELLS:
            broken(f"a cell array of {math.prod(self.shape)} cells, of at most {MAX_CELLS}")
        return iter(()) if self.open_cells is None else self.open_cells()


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
        self._places: dict[str, Place] = {}
        with path.open("rb") as stream:
            self._order = "<" if stream.read(128).endswith(b"IM") else ">"
            for place in _places(stream, path.stat().st_size, self._order):
                value = _head(Content(stream, place, self._order))
                if value.name in self.variables:
                    broken(f"it holds two variables named {value.name!r}")
                if value.name:  # without a name: what MATLAB keeps for its function handles
                    self.variables[value.name] = value
                    self._places[value.name] = place

    def get(self, name: str) -> Value5:
        """A variable with its contents."""
        with self._open(name) as content:
            what = f"variable {name!r}"
            check_declared("load_mat", self.path, what, content.left, self.max_bytes)
            value = _head(content)
            if value.kind == "cell":
                return replace(value, open_cells=partial(self._cells, name))
            value = _with_numbers(value, content)
            if value.payload:
                content.check_over()
            return value

    def close(self) -> None:
        """Nothing is held open."""

    @contextmanager
    def _open(self, name: str) -> Iterator[Content]:
        with self.path.open("rb") as stream:
            yield Content(stream, self._places[name], self._order)

    def _cells(self, name: str) -> Iterator[Value5]:
        with self._open(name) as content:
            for _ in range(math.prod(_head(content).shape)):
                stored, length = content.take_tag()
                if stored != MATRIX:
                    broken(f"type {stored} was found where a cell is expected")
                after = content.left - length
                cell = _with_numbers(_head(content), content) if length else EMPTY
                # Whoever does not want such a cell stops here, before the rest is unpacked.
                yield cell
                content.skip(content.left - after, is_known=bool(cell.payload))
            content.check_over()


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


# How MATLAB writes [].
EMPTY = Value5("", "double", (0, 0), "<")


def _head(content: Content) -> Value5:
    """Name, class and size of the variable or cell that begins here, without its numbers."""
    _, words = content.take_element(HEAD)
    flags = struct.unpack_from(content.order + "I", words)[0]
    kind = CLASSES[flags & 0xFF] if flags & 0xFF < len(CLASSES) else "unknown"
    shape: tuple[int, ...] = ()
    if kind not in WITHOUT_SIZE:
        stored, sizes = content.take_element(HEAD)
        shape = tuple(np.frombuffer(sizes, content.order + "i4").tolist())
        if stored != INT32 or len(shape) < 2 or min(shape) < 0:
            broken(f"a {kind} array has the size {shape}")
    _, name = content.take_element(HEAD)
    if flags & IS_LOGICAL:
        kind = "logical" if kind in NUMERIC else f"logical {kind}"
    if flags & IS_COMPLEX:
        kind = f"complex {kind}"
    return Value5(str(name, "latin-1"), kind, shape, content.order)


def _with_numbers(value: Value5, content: Content) -> Value5:
    """A value with what is stored of it; other classes than those that are read stay bare."""
    if value.kind not in (*NUMERIC, "char") or 0 in value.shape:
        return value
    # No number and no letter is stored in more than 8 bytes.
    stored, payload = content.take_element(8 * math.prod(value.shape))
    return replace(value, stored=stored, payload=payload)


def _endian(order: str) -> str:
    return "-le" if order == "<" else "-be"
