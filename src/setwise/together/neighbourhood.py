"""Scores for the pairs of sets that are near each other, where all pairs would be too many.

The index finds the sets around each set, and angles compare the bases of these alone: edges
would need a graph of all sets. Scores are standardised over a sample of all sets, since the
near ones are no measure of what is usual.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from setwise._support.parallel import in_parts
from setwise._support.types import FloatArray, IntArray
from setwise.features.views import Images, shown_widths
from setwise.gallery.bases import SetBases, find_inliers, usable_dims
from setwise.gallery.description import Description, Layer, Representation
from setwise.gallery.evidence import AllAngles, SmallestAngle
from setwise.gallery.index_rows import index_rows, shown
from setwise.gallery.shortlist import fitted_to_sample
from setwise.index.base import Rows
from setwise.sets import SetBatch
from setwise.together.pairs import PairScores, Scores

# Sets around each set that it is compared with, and sets that say which scores are usual.
N_NEAR, N_USUAL = 24, 64
# Bases whose first columns are the basis of fewer columns.
_NESTED = ("mean", "svd", "centred")


def near_pairs(how: Description, sets: SetBatch, n_jobs: int | None) -> PairScores:
    """Scores of the pairs of which either is near the other, by angles."""
    n = len(sets)
    inliers = find_inliers(how, sets, n_jobs)
    views = fitted_to_sample(how, sets, np.arange(n), inliers)
    widths = shown_widths(views, sets.n_features, sets.image_shape)
    dims = usable_dims(how.dims, sets.sizes, max(widths.values()))
    seen = shown(sets, views, n_jobs)
    rows = index_rows(sets, inliers, views, seen, n_jobs)
    pairs, usual = paired(near_sets(how, rows, n_jobs), n), usual_sets(rows)

    def bases_of(i: int) -> SetBases:
        span = slice(int(sets.offsets[i]), int(sets.offsets[i + 1]))
        kept = inliers[span]
        mine = {name: values[span][kept].astype(np.float64) for name, values in seen.items()}
        vectors = np.asarray(sets.vectors[span], dtype=np.float64)[kept]
        images = Images(vectors, sets.image_shape)
        return SetBases(images, views, how, dims, seen=mine)

    members, found = [], []
    for representation in how.representations:
        offered = representation.basis.offered(dims)
        for columns in stacked_bases(representation, bases_of, n, offered, n_jobs):
            name = str(Layer(representation, columns.n_columns))
            members += [f"{name}: {kind}" for kind in (SmallestAngle.name, AllAngles.name)]
            found.append(standardised_angles(columns, pairs, usual, n_jobs))
    scores = np.concatenate(found)
    first, second = pairs
    both = np.concatenate([first, second]), np.concatenate([second, first])
    places = np.tile(np.arange(len(first)), 2)
    pattern = sp.csr_array((places + 1, both), shape=(n, n))
    pattern.sort_indices()
    return PairScores(
        sets.names,
        tuple(members),
        pattern.indptr.astype(np.int64),
        pattern.indices.astype(np.int64),
        scores[:, pattern.data - 1],
    )


def near_sets(how: Description, rows: Rows, n_jobs: int | None) -> IntArray:
    """The sets around each set, itself among them mostly, shape (n_sets, n_near + 1)."""
    n = len(rows)
    found = np.empty((n, min(N_NEAR + 1, n)), dtype=np.int64)
    index = how.index.build(rows, np.arange(n))

    def search(part: range) -> None:
        found[part.start : part.stop] = index.nearest_of_each(
            rows[part.start : part.stop], found.shape[1]
        )

    in_parts(search, n, n_jobs, "find near sets")
    return found


def paired(near: IntArray, n: int) -> tuple[IntArray, IntArray]:
    """Each pair of different sets once, in order, where either is near the other."""
    own = np.repeat(np.arange(n), near.shape[1])
    small, large = np.minimum(own, near.ravel()), np.maximum(own, near.ravel())
    codes = np.unique((small * n + large)[small != large])
    return codes // n, codes % n


def usual_sets(rows: Rows) -> IntArray:
    """Sets spread over all of them, whatever the order they come in."""
    order = np.lexsort(rows.T[:8])
    return np.sort(order[:: max(1, len(rows) // N_USUAL)][:N_USUAL])


@dataclass(frozen=True)
class StackedBases:
    """Bases of all sets in one layer; sets of fewer columns are filled up with zeros."""

    columns: Scores  # (n_sets, n_columns, n_features)
    widths: IntArray
    is_orthonormal: bool

    @property
    def n_columns(self) -> int:
        """Columns of the layer."""
        return self.columns.shape[1]

    def angles(self, cosines: FloatArray, first: IntArray, second: IntArray) -> FloatArray:
        """Both cosines of pairs of sets, given the products of their columns; (2, n)."""
        if not self.is_orthonormal:
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


def stacked_bases(
    representation: Representation,
    bases_of: Callable[[int], SetBases],
    n: int,
    offered: tuple[int, ...],
    n_jobs: int | None,
) -> Iterator[StackedBases]:
    """Bases of all sets in one representation, for each number of columns in turn."""
    basis = representation.basis
    is_nested = basis.name in _NESTED
    kept = offered[-1:] if is_nested else offered
    width = bases_of(0).of(representation)[-1].shape[0]
    stacks = {d: np.zeros((n, d, width), dtype=np.float32) for d in kept}
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
        of = kept[-1] if is_nested else d
        part = np.minimum(widths[of], d)
        yield StackedBases(stacks[of][:, :d], part, basis.is_orthonormal)


def standardised_angles(
    bases: StackedBases, pairs: tuple[IntArray, IntArray], usual: IntArray, n_jobs: int | None
) -> Scores:
    """Both cosines of each pair, standardised for either set and averaged; (2, n_pairs)."""
    mean, scale = usual_angles(bases, usual, n_jobs)
    first, second = pairs
    found = np.empty((2, len(first)), dtype=np.float32)

    def compare(part: range) -> None:
        one, other = first[part.start : part.stop], second[part.start : part.stop]
        raw = bases.of_pairs(one, other)
        by_side = [(raw - mean[:, side]) * scale[:, side] for side in (one, other)]
        found[:, part.start : part.stop] = (by_side[0] + by_side[1]) / 2

    in_parts(compare, len(first), n_jobs, "compare near sets")
    return found


def usual_angles(
    bases: StackedBases, usual: IntArray, n_jobs: int | None
) -> tuple[FloatArray, FloatArray]:
    """Mean of both cosines of each set with the usual ones, and one over their deviation."""
    n, d, width = bases.columns.shape
    mean, scale = np.zeros((2, n)), np.zeros((2, n))
    others = np.ascontiguousarray(bases.columns[usual]).reshape(-1, width)

    def measure(part: range) -> None:
        own = np.arange(part.start, part.stop)
        products = bases.columns[own].reshape(-1, width) @ others.T
        blocks = products.reshape(len(own), d, len(usual), d).swapaxes(1, 2)
        one, other = np.repeat(own, len(usual)), np.tile(usual, len(own))
        raw = bases.angles(blocks.reshape(-1, d, d).astype(np.float64), one, other)
        values = np.where(one == other, np.nan, raw).reshape(2, len(own), len(usual))
        mean[:, own] = np.nanmean(values, axis=2)
        deviation = np.nanstd(values, axis=2)
        is_flat = deviation <= 1e-9
        scale[:, own] = np.where(is_flat, 0.0, 1.0 / np.where(is_flat, 1.0, deviation))

    in_parts(measure, n, n_jobs, "measure usual angles")
    return mean, scale
