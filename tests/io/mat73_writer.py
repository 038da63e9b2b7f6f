"""MATLAB 7.3 files, written the way MATLAB does: HDF5 behind a header of 512 bytes."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path

import h5py
import numpy as np

CLASS_OF = {"float64": "double", "float32": "single", "bool": "logical"}


class Writer:
    """An open file; every value is stored transposed and bears its class."""

    def __init__(self, path: Path, compression: str | None = "gzip"):
        self.path, self.compression, self.n_cells = path, compression, 0
        self.file = h5py.File(path, "w", userblock_size=512)
        self.refs = self.file.create_group("#refs#")

    def put(self, name, value, parent=None):
        """Store a variable, or a cell where ``parent`` is given."""
        parent = self.file if parent is None else parent
        if isinstance(value, str):
            node = self._dataset(parent, name, np.array([[ord(c) for c in value]], "u2"))
            return self._named(node, "char", MATLAB_int_decode=np.int32(2))
        if value.size == 0:
            node = parent.create_dataset(name, data=np.array(value.shape, "u8"))
            kind = "cell" if value.dtype == object else "double"
            return self._named(node, kind, MATLAB_empty=np.uint8(1))
        if value.dtype == object:
            references = np.array(
                [self.cell(each) for each in value.ravel(order="F")], dtype=h5py.ref_dtype
            )
            data = references.reshape(value.shape[::-1])
            return self._named(parent.create_dataset(name, data=data), "cell")
        kind = CLASS_OF.get(value.dtype.name, value.dtype.name)
        stored = value.astype("u1") if kind == "logical" else value
        return self._named(self._dataset(parent, name, stored), kind)

    def cell(self, value):
        """Store a cell and refer to it; what is no value is written by itself."""
        if isinstance(value, h5py.Reference):
            return value
        self.n_cells += 1
        return self.put(f"cell{self.n_cells}", value, self.refs).ref

    def _dataset(self, parent, name, value):
        return parent.create_dataset(name, data=value.T, compression=self.compression)

    def _named(self, node, kind, **attributes):
        node.attrs["MATLAB_class"] = np.bytes_(kind)
        for name, value in attributes.items():
            node.attrs[name] = value
        return node


@contextmanager
def written(path: Path, compression: str | None = "gzip"):
    """A writer whose file gets MATLAB's header in the end."""
    writer = Writer(path, compression)
    try:
        yield writer
    finally:
        writer.file.close()
    text = b"MATLAB 7.3 MAT-file, Platform: GLNXA64, Created on: today HDF5 schema 1.00 ."
    with path.open("r+b") as stream:
        stream.write(text.ljust(116) + bytes(8) + b"\x00\x02IM")


def save_mat73(path: Path, variables: dict, compression: str | None = "gzip") -> Path:
    """Write variables: arrays, strings, object arrays (cell arrays)."""
    with written(path, compression) as writer:
        for name, value in variables.items():
            writer.put(name, value)
    return path
