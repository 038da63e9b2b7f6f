"""Memory that a gallery will need, estimated before it is solved.

Estimates are within 0.7 and 1.5 of measured peaks (``benchmarks/memory.py``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from setwise._support.types import IntArray
from setwise.gallery.bases import every
from setwise.gallery.description import Description, Representation
from setwise.index import ExactIndex
from setwise.sets import SetBatch

# Gallery sets that members are tried on: enough to find out whether one knows anything.
MOST_OWN_SETS = 500
# Sets that are cut into halves instead, and halves of each side that are judged.
MOST_HALVED, MOST_ASKED = 250, 100
# Groups of classes, each of which is unknown to the others in turn.
N_FOLDS = 4
# Vectors that views of a large gallery learn from.
MOST_LEARNT_FROM = 50_000
# Bytes of cached columns of sets that were lately near a probe; and sets, however large.
CACHE_BYTES, FEWEST_CACHED = 256 * 2**20, 512
# Copies, in doubles, of the vectors that views learn from: themselves, their directions, these
# centred, and factors of the singular value decomposition.
LEARNING_COPIES = 4
# Of each column of a graph that one thread solves or cuts: the part of its tables of atoms and
# values that is touched, at most a page of each; and edges, sorted.
TABLE_BYTES = 2 * 4096
EDGE_BYTES = 10_000
# Threads that are counted: with more, each solves another representation, and there are few.
N_THREADS = 2
# Copies of the scores of trials: by layer, side by side, and by class.
SCORE_COPIES = 3
# Names, codes and keys of a set.
SET_BYTES = 150


@dataclass(frozen=True)
class GalleryShape:
    """Numbers that memory depends on."""

    n_classes: int
    sizes: IntArray  # vectors of each set
    n_features: int
    fewest_sets: int = 2  # of the class that has the fewest

    @classmethod
    def of(cls, sets: SetBatch, codes: IntArray) -> GalleryShape:
        """The shape of labelled sets."""
        counts = np.bincount(codes)
        return cls(len(counts), sets.sizes, sets.n_features, int(counts.min()))

    @property
    def n_sets(self) -> int:
        """Number of sets."""
        return len(self.sizes)

    @property
    def n_vectors(self) -> int:
        """Vectors of all sets."""
        return int(self.sizes.sum())

    def n_columns(self, per_set: int) -> int:
        """Columns of all sets, where each has so many if it can."""
        return int(np.minimum(self.sizes, per_set).sum())


def known_widths(how: Description, n_features: int) -> dict[str, int]:
    """Length of vectors in each view, 0 where only its fitting will tell."""
    views = (r.view for r in how.representations)
    return {view.name: 0 if view.steps else n_features for view in views}


def bytes_of_whole(how: Description, shape: GalleryShape, widths: Mapping[str, int]) -> int:
    """Bytes that solving a gallery as a whole needs, beyond the sets themselves."""
    graphs = _graphs(how, shape, widths)
    doubles = 2 * 8 * shape.n_vectors * shape.n_features  # all vectors, and the inliers
    views = {r.view.name: r.view for r in how.representations}
    seen = 8 * shape.n_vectors * sum(widths[name] for name, v in views.items() if v.steps)
    columns = max(shape.n_columns(layer.n_columns) for layer in how.ensemble(how.dims).layers)
    tables = min(16 * max(widths.values()), TABLE_BYTES)
    under_way = N_THREADS * (tables + EDGE_BYTES) * columns
    scores = SCORE_COPIES * _scores(how, shape)
    solving = graphs + seen + _bases(how, shape, widths) + max(under_way, scores)
    return doubles + max(_learning(how, shape), solving + _second(how, shape, widths))


def bytes_of_large(how: Description, shape: GalleryShape, widths: Mapping[str, int]) -> int:
    """Bytes that a gallery of many classes needs, beyond the sets themselves."""
    views = {r.view.name: r.view for r in how.representations}
    costly = sum(widths[name] for name, view in views.items() if view.steps)
    fixed = sum(widths[name] for name in views if not views[name].unfitted().learns)
    rows = 4 * shape.n_sets * (fixed or costly)
    index = 0 if isinstance(how.index, ExactIndex) else 2 * rows
    kept = 4 * shape.n_vectors * costly + rows + index + SET_BYTES * shape.n_sets
    return max(_learning(how, shape, MOST_LEARNT_FROM), kept + _cache(how, shape, widths))


def _graphs(how: Description, shape: GalleryShape, widths: Mapping[str, int]) -> int:
    total = 0
    for layer in how.ensemble(how.dims).layers:
        r = layer.representation
        n_columns = shape.n_columns(r.basis.most_columns(layer.n_columns))
        total += how.graph_of(r).memory(widths[r.view.name], n_columns)
    return total


def _bases(how: Description, shape: GalleryShape, widths: Mapping[str, int]) -> int:
    """Columns of all sets, before they stand side by side."""
    return sum(
        8 * widths[r.view.name] * shape.n_columns(_most_columns(r, how.dims))
        for r in how.representations
    )


def _most_columns(representation: Representation, dims: Sequence[int]) -> int:
    """Columns of a set in the largest basis of a representation."""
    basis = representation.basis
    return max(basis.most_columns(d) for d in basis.offered(dims))


def n_tried(n_sets: int, most: int) -> int:
    """Number of sets that are tried of so many."""
    return -(-n_sets // every(n_sets, most))


def _scores(how: Description, shape: GalleryShape) -> int:
    """Distances and overlaps of trials."""
    if how.weights is None:
        return 0
    n_targets = shape.n_sets if how.distributions == "set" else shape.n_classes
    n_members = len(how.ensemble(how.dims).members)
    n_sets = n_tried(shape.n_sets, MOST_OWN_SETS)
    return 2 * 8 * n_members * n_sets * n_targets


def _second(how: Description, shape: GalleryShape, widths: Mapping[str, int]) -> int:
    """Another gallery that weights are learnt by: of halves of sets, or of every second set."""
    if how.weights is None:
        return 0
    if shape.fewest_sets == 1:
        sizes = shape.sizes[:: every(shape.n_sets, MOST_HALVED)]
        return _graphs(how, replace(shape, sizes=sizes - sizes // 2), widths)
    has_few = shape.n_vectors <= shape.n_features  # then it is judged by others
    learns = any(r.view.unfitted().learns for r in how.representations)
    if not (learns and has_few):
        return 0
    return _graphs(how, replace(shape, sizes=shape.sizes[::2]), widths)


def _learning(how: Description, shape: GalleryShape, most: int | None = None) -> int:
    if not any(r.view.unfitted().learns for r in how.representations):
        return 0
    n_vectors = shape.n_vectors if most is None else min(shape.n_vectors, most)
    return LEARNING_COPIES * 8 * n_vectors * shape.n_features


def cached_sets(how: Description, dims: Sequence[int], width: int) -> tuple[int, int]:
    """Sets whose columns are cached, and bytes of those of one."""
    n_bytes = 8 * width * sum(_most_columns(r, dims) for r in how.representations)
    return max(CACHE_BYTES // n_bytes, FEWEST_CACHED), n_bytes


def _cache(how: Description, shape: GalleryShape, widths: Mapping[str, int]) -> int:
    """Columns of sets that were lately near a probe, and the vectors they are made of."""
    n_cached, columns = cached_sets(how, how.dims, max(1, *widths.values()))
    vectors = 2 * 8 * shape.n_features * -(-shape.n_vectors // shape.n_sets)
    return min(shape.n_sets, n_cached) * (columns + vectors)
