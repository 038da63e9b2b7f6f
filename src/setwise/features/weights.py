"""Weights of networks in installed packages, whose code is never imported."""

from __future__ import annotations

import pickle
import struct
from collections import OrderedDict
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from setwise._support.types import Array
from setwise.errors import MissingExtraError, reject

# First pickles of a file that torch.save wrote before PyTorch 1.6.
MAGIC, PROTOCOL = 0x1950A86A20F9469CFC6C, 1001
DTYPES = {"FloatStorage": "<f4", "LongStorage": "<i8"}
DAMAGES = (
    ArithmeticError, AttributeError, EOFError, LookupError, MemoryError, TypeError, ValueError,
    pickle.UnpicklingError, struct.error,
)  # fmt: skip


@dataclass(frozen=True)
class WeightsFile:
    """A file inside an installed package, with the sha256 that it must have."""

    package: str
    path: str  # from the folder of the package
    digest: str
    extra: str  # the extra of setwise that installs the package

    def locate(self) -> Path:
        """Path of the file, or an error that names the extra that installs it."""
        spec = find_spec(self.package)
        if spec is None or not spec.submodule_search_locations:
            advice = f'pip install "setwise[{self.extra}]"'
            msg = f"{self.package} is needed here and not installed: {advice}"
            raise MissingExtraError(msg)
        return Path(next(iter(spec.submodule_search_locations))) / self.path

    def read(self) -> bytes:
        """Content of the file, once its sha256 is right."""
        path = self.locate()
        advice = f"Install it again: pip install --force-reinstall {self.package}"
        try:
            content = path.read_bytes()
        except OSError as error:
            reject(f"{path}: cannot be read ({error.strerror}). {advice}", error)
        digest = sha256(content).hexdigest()
        if digest != self.digest:
            reject(
                f"{path}: is damaged, or another version: its sha256 is {digest}, expected "
                f"{self.digest}. {advice}"
            )
        return content


def read_tensors(content: bytes, called: str) -> dict[str, Array]:
    """Tensors by name of a PyTorch file whose sha256 was checked, read without PyTorch.

    A pickle may call any function; of this one, only what builds tensors is looked up.
    """
    try:
        return _read(BytesIO(content))
    except DAMAGES as error:
        expected = "a dictionary of tensors as PyTorch wrote it before version 1.6"
        what = f"{called}: cannot be read as weights: {error}"
        reject(f"{what}. Expected {expected}: install the package again.", error)


class _Tensor(NamedTuple):
    """Which numbers of a storage, ``(key, dtype, size)``, a tensor consists of."""

    storage: tuple[str, str, int]
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


class _Unpickler(pickle.Unpickler):
    """Builds dictionaries of tensors; every other name in a file is refused."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return lambda *parts: _Tensor(*parts[:4])
        if module == "torch" and name in DTYPES:
            return DTYPES[name]
        msg = f"it asks for {module}.{name}, which builds no tensors"
        raise pickle.UnpicklingError(msg)

    def persistent_load(self, about: Any) -> tuple[str, str, int]:
        _, dtype, key, _, size = about[:5]
        return key, dtype, size


def _read(file: BytesIO) -> dict[str, Array]:
    magic, protocol, _, tensors, keys = (_Unpickler(file).load() for _ in range(5))
    if (magic, protocol) != (MAGIC, PROTOCOL):
        msg = "it does not begin as such files do"
        raise ValueError(msg)
    storages = {tensor.storage[0]: tensor.storage for tensor in tensors.values()}
    blocks = {}
    for key in keys:
        _, dtype, size = storages[key]
        if int.from_bytes(file.read(8), "little") != size:
            msg = f"block {key!r} is not as long as announced"
            raise ValueError(msg)
        blocks[key] = np.frombuffer(file.read(size * np.dtype(dtype).itemsize), dtype)
    return {name: _array(tensor, blocks[tensor.storage[0]]) for name, tensor in tensors.items()}


def _array(tensor: _Tensor, block: Array) -> Array:
    """A tensor as a view of its block; ndarray refuses one that reaches beyond it."""
    strides = tuple(step * block.itemsize for step in tensor.strides)
    start = tensor.offset * block.itemsize
    return np.ndarray(tensor.shape, block.dtype, block.data, start, strides)
