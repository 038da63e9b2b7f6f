"""MATLAB files of version 7.3, which are HDF5, read without trusting the file.

HDF5 can point to other files, unfold a few bytes to terabytes, and leave out what it declares.
MATLAB uses none of that, and none of it is followed here.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.extras import require
from setwise._support.parallel import lazy
from setwise.io.mat5 import MAX_CELLS, MAX_VARIABLES, NUMERIC, WHOLE
from setwise.io.untrusted import broken, check_declared

MAGIC = b"\x89HDF\r\n\x1a\n"
# Kept by MATLAB for itself.
PRIVATE = ("#refs#", "#subsystem#")
DEFLATE, SHUFFLE = 1, 2
# HDF5 unpacks a whole chunk to read one number. MATLAB's own are far smaller.
MAX_CHUNK = 2**26
# Kinds of dtype that may store the values of a class.
ALLOWED = {"double": "iuf", "single": "iuf", "cell": "", **dict.fromkeys(WHOLE, "iu")}


def is_mat73(head: bytes) -> bool:
    """Whether the first 520 bytes are those of an HDF5 file, with MATLAB's header or not."""
    return head.startswith(MAGIC) or head[512:520] == MAGIC


class Value73:
    """A variable or cell: its class and size in MATLAB's words, and how to read it."""

    def __init__(self, node: Any, file: Mat73) -> None:
        self._node, self._file = node, file
        self.kind = "link" if node is None else _kind(node)
        self._is_empty = node is not None and _is_empty(node)
        self.shape: tuple[int, ...] = ()
        if self.kind in (*NUMERIC, "char", "cell"):
            self.shape = _empty_shape(node) if self._is_empty else node.shape[::-1] or (1, 1)

    def read(self) -> npt.NDArray[Any]:
        """Numbers, or the codes of characters, in MATLAB's shape; read once."""
        return self._numbers

    @lazy
    def _numbers(self) -> npt.NDArray[Any]:
        dtype = NUMERIC.get(self.kind, "u4")
        if self._is_empty:
            return np.zeros(self.shape, dtype)
        return self._stored().astype(dtype, copy=False).T.reshape(self.shape)

    def cells(self) -> Iterator[Value73]:
        """The cells, down the columns."""
        if math.prod(self.shape) > MAX_CELLS:
            broken(f"a cell array of {math.prod(self.shape)} cells, of at most {MAX_CELLS}")
        for reference in () if self._is_empty else self._stored().ravel():
            yield self._file.follow(reference)

    def _stored(self) -> npt.NDArray[Any]:
        _check_storage(self._node, self._file)
        return np.asarray(self._node[()])


class Mat73:
    """A MATLAB 7.3 file and its ``variables``; links, of kind ``"link"``, are not followed."""

    def __init__(self, path: Path, max_bytes: int) -> None:
        self._h5py = require("h5py", "mat")
        self.path, self.max_bytes = path, max_bytes
        self.size = path.stat().st_size
        self._root = self._h5py.File(path, "r")
        self._followed: dict[Any, Value73] = {}
        try:
            self.variables = self._variables()
        except BaseException:
            self.close()
            raise

    def get(self, name: str) -> Value73:
        """A variable with its contents."""
        return self.variables[name]

    def follow(self, reference: Any) -> Value73:
        """The content of a cell; several cells may share it."""
        if not reference:
            broken("a cell refers to nothing")
        # Equal for equal places in the file, unlike references.
        place = self._h5py.h5r.dereference(reference, self._root.id)
        if place not in self._followed:
            self._followed[place] = Value73(self._root[reference], self)
        return self._followed[place]

    def close(self) -> None:
        """Close the file."""
        self._root.close()

    def _variables(self) -> dict[str, Value73]:
        if len(self._root) > MAX_VARIABLES:
            broken(f"it holds more than {MAX_VARIABLES} variables")
        variables = {}
        for name in self._root:
            # A name with a slash would be a path, and a path may lead through a link.
            if name not in PRIVATE and "/" not in name:
                link = self._root.get(name, getlink=True)
                node = self._root[name] if isinstance(link, self._h5py.HardLink) else None
                variables[name] = Value73(node, self)
        return variables


