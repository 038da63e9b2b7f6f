"""What both kinds of MATLAB file hold: variables, and labels among them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NoReturn, Protocol

import numpy as np
import numpy.typing as npt

from setwise.errors import reject
from setwise.io.mat5 import NUMERIC, Mat5
from setwise.io.mat73 import Mat73
from setwise.io.untrusted import check_declared

__all__ = [
    "Value",
    "describe",
    "get",
    "labels_in",
    "read_labels",
    "refuse_choice",
    "times",
]


class Value(Protocol):
    """A variable or a cell, of either kind of file."""

    @property
    def kind(self) -> str:
        """Its class, as MATLAB calls it."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Its size, as MATLAB shows it."""

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
    """List the variables, each on a line of its own."""
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
    """What a value is, in words."""
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
