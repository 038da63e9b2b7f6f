"""NumPy files, read once their headers are checked."""

from __future__ import annotations

import math
import tokenize
import warnings
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from setwise.errors import reject
from setwise.io.untrusted import broken, check_declared, one_kind_of_error, regular_file

MAX_HEADER = 10_000
MAX_MEMBERS = 100_000
# Of an array of a prepared archive, which has a few numbers per set.
MAX_BYTES = 100_000_000


class Header(NamedTuple):
    """Shape and dtype that an array declares."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def n_bytes(self) -> int:
        """Bytes of the values."""
        return math.prod(self.shape) * self.dtype.itemsize


class Members:
    """The arrays of an archive, whose headers are read before their values."""

    def __init__(self, path: Path, archive: zipfile.ZipFile, max_bytes: int) -> None:
        self.path, self.max_bytes = path, max_bytes
        self._archive = archive
        self._members: dict[str, zipfile.ZipInfo] = {}
        if len(archive.infolist()) > MAX_MEMBERS:
            self.refuse(f"holds {len(archive.infolist())} arrays, of at most {MAX_MEMBERS}")
        for member in archive.infolist():
            key = member.filename.removesuffix(".npy")
            if key == member.filename or any(c in key for c in "/\\\0"):
                self.refuse(f"holds {member.filename!r}. Expected nothing but arrays, key.npy")
            if key in self._members:
                self.refuse(f"holds two arrays {key!r}")
            if member.flag_bits & 0x1:
                self.refuse(f"holds {key!r} encrypted. Save it without a password")
            self._members[key] = member

    @property
    def keys(self) -> list[str]:
        """Names of the arrays, in the order of the file."""
        return list(self._members)

    def read(self, keys: Sequence[str]) -> dict[str, npt.NDArray[Any]]:
        """Arrays by key, once all of them are known to fit."""
        return {key: self._read(key) for key in self.headers(keys)}

    def read_stacked(self, headers: dict[str, Header]) -> npt.NDArray[Any]:
        """Arrays one below the other, with at most one of them in memory twice."""
        if len(headers) == 1:
            return self._read(next(iter(headers)))
        shapes = [header.shape for header in headers.values()]
        dtype = np.result_type(*(header.dtype for header in headers.values()))
        whole = Header((sum(shape[0] for shape in shapes), *shapes[0][1:]), dtype)
        self._check_fits(whole.n_bytes, f"{len(headers)} arrays as {dtype}")
        stacked = np.empty(*whole)
        start = 0
        for key, shape in zip(headers, shapes, strict=True):
            stacked[start : start + shape[0]] = self._read(key)
            start += shape[0]
        return stacked

    def headers(self, keys: Sequence[str]) -> dict[str, Header]:
        """Shape and dtype of arrays, once all of them are known to fit."""
        for key in keys:
            if key not in self._members:
                shown = ", ".join(map(repr, self.keys[:20])) or "nothing"
                self.refuse(f"has no array {key!r}. It holds {shown}")
        headers = {key: self._header(key) for key in keys}
        declared = sum(header.n_bytes for header in headers.values())
        self._check_fits(declared, f"{len(keys)} arrays")
        return headers

    def refuse(self, why: str) -> NoReturn:
        """Raise what is wrong with the archive."""
        reject(f"load_arrays: {str(self.path)!r} {why}.")

    def _check_fits(self, n_bytes: int, what: str) -> None:
        check_declared("load_arrays", self.path, what, n_bytes, self.max_bytes)

    def _header(self, key: str) -> Header:
        member = self._members[key]
        with self._archive.open(member) as stream:
            return _header(stream, f"array {key!r}", member.file_size)

    def _read(self, key: str) -> npt.NDArray[Any]:
        with self._archive.open(self._members[key]) as stream:
            array = _values(stream)
            stream.read(1)  # the end, where zipfile compares its checksum
        return array


def array_of(path: Path, key: str) -> npt.NDArray[Any]:
    """One array of a prepared ``.npz``; nothing is ever unpickled."""
    source = regular_file("load", path)
    with one_kind_of_error("load", source), zipfile.ZipFile(source) as archive:
        return Members(source, archive, MAX_BYTES).read([key])[key]


def read_npy(path: Path, max_bytes: int) -> npt.NDArray[Any]:
    """The array of an ``.npy`` file."""
    with path.open("rb") as stream:
        header = _header(stream, "the array", path.stat().st_size)
        check_declared("load_arrays", path, "the array", header.n_bytes, max_bytes)
        stream.seek(0)
        return _values(stream)


def _header(stream: IO[bytes], what: str, size: int) -> Header:
    """The declared header of an array, which must agree with the size of its file."""
    version = np.lib.format.read_magic(stream)
    readers = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    if version not in readers:
        broken(f"{what} is of version {version}, which plain arrays do not need")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Python 2, and of syntax in broken headers
            shape, _, dtype = readers[version](stream, max_header_size=MAX_HEADER)
    except (SyntaxError, tokenize.TokenError, RecursionError):
        msg = f"the header of {what} is broken"
        raise ValueError(msg) from None
    if dtype.hasobject or dtype.names is not None or dtype.subdtype is not None:
        broken(
            f"{what} is of dtype {dtype}. Expected numbers or text; objects are never unpickled"
        )
    if min(shape, default=0) < 0:
        broken(f"{what} declares the shape {shape}")
    header = Header(shape, dtype)
    n_following = size - stream.tell()
    if header.n_bytes != n_following:
        broken(
            f"{what} declares {header.n_bytes} bytes, shape {shape}, but {n_following} follow"
        )
    return header


def _values(stream: IO[bytes]) -> npt.NDArray[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.lib.format.read_array(stream, allow_pickle=False, max_header_size=MAX_HEADER)
