"""MATLAB files: cell arrays of matrices, and matrices with labels, become sets."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from setwise._support.parameters import check_choice, check_count, is_whole, refuse
from setwise.errors import reject
from setwise.io.loading_report import LoadedSets, loaded_file
from setwise.io.mat5 import NUMERIC, Mat5, Value5, is_mat5
from setwise.io.mat73 import Mat73, Value73, is_mat73
from setwise.io.untrusted import check_declared, one_kind_of_error, regular_file
from setwise.sets import SetBatch

File: TypeAlias = Mat5 | Mat73
Value: TypeAlias = Value5 | Value73  # a variable or a cell
_AXES = ("rows", "columns")


@dataclass(frozen=True)
class _Cell:
    """A set before it is read: its name, such as ``MOBO{2,4}``, and row 2 (0 in a vector)."""

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
    groups: str | None = None,
    vectors: Literal["columns", "rows"] | None = None,
    image_shape: tuple[int, ...] | None = None,
    max_bytes: int = 2 * 2**30,
) -> LoadedSets:
    """Read the sets of a MATLAB file, of version 5 to 7.3.

    The sets are a cell array with one matrix per set. They keep MATLAB's order, down the
    columns of the cell array, and MATLAB's names, such as ``ETH_train{3}`` or ``MOBO{2,4}``.
    Empty cells are left out, and counted in ``report.notes``. Or they are one matrix of all
    samples, ``X``, with the class of each, such as ``gnd``, the set of each, or both. Sets come
    in the order of their first samples, named after their groups, or else their classes.
    Numbers keep MATLAB's type; logical ones become ``uint8``.

    Parameters
    ----------
    path : path
        The file. Version 7.3 needs ``pip install "setwise[mat]"``.
    variable : str or sequence of str, optional
        The cell arrays of the sets, or the matrix of samples; needed where there are several.
    labels : str or sequence of str, optional
        Variable with the class of each cell or sample: a numeric vector, a char matrix or a
        cell array of strings. Without it, the rows of a cell array of several rows and columns
        are the classes, from 1; other cells get no labels.
    groups : str, optional
        Variable with the set of each sample of a matrix. Without it, a class is a set.
    vectors : {"columns", "rows"}, optional
        Whether a set is ``n_features`` x ``n_vectors``, as in most files, or transposed.
        By default ``"columns"`` for cells, and the side as long as the labels for a matrix.
    image_shape : tuple of int, optional
        ``(height, width)`` or ``(height, width, n_channels)`` of vectors that are images, which
        MATLAB flattens column by column. They are turned to the rows of ``batch.images``.
    max_bytes : int, default=2 GiB
        Most memory for the sets, checked before reading.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from scipy.io import savemat
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     savemat(f"{folder}/faces.mat", {"X": np.eye(6), "gnd": [1, 1, 1, 2, 2, 2]})
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
    notes: tuple[str, ...] = ()
    with one_kind_of_error("load_mat", source), closing(_open(source, max_bytes)) as file:
        wanted = wanted or [_only_candidate(file, labelled, groups)]
        if len(wanted) == 1 and _is_matrix(_get(file, wanted[0])):
            batch, layout = _read_matrix(file, wanted[0], labelled, groups, vectors)
        elif groups is not None:
            reject(f"load_mat: groups are for a matrix, and {wanted} are cells, one per set.")
        else:
            batch, layout, notes = _read_cells(file, wanted, labelled, vectors or "columns")
    batch = batch if image_shape is None else _as_images(batch, image_shape)
    return loaded_file(batch, source, layout, started, notes)


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


def _open(path: Path, max_bytes: int) -> File:
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


def _get(file: File, name: str) -> Value:
    if name not in file.variables:
        _refuse_choice(file, f"has no variable {name!r}.")
    return file.get(name)


def _refuse(file: File, name: str, problem: str) -> NoReturn:
    reject(f"load_mat: {name!r} of {str(file.path)!r} {problem}")


def _refuse_choice(file: File, why: str) -> NoReturn:
    """List the variables, one per line."""
    rows = [("name", "class", "size")]
    rows += [(_plain(name), v.kind, _times(v.shape)) for name, v in file.variables.items()]
    if len(rows) == 1:
        reject(f"load_mat: {str(file.path)!r} {why} It has no variables at all.")
    shown, left = rows[:41], len(rows) - 41
    widths = [max(len(row[i]) for row in shown) for i in range(2)]
    lines = [f"  {row[0]:<{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]}" for row in shown]
    lines += [f"  ... and {left} more"] * (left > 0)
    table = "\n".join([" The file holds:", *lines])
    reject(f"load_mat: {str(file.path)!r} {why}{table}")


