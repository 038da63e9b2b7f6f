"""Features of images, found again by the feature and the content of each image."""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from hashlib import blake2b
from io import BytesIO
from pathlib import Path
from typing import Any, Self

import numpy as np

from setwise._support.parameters import refuse
from setwise._support.types import Array
from setwise.errors import DataError, ParameterError, reject
from setwise.features.images import ImageFeature, check_image_feature, fingerprint_of, values_of

logger = logging.getLogger("setwise")

DIGEST_BYTES = 20
# Rows of one query: SQLite limits the number of its variables.
ROWS = 500


def through_cache(
    images: Array,
    about: str,
    compute: Callable[[list[int]], Array],
    cache: FeatureFile | None = None,
) -> Array:
    """Values of images, made by ``compute`` for some places, once for equal pixels.

    ``about`` is everything else that the values depend on.
    """
    kept = cache or _SHARED
    prefix = f"{about} {images.dtype.str} {images.shape[1:]}".encode()
    keys = [_digest(prefix + image.tobytes()) for image in images]
    values = kept.find(keys)
    missing = {key: i for i, key in reversed([*enumerate(keys)]) if key not in values}
    if missing:
        places = sorted(missing.values())
        made = dict(zip([keys[i] for i in places], compute(places), strict=True))
        # Other values are refused later.
        kept.keep({key: value for key, value in made.items() if np.isfinite(value).all()})
        values |= made
    return np.stack([values[key] for key in keys])


class FeatureFile:
    """Values in one SQLite file, which processes may share; made where it is missing."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def find(self, keys: Sequence[bytes]) -> dict[bytes, Array]:
        """The known values; damaged ones count as unknown."""
        if not self.path.exists():
            return {}
        found: dict[bytes, bytes] = {}
        with self._table() as table:
            for start in range(0, len(keys), ROWS):
                some = keys[start : start + ROWS]
                marks = ",".join("?" * len(some))
                query = f"SELECT key, value FROM features WHERE key IN ({marks})"  # noqa: S608
                found.update(table.execute(query, some).fetchall())
        unpacked = {key: _unpacked(content) for key, content in found.items()}
        return {key: value for key, value in unpacked.items() if value is not None}

    def keep(self, values: Mapping[bytes, Array]) -> None:
        """Add values, all or none."""
        if values:
            rows = [(key, _packed(value)) for key, value in values.items()]
            with self._table() as table:
                table.executemany("INSERT OR REPLACE INTO features VALUES (?, ?)", rows)

    @contextmanager
    def _table(self) -> Iterator[sqlite3.Connection]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, timeout=60)) as table, table:
                columns = "(key BLOB PRIMARY KEY, value BLOB)"
                table.execute(f"CREATE TABLE IF NOT EXISTS features {columns}")
                yield table
        except (sqlite3.Error, OSError) as error:
            reject(
                f"{self.path} cannot be used to keep features ({error}). Expected a file in a "
                "folder with room that can be written to: delete the file, or name another.",
                error,
            )


class MemoryCache:
    """The values used last, at most ``most_bytes`` of them, and those of a file if any."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.file: FeatureFile | None = None
        self._n_bytes = 0
        self._values: OrderedDict[bytes, Array] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, keys: Sequence[bytes]) -> dict[bytes, Array]:
        """The known values."""
        with self._lock:
            known = {key: self._values[key] for key in keys if key in self._values}
            for key in known:
                self._values.move_to_end(key)
        unknown = [key for key in dict.fromkeys(keys) if key not in known]
        of_file = self._of_file(lambda file: file.find(unknown)) if unknown else None
        self._remember(of_file or {})
        return known | (of_file or {})

    def keep(self, values: Mapping[bytes, Array]) -> None:
        """Add copies of values: a row would keep its whole batch in memory."""
        self._remember(values)
        self._of_file(lambda file: file.keep(values))

    def _remember(self, values: Mapping[bytes, Array]) -> None:
        with self._lock:
            for key, value in values.items():
                if key not in self._values:
                    self._values[key] = value.copy()
                    self._n_bytes += value.nbytes
            while self._n_bytes > self.most_bytes:
                self._n_bytes -= self._values.popitem(last=False)[1].nbytes

    def _of_file(self, work: Callable[[FeatureFile], Any]) -> Any:
        """Result of work with the file; one that fails is not used again."""
        try:
            return None if self.file is None else work(self.file)
        except DataError as error:
            self.file = None
            logger.warning("%s Features are computed anew.", error)
            return None


