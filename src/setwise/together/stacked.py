"""Bases of many sets in one array, and the angles between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from setwise._support.parallel import in_parts, in_threads
from setwise._support.types import FloatArray, IntArray
from setwise.basis.base import Basis, Vectors
from setwise.gallery.bases import SetBases
from setwise.gallery.description import Description, Representation
from setwise.gallery.evidence import AllAngles, SmallestAngle

# Bases whose first columns are the basis of fewer columns.
_NESTED = ("mean", "svd", "centred")
# Bytes of inner products that are computed together.
_BLOCK_BYTES = 2**24
ANGLES = (SmallestAngle(), AllAngles())
# Vectors of a set that are compared, where they are a basis: with those of every other set.
MOST_VECTORS = 20


def asked_angles(how: Description, basis: Basis) -> list[int]:
    """Places in :data:`ANGLES` of the kinds that a description asks of a basis."""
    kinds = {type(one) for one in how.evidence if one.is_asked_of(basis)}
    return [i for i, angle in enumerate(ANGLES) if type(angle) in kinds]


@dataclass(frozen=True)
class StackedBases:
    """Bases of all sets in one layer; sets of fewer columns are filled up with zeros."""

    columns: npt.NDArray[np.float32]  # (n_sets, n_columns, n_features)
    widths: IntArray
    basis: Basis
    dims: int  # of the layer

    def angles(self, cosines: FloatArray, first: IntArray, second: IntArray) -> FloatArray:
        """Both cosines of pairs of sets, given the products of their columns; (2, n)."""
        if self.basis.has_lengths:
            squares = np.minimum((cosines**2).sum(axis=(1, 2)), 1.0)
            return np.stack([np.sqrt(squares), squares])
        if not self.basis.is_orthonormal:
            sides = [np.maximum(cosines.max(axis=axis), 0.0) for axis in (1, 2)]
            widths = self.widths[second], self.widths[first]
            mean = [
                (side**2).sum(axis=1) / np.maximum(w, 1)
                for side, w in zip(sides, widths, strict=True)
            ]
            return np.stack([sides[0].max(axis=1), (mean[0] + mean[1]) / 2])
        gram = cosines @ cosines.swapaxes(1, 2)
        width = np.minimum(self.widths[first], self.widths[second])
        largest = gram[:, 0, 0] if gram.shape[1] == 1 else np.linalg.eigvalsh(gram)[:, -1]
        mean_square = np.trace(gram, axis1=1, axis2=2) / np.maximum(width, 1)
        return np.stack([np.sqrt(np.clip(largest, 0.0, 1.0)), np.minimum(mean_square, 1.0)])

    def of_pairs(self, first: IntArray, second: IntArray) -> FloatArray:
        """Both cosines of some pairs; shape (2, n_pairs)."""
        products = self.columns[first] @ self.columns[second].swapaxes(1, 2)
        return self.angles(products.astype(np.float64), first, second)

    def with_others(self, others: IntArray, n_jobs: int | None) -> FloatArray:
        """Both cosines of every set with some; shape (2, n_sets, n_others).

        One of a set with itself is no finding, and NaN.
        """
        n, d, width = self.columns.shape
        found = np.full((2, n, len(others)), np.nan)
        right = np.ascontiguousarray(self.columns[others]).reshape(-1, width).T
        rows = max(1, _BLOCK_BYTES // (8 * d * d * max(1, len(others))))

        def compare(start: int) -> None:
            own = np.arange(start, min(start + rows, n))
            products = self.columns[own].reshape(-1, width) @ right
            blocks = products.reshape(len(own), d, len(others), d).swapaxes(1, 2)
            one, other = np.repeat(own, len(others)), np.tile(others, len(own))
            raw = self.angles(blocks.reshape(-1, d, d).astype(np.float64), one, other)
            raw[:, one == other] = np.nan
            found[:, own] = raw.reshape(2, len(own), -1)

        for _ in in_threads(compare, range(0, n, rows), n_jobs):
            pass
        return found


def stacked_bases(
    representation: Representation,
    bases_of: Callable[[int], SetBases],
    n: int,
    offered: tuple[int, ...],
    n_jobs: int | None,
) -> Iterator[StackedBases]:
    """Bases of all sets in one representation, for each number of columns in turn."""
    basis = representation.basis
    if isinstance(basis, Vectors):
        basis = Vectors(min(MOST_VECTORS, basis.most))
        representation = replace(representation, basis=basis)
    is_nested = basis.name in _NESTED
    kept = offered[-1:] if is_nested else offered
    width = bases_of(0).of(representation)[-1].shape[0]
    stacks = {d: np.zeros((n, basis.most_columns(d), width), dtype=np.float32) for d in kept}
    widths = {d: np.zeros(n, dtype=np.int64) for d in kept}

    def make(part: range) -> None:
        for i in part:
            made = dict(zip(offered, bases_of(i).of(representation), strict=True))
            for d in kept:
                columns = made[d]
                stacks[d][i, : columns.shape[1]] = columns.T
                widths[d][i] = columns.shape[1]

    in_parts(make, n, n_jobs, f"bases, {representation}")
    for d in offered:
        of, most = kept[-1] if is_nested else d, basis.most_columns(d)
        part = np.minimum(widths[of], most)
        used = max(1, int(part.max()))
        yield StackedBases(stacks[of][:, :used], part, basis, d)
