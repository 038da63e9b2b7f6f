"""A matrix of a MATLAB file, with the class and the set of each sample beside it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise.errors import reject
from setwise.io.mat5 import NUMERIC, Mat5
from setwise.io.mat73 import Mat73
from setwise.io.mat_values import Value, describe, get, labels_in, refuse_choice, times
from setwise.io.untrusted import check_declared
from setwise.sets import SetBatch

__all__ = ["is_matrix", "matrices", "read_matrix"]

_AXES = ("rows", "columns")


def is_matrix(value: Value) -> bool:
    """Whether a variable can hold samples: numbers in several rows and columns."""
    return value.kind in NUMERIC and len(value.shape) == 2 and min(value.shape) > 1


def matrices(file: Mat5 | Mat73, besides: Iterable[str]) -> list[str]:
    """The variables that can hold samples."""
    return [
        name
        for name, value in file.variables.items()
        if is_matrix(value) and name not in besides
    ]


def read_matrix(
    file: Mat5 | Mat73, name: str, labels: list[str], groups: str | None, vectors: str | None
) -> tuple[SetBatch, str]:
    """The sets of a matrix of samples, and how it was understood.

    Without ``groups``, the samples of a class are one set.
    """
    value = get(file, name)
    n_bytes = math.prod(value.shape) * np.dtype(NUMERIC[value.kind]).itemsize
    check_declared("load_mat", file.path, f"variable {name!r}", n_bytes, file.max_bytes)
    if len(labels) > 1 or not (labels or groups):
        refuse_choice(
            file,
            f"has {name!r}, {describe(value)}, and it is not known which of its samples belong "
            "together. Expected a cell array with one matrix per set, or beside the matrix "
            "labels=, a variable with the class of each sample, groups=, the set of each, or "
            "both.",
        )
    about = {key: labels_in(file, key, "sample") for key in (*labels, groups) if key}
    axis = _samples_axis(file, name, value, about, vectors)
    samples = value.read()
    rows = np.ascontiguousarray(samples if axis == 0 else samples.T)
    ids = about[groups or labels[0]]
    classes = about[labels[0]] if labels else None
    batch = SetBatch._from_ids(f"load_mat: {name!r} of {str(file.path)!r}", rows, ids, classes)
    beside = " and ".join(map(repr, about))
    owner = "group" if groups else "class"
    layout = f"{name!r} with {beside}: one set per {owner}, vectors are {_AXES[axis]}"
    return batch, layout


def _samples_axis(
    file: Mat5 | Mat73,
    name: str,
    value: Value,
    about: dict[str, npt.NDArray[Any]],
    vectors: str | None,
) -> int:
    """Along which axis the samples lie: the one that is as long as there are labels."""
    lengths = {key: len(labels) for key, labels in about.items()}
    told = ", ".join(f"{key!r} has {length}" for key, length in lengths.items())
    what = f"load_mat: {name!r} of {str(file.path)!r} is {times(value.shape)}, and {told}."
    fitting = [i for i in (0, 1) if set(lengths.values()) == {value.shape[i]}]
    if vectors is not None:
        fitting = [i for i in fitting if _AXES[i] == vectors]
    if len(fitting) == 2:
        reject(f'{what} Both would fit: say whether vectors="rows" or vectors="columns".')
    if not fitting:
        expected = f"as many as {vectors}" if vectors else "as many as rows, or as columns"
        reject(f"{what} Expected {expected}: choose the variables that belong to it.")
    return fitting[0]
