"""Vectors that networks made of images, kept by the content of the images.

In memory while the process lives; in one file as well, where somebody says so. The command
does, so that a folder is looked at once.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Memo", "VectorFile", "image_keys", "keep_in_file", "remembered"]

Vectors = npt.NDArray[np.float32]
logger = logging.getLogger("setwise")

# How many rows are asked for at once: SQLite takes no more names in a question.
_AT_ONCE = 500


class VectorFile:
    """Vectors in one file of SQLite, which many processes may use at once.

    Parameters
    ----------
    path : Path
        The file; made where it is not there. One that cannot be used is spoken of, once, and
        left alone: everything can be computed again.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._is_broken = False

    def find(self, keys: Sequence[bytes]) -> dict[bytes, Vectors]:
        """Those that are there."""
        found: dict[bytes, Vectors] = {}

        def ask(table: sqlite3.Connection) -> None:
            for start in range(0, len(keys), _AT_ONCE):
                some = keys[start : start + _AT_ONCE]
                marks = ",".join("?" * len(some))
                question = f"SELECT key, vector FROM vectors WHERE key IN ({marks})"  # noqa: S608
                for key, content in table.execute(question, some):
                    found[key] = np.frombuffer(content, dtype=np.float32)

        self._attempt(ask)
        return found

    def keep(self, vectors: Mapping[bytes, Vectors]) -> None:
        """Add these, all or none."""
        rows = [(key, np.asarray(v, dtype=np.float32).tobytes()) for key, v in vectors.items()]
        insert = "INSERT OR IGNORE INTO vectors VALUES (?, ?)"
        self._attempt(lambda table: table.executemany(insert, rows))

    def _attempt(self, work: Callable[[sqlite3.Connection], object]) -> None:
        if self._is_broken:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, timeout=60)) as table, table:
                table.execute(
                    "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB)"
                )
                work(table)
        except (sqlite3.Error, OSError, ValueError) as error:
            self._is_broken = True
            logger.warning(
                "%s cannot be used (%s): vectors of images are computed anew. Delete it.",
                self.path,
                error,
            )


class Memo:
    """Vectors of the images that were seen last, and those of a file.

    Parameters
    ----------
    most_bytes : int
        Of vectors in memory; what was used last is forgotten last.
    """

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.file: VectorFile | None = None
        self._n_bytes = 0
        self._vectors: OrderedDict[bytes, Vectors] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, keys: Sequence[bytes]) -> dict[bytes, Vectors]:
        """Those that are known."""
        with self._lock:
            known = {key: self._vectors[key] for key in keys if key in self._vectors}
            for key in known:
                self._vectors.move_to_end(key)
        unknown = [key for key in dict.fromkeys(keys) if key not in known]
        if self.file is not None and unknown:
            of_file = self.file.find(unknown)
            self._remember(of_file)
            known |= of_file
        return known

    def keep(self, vectors: Mapping[bytes, Vectors]) -> None:
        """Keep these, as copies: a row would keep its whole batch."""
        self._remember(vectors)
        if self.file is not None and vectors:
            self.file.keep(vectors)

    def _remember(self, vectors: Mapping[bytes, Vectors]) -> None:
        with self._lock:
            for key, vector in vectors.items():
                if key not in self._vectors:
                    self._vectors[key] = vector.copy()
                    self._n_bytes += vector.nbytes
            while self._n_bytes > self.most_bytes:
                self._n_bytes -= self._vectors.popitem(last=False)[1].nbytes


# One for all networks: their keys differ.
_MEMO = Memo(256 * 2**20)


def keep_in_file(path: Path | None) -> None:
    """Keep vectors in a file too from now on, or, with None, no longer."""
    _MEMO.file = None if path is None else VectorFile(path)


def image_keys(images: npt.NDArray[Any], made_by: str) -> list[bytes]:
    """What each image is found by: its pixels, and everything its vector depends on besides."""
    about = f"{made_by} {images.dtype.str} {images.shape[1:]}".encode()
    return [blake2b(about + image.tobytes(), digest_size=20).digest() for image in images]


def remembered(
    images: npt.NDArray[Any],
    made_by: str,
    compute: Callable[[list[int]], Vectors],
) -> Vectors:
    """Vectors of images, of which each is computed once.

    Parameters
    ----------
    images : array of shape (n_images, ...)
        Pixels.
    made_by : str
        Everything that the vectors depend on but the pixels.
    compute : callable
        Makes the vectors of some of the images, given their places.
    """
    keys = image_keys(images, made_by)
    vectors = _MEMO.find(keys)
    unseen = {
        key: place for place, key in reversed(list(enumerate(keys))) if key not in vectors
    }
    if unseen:
        places = sorted(unseen.values())
        made = dict(zip([keys[i] for i in places], compute(places), strict=True))
        _MEMO.keep(made)
        vectors |= made
    return np.stack([vectors[key] for key in keys])
