"""The index for very large galleries: short codes are scanned, the best rows taken in full."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from setwise._support.extras import require
from setwise._support.parallel import lazy
from setwise._support.parameters import check_count
from setwise._support.types import IntArray
from setwise.errors import reject
from setwise.index.base import Arrays, BuiltExact, BuiltIndex, Index, Rows, build_anew

_N_BITS = 4  # per two numbers of a row: what FAISS scans from registers
_TRAINING_ROWS = 4096  # 256 per centroid, beyond which k-means gains nothing


@dataclass(frozen=True)
class FaissIndex(Index):
    """Scan codes of four bits per two numbers, then take exact products of the best rows.

    The codes are those of a product quantiser and scanned by FAISS (``pip install
    "setwise[faiss]"``). The same rows give the same codes and answers; the gallery file has the
    codes. Galleries of up to ``n_candidates`` sets have none: all their products are taken.

    Parameters
    ----------
    n_candidates : int, default=4096
        Rows taken in full per query. With more, fewer of the nearest rows are missed.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.index import FaissIndex
    >>> built = FaissIndex().build(np.eye(3, dtype=np.float32), np.array([10, 11, 12]))
    >>> built.nearest(np.array([0.6, 0.8, 0.0], dtype=np.float32), 2)
    array([11, 10])
    """

    name: ClassVar[str] = "faiss"
    n_candidates: int = 4096

    def __post_init__(self) -> None:
        check_count("FaissIndex", "n_candidates", self.n_candidates)

    def build(self, rows: Rows, keys: IntArray) -> BuiltFaiss:
        """Learn what codes stand for, and encode all rows."""
        require("faiss", "faiss")
        codes = _no_codes() if len(rows) <= self.n_candidates else _learnt(rows)
        return BuiltFaiss(self, rows, keys, codes)

    def open(self, rows: Rows, keys: IntArray, saved: Mapping[str, Any]) -> BuiltFaiss:
        """Take the codes of a gallery file; where it has none, compute them."""
        require("faiss", "faiss")
        if len(rows) <= self.n_candidates or "n_learnt" not in saved:
            return self.build(rows, keys)
        given: tuple[Any, ...] = tuple(saved.get(name) for name in _Codes._fields)
        codes = _Codes(*given)
        if not codes.are_of(rows):
            reject(f"FaissIndex: the codes are not those of the rows. {build_anew(self)}")
        return BuiltFaiss(self, rows, keys, codes)


class _Codes(NamedTuple):
    """Centroids of each pair of features, and the rows in their code, two pairs per byte."""

    n_learnt: npt.NDArray[Any]
    centroids: Rows
    of_rows: npt.NDArray[np.uint8]

    def are_of(self, rows: Rows) -> bool:
        """Whether untrusted codes have the types and shapes that FAISS relies on."""
        n_pairs = (rows.shape[1] + 1) // 2
        expected = (
            ("i", (1,)),
            ("f", (n_pairs, 2**_N_BITS, 2)),
            ("u", (len(rows), (n_pairs + 1) // 2)),
        )
        return all(
            isinstance(array, np.ndarray) and (array.dtype.kind, array.shape) == wanted
            for array, wanted in zip(self, expected, strict=True)
        ) and bool(
            self.n_learnt[0] > 0
            and self.centroids.dtype == np.float32
            and np.isfinite(self.centroids).all()
            and self.of_rows.dtype == np.uint8
        )


@dataclass(frozen=True, eq=False)
class BuiltFaiss(BuiltIndex):
    """Rows, their keys and their codes."""

    index: FaissIndex
    rows: Rows
    keys: IntArray
    codes: _Codes

    def nearest(self, query: Rows, n: int) -> IntArray:
        """The keys of the largest inner products among the rows with the best codes."""
        n_candidates = max(n, self.index.n_candidates)
        if len(self.rows) <= n_candidates or not self.codes.n_learnt[0]:
            return BuiltExact(self.rows, self.keys).nearest(query, n)
        _, places = self._scanner.search(_even(query[None]), n_candidates)
        candidates = np.sort(places[0][places[0] >= 0])
        return BuiltExact(self.rows[candidates], self.keys[candidates]).nearest(query, n)

    def changed(self, rows: Rows, keys: IntArray) -> BuiltFaiss:
        """Encode new rows; or all, once there are twice as many as were learnt from."""
        if not self.index.n_candidates < len(rows) <= 2 * self.codes.n_learnt[0]:
            return self.index.build(rows, keys)
        is_known = np.isin(keys, self.keys)
        of_rows = np.empty((len(rows), self.codes.of_rows.shape[1]), dtype=np.uint8)
        of_rows[is_known] = self.codes.of_rows[np.searchsorted(self.keys, keys[is_known])]
        of_rows[~is_known] = _encoded(_quantiser(self.codes.centroids), rows[~is_known])
        return BuiltFaiss(self.index, rows, keys, self.codes._replace(of_rows=of_rows))

    def arrays(self) -> Arrays:
        """The codes, where there are any."""
        return self.codes._asdict() if self.codes.n_learnt[0] else {}

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


def _no_codes() -> _Codes:
    """Codes of rows that are too few to need any."""
    none = np.zeros((0, 2**_N_BITS, 2), np.float32)
    return _Codes(np.zeros(1, np.int64), none, np.zeros((0, 0), np.uint8))


def _learnt(rows: Rows) -> _Codes:
    """Centroids of evenly spaced rows, found by k-means from a fixed start, and all codes."""
    faiss = require("faiss", "faiss")
    sample = _even(rows[:: -(-len(rows) // _TRAINING_ROWS)])
    n_features = sample.shape[1]
    quantiser = faiss.ProductQuantizer(n_features, n_features // 2, _N_BITS)
    quantiser.cp.min_points_per_centroid = 1  # or FAISS warns of few rows on stderr
    with threadpool_limits(1):  # so that sums are taken in one order
        quantiser.train(sample)
    centroids = faiss.vector_to_array(quantiser.centroids).reshape(-1, 2**_N_BITS, 2)
    return _Codes(np.array([len(rows)]), centroids, _encoded(quantiser, rows))


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
    """Contiguous rows of an even number of features, as FAISS needs them; zeros are added."""
    return np.ascontiguousarray(np.pad(rows, ((0, 0), (0, rows.shape[1] % 2))), np.float32)
