"""MATLAB files: cell arrays of matrices, and matrices with labels, become sets."""

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
from setwise.io.mat_values import (
    Value,
    describe,
    get,
    is_matrix,
    matrices,
    read_labels,
    read_matrix,
    refuse_choice,
    times,
)
from setwise.io.untrusted import check_declared, one_kind_of_error, regular_file
from setwise.sets import SetBatch


@dataclass(frozen=True)
class Cell:
    """A set before it is read: its name, such as ``MOBO{2,4}``, and row 2 (0 in a vector)."""

    name: str
    row: int
    value: Value

    @property
    def is_empty(self) -> bool:
        """Whether it has no number."""
        return 0 in self.value.shape


def load_mat(
    path: str | os.PathLike[str],
    variable: str | Sequence[str] | None = None,
    *,
    labels: str | Sequence[str] | None = None,
    groups: str | None = None,
    vectors: Literal["columns", "rows"] | None = None,
    image_shape: tuple[int, ...] | None = None,
    max_bytes: int = 2 * 2**30,
) -> LoadedSets:
    """Read the sets of a MATLAB file, of version 5 to 7.3.

    The sets are a cell array with one matrix per set. They keep MATLAB's order, down the
    columns of the cell array, and MATLAB's names, such as ``ETH_train{3}`` or ``MOBO{2,4}``.
    Empty cells are left out, and counted in ``report.notes``.

    Or they are one matrix of all samples, ``X``, with the class of each, such as ``gnd``, the
    set of each, or both. Sets come in the order of their first samples, and are named after
    their groups, or else after their classes.

    Parameters
    ----------
    path : path
        The file. Version 7.3 needs ``pip install "setwise[mat]"``.
    variable : str or sequence of str, optional
        The cell array of the sets; several are read one after the other. Or the matrix of
        samples. Needed only where the file has several.
    labels : str or sequence of str, optional
        Variable with the class of each cell, or of each sample of a matrix: a numeric vector, a
        char matrix or a cell array of strings. Without it, the rows of a cell array of several
        rows and columns are the classes, from 1; other cells get no labels.
    groups : str, optional
        Variable with the set of each sample of a matrix. Without it, all samples of a class
        are one set.
    vectors : {"columns", "rows"}, optional
        Whether a set is ``n_features`` x ``n_vectors``, as in most files, or transposed.
        By default ``"columns"`` for cells, and the side as long as the labels for a matrix.
    image_shape : tuple of int, optional
        ``(height, width)`` or ``(height, width, n_channels)`` of vectors that are images, which
        MATLAB flattens column by column. They are turned to the rows of ``batch.images``.
    max_bytes : int, default=2 GiB
        Most memory for the sets, checked before reading.

    Returns
    -------
    LoadedSets
        The sets, in MATLAB's number type; logical ones are ``uint8``.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from scipy.io import savemat
    >>> from setwise import load_mat
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     matrix = {"X": np.eye(6), "gnd": [1, 1, 1, 2, 2, 2]}
    ...     savemat(f"{folder}/faces.mat", matrix)
    ...     sets = load_mat(f"{folder}/faces.mat", "X", labels="gnd", vectors="rows")
    >>> sets.labels, sets.sizes
    (array([1, 2]), array([3, 3]))
    """
    check_choice("load_mat", "vectors", vectors, (None, "columns", "rows"))
    if groups is not None and not isinstance(groups, str):
        refuse("load_mat", "groups", "the name of a variable or None", groups)
    check_count("load_mat", "max_bytes", max_bytes)
    _check_image_shape(image_shape)
    wanted, labelled = _names("variable", variable), _names("labels", labels)
    started = time.perf_counter()
    source = regular_file("load_mat", path)
    with one_kind_of_error("load_mat", source), closing(_open(source, max_bytes)) as file:
        wanted = wanted or [_only_candidate(file, labelled, groups)]
        if len(wanted) == 1 and is_matrix(get(file, wanted[0])):
            batch, layout = read_matrix(file, wanted[0], labelled, groups, vectors)
            notes: tuple[str, ...] = ()
        elif groups is not None:
            reject(f"load_mat: groups are for a matrix, and {wanted} are cells, one per set.")
        else:
            batch, layout, notes = _read_cells(file, wanted, labelled, vectors or "columns")
    report = LoadReport(
        source,
        layout,
        (source,) * len(batch.vectors),
        notes=notes,
        seconds=time.perf_counter() - started,
        what="vectors" if image_shape is None else "images",
    )
    return LoadedSets(batch if image_shape is None else _as_images(batch, image_shape), report)


