"""MATLAB files: cell arrays of matrices become sets."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from setwise._support.parameters import check_choice, check_count, is_whole, refuse
from setwise.errors import reject
from setwise.io.loading_report import LoadedSets, LoadReport
from setwise.io.mat5 import NUMERIC, Mat5, is_mat5
from setwise.io.mat73 import Mat73, is_mat73
from setwise.io.mat_values import Value, describe, get, read_labels, refuse_choice, times
from setwise.io.untrusted import check_declared, one_kind_of_error, regular_file
from setwise.sets import SetBatch

__all__ = ["load_mat"]


@dataclass(frozen=True)
class Cell:
    """A set before it is read: its name, such as ``MOBO{2,4}``, and row 2; 0 of a vector."""

    name: str
    row: int
    value: Value

    @property
    def is_empty(self) -> bool:
        return 0 in self.value.shape


def load_mat(
    path: str | os.PathLike[str],
    variable: str | Sequence[str] | None = None,
    *,
    labels: str | Sequence[str] | None = None,
    vectors: Literal["columns", "rows"] = "columns",
    image_shape: tuple[int, ...] | None = None,
    max_bytes: int = 2 * 2**30,
) -> LoadedSets:
    """Read the sets of a MATLAB file, of version 5 to 7.3.

    The sets are a cell array with one matrix per set. They come in MATLAB's own order, down the
    columns of the cell array, and bear MATLAB's own names, such as ``ETH_train{3}`` or
    ``MOBO{2,4}``. Empty cells are left out, and counted in ``report.notes``.

    Parameters
    ----------
    path : path
        The file. Version 7.3 needs ``pip install "setwise[mat]"``.
    variable : str or sequence of str, optional
        Which cell array holds the sets; several are read one after the other. Not needed
        where the file has only one of matrices.
    labels : str or sequence of str, optional
        Variable with the class of each cell, one after the other: a numeric vector, a char
        matrix or a cell array of strings. Without it, the rows of a cell array of several
        rows and columns are the classes, from 1; other sets get no labels.
    vectors : {"columns", "rows"}, default="columns"
        Whether a set is ``n_features`` x ``n_vectors``, as most files have it, or transposed.
    image_shape : tuple of int, optional
        ``(height, width)`` or ``(height, width, n_channels)`` where vectors are images, which
        MATLAB flattens column by column. They are turned to the rows of ``batch.images``.
    max_bytes : int, default=2 GiB
        The most memory that the sets may take; a larger file is refused before it is read.

    Returns
    -------
    LoadedSets
        The sets, in the number type that MATLAB gave them; logical ones are ``uint8``.

    Raises
    ------
    DataError
        The file is broken, or a cell is no matrix of real numbers. Where the variable is not
        there, or must be named, the message lists those of the file.

    Examples
    --------
    >>> from setwise.io import load_mat  # doctest: +SKIP
    >>> sets = load_mat("demo-ETH.mat", "ETH_train", image_shape=(20, 20))  # doctest: +SKIP
    >>> sets  # doctest: +SKIP
    LoadedSets of 40 sets of 41 to 41 images, 20 x 20
    """
    check_choice("load_mat", "vectors", vectors, ("columns", "rows"))
    check_count("load_mat", "max_bytes", max_bytes)
    _check_image_shape(image_shape)
    wanted, labelled = _names("variable", variable), _names("labels", labels)
    started = time.perf_counter()
    source = regular_file("load_mat", path)
    with one_kind_of_error("load_mat", source), closing(_open(source, max_bytes)) as file:
        wanted = wanted or [_only_candidate(file, labelled)]
        cells = _check_cells(file, chain.from_iterable(_cells(file, name) for name in wanted))
        kept = [i for i, cell in enumerate(cells) if not cell.is_empty]
        sets = _read_sets(file, [cells[i] for i in kept], vectors)
        classes = read_labels(file, labelled, len(cells), kept) if labelled else None
    if classes is None and all(cell.row for cell in cells):
        classes = np.array([cells[i].row for i in kept])
    batch = _batch(sets, [cells[i].name for i in kept], classes, image_shape)
    empty = len(cells) - len(kept)
    report = LoadReport(
        source,
        f"{', '.join(map(repr, wanted))}: one cell per set, vectors are {vectors}",
        (source,) * len(batch.vectors),
        notes=(f"{empty} of {len(cells)} cells are empty and were left out",) if empty else (),
        seconds=time.perf_counter() - started,
        what="vectors" if image_shape is None else "images",
    )
    return LoadedSets(batch, report)


def _names(parameter: str, given: Any) -> list[str]:
    names = [] if given is None else [given] if isinstance(given, str) else given
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        refuse("load_mat", parameter, "the name of a variable, several names or None", given)
    return list(names)


def _check_image_shape(shape: Any) -> None:
    is_shape = isinstance(shape, tuple | list) and len(shape) in (2, 3)
    if shape is not None and not (is_shape and all(is_whole(n) and n > 0 for n in shape)):
        expected = "(height, width), (height, width, n_channels) or None"
        refuse("load_mat", "image_shape", expected, shape)


def _open(path: Path, max_bytes: int) -> Mat5 | Mat73:
    with path.open("rb") as stream:
        head = stream.read(520)
    if is_mat73(head):
        return Mat73(path, max_bytes)
    if is_mat5(head):
        return Mat5(path, max_bytes)
    return reject(
        f"load_mat: {str(path)!r} is no MATLAB file of version 5 to 7.3; it begins with "
        f"{head[:16]!r}. One of version 4 can be saved again by MATLAB's save -v7."
    )


def _only_candidate(file: Mat5 | Mat73, labelled: list[str]) -> str:
    cells = [
        name
        for name, value in file.variables.items()
        if value.kind == "cell" and name not in labelled
    ]
    if len(cells) > 1:  # names of classes are a cell array too
        cells = [name for name in cells if not _is_text(file.get(name))]
    if len(cells) != 1:
        refuse_choice(file, "needs a variable: which cell array holds the sets?")
    return cells[0]


def _is_text(value: Value) -> bool:
    return any(cell.kind == "char" for cell in islice(value.cells(), 1))


def _cells(file: Mat5 | Mat73, name: str) -> Iterator[Cell]:
    value = get(file, name)
    if value.kind != "cell":
        reject(
            f"load_mat: {name!r} of {str(file.path)!r} is {describe(value)}. Expected a cell "
            "array with one matrix per set; in MATLAB, num2cell and mat2cell make one."
        )
    is_table = sum(n > 1 for n in value.shape) > 1
    for i, cell in enumerate(value.cells()):
        axes = np.unravel_index(i, value.shape, order="F") if is_table else (i,)
        index = [int(axis) + 1 for axis in axes]
        place = f"{name}{{{','.join(map(str, index))}}}"
        yield Cell(place, index[0] if is_table else 0, cell)


def _check_cells(file: Mat5 | Mat73, cells: Iterable[Cell]) -> list[Cell]:
    """The cells, all of them matrices; stops at the first that is none or is too much."""
    checked, declared = [], 0
    for cell in cells:
        kind, shape = cell.value.kind, cell.value.shape
        if not cell.is_empty and (kind not in NUMERIC or len(shape) != 2):
            advice = " Nested cells can be made flat by [x{:}]." * (kind == "cell")
            reject(
                f"load_mat: {cell.name!r} of {str(file.path)!r} is {describe(cell.value)}. "
                f"Expected a full matrix of real numbers, one per set.{advice}"
            )
        declared += math.prod(shape) * np.dtype(NUMERIC.get(kind, "u1")).itemsize
        what = f"all up to {cell.name!r}"
        check_declared("load_mat", file.path, what, declared, file.max_bytes)
        checked.append(cell)
    return checked


def _read_sets(file: Mat5 | Mat73, cells: list[Cell], vectors: str) -> list[npt.NDArray[Any]]:
    """Sets with one vector per row, once all are known to have equally many features."""
    if not cells:
        reject(
            f"load_mat: there is no set in {str(file.path)!r}: no cells, or only empty ones."
        )
    _check_features(file.path, cells, axis=0 if vectors == "columns" else 1)
    matrices = (cell.value.read() for cell in cells)
    return [matrix.T if vectors == "columns" else matrix for matrix in matrices]


def _check_features(path: Path, cells: list[Cell], axis: int) -> None:
    first = cells[0]
    for cell in cells:
        if cell.value.shape[axis] != first.value.shape[axis]:
            other = ("rows", "columns")[axis]
            agree = len({cell.value.shape[1 - axis] for cell in cells}) == 1
            advice = f"vectors={other!r} would fit." if agree else "Correct one of them."
            reject(
                f"load_mat: {cell.name!r} of {str(path)!r} is {times(cell.value.shape)} but "
                f"{first.name!r} is {times(first.value.shape)}: {cell.value.shape[axis]} and "
                f"{first.value.shape[axis]} features. Expected equally many. {advice}"
            )


def _batch(
    sets: list[npt.NDArray[Any]],
    names: list[str],
    labels: npt.NDArray[Any] | None,
    image_shape: tuple[int, ...] | None,
) -> SetBatch:
    if image_shape is None:
        return SetBatch.from_list(sets, names, labels)
    if sets[0].shape[1] != math.prod(image_shape):
        reject(
            f"load_mat: {names[0]!r} has {sets[0].shape[1]} features, so that its vectors "
            f"cannot be images of shape {tuple(image_shape)}, {math.prod(image_shape)} pixels."
        )
    # MATLAB counts down the columns, the first index fastest.
    images = [rows.reshape(len(rows), *image_shape[::-1]) for rows in sets]
    upright = [stack.transpose(0, *range(stack.ndim - 1, 0, -1)) for stack in images]
    return SetBatch.from_images(upright, names, labels)
