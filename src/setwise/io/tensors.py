"""Named arrays and one JSON document in one file, which can hold nothing that runs.

The format is safetensors: the length of a JSON table of names, types, shapes and places, that
table, then the bytes of the arrays, one at a time. Files are read, not mapped: a mapped file
that another program cuts short would end the process.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from setwise._support.files import write_atomically
from setwise.errors import reject
from setwise.io.untrusted import broken, regular_file

Arrays = Mapping[str, npt.NDArray[Any]]
_KEY, _METADATA = "setwise", "__metadata__"
_KINDS = ("U1", "U2", "U4", "U8", "I1", "I2", "I4", "I8", "F2", "F4", "F8")
_TYPES = {f"{kind[0]}{8 * int(kind[1])}": np.dtype(f"<{kind.lower()}") for kind in _KINDS}
_TYPES["BOOL"] = np.dtype("?")
_NAMES = {dtype: name for name, dtype in _TYPES.items()}
_MOST_DIMENSIONS = 16
# Bytes of the table with the document in it; safetensors has the same limit.
_LONGEST_TABLE = 100_000_000
_UNREADABLE = (
    *(OSError, ValueError, TypeError, KeyError, IndexError),
    *(OverflowError, MemoryError, RecursionError),
)


def write_tensors(
    path: Path,
    document: Mapping[str, Any],
    arrays: Arrays,
    *,
    owner: str = "write_tensors",
    before_replacing: Callable[[], None] = lambda: None,
) -> None:
    """Write arrays and a JSON document; the same content gives the same bytes."""
    signed = dict(document) | {"sha256": _digest(document, arrays)}
    names = sorted(arrays, key=lambda name: (-arrays[name].dtype.itemsize, name))
    table = _table(signed, {name: arrays[name] for name in names})
    try:
        with write_atomically(path) as temporary:
            with temporary.open("wb") as file:
                file.write(len(table).to_bytes(8, "little") + table)
                for name in names:
                    file.write(_bytes(arrays[name]))
            before_replacing()
    except OSError as error:
        what = f"{owner}: {str(path)!r} cannot be written: {error.strerror or error}"
        advice = "Make room on that disk, or name another folder."
        reject(f"{what}. A file that was there is unchanged. {advice}", error)


def _table(document: Mapping[str, Any], arrays: Arrays) -> bytes:
    """The JSON table, filled with spaces so that arrays begin at multiples of eight."""
    table: dict[str, Any] = {_METADATA: {_KEY: _canonical(document)}}
    end = 0
    for name, array in arrays.items():
        begin, end = end, end + array.nbytes
        kind, shape = _NAMES[array.dtype.newbyteorder("<")], array.shape or (1,)
        table[name] = {"dtype": kind, "shape": shape, "data_offsets": (begin, end)}
    text = json.dumps(table, separators=(",", ":")).encode()
    return text + b" " * (-len(text) % 8)


def read_tensors(
    path: Path, owner: str, newest: int = 1
) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """The JSON document and the arrays of a file that :func:`write_tensors` wrote."""
    given = regular_file(owner, path)
    try:
        with given.open("rb") as file:
            text, arrays = _read(file)
    except _UNREADABLE as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        what = f"{owner}: {str(given)!r} is no gallery file, or a damaged one ({reason})"
        reject(f"{what}. Expected what save wrote; copy it again, or fit and save anew.", error)
    document = _document(text)
    if document is None:
        reject(
            f"{owner}: {str(given)!r} is a file of arrays, but no gallery: the description is "
            "missing or unreadable. Expected what save wrote."
        )
    version = document.get("format")
    if isinstance(version, int) and version > newest:
        formats = f"format {version}, this one reads up to {newest}"
        what = f"{owner}: {str(given)!r} was written by a later version of setwise"
        reject(f"{what} ({formats}). Install a newer one.")
    unsigned = {key: value for key, value in document.items() if key != "sha256"}
    if document.get("sha256") != _digest(unsigned, arrays):
        what = f"{owner}: {str(given)!r} is damaged: its content is not what was written"
        reject(f"{what} (sha256 differs). Copy it again, or fit and save anew.")
    return document, arrays


def _read(file: IO[bytes]) -> tuple[Any, dict[str, npt.NDArray[Any]]]:
    """The text of the document and all arrays, checked against the length of the file."""
    n_table = int.from_bytes(file.read(8), "little")
    n_bytes = os.fstat(file.fileno()).st_size - 8 - n_table
    if n_table > _LONGEST_TABLE or n_bytes < 0:
        broken(f"a table of {n_table} bytes")
    table = json.loads(file.read(n_table))
    if not isinstance(table, dict):
        broken("no table of arrays")
    metadata = table.pop(_METADATA, None)
    text = metadata.get(_KEY) if isinstance(metadata, dict) else None
    arrays, end = {}, 0
    for name, entry in sorted(table.items(), key=lambda item: item[1]["data_offsets"]):
        dtype, shape = _TYPES[entry["dtype"]], entry["shape"]
        if len(shape) > _MOST_DIMENSIONS or not all(type(n) is int and n >= 0 for n in shape):
            broken(f"{name!r} has a shape that no array has")
        size = math.prod(shape)
        begin, end = end, end + size * dtype.itemsize
        if entry["data_offsets"] != [begin, end] or end > n_bytes:
            broken(f"{name!r} is not where it is expected")
        arrays[name] = _array(file, dtype, size).reshape(shape)
    if end != n_bytes:
        broken(f"{n_bytes - end} bytes follow the last array")
    return text, arrays


def _array(file: IO[bytes], dtype: np.dtype[Any], size: int) -> npt.NDArray[Any]:
    array = np.empty(size, dtype)
    as_bytes = array.view(np.uint8)
    if file.readinto(as_bytes) != array.nbytes:  # type: ignore[attr-defined]
        broken("it ends early")
    if dtype.kind == "b" and as_bytes.size and as_bytes.max() > 1:
        broken("a truth value is neither 0 nor 1")
    return array


def _document(text: Any) -> dict[str, Any] | None:
    try:
        document = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _canonical(document: Mapping[str, Any]) -> str:
    """JSON of which there is one form only; nothing for numbers that JSON does not know."""
    try:
        return json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except ValueError:
        return ""


def _digest(document: Mapping[str, Any], arrays: Arrays) -> str:
    """Of the document, and of the names, types, shapes and bytes of the arrays."""
    digest = hashlib.sha256(_canonical(document).encode("utf-8", "surrogatepass"))
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name}|{array.dtype.str}|{array.shape or (1,)}|".encode())
        digest.update(_bytes(array))
    return digest.hexdigest()


def _bytes(array: npt.NDArray[Any]) -> memoryview:
    """The values of an array, in C order, without a copy where they lie so."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
