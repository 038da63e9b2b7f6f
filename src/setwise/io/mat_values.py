"""Variables of a MATLAB file: labels, and matrices of samples with labels beside them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn, Protocol

import numpy as np
import numpy.typing as npt

from setwise.errors import reject
from setwise.io.mat5 import NUMERIC, Mat5
from setwise.io.mat73 import Mat73
from setwise.io.untrusted import check_declared
from setwise.sets import SetBatch

_AXES = ("rows", "columns")


class Value(Protocol):
    """A variable or a cell, of either kind of file."""

    @property
    def kind(self) -> str:
        """MATLAB's class."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Size as MATLAB shows it."""

    def read(self) -> npt.NDArray[Any]:
        """Numbers, or the codes of characters."""

    def cells(self) -> Iterator[Value]:
        """The cells, down the columns."""


def get(file: Mat5 | Mat73, name: str) -> Value:
    """A variable, or an error that lists those of the file."""
    if name not in file.variables:
        refuse_choice(file, f"has no variable {name!r}.")
    return file.get(name)


def refuse_choice(file: Mat5 | Mat73, why: str) -> NoReturn:
    """List the variables, one per line."""
    rows = [("name", "class", "size")]
    rows += [(_plain(name), v.kind, times(v.shape)) for name, v in file.variables.items()]
    if len(rows) == 1:
        why += " It has no variables at all."
    shown, left = rows[:41], len(rows) - 41
    widths = [max(len(row[i]) for row in shown) for i in range(2)]
    lines = [f"  {row[0]:<{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]}" for row in shown]
    if left > 0:
        lines.append(f"  ... and {left} more")
    table = "" if len(rows) == 1 else "\n".join([" The file holds:", *lines])
    reject(f"load_mat: {str(file.path)!r} {why}{table}")


def _plain(name: str) -> str:
    return name if name.isprintable() and len(name) < 64 else f"{name[:40]!r}..."


def times(shape: tuple[int, ...]) -> str:
    """A size as MATLAB shows it, 400x41."""
    return "x".join(map(str, shape)) or "-"


def describe(value: Value) -> str:
    """Class and size of a value, in words."""
    size = f" of size {times(value.shape)}" if value.shape else ""
    return f"{'an' if value.kind[0] in 'aeio' else 'a'} {value.kind}{size}"


def read_labels(
    file: Mat5 | Mat73, names: list[str], n_cells: int, kept: list[int]
) -> npt.NDArray[Any]:
    """One label for each cell that is kept."""
    parts = [labels_in(file, name) for name in names]
    labels = np.concatenate(parts)
    if len({part.dtype.kind for part in parts}) > 1 or len(labels) not in (n_cells, len(kept)):
        reject(
            f"load_mat: {', '.join(map(repr, names))} of {str(file.path)!r} has {len(labels)} "
            f"labels for {n_cells} cells, {len(kept)} of them not empty. Expected one each, "
            "all numbers or all text."
        )
    return labels[kept] if len(labels) == n_cells else labels


def labels_in(file: Mat5 | Mat73, name: str, what: str = "set") -> npt.NDArray[Any]:
    """One label per set or sample: numbers, rows of text, or cells of text."""
    value = get(file, name)
    n_bytes = 8 * math.prod(value.shape)
    check_declared("load_mat", file.path, f"variable {name!r}", n_bytes, file.max_bytes)
    if value.kind in NUMERIC and sum(n > 1 for n in value.shape) <= 1:
        numbers = value.read().ravel(order="F")
        is_int = np.isfinite(numbers).all() and (numbers == np.trunc(numbers)).all()
        return numbers.astype(np.int64) if is_int else numbers
    if value.kind == "char" and len(value.shape) == 2:
        return np.array(_lines(value))
    if value.kind == "cell":
        cells = list(value.cells())
        is_text = all(cell.kind == "char" and cell.shape[0] == 1 for cell in cells)
        if is_text and sum(math.prod(cell.shape) for cell in cells) <= file.max_bytes // 8:
            return np.array([_lines(cell)[0] for cell in cells])
    return reject(
        f"load_mat: labels {name!r} of {str(file.path)!r} is {describe(value)}. Expected a "
        f"numeric vector, a char matrix or a cell array of strings, one label per {what}."
    )


def _lines(value: Value) -> list[str]:
    return ["".join(map(chr, row)).rstrip(" \0") for row in value.read()]


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
    """The sets of a matrix of samples, and its layout.

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
    """Axis of the samples: the one as long as there are labels."""
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
