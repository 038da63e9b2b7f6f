"""Names for the arrays that travel between the steps."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
Array: TypeAlias = npt.NDArray[Any]
Bytes: TypeAlias = npt.NDArray[np.uint8]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

# Height and width in pixels; one number stands for both.
Size: TypeAlias = int | tuple[int, int]

# A symmetric weighted graph: a csr_array of the graph builders, or a small FloatArray.
Adjacency: TypeAlias = Any
