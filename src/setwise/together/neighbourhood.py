"""Scores for the pairs of sets that are near each other, where all pairs would be too many.

The index finds the sets around each set, and angles compare the bases of these alone: edges
would need a graph of all sets. Scores are standardised over a sample of all sets, since the
near ones are no measure of what is usual.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from setwise._support.parallel import in_parts
from setwise._support.types import FloatArray, IntArray
from setwise.features.views import Images, shown_widths
from setwise.gallery.bases import SetBases, find_inliers, usable_dims
from setwise.gallery.description import Description, Layer, Member
from setwise.gallery.index_rows import index_rows, shown
from setwise.gallery.shortlist import fitted_to_sample
from setwise.index.base import Rows
from setwise.sets import SetBatch
from setwise.together.pairs import PairScores, Scores
from setwise.together.stacked import ANGLES, StackedBases, asked_angles, stacked_bases

# Sets around each set that it is compared with, and sets that say which scores are usual.
N_NEAR, N_USUAL = 24, 64


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

    if not any(isinstance(one, type(angle)) for one in how.evidence for angle in ANGLES):
        how = replace(how, evidence=ANGLES)
    members, raw, scales = [], [], []
    for representation in how.representations:
        basis = representation.basis
        kinds = asked_angles(how, basis)
        for stack in stacked_bases(representation, bases_of, n, basis.offered(dims), n_jobs):
            layer = Layer(representation, stack.dims)
            members += [Member(layer, ANGLES[kind]) for kind in kinds]
            scores, deviations = standardised_angles(stack, pairs, usual, n_jobs)
            raw.append(scores[kinds])
            scales.append(deviations[kinds])
    scores, deviations = np.concatenate(raw), np.concatenate(scales)
    return _both_ways(sets.names, tuple(members), pairs, scores, deviations)


def _both_ways(
    names: tuple[str, ...],
    members: tuple[Member, ...],
    pairs: tuple[IntArray, IntArray],
    scores: Scores,
    deviations: FloatArray,
) -> PairScores:
    """Scores as sparse rows, of scores of each pair for its first set and for its second."""
    first, second = pairs
    n = len(names)
    places = np.concatenate([first, second]), np.concatenate([second, first])
    numbers = np.arange(1, 2 * len(first) + 1)
    pattern = sp.csr_array((numbers, places), shape=(n, n))
    pattern.sort_indices()
    rows = scores.reshape(len(members), -1)[:, pattern.data - 1]
    indptr, indices = pattern.indptr.astype(np.int64), pattern.indices.astype(np.int64)
    return PairScores(names, members, indptr, indices, rows, deviations)


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


def standardised_angles(
    bases: StackedBases, pairs: tuple[IntArray, IntArray], usual: IntArray, n_jobs: int | None
) -> tuple[Scores, FloatArray]:
    """Both cosines of each pair, standardised for its first set and for its second.

    Shape (2 cosines, 2 sets of the pair, n_pairs), and the deviations of each set's cosines
    with the usual sets, of shape (2, n_sets).
    """
    raw = bases.with_others(usual, n_jobs)
    mean, deviations = np.nanmean(raw, axis=2), np.nanstd(raw, axis=2)
    is_flat = deviations <= 1e-9
    scale = np.where(is_flat, 0.0, 1.0 / np.where(is_flat, 1.0, deviations))
    first, second = pairs
    found = np.empty((2, 2, len(first)), dtype=np.float32)

    def compare(part: range) -> None:
        one, other = first[part.start : part.stop], second[part.start : part.stop]
        raw = bases.of_pairs(one, other)
        for place, side in enumerate((one, other)):
            found[:, place, part.start : part.stop] = (raw - mean[:, side]) * scale[:, side]

    in_parts(compare, len(first), n_jobs, "compare near sets")
    return found, np.where(is_flat, 0.0, deviations)
