"""The device that arrays are on, operations that differ between devices, and bases."""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from threading import RLock
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from setwise._support.extras import require
from setwise._support.parameters import refuse
from setwise._support.types import BoolArray, FloatArray
from setwise.errors import DeviceError, TooLargeError
from setwise.lasso import Codes

_CURRENT: ContextVar[Device | None] = ContextVar("device", default=None)
Value = TypeVar("Value")
_SHARE = 0.25  # of the memory that is free on a device: what blocks of work may take
# A singular value below this share of the first, being the root of a computed square, has lost
# half of its digits, and cannot be distinguished from round-off.
_SURE = 1e-6


class Device(ABC):
    """Where arrays are, and the operations that each device does in its own way."""

    #: The module of functions on its arrays, as the Python array API standard names them.
    xp: Any
    #: What running out of memory raises.
    no_memory: type[Exception] = MemoryError

    def __init__(self) -> None:
        self._cache: dict[int, Any] = {}
        self._lock = RLock()

    @contextmanager
    def exclusive(self, what: str) -> Iterator[None]:
        """Hold the device's lock; running out of memory names ``what`` was done."""
        with self._lock:
            try:
                yield
            except TooLargeError:  # which is a MemoryError itself, and says more
                raise
            except self.no_memory as error:
                free = self.free_bytes() / 2**30
                msg = (
                    f"{what}: the device has run out of memory, {free:.3g} GiB being free. "
                    "Give a smaller gallery, or device=None."
                )
                raise TooLargeError(msg) from error

    def cached(self, owner: object, make: Callable[[], Value]) -> Value:
        """The value made of ``owner`` once, for as long as that exists."""
        key = id(owner)
        if key not in self._cache:
            self._cache[key] = make()
            weakref.finalize(owner, self._cache.pop, key, None)
        made: Value = self._cache[key]
        return made

    @abstractmethod
    def put(self, array: npt.NDArray[Any]) -> Any:
        """An array on the device."""

    @abstractmethod
    def get(self, array: Any) -> npt.NDArray[Any]:
        """An array of the device, as NumPy's."""

    @abstractmethod
    def new(self, shape: tuple[int, ...], dtype: str) -> Any:
        """An array of zeros on the device."""

    @abstractmethod
    def run(self, kernel: str, n_programs: int, *arguments: Any, **constants: Any) -> None:
        """Run one of :mod:`setwise.device.triton_kernels`."""

    @abstractmethod
    def largest(self, values: Any, count: int) -> Any:
        """Places of the largest few values of each row, in any order."""

    @abstractmethod
    def solve_definite(self, matrices: Any, right: Any) -> tuple[Any, Any]:
        """Solutions of symmetric systems, and which of the matrices are positive definite."""

    @abstractmethod
    def free_bytes(self) -> int:
        """Free memory in bytes."""

    @property
    def block_bytes(self) -> int:
        """Memory that a block of work may take."""
        return int(_SHARE * self.free_bytes())

    @contextmanager
    def tf32(self) -> Iterator[None]:
        """Allow products of single precision to be rounded to TF32 meanwhile."""
        yield

    def require(self, n_bytes: int, what: str) -> None:
        """Refuse more memory than is free."""
        free = self.free_bytes()
        if n_bytes > free:
            msg = (
                f"{what} needs {n_bytes / 2**30:.3g} GiB on the device, which has "
                f"{free / 2**30:.3g} GiB free. Give a smaller gallery, or device=None."
            )
            raise TooLargeError(msg)


class Cuda(Device):
    """A GPU, through PyTorch."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._torch = require("torch", "cuda")
        self.no_memory = self._torch.OutOfMemoryError
        require("triton", "cuda")
        self.xp = require("array_api_compat.torch", "cuda")
        if not self._torch.cuda.is_available():
            msg = f"device={name!r}: PyTorch sees no GPU here. Give device=None."
            raise DeviceError(msg)
        try:
            self._device = self._torch.device(name)
            self._torch.zeros(1, device=self._device)
        except RuntimeError as error:
            n = self._torch.cuda.device_count()
            msg = f"device={name!r}: PyTorch sees {n} GPUs here, 'cuda:0' the first of them."
            raise DeviceError(msg) from error

    def put(self, array: npt.NDArray[Any]) -> Any:
        """To the GPU."""
        return self._torch.from_numpy(np.ascontiguousarray(array)).to(self._device)

    def get(self, array: Any) -> npt.NDArray[Any]:
        """From the GPU."""
        host: npt.NDArray[Any] = array.cpu().numpy()
        return host

    def new(self, shape: tuple[int, ...], dtype: str) -> Any:
        """On the GPU."""
        return self._torch.zeros(shape, dtype=getattr(self._torch, dtype), device=self._device)

    def run(self, kernel: str, n_programs: int, *arguments: Any, **constants: Any) -> None:
        """By Triton."""
        if n_programs:
            getattr(triton_kernels(), kernel)[(n_programs,)](*arguments, **constants)

    def largest(self, values: Any, count: int) -> Any:
        """By PyTorch's top-k."""
        return self._torch.topk(values, count, dim=1, sorted=False).indices

    def solve_definite(self, matrices: Any, right: Any) -> tuple[Any, Any]:
        """By Cholesky factors."""
        factors, info = self._torch.linalg.cholesky_ex(matrices)
        solved = self._torch.cholesky_solve(right[:, :, None], factors)[:, :, 0]
        is_definite = (info == 0) & self._torch.isfinite(solved).all(1)
        return self._torch.where(is_definite[:, None], solved, 0.0), is_definite

    def free_bytes(self) -> int:
        """With what PyTorch keeps in reserve."""
        free, _ = self._torch.cuda.mem_get_info(self._device)
        reserved = self._torch.cuda.memory_reserved(self._device)
        return int(free + reserved - self._torch.cuda.memory_allocated(self._device))

    @contextmanager
    def tf32(self) -> Iterator[None]:
        """On the tensor cores."""
        before = self._torch.get_float32_matmul_precision()
        self._torch.set_float32_matmul_precision("high")
        try:
            yield
        finally:
            self._torch.set_float32_matmul_precision(before)


