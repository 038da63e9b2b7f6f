"""Data frames whose columns are vectors, sets, classes, files and times."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.types import Array
from setwise.errors import reject
from setwise.sets.origins import Origins

CALLER = "SetBatch.from_frame"


def read_frame(
    frame: Any,
    set: str,
    label: str | None,
    vector: str | None,
    file: str | None,
    time: str | None,
) -> tuple[Array, Array, Array | None, Origins | None]:
    """Vectors, sets, classes and origins of the rows of a data frame of any library."""
    import narwhals.stable.v1 as nw

    try:
        table = nw.from_native(_with_text_names(frame), eager_only=True)
    except TypeError:
        expected = "Expected a data frame (pandas, polars, ...)"
        if hasattr(frame, "collect"):
            expected = "Expected its rows: give frame.collect()"
        reject(f"{CALLER}: got {type(frame).__name__}. {expected}.")
    named = [column for column in (set, label, vector, file, time) if column is not None]
    for column in named:
        if column not in table.columns:
            known = ", ".join(map(repr, table.columns[:20]))
            reject(f"{CALLER}: there is no column {column!r}; the columns are {known}.")
    if vector is None:
        vectors = _features(table, [c for c in table.columns if c not in named])
    else:
        vectors = _stacked(table[vector].to_numpy(), vector)
    labels = None if label is None else table[label].to_numpy()
    return vectors, table[set].to_numpy(), labels, _origins(table, file, time)


def _with_text_names(frame: Any) -> Any:
    """The frame with columns named by texts; pandas allows any names, such as numbers."""
    if not hasattr(frame, "iloc"):
        return frame
    columns = list(frame.columns)
    if all(isinstance(column, str) for column in columns):
        return frame
    if len(set(map(str, columns))) < len(columns):
        twice = next(c for c in columns if list(map(str, columns)).count(str(c)) > 1)
        reject(f"{CALLER}: two columns are called {str(twice)!r}. Expected different names.")
    return frame.rename(columns=str)


def _features(table: Any, columns: list[str]) -> Array:
    """The vectors in the columns of a data frame."""
    if not columns:
        roles = ", ".join(map(repr, table.columns))
        reject(f"{CALLER}: there are no feature columns beside {roles}. Expected at least one.")
    for column in columns:
        _check_column(table[column], column)
    return table.select(columns).to_numpy()


def _origins(table: Any, file: str | None, time: str | None) -> Origins | None:
    """File and time of each row, where there is such a column."""
    if file is None and time is None:
        return None
    files = [None] * len(table) if file is None else table[file].to_list()
    # NaN, which pandas has for no text, is not equal to itself.
    known = ["" if path is None or path != path else str(path) for path in files]
    return Origins.of_files(known, None if time is None else _times(table[time], time))


def _stacked(values: Array, column: str) -> Array:
    """The vectors of a column, one below the other."""
    what = f"{CALLER}: column {column!r}"
    # Of arrays of one length, some libraries make a matrix themselves.
    rows = [_row(value, i, what) for i, value in enumerate(values)]
    if not rows:
        reject(f"{what} is empty. Expected a vector in every row.")
    for i, row in enumerate(rows):
        if len(row) != len(rows[0]):
            lengths = f"{len(row)} numbers in row {i} and {len(rows[0])} in row 0"
            reject(f"{what} holds {lengths}. Expected vectors of one length.")
    vectors = np.stack(rows)
    bad = np.argwhere(~np.isfinite(vectors))
    if len(bad):
        i, j = bad[0]
        where = f"{vectors[i, j]} in row {i}, at place {j} of the vector"
        reject(f"{what} holds {where}. Expected finite numbers: correct it or drop the row.")
    return vectors


def _row(value: Any, i: int, what: str) -> Array:
    """The vector in row ``i``, checked."""
    expected = "Expected a list, tuple or array of numbers in every row: drop or correct it."
    if not isinstance(value, list | tuple | np.ndarray):
        reject(f"{what} holds {_shown(value)} in row {i}. {expected}")
    try:
        row = np.asarray(value)
    except ValueError:
        reject(f"{what} holds a ragged list in row {i}. {expected}")
    if row.ndim != 1 or not len(row) or row.dtype.kind not in "iufb":
        reject(f"{what} holds {_shown(value)} in row {i}. {expected}")
    return row


def _shown(value: Any) -> str:
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) < 60 else text[:57] + '...'}"


def _times(values: Any, column: str) -> npt.NDArray[np.datetime64]:
    """Local times, without their time zones."""
    import narwhals.stable.v1 as nw

    if values.dtype not in (nw.Datetime, nw.Date):
        expected = "Expected dates and times: convert it first, such as by pandas.to_datetime"
        reject(f"{CALLER}: column {column!r} is of type {values.dtype}. {expected}.")
    if getattr(values.dtype, "time_zone", None) is not None:
        values = values.dt.replace_time_zone(None)
    return values.to_numpy().astype("datetime64[us]")


def _check_column(values: Any, name: str) -> None:
    """Refuse a column of a data frame that does not hold numbers alone."""
    import narwhals.stable.v1 as nw

    what = f"{CALLER}: column {name!r}"
    if not (values.dtype.is_numeric() or values.dtype == nw.Boolean):
        advice = "drop it, or name it as set= or label="
        holds_vectors = len(values) > 0 and isinstance(values[0], list | tuple | np.ndarray)
        if values.dtype in (nw.List, nw.Array) or holds_vectors:
            advice = f"it holds a vector in each row, so name it, vector={name!r}"
        reject(f"{what} is of type {values.dtype}. Expected numbers: {advice}.")
    is_missing = values.is_null()
    if values.dtype.is_float():
        is_missing = is_missing | values.is_nan()
    if is_missing.any():
        expected = "Expected one in every row: fill it or drop the row"
        reject(f"{what} has no value in row {is_missing.arg_true()[0]}. {expected}.")