def _plain(name: str) -> str:
    return name if name.isprintable() and len(name) < 64 else f"{name[:40]!r}..."


def _times(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape)) or "-"


def _describe(value: Value) -> str:
    size = f" of size {_times(value.shape)}" if value.shape else ""
    return f"{'an' if value.kind[0] in 'aeio' else 'a'} {value.kind}{size}"


def _is_matrix(value: Value) -> bool:
    """Whether a variable can hold samples: numbers in several rows and columns."""
    return value.kind in NUMERIC and len(value.shape) == 2 and min(value.shape) > 1


def _only_candidate(file: File, labelled: list[str], groups: str | None) -> str:
    others = {n: value for n, value in file.variables.items() if n not in (*labelled, groups)}
    cells = [name for name, value in others.items() if value.kind == "cell"]
    if len(cells) > 1:  # names of classes are a cell array too
        cells = [name for name in cells if not _is_text(file.get(name))]
    # A matrix is not sets before it is known which samples belong together.
    has_ids = bool(groups or (labelled and not cells))
    candidates = [n for n, value in others.items() if _is_matrix(value)] if has_ids else cells
    if len(candidates) != 1:
        which = "which cell array holds the sets? Or which matrix, and labels= or groups="
        _refuse_choice(file, f"needs a variable: {which} for its samples?")
    return candidates[0]


def _content(value: Value) -> Iterator[Value]:
    """The cells of a cell array, of either kind of file."""
    return value.cells()


def _is_text(value: Value) -> bool:
    return any(cell.kind == "char" for cell in islice(_content(value), 1))


def _read_cells(
    file: File, wanted: list[str], labelled: list[str], vectors: str
) -> tuple[SetBatch, str, tuple[str, ...]]:
    cells = _check_cells(file, chain.from_iterable(_cells(file, name) for name in wanted))
    kept = [i for i, cell in enumerate(cells) if not cell.is_empty]
    sets = _read_sets(file, [cells[i] for i in kept], vectors)
    classes = _read_labels(file, labelled, len(cells), kept) if labelled else None
    if classes is None and all(cell.row for cell in cells):
        classes = np.array([cells[i].row for i in kept])
    layout = f"{', '.join(map(repr, wanted))}: one cell per set, vectors are {vectors}"
    empty = len(cells) - len(kept)
    notes = (f"{empty} of {len(cells)} cells are empty and were left out",) * (empty > 0)
    return SetBatch.from_list(sets, [cells[i].name for i in kept], classes), layout, notes


def _cells(file: File, name: str) -> Iterator[_Cell]:
    value = _get(file, name)
    if value.kind != "cell":
        expected = "a cell array with one matrix per set, or a full matrix of samples"
        problem = f"is {_describe(value)}. Expected {expected}, of several rows and columns."
        _refuse(file, name, problem)
    is_table = sum(n > 1 for n in value.shape) > 1
    for i, cell in enumerate(_content(value)):
        axes = np.unravel_index(i, value.shape, order="F") if is_table else (i,)
        index = [int(axis) + 1 for axis in axes]
        place = f"{name}{{{','.join(map(str, index))}}}"
        yield _Cell(place, index[0] if is_table else 0, cell)


def _check_cells(file: File, cells: Iterator[_Cell]) -> list[_Cell]:
    """The cells, all of them matrices; stops at the first bad or too large one."""
    checked, declared = [], 0
    for cell in cells:
        kind, shape = cell.value.kind, cell.value.shape
        if not cell.is_empty and (kind not in NUMERIC or len(shape) != 2):
            advice = " Nested cells can be made flat by [x{:}]." * (kind == "cell")
            expected = f"Expected a full matrix of real numbers, one per set.{advice}"
            _refuse(file, cell.name, f"is {_describe(cell.value)}. {expected}")
        declared += math.prod(shape) * np.dtype(NUMERIC.get(kind, "u1")).itemsize
        what = f"all up to {cell.name!r}"
        check_declared("load_mat", file.path, what, declared, file.max_bytes)
        checked.append(cell)
    return checked