@dataclass(frozen=True)
class DeviceAtoms:
    """Unit columns on the device, as rows, and ``rough`` copies in float32 to rank them."""

    device: Device
    rows: Any
    rough: Any

    @classmethod
    def of(cls, device: Device, rows: npt.NDArray[Any]) -> DeviceAtoms:
        """Put columns on a device, or refuse where they do not fit."""
        device.require(3 * 12 * rows.size, f"a gallery of {len(rows)} columns")
        xp, there = device.xp, device.put(rows)
        return cls(device, xp.astype(there, xp.float64), xp.astype(there, xp.float32))

    def __len__(self) -> int:
        return int(self.rows.shape[0])


@dataclass(frozen=True)
class DeviceCodes:
    """Codes of some columns as the device has found them; residuals are still there.

    ``largest`` is the largest gradient of an atom that a code does not use.
    """

    codes: Codes
    residuals: Any
    largest: FloatArray
    is_solved: BoolArray


@cache
def triton_kernels() -> Any:
    """The module of Triton kernels, imported when the first of them runs."""
    return import_module("setwise.device.triton_kernels")


_cuda = cache(Cuda)


def check_device(owner: str, device: Any) -> None:
    """Refuse a value that names no device; its presence is checked when it is used."""
    is_cuda = isinstance(device, str) and (device + ":").startswith("cuda:")
    if not (device is None or is_cuda or isinstance(device, Device)):
        refuse(owner, "device", 'None, "cuda", or "cuda:0" and so on', device)


@contextmanager
def on_device(device: str | Device | None) -> Iterator[None]:
    """Solve and insert on a device meanwhile, see :func:`current_device`; None: processor."""
    found = _cuda(device) if isinstance(device, str) else device
    token = _CURRENT.set(found)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def current_device() -> Device | None:
    """The device to work on; None for the processor."""
    return _CURRENT.get()


def principal_directions_of_all(
    device: Device, sets: Sequence[FloatArray], most: int, *, centred: bool
) -> list[FloatArray | None]:
    """First singular vectors of each set, as columns, by one decomposition for all.

    They equal :func:`setwise.basis.principal_directions` to rounding, signs included. None for
    sets that may have fewer than ``most``, and are better left to the processor.
    """
    directions: list[FloatArray | None] = [None] * len(sets)
    sizes = np.array([len(vectors) for vectors in sets])
    for size in np.unique(sizes[sizes > most]):
        of_size = np.flatnonzero(sizes == size)
        width = sets[of_size[0]].shape[1]
        step = max(1, device.block_bytes // (8 * 4 * int(size) * (width + int(size))))
        for i in range(0, len(of_size), step):
            block = of_size[i : i + step]
            found, is_sure = _of_equal(device, [sets[j] for j in block], most, centred)
            for j, columns, is_fine in zip(block, found, is_sure, strict=True):
                directions[j] = columns if is_fine else None
    return directions


def _of_equal(
    device: Device, sets: list[FloatArray], most: int, centred: bool
) -> tuple[Any, Any]:
    """The same of sets of one size, and which of them are sure."""
    xp = device.xp
    vectors = device.put(np.stack(sets))
    if centred:
        vectors = vectors - xp.mean(vectors, axis=1, keepdims=True)
    squares, mixtures = xp.linalg.eigh(xp.matmul(vectors, xp.permute_dims(vectors, (0, 2, 1))))
    squares, mixtures = xp.flip(squares, axis=1), xp.flip(mixtures, axis=2)
    is_sure = squares[:, most - 1] > _SURE**2 * squares[:, 0]
    coordinates = mixtures[:, :, :most]
    kept = xp.matmul(xp.permute_dims(vectors, (0, 2, 1)), coordinates)
    kept = kept / xp.linalg.vector_norm(kept, axis=1, keepdims=True)
    lean = xp.sum(coordinates**3, axis=1)
    first = xp.argmax(xp.abs(kept), axis=1, keepdims=True)
    largest = xp.take_along_axis(kept, first, axis=1)[:, 0]
    signs = xp.sign(xp.where(xp.abs(lean) > 1e-9, lean, largest))
    return device.get(kept * signs[:, None, :]), device.get(is_sure)
