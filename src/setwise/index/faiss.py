"""The index for very large galleries: short codes are scanned, the best rows taken in full."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from setwise._support.extras import require
from setwise._support.lazy import lazy
from setwise._support.parameters import check_count, refuse
from setwise._support.types import IntArray
from setwise.errors import DataError, reject
from setwise.index.base import BuiltIndex, Index, Rows, build_anew, stamp_of
from setwise.index.exact import BuiltExact
from setwise.io.tensors import read_tensors, write_tensors

__all__ = ["BuiltFaiss", "FaissIndex"]

_N_BITS = 4  # per two numbers of a row: what FAISS scans from registers
_TRAINING_ROWS = 4096  # 256 per centroid, beyond which k-means gains nothing


@dataclass(frozen=True)
class FaissIndex(Index):
    """Scan codes of four bits per two numbers, then take exact products of the best rows.

    The codes are those of a product quantiser and scanned by FAISS (``pip install
    "setwise[faiss]"``). The same rows give the same codes and the same answers. Galleries of
    up to ``n_candidates`` sets have no codes: all their products are taken.

    Parameters
    ----------
    path : str or Path, optional
        The file in which codes are kept. Without it they are made again, in seconds, when a
        gallery is read.
    n_candidates : int, default=4096
        How many rows are taken in full per query: the more, the fewer of the nearest are
        missed.

    Examples
    --------
    >>> import numpy as np
    >>> rows, keys = np.eye(3, dtype=np.float32), np.array([10, 11, 12])
    >>> query = np.array([0.6, 0.8, 0.0], dtype=np.float32)
    >>> from setwise.index import FaissIndex
    >>> FaissIndex().build(rows, keys).nearest(query, 2)
    array([11, 10])
    """

    name: ClassVar[str] = "faiss"
    path: str | None = None
    n_candidates: int = 4096

    def __post_init__(self) -> None:
        if self.path is not None:
            if not isinstance(self.path, str | Path) or not str(self.path):
                refuse("FaissIndex", "path", "the path of a file, or None", self.path)
            object.__setattr__(self, "path", str(self.path))  # as JSON knows it
        check_count("FaissIndex", "n_candidates", self.n_candidates)

    def build(self, rows: Rows, keys: IntArray) -> BuiltFaiss:
        """Learn what codes stand for, and encode all rows."""
        require("faiss", "faiss")
        codes = _no_codes() if len(rows) <= self.n_candidates else _learnt(rows)
        return self._kept(BuiltFaiss(self, rows, keys, codes))

    def open(self, rows: Rows, keys: IntArray) -> BuiltFaiss:
        """Read the codes of these rows from the file; without a path, make them."""
        if self.path is None:
            return self.build(rows, keys)
        require("faiss", "faiss")
        try:
            document, arrays = read_tensors(Path(self.path), "FaissIndex")
        except DataError as error:
            reject(f"{error} {build_anew(self)}", error)
        if document.get("stamp") != stamp_of(rows, keys):
            reject(
                f"FaissIndex: {self.path!r} is the index of another gallery, or of another "
                f"version of this one. {build_anew(self)}"
            )
        return BuiltFaiss(self, rows, keys, self._checked(document, arrays, rows))

    def _checked(
        self, document: dict[str, Any], arrays: dict[str, npt.NDArray[Any]], rows: Rows
    ) -> Codes:
        """The codes of a file, once they are what FAISS will take them for."""
        n_learnt, n_pairs = document.get("n_learnt"), (rows.shape[1] + 1) // 2
        if n_learnt == 0:
            return _no_codes()
        centroids, of_rows = arrays.get("centroids"), arrays.get("of_rows")
        if (
            type(n_learnt) is not int
            or centroids is None
            or of_rows is None
            or centroids.dtype != np.float32
            or centroids.shape != (n_pairs, 2**_N_BITS, 2)
            or of_rows.dtype != np.uint8
            or of_rows.shape != (len(rows), (n_pairs + 1) // 2)
        ):
            reject(f"FaissIndex: {self.path!r} contradicts itself. {build_anew(self)}")
        return Codes(n_learnt, centroids, of_rows)

    def _kept(self, built: BuiltFaiss) -> BuiltFaiss:
        """The same, once it is written where it is kept."""
        if self.path is None:
            return built
        codes, stamp = built.codes, stamp_of(built.rows, built.keys)
        document = {"format": 1, "stamp": stamp, "n_learnt": codes.n_learnt}
        arrays: dict[str, npt.NDArray[Any]]
        arrays = {"centroids": codes.centroids, "of_rows": codes.of_rows}
        try:
            write_tensors(Path(self.path), document, arrays)
        except OSError as error:
            reject(
                f"FaissIndex: {self.path!r} cannot be written: {error.strerror}. Expected a "
                "file in a folder that is there, with room on its disk.",
                error,
            )
        return built


@dataclass(frozen=True, eq=False)
class Codes:
    """A code per row, and what it stands for.

    Attributes
    ----------
    n_learnt : int
        How many rows there were when the centroids were found; 0 where there are no codes.
    centroids : array of float32, shape (n_pairs, 16, 2)
        For each pair of features, what its four bits stand for.
    of_rows : array of uint8, shape (n_sets, n_bytes)
        In the order of the rows.
    """

    n_learnt: int
    centroids: Rows
    of_rows: npt.NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class BuiltFaiss(BuiltIndex):
    """Rows, their keys and their codes."""

    index: FaissIndex
    rows: Rows
    keys: IntArray
    codes: Codes

    def nearest(self, query: Rows, n: int) -> IntArray:
        """The keys of the largest inner products among the rows with the best codes."""
        n_candidates = max(n, self.index.n_candidates)
        if len(self.rows) <= n_candidates or not self.codes.n_learnt:
            return BuiltExact(self.rows, self.keys).nearest(query, n)
        _, places = self._scanner.search(_even(query[None]), n_candidates)
        candidates = np.sort(places[0][places[0] >= 0])
        return BuiltExact(self.rows[candidates], self.keys[candidates]).nearest(query, n)

    def changed(self, rows: Rows, keys: IntArray) -> BuiltFaiss:
        """Encode what is new; or all, once there are twice as many as were learnt from."""
        if not self.index.n_candidates < len(rows) <= 2 * self.codes.n_learnt:
            return self.index.build(rows, keys)
        is_known = np.isin(keys, self.keys)
        of_rows = np.empty((len(rows), self.codes.of_rows.shape[1]), dtype=np.uint8)
        of_rows[is_known] = self.codes.of_rows[np.searchsorted(self.keys, keys[is_known])]
        of_rows[~is_known] = _encoded(_quantiser(self.codes.centroids), rows[~is_known])
        codes = Codes(self.codes.n_learnt, self.codes.centroids, of_rows)
        return self.index._kept(BuiltFaiss(self.index, rows, keys, codes))

    @lazy
    def _scanner(self) -> Any:
        """The codes as FAISS scans them."""
        faiss = require("faiss", "faiss")
        quantiser = _quantiser(self.codes.centroids)
        plain = faiss.IndexPQ(quantiser.d, quantiser.M, _N_BITS, faiss.METRIC_INNER_PRODUCT)
        plain.pq, plain.is_trained, plain.ntotal = quantiser, True, len(self.rows)
        faiss.copy_array_to_vector(self.codes.of_rows.ravel(), plain.codes)
        return faiss.IndexPQFastScan(plain)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_scanner"}


def _no_codes() -> Codes:
    """Of rows that are too few to need them."""
    return Codes(0, np.zeros((0, 16, 2), np.float32), np.zeros((0, 0), np.uint8))


def _learnt(rows: Rows) -> Codes:
    """Centroids of evenly spaced rows, found by k-means from a fixed start, and all codes."""
    faiss = require("faiss", "faiss")
    sample = _even(rows[:: -(-len(rows) // _TRAINING_ROWS)])
    n_features = sample.shape[1]
    quantiser = faiss.ProductQuantizer(n_features, n_features // 2, _N_BITS)
    quantiser.cp.min_points_per_centroid = 1  # or a few rows are complained of on stderr
    with threadpool_limits(1):  # so that sums are taken in one order
        quantiser.train(sample)
    centroids = faiss.vector_to_array(quantiser.centroids)
    return Codes(len(rows), centroids.reshape(-1, 2**_N_BITS, 2), _encoded(quantiser, rows))


def _quantiser(centroids: Rows) -> Any:
    faiss = require("faiss", "faiss")
    quantiser = faiss.ProductQuantizer(2 * len(centroids), len(centroids), _N_BITS)
    faiss.copy_array_to_vector(centroids.ravel(), quantiser.centroids)
    return quantiser


def _encoded(quantiser: Any, rows: Rows) -> npt.NDArray[np.uint8]:
    """Codes of rows, some thousands at a time, so that few are copied at once."""
    codes = np.empty((len(rows), quantiser.code_size), dtype=np.uint8)
    for start in range(0, len(rows), _TRAINING_ROWS):
        part = slice(start, start + _TRAINING_ROWS)
        codes[part] = quantiser.compute_codes(_even(rows[part]))
    return codes


def _even(rows: Rows) -> Rows:
    """The rows as FAISS wants them: contiguous, and a zero more where features are odd."""
    return np.ascontiguousarray(np.pad(rows, ((0, 0), (0, rows.shape[1] % 2))), np.float32)