def _read_sets(file: File, cells: list[_Cell], vectors: str) -> list[npt.NDArray[Any]]:
    """Sets with one vector per row, all with equally many features."""
    if not cells:
        problem = f"there is no set in {str(file.path)!r}"
        reject(f"load_mat: {problem}: no cells, or only empty ones.")
    axis = 0 if vectors == "columns" else 1
    first, shape = cells[0].name, cells[0].value.shape
    for cell in cells:
        other = cell.value.shape
        if other[axis] != shape[axis]:
            agree = len({cell.value.shape[1 - axis] for cell in cells}) == 1
            advice = f"vectors={_AXES[axis]!r} would fit." if agree else "Correct one of them."
            _refuse(
                file,
                cell.name,
                f"is {_times(other)} but {first!r} is {_times(shape)}: {other[axis]} and "
                f"{shape[axis]} features. Expected equally many. {advice}",
            )
    matrices = (cell.value.read() for cell in cells)
    return [matrix.T if vectors == "columns" else matrix for matrix in matrices]


def _read_labels(
    file: File, names: list[str], n_cells: int, kept: list[int]
) -> npt.NDArray[Any]:
    parts = [_labels_in(file, name, "set") for name in names]
    labels = np.concatenate(parts)
    if len({part.dtype.kind for part in parts}) > 1 or len(labels) not in (n_cells, len(kept)):
        reject(
            f"load_mat: {', '.join(map(repr, names))} of {str(file.path)!r} has {len(labels)} "
            f"labels for {n_cells} cells, {len(kept)} of them not empty. Expected one each, "
            "all numbers or all text."
        )
    return labels[kept] if len(labels) == n_cells else labels


def _labels_in(file: File, name: str, what: str) -> npt.NDArray[Any]:
    value = _get(file, name)
    n_bytes = 8 * math.prod(value.shape)
    check_declared("load_mat", file.path, f"variable {name!r}", n_bytes, file.max_bytes)
    if value.kind in NUMERIC and sum(n > 1 for n in value.shape) <= 1:
        numbers = value.read().ravel(order="F")
        is_int = np.isfinite(numbers).all() and (numbers == np.trunc(numbers)).all()
        return numbers.astype(np.int64) if is_int else numbers
    if value.kind == "char" and len(value.shape) == 2:
        return np.array(_lines(value))
    if value.kind == "cell":
        cells = list(_content(value))
        is_text = all(cell.kind == "char" and cell.shape[0] == 1 for cell in cells)
        if is_text and sum(math.prod(cell.shape) for cell in cells) <= file.max_bytes // 8:
            return np.array([_lines(cell)[0] for cell in cells])
    expected = f"a char matrix or a cell array of strings, one label per {what}."
    return reject(
        f"load_mat: labels {name!r} of {str(file.path)!r} is {_describe(value)}. Expected a "
        f"numeric vector, {expected}"
    )


def _lines(value: Value) -> list[str]:
    return ["".join(map(chr, row)).rstrip(" \0") for row in value.read()]


def _read_matrix(
    file: File, name: str, labels: list[str], groups: str | None, vectors: str | None
) -> tuple[SetBatch, str]:
    value = _get(file, name)
    n_bytes = math.prod(value.shape) * np.dtype(NUMERIC[value.kind]).itemsize
    check_declared("load_mat", file.path, f"variable {name!r}", n_bytes, file.max_bytes)
    if len(labels) > 1 or not (labels or groups):
        _refuse_choice(
            file,
            f"has {name!r}, {_describe(value)}, and it is not known which samples belong "
            "together. Expected a cell array with one matrix per set, or beside the matrix "
            "labels=, a variable with the class of each sample, groups=, the set of each, or "
            "both.",
        )
    about = {key: _labels_in(file, key, "sample") for key in (*labels, groups) if key}
    lengths = {key: len(labels) for key, labels in about.items()}
    axis = _samples_axis(file, name, value, lengths, vectors)
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
    file: File, name: str, value: Value, lengths: dict[str, int], vectors: str | None
) -> int:
    """Axis of the samples: the one as long as there are labels."""
    problem = ", ".join(f"{key!r} has {length}" for key, length in lengths.items())
    what = f"is {_times(value.shape)}, and {problem}."
    fitting = [i for i in (0, 1) if set(lengths.values()) == {value.shape[i]}]
    if vectors is not None:
        fitting = [i for i in fitting if _AXES[i] == vectors]
    if len(fitting) == 2:
        both = 'Both would fit: say whether vectors="rows" or vectors="columns".'
        _refuse(file, name, f"{what} {both}")
    if not fitting:
        expected = f"as many as {vectors}" if vectors else "as many as rows, or as columns"
        advice = "choose the variables that belong to it."
        _refuse(file, name, f"{what} Expected {expected}: {advice}")
    return fitting[0]


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