def _read_cells(
    file: Mat5 | Mat73, wanted: list[str], labelled: list[str], vectors: str
) -> tuple[SetBatch, str, tuple[str, ...]]:
    """One set per cell, the layout, and notes on empty cells."""
    cells = _check_cells(file, chain.from_iterable(_cells(file, name) for name in wanted))
    kept = [i for i, cell in enumerate(cells) if not cell.is_empty]
    sets = _read_sets(file, [cells[i] for i in kept], vectors)
    classes = read_labels(file, labelled, len(cells), kept) if labelled else None
    if classes is None and all(cell.row for cell in cells):
        classes = np.array([cells[i].row for i in kept])
    layout = f"{', '.join(map(repr, wanted))}: one cell per set, vectors are {vectors}"
    empty = len(cells) - len(kept)
    notes = (f"{empty} of {len(cells)} cells are empty and were left out",) * (empty > 0)
    return SetBatch.from_list(sets, [cells[i].name for i in kept], classes), layout, notes


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


def _only_candidate(file: Mat5 | Mat73, labelled: list[str], groups: str | None) -> str:
    cells = [
        name
        for name, value in file.variables.items()
        if value.kind == "cell" and name not in labelled and name != groups
    ]
    if len(cells) > 1:  # names of classes are a cell array too
        cells = [name for name in cells if not _is_text(file.get(name))]
    # A matrix is not sets before it is known which samples belong together.
    has_ids = bool(groups or (labelled and not cells))
    candidates = matrices(file, (*labelled, groups or "")) if has_ids else cells
    if len(candidates) != 1:
        refuse_choice(
            file,
            "needs a variable: which cell array holds the sets? Or which matrix, and labels= "
            "or groups= for its samples?",
        )
    return candidates[0]


def _is_text(value: Value) -> bool:
    return any(cell.kind == "char" for cell in islice(value.cells(), 1))


def _cells(file: Mat5 | Mat73, name: str) -> Iterator[Cell]:
    value = get(file, name)
    if value.kind != "cell":
        reject(
            f"load_mat: {name!r} of {str(file.path)!r} is {describe(value)}. Expected a cell "
            "array with one matrix per set, or a full matrix of samples, of several rows and "
            "columns."
        )
    is_table = sum(n > 1 for n in value.shape) > 1
    for i, cell in enumerate(value.cells()):
        axes = np.unravel_index(i, value.shape, order="F") if is_table else (i,)
        index = [int(axis) + 1 for axis in axes]
        place = f"{name}{{{','.join(map(str, index))}}}"
        yield Cell(place, index[0] if is_table else 0, cell)


def _check_cells(file: Mat5 | Mat73, cells: Iterable[Cell]) -> list[Cell]:
    """The cells, all of them matrices; stops at the first bad or too large one."""
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
    """Sets with one vector per row, all with equally many features."""
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


def _as_images(batch: SetBatch, shape: tuple[int, ...]) -> SetBatch:
    """Vectors turned to the rows of images: MATLAB counts down the columns."""
    if batch.n_features != math.prod(shape):
        reject(
            f"load_mat: {batch.names[0]!r} has {batch.n_features} features, so that its "
            f"vectors cannot be images of shape {tuple(shape)}, {math.prod(shape)} pixels."
        )
    stack = batch.vectors.reshape(-1, *shape[::-1])
    upright = stack.transpose(0, *range(stack.ndim - 1, 0, -1))
    return batch.replaced(vectors=upright.reshape(len(stack), -1), image_shape=shape)
