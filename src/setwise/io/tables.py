"""Tables of vectors in files: CSV and Parquet."""

from __future__ import annotations

import time
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from setwise.errors import DataError, MissingExtraError, reject
from setwise.io.loading_report import LoadedSets, loaded_file
from setwise.io.untrusted import regular_file
from setwise.sets import SetBatch

TABLES = frozenset((".csv", ".parquet"))
# The first that is installed reads the file.
_READERS = ("polars", "pyarrow", "pandas")


def load_table(
    path: str | Path, variable: str | None = None, labels: str | None = None,
    groups: str | None = None,
) -> LoadedSets:  # fmt: skip
    r"""Sets of the rows of a CSV or Parquet file, by the columns with these names.

    Parameters
    ----------
    path : str or Path
        The file.
    variable : str, optional
        Column with a vector in each row; by default all other columns are the vectors.
    labels : str, optional
        Column of the classes.
    groups : str, optional
        Column of the sets; by default ``"set"``.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(f"{folder}/tracks.csv")
    ...     _ = path.write_text("track,x,y\na,1,2\na,2,1\nb,3,3\n")
    ...     load_table(path, groups="track").sizes
    array([2, 1])
    """
    started, file = time.perf_counter(), regular_file("load_table", path)
    frame = _read(file)
    columns, named = list(frame.columns), groups or "set"
    if named not in columns:
        reject(
            f"{file}: there is no column {named!r}; the columns are {', '.join(columns[:20])}. "
            "Name the column that tells the sets apart (groups=, --groups)."
        )
    try:
        sets = SetBatch.from_frame(frame, set=named, label=labels, vector=variable)
    except DataError as error:
        words = str(error).removeprefix("SetBatch.from_frame: ")
        advice = "The columns are named by groups=, labels= and variable= (--groups, ...)."
        reject(f"{file}: {words} {advice}", error)
    return loaded_file(sets, file, "a row per vector", started)


def _read(file: Path) -> Any:
    import narwhals.stable.v1 as nw

    reader = next((name for name in _READERS if find_spec(name)), None)
    if reader is None:
        msg = f"{file}: polars, pyarrow or pandas is needed to read it: pip install pyarrow"
        raise MissingExtraError(msg)
    read = nw.read_csv if file.suffix.lower() == ".csv" else nw.read_parquet
    try:
        return read(str(file), native_namespace=import_module(reader))
    except Exception as error:  # each reader has its own
        why = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        return reject(f"{file} cannot be read as a table ({why}). Write it anew.", error)
