"""Named arrays and one JSON document in one file, which can hold nothing that runs.

The format is safetensors: a table of names, types, shapes and places, then the bytes. Reading
takes no more memory than the file is long, and neither imports nor executes anything of it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.whole_file import write_atomically
from setwise.errors import DataError, reject
from setwise.io.untrusted import regular_file

__all__ = ["read_tensors", "write_tensors"]

Arrays = Mapping[str, npt.NDArray[Any]]
_KEY = "setwise"
# The document of a gallery of a hundred thousand sets has some ten million characters.
_MOST_CHARACTERS = 2**28


def write_tensors(path: Path, document: Mapping[str, Any], arrays: Arrays) -> None:
    """Write arrays and a JSON document; the same content gives the same bytes.

    Nothing is under the name of the file before all of it is written, and safely on disk.

    Parameters
    ----------
    path : Path
        The file; one that is there is replaced.
    document : dict
        Of what JSON knows.
    arrays : dict of str to array
        Numbers, of types that safetensors knows.
    """
    from safetensors.numpy import save

    plain = {name: np.ascontiguousarray(array) for name, array in sorted(arrays.items())}
    signed = dict(document) | {"sha256": _digest(document, plain)}
    text = _canonical(signed)
    content = save(plain, metadata={_KEY: text})
    with write_atomically(path) as temporary:
        temporary.write_bytes(content)


def read_tensors(
    path: Path, owner: str, newest: int = 1
) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """The JSON document and the arrays of a file that :func:`write_tensors` wrote.

    Parameters
    ----------
    path : Path
        The file.
    owner : str
        Who asks, for messages.
    newest : int
        The largest ``format`` of a document that the caller knows.

    Raises
    ------
    DataError
        When the file is not there, is something else, damaged, or of a later version.
    """
    from safetensors import SafetensorError, safe_open

    given = regular_file(owner, path)
    try:
        with safe_open(given, framework="numpy") as opened:
            text = (opened.metadata() or {}).get(_KEY)
            arrays = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    except (
        SafetensorError,
        OSError,
        ValueError,
        TypeError,
        OverflowError,
        MemoryError,
    ) as error:
        msg = (
            f"{owner}: {str(given)!r} is no gallery file, or a damaged one ({error}). Expected "
            "what save wrote; copy it again, or fit and save anew."
        )
        raise DataError(msg) from error
    document = _document(text, given, owner)
    version = document.get("format")
    if isinstance(version, int) and version > newest:
        reject(
            f"{owner}: {str(given)!r} was written by a later version of setwise (format "
            f"{version}, this one reads up to {newest}). Install a newer one."
        )
    unsigned = {key: value for key, value in document.items() if key != "sha256"}
    if document.get("sha256") != _digest(unsigned, arrays):
        reject(
            f"{owner}: {str(given)!r} is damaged: its content is not what was written (sha256 "
            "differs). Copy it again, or fit and save anew."
        )
    return document, arrays


def _document(text: str | None, path: Path, owner: str) -> dict[str, Any]:
    try:
        is_readable = text is not None and len(text) <= _MOST_CHARACTERS
        document = json.loads(text) if is_readable else None  # type: ignore[arg-type]
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        reject(
            f"{owner}: {str(path)!r} is a file of arrays, but no gallery: the description is "
            "missing or unreadable. Expected what save wrote."
        )
    return document


def _canonical(document: Mapping[str, Any]) -> str:
    """JSON of which there is one form only."""
    try:
        return json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except ValueError:  # a number that JSON does not know: nobody has written it here
        return ""


def _digest(document: Mapping[str, Any], arrays: Arrays) -> str:
    """Of the document, and of the names, types, shapes and bytes of the arrays."""
    digest = hashlib.sha256(_canonical(document).encode("utf-8", "surrogatepass"))
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name}|{array.dtype.str}|{array.shape}|".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