def _kind(node: Any) -> str:
    h5py = require("h5py", "mat")
    named = _text(node.attrs, "MATLAB_class")
    if isinstance(node, h5py.Group):
        return "sparse" if "MATLAB_sparse" in node.attrs else named or "struct"
    if not isinstance(node, h5py.Dataset) or node.shape is None:
        return "unknown"
    if "MATLAB_sparse" in node.attrs:
        return "sparse"
    dtype = node.dtype
    if dtype.names is not None:
        return f"complex {named}" if set(dtype.names) == {"real", "imag"} else "unknown"
    is_cell = h5py.check_ref_dtype(dtype) is h5py.Reference
    if is_cell or _is_empty(node):
        return named or "cell"
    kind = named or dtype.name.replace("float32", "single").replace("float64", "double")
    return kind if dtype.kind in ALLOWED.get(kind, "iuf") else "unknown"


def _is_empty(node: Any) -> bool:
    return bool(np.any(node.attrs.get("MATLAB_empty", 0)))


def _text(attributes: Any, name: str) -> str:
    """A short text attribute, empty if it is missing or of another kind."""
    if name not in attributes:
        return ""
    attribute = attributes.get_id(name)
    if attribute.dtype.kind != "S" or attribute.get_storage_size() > 64:
        return ""
    text = bytes(np.asarray(attributes[name]).ravel()[0]).decode("ascii", "replace")
    return text if text.isprintable() else "unknown"


def _empty_shape(node: Any) -> tuple[int, ...]:
    """Size of an empty array, which is stored in place of its values."""
    if node.dtype.kind not in "iu" or not 0 < math.prod(node.shape) <= 32:
        broken("an empty array does not say its size")
    shape = tuple(int(n) for n in node[()].ravel())
    if 0 not in shape:
        broken(f"an array is said to be empty and of size {shape}")
    return shape


def _check_storage(node: Any, file: Mat73) -> None:
    """Refuse an array with values outside of this file, or of more bytes than declared."""
    if node.external or node.is_virtual:
        broken("an array keeps its values in another file, which is not followed")
    declared = math.prod(node.shape) * node.dtype.itemsize
    check_declared("load_mat", file.path, "an array", declared, file.max_bytes)
    if node.chunks is not None:
        _check_chunks(node, file)
    elif node.id.get_storage_size() != declared or declared > file.size:
        broken(f"an array declares {declared} bytes that the file does not hold")


def _check_chunks(node: Any, file: Mat73) -> None:
    """Require every chunk, and its declared size once unfolded: HDF5 does not check."""
    full = math.prod(node.chunks) * node.dtype.itemsize
    if full > MAX_CHUNK:
        broken(f"an array comes in chunks of {full} bytes, of at most {MAX_CHUNK}")
    settings = node.id.get_create_plist()
    filters = [settings.get_filter(i)[0] for i in range(settings.get_nfilters())]
    if not set(filters) <= {DEFLATE, SHUFFLE}:
        broken(f"an array is compressed in a way that MATLAB does not use (filters {filters})")
    expected = math.prod(math.ceil(n / m) for n, m in zip(node.shape, node.chunks, strict=True))
    if node.id.get_num_chunks() != expected:
        broken(f"an array has {node.id.get_num_chunks()} of {expected} chunks")
    for i in range(expected):
        chunk = node.id.get_chunk_info(i)
        if chunk.size > file.size or chunk.filter_mask:
            broken(f"chunk {i} of an array declares {chunk.size} bytes and cannot be read")
        if DEFLATE in filters:
            _, packed = node.id.read_direct_chunk(chunk.chunk_offset)
            if len(zlib.decompressobj().decompress(packed, full + 1)) != full:
                broken(f"chunk {i} of an array unfolds to another size than its {full} bytes")
