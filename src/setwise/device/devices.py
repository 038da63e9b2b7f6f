"""Which device arrays are on, and the few things that each does in its own way."""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from threading import RLock
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from setwise._support.extras import require
from setwise._support.parameters import refuse
from setwise.errors import DeviceError, TooLargeError

__all__ = ["Device", "Host", "check_device", "current_device", "on_device"]

_CURRENT: ContextVar[Device | None] = ContextVar("device", default=None)
Kept = TypeVar("Kept")
# Of the memory that is free on a device, the share that blocks of work may take.
_SHARE = 0.25


class Device(ABC):
    """Where arrays are, and what is done to them there.

    Attributes
    ----------
    xp : module
        The functions on its arrays, as the Python array API standard names them.
    """

    xp: Any
    #: What running out of memory raises.
    no_memory: type[Exception] = MemoryError

    def __init__(self) -> None:
        self._kept: dict[int, Any] = {}
        self._lock = RLock()

    @contextmanager
    def alone(self, what: str) -> Iterator[None]:
        """Nobody else works on the device meanwhile; running out of memory has a name."""
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

    def kept(self, owner: object, make: Callable[[], Kept]) -> Kept:
        """What was made of an object before, as long as that exists, or is made now."""
        key = id(owner)
        if key not in self._kept:
            self._kept[key] = make()
            weakref.finalize(owner, self._kept.pop, key, None)
        made: Kept = self._kept[key]
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
        """How much memory is free."""

    @property
    def block_bytes(self) -> int:
        """How much a block of work may take."""
        return int(_SHARE * self.free_bytes())

    @contextmanager
    def roughly(self) -> Iterator[None]:
        """Products of single precision may be rounded more than that meanwhile."""
        yield

    def require(self, n_bytes: int, what: str) -> None:
        """Refuse what does not fit, with the number."""
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
        """See :class:`Device`."""
        return self._torch.from_numpy(np.ascontiguousarray(array)).to(self._device)

    def get(self, array: Any) -> npt.NDArray[Any]:
        """See :class:`Device`."""
        host: npt.NDArray[Any] = array.cpu().numpy()
        return host

    def new(self, shape: tuple[int, ...], dtype: str) -> Any:
        """See :class:`Device`."""
        return self._torch.zeros(shape, dtype=getattr(self._torch, dtype), device=self._device)

    def run(self, kernel: str, n_programs: int, *arguments: Any, **constants: Any) -> None:
        """See :class:`Device`."""
        if n_programs:
            getattr(_kernels(), kernel)[(n_programs,)](*arguments, **constants)

    def largest(self, values: Any, count: int) -> Any:
        """See :class:`Device`."""
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
    def roughly(self) -> Iterator[None]:
        """On the tensor cores, with ten bits of each number."""
        before = self._torch.get_float32_matmul_precision()
        self._torch.set_float32_matmul_precision("high")
        try:
            yield
        finally:
            self._torch.set_float32_matmul_precision(before)


class Host(Device):
    """The same on NumPy's arrays, with Triton's interpreter: slow, for tests.

    ``TRITON_INTERPRET=1`` must be set before anything imports Triton.
    """

    def __init__(self, memory: int = 2**30) -> None:
        super().__init__()
        self.xp = require("array_api_compat.numpy", "cuda")
        self._memory = memory

    def put(self, array: npt.NDArray[Any]) -> Any:
        """See :class:`Device`."""
        return np.ascontiguousarray(array)

    def get(self, array: Any) -> npt.NDArray[Any]:
        """See :class:`Device`."""
        return np.asarray(array)

    def new(self, shape: tuple[int, ...], dtype: str) -> Any:
        """See :class:`Device`."""
        return np.zeros(shape, dtype)

    def run(self, kernel: str, n_programs: int, *arguments: Any, **constants: Any) -> None:
        """See :class:`Device`."""
        wrapped = [_Tensor(a) if isinstance(a, np.ndarray) else a for a in arguments]
        options = {k: v for k, v in constants.items() if k != "num_warps"}
        getattr(_kernels(), kernel)[(n_programs,)](*wrapped, **options)

    def largest(self, values: Any, count: int) -> Any:
        """See :class:`Device`."""
        return np.argsort(-values, axis=1, kind="stable")[:, :count]

    def solve_definite(self, matrices: Any, right: Any) -> tuple[Any, Any]:
        """One after the other."""
        solved, is_definite = np.zeros_like(right), np.zeros(len(right), dtype=bool)
        for i, matrix in enumerate(matrices):
            try:
                factor = np.linalg.cholesky(matrix)
            except np.linalg.LinAlgError:
                continue
            solved[i] = np.linalg.solve(factor.T, np.linalg.solve(factor, right[i]))
            is_definite[i] = True
        return solved, is_definite

    def free_bytes(self) -> int:
        """What was given."""
        return self._memory


class _Tensor:
    """An array as Triton's interpreter wants to see it, which knows tensors only."""

    def __init__(self, array: npt.NDArray[Any]) -> None:
        self.array = array
        self.dtype = array.dtype

    def data_ptr(self) -> int:
        return self.array.ctypes.data

    def untyped_storage(self) -> _Tensor:
        return self

    def cpu(self) -> _Tensor:
        return self

    def copy_(self, other: _Tensor) -> None:
        """Nothing to do: the interpreter's copy is the array itself."""

    def new_empty(self, *_: Any, **__: Any) -> _Tensor:
        return self

    def set_(self, *_: Any) -> None:
        """Nothing to do, again."""

    def storage_offset(self) -> int:
        return 0

    def size(self) -> tuple[int, ...]:
        return self.array.shape

    def stride(self) -> tuple[int, ...]:
        return self.array.strides


@cache
def _kernels() -> Any:
    return import_module("setwise.device.triton_kernels")


@cache
def _cuda(name: str) -> Cuda:
    return Cuda(name)


def check_device(owner: str, device: Any) -> None:
    """Refuse what cannot name a device; whether it is there is seen when it is used."""
    is_cuda = isinstance(device, str) and (device + ":").startswith("cuda:")
    if not (device is None or is_cuda or isinstance(device, Device)):
        refuse(owner, "device", 'None, "cuda", or "cuda:0" and so on', device)


@contextmanager
def on_device(device: str | Device | None) -> Iterator[None]:
    """Solve and insert on a device meanwhile; None is the processor.

    Like ``joblib.parallel_config``: whoever fits or judges says once where, and the steps that
    can make use of it look (:func:`current_device`).
    """
    found = _cuda(device) if isinstance(device, str) else device
    token = _CURRENT.set(found)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def current_device() -> Device | None:
    """The device to work on; None for the processor."""
    return _CURRENT.get()