# One for all features of this process, whose keys differ.
_SHARED = MemoryCache(256 * 2**20)


def keep_in_file(path: Path | None) -> None:
    """Keep features of networks in a file, too; None stops it."""
    _SHARED.file = None if path is None else FeatureFile(path)


class Cached(ImageFeature):
    """Keep the values of an image feature in a folder, and compute them only once.

    A value is computed anew if the feature, one of its parameters, a library that computes it
    or a pixel changes. Processes may share the folder. Damaged values are replaced, and old
    ones never deleted: delete the folder. ``n_hits_`` and ``n_misses_`` count the images found
    and computed since the last fit.

    Parameters
    ----------
    feature : image feature, or pipeline of image features
        One that learns nothing from data, and whose parameters change when its code does.
    folder : str or Path
        Folder of one SQLite file; made if it does not exist.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from setwise.features import HOG, Cached
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Cached(HOG(), folder).transform(np.zeros((1, 16, 16))).shape
    (1, 36)
    """

    _counting = threading.Lock()

    def __init__(self, feature: Any, folder: str | Path) -> None:
        self.feature = feature
        self.folder = folder

    def check_parameters(self) -> None:
        """Refuse parameters that no images can be transformed with."""
        check_image_feature("Cached", self.feature)
        if not isinstance(self.folder, str | os.PathLike) or not str(self.folder):
            refuse("Cached", "folder", "the path of a folder", self.folder)

    def fingerprint(self) -> dict[str, Any]:
        """The feature's own: the folder does not change values."""
        return fingerprint_of(self.feature)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check that these are images, and that the feature has a fingerprint."""
        super().fit(X, y)
        _canonical(self.fingerprint())
        self.n_hits_ = self.n_misses_ = 0
        return self

    def compute(self, images: Array) -> Array:
        """Values of the images, not looked up."""
        return values_of(self.feature, images)

    def _values(self, images: Array, X: Any) -> Array:
        about = _canonical(self.fingerprint())
        n_computed = 0

        def compute(places: list[int]) -> Array:
            nonlocal n_computed
            n_computed = len(places)
            try:
                return values_of(self.feature, images[places])
            except DataError:  # raised again with the name of the set
                return values_of(self.feature, X)[places]

        file = FeatureFile(Path(self.folder) / "features.sqlite")
        values = through_cache(images, about, compute, file)
        with self._counting:
            self.n_misses_ = getattr(self, "n_misses_", 0) + n_computed
            self.n_hits_ = getattr(self, "n_hits_", 0) + len(images) - n_computed
        return values


def _canonical(fingerprint: dict[str, Any]) -> str:
    """A fingerprint as text: equal ones, and no others, give equal text."""
    return json.dumps(fingerprint, sort_keys=True, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    what = f"the fingerprint of a feature holds {value!r}, which is neither text nor number"
    msg = f"Cached: {what}. Expected parameters that JSON knows; write its fingerprint()."
    raise ParameterError(msg)


def _digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=DIGEST_BYTES).digest()


def _packed(value: Array) -> bytes:
    """An array as the content of a NumPy file, followed by its digest."""
    buffer = BytesIO()
    np.save(buffer, value, allow_pickle=False)
    return buffer.getvalue() + _digest(buffer.getvalue())


def _unpacked(content: bytes) -> Array | None:
    """The array, None if the content is damaged."""
    if not isinstance(content, bytes):
        return None
    array, digest = content[:-DIGEST_BYTES], content[-DIGEST_BYTES:]
    if _digest(array) != digest:
        return None
    return np.load(BytesIO(array), allow_pickle=False)
