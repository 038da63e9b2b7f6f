"""One array out of a prepared archive."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy.typing as npt

from setwise.io.archives import Members
from setwise.io.untrusted import one_kind_of_error, regular_file

__all__ = ["array_of"]

# Far more than the few numbers per set that are read here.
MAX_BYTES = 100_000_000


def array_of(path: Path, key: str) -> npt.NDArray[Any]:
    """Read one array of an ``.npz``; nothing is ever unpickled."""
    source = regular_file("load", path)
    with one_kind_of_error("load", source), zipfile.ZipFile(source) as archive:
        return Members(source, archive, MAX_BYTES).read([key])[key]
