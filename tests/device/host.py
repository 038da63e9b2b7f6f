"""A device on NumPy's arrays, with Triton's interpreter: what a GPU does, slowly."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.extras import require
from setwise.device import Device
from setwise.device.devices import triton_kernels


class Host(Device):
    """The same on NumPy's arrays, with Triton's interpreter: slow, for tests.

    ``TRITON_INTERPRET=1`` must be set before anything imports Triton.
    """

    def __init__(self, memory: int = 2**30) -> None:
        super().__init__()
        self.xp = require("array_api_compat.numpy", "cuda")
        self._memory = memory

    def put(self, array: npt.NDArray[Any]) -> Any:
        return np.ascontiguousarray(array)

    def get(self, array: Any) -> npt.NDArray[Any]:
        return np.asarray(array)

    def new(self, shape: tuple[int, ...], dtype: str) -> Any:
        return np.zeros(shape, dtype)

    def run(self, kernel: str, n_programs: int, *arguments: Any, **constants: Any) -> None:
        wrapped = [_Tensor(a) if isinstance(a, np.ndarray) else a for a in arguments]
        options = {k: v for k, v in constants.items() if k != "num_warps"}
        getattr(triton_kernels(), kernel)[(n_programs,)](*wrapped, **options)

    def largest(self, values: Any, count: int) -> Any:
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
