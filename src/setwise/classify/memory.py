"""How much memory a gallery will need, asked before it is solved.

Everything that grows is counted: graphs, columns, what views show and learn from, verdicts on
the gallery's own sets, copies in double precision, the directory and the index. Checked
against measured peaks by ``benchmarks/memory.py``: estimates are within 0.7 and 1.5 of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from setwise._support.types import IntArray
from setwise.classify.description import Description, Representation
from setwise.classify.directory import cached_sets
from setwise.classify.gallery_weights import MOST_HALVED, tried_sets
from setwise.index import ExactIndex
from setwise.sets import SetBatch

__all__ = [
    "MOST_LEARNT_FROM",
    "GalleryShape",
    "bytes_of_large",
    "bytes_of_whole",
    "known_widths",
]

# Vectors that views of a large gallery learn from.
MOST_LEARNT_FROM = 50_000
# What learning holds at a time of the vectors it learns from, in doubles: themselves, their
# directions, these centred, and factors of the singular value decomposition.
LEARNING_COPIES = 4
# What one thread has under way for each column of a graph that it solves or cuts: the part of
# its tables of atoms and values that is touched, at most a page of each; and edges, sorted.
TABLE_BYTES = 2 * 4096
EDGE_BYTES = 10_000
# Threads that are counted: with more, each solves another representation, and there are few.
N_THREADS = 2
# How often verdicts are there: by layer, side by side, and by class.
VERDICT_COPIES = 3
# Names, codes and keys of a set.
SET_BYTES = 150


@dataclass(frozen=True)
class GalleryShape:
    """What memory depends on.

    Attributes
    ----------
    n_classes : int
        Number of classes.
    sizes : array of int, shape (n_sets,)
        Vectors of each set.
    n_features : int
        Length of the vectors.
    fewest_sets : int
        Sets of the class that has the fewest.
    """

    n_classes: int
    sizes: IntArray
    n_features: int
    fewest_sets: int = 2

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
    """How long vectors are in each view, by what is known before it is fitted; 0 where not."""
    views = (r.view for r in how.representations)
    return {view.name: 0 if view.steps else n_features for view in views}


def bytes_of_whole(how: Description, shape: GalleryShape, widths: Mapping[str, int]) -> int:
    """What solving a gallery as a whole needs, beyond the sets themselves.

    Parameters
    ----------
    how : Description
        What the classifier is made of, with the dimensionalities in use.
    shape : GalleryShape
        What it is given.
    widths : dict of str to int
        How long vectors are in each view; 0 where that is not known yet.
    """
    graphs = _graphs(how, shape, widths)
    doubles = 2 * 8 * shape.n_vectors * shape.n_features  # all vectors, and those that belong
    views = {r.view.name: r.view for r in how.representations}
    seen = 8 * shape.n_vectors * sum(widths[name] for name, v in views.items() if v.steps)
    columns = max(shape.n_columns(layer.n_columns) for layer in how.layers(how.dims))
    tables = min(16 * max(widths.values()), TABLE_BYTES)
    under_way = N_THREADS * (tables + EDGE_BYTES) * columns
    verdicts = VERDICT_COPIES * _verdicts(how, shape)
    solving = graphs + seen + _bases(how, shape, widths) + max(under_way, verdicts)
    return doubles + max(_learning(how, shape), solving + _second(how, shape, widths))


def bytes_of_large(how: Description, shape: GalleryShape, widths: Mapping[str, int]) -> int:
    """What a gallery of many classes needs, beyond the sets themselves; see above."""
    views = {r.view.name: r.view for r in how.representations}
    costly = sum(widths[name] for name, view in views.items() if view.steps)
    fixed = sum(widths[name] for name in views if not views[name].unfitted().learns)
    rows = 4 * shape.n_sets * (fixed or costly)
    index = 0 if isinstance(how.index, ExactIndex) else 2 * rows
    kept = 4 * shape.n_vectors * costly + rows + index + SET_BYTES * shape.n_sets
    return max(_learning(how, shape, MOST_LEARNT_FROM), kept + _cache(how, shape, widths))


def _graphs(how: Description, shape: GalleryShape, widths: Mapping[str, int]) -> int:
    return sum(
        how.graph.memory(widths[m.representation.view.name], shape.n_columns(m.n_columns))
        for m in how.layers(how.dims)
    )


def _bases(how: Description, shape: GalleryShape, widths: Mapping[str, int]) -> int:
    """Columns of all sets, before they stand side by side."""

    def of(representation: Representation) -> int:
        most = max(representation.basis.offered(how.dims))
        return 8 * widths[representation.view.name] * shape.n_columns(most)

    return sum(of(r) for r in how.representations)


def _verdicts(how: Description, shape: GalleryShape) -> int:
    """Distances and overlaps of the gallery's own sets, left out in turn."""
    if how.weights is None:
        return 0
    n_rows = shape.n_sets if how.distributions == "set" else shape.n_classes
    return 2 * 8 * len(how.members(how.dims)) * len(tried_sets(shape.n_sets)) * n_rows


def _second(how: Description, shape: GalleryShape, widths: Mapping[str, int]) -> int:
    """Another gallery that weights are learnt by: of halves of sets, or of every second set."""
    if how.weights is None:
        return 0
    if shape.fewest_sets == 1:
        sizes = shape.sizes[tried_sets(shape.n_sets, MOST_HALVED)]
        halves = np.concatenate([sizes // 2, sizes - sizes // 2])
        return _graphs(how, replace(shape, sizes=halves), widths)
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


def _cache(how: Description, shape: GalleryShape, widths: Mapping[str, int]) -> int:
    """Columns of sets that were lately near a probe, and the vectors they are made of."""
    n_cached, columns = cached_sets(how, how.dims, max(1, *widths.values()))
    vectors = 2 * 8 * shape.n_features * -(-shape.n_vectors // shape.n_sets)
    return min(shape.n_sets, n_cached) * (columns + vectors)
