"""The sets of a large gallery, looked up when they are needed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.parallel import in_parts, lazy
from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.classify.description import Description
from setwise.classify.gallery import SetBases
from setwise.features import unit_rows
from setwise.features.views import FittedView, Images, shown_widths
from setwise.index import BuiltIndex
from setwise.index.base import Rows
from setwise.sets import SetBatch
from setwise.sets.classifier import largest_by_class

__all__ = [
    "Directory",
    "cached_sets",
    "costly_views",
    "index_row",
    "index_width",
    "shown",
]

# Columns of sets that were lately near a probe.
CACHE_BYTES = 256 * 2**20
# However large they are: those around some probes.
FEWEST_CACHED = 512


@dataclass(frozen=True)
class Directory:
    """Where the sets of a large gallery are, and their bases when asked for.

    Attributes
    ----------
    sets : SetBatch
        All sets, in the type they came in.
    codes : array of int, shape (n_sets,)
        Class of each.
    is_kept : array of bool, shape (n_vectors,)
        Vectors that belong to their sets.
    views : dict of str to FittedView
        What they may be seen in.
    seen : dict of str to array of float32, shape (n_vectors, width)
        What views show that cost something to see through.
    description : Description
        Says how columns are made.
    dims : tuple of int
        Dimensionalities in use.
    rows : array of float32, shape (n_sets, width)
        One vector per set, for the index.
    keys : array of int, shape (n_sets,)
        What the index calls each set, ascending.
    index : BuiltIndex
        Finds the nearest rows.
    """

    sets: SetBatch
    codes: IntArray
    is_kept: BoolArray
    views: Mapping[str, FittedView]
    seen: Mapping[str, npt.NDArray[np.float32]]
    description: Description
    dims: tuple[int, ...]
    rows: Rows
    keys: IntArray
    index: BuiltIndex

    @classmethod
    def made(
        cls,
        description: Description,
        sets: SetBatch,
        codes: IntArray,
        is_kept: BoolArray,
        views: Mapping[str, FittedView],
        dims: tuple[int, ...],
        n_jobs: int | None,
    ) -> Directory:
        """The directory of a gallery that nobody has looked at before."""
        seen = shown(sets, views, n_jobs)
        keys = np.arange(len(sets))
        rows = _rows(sets, is_kept, views, seen, n_jobs)
        index = description.index.build(rows, keys)
        return cls(sets, codes, is_kept, views, seen, description, dims, rows, keys, index)

    def changed(
        self,
        sets: SetBatch,
        codes: IntArray,
        stays: BoolArray,
        is_kept: BoolArray,
        n_jobs: int | None,
    ) -> Directory:
        """The directory without some of its sets and with others at its end.

        Parameters
        ----------
        sets, codes
            The old sets that stay and the new ones, and their classes.
        stays : array of bool
            Which of the old sets stay.
        is_kept : array of bool
            Vectors of the new sets that belong to them.
        n_jobs : int, optional
            Threads.
        """
        new = sets[np.arange(int(stays.sum()), len(sets))]
        new_seen = shown(new, self.views, n_jobs)
        new_rows = _rows(new, is_kept, self.views, new_seen, n_jobs)
        was_there = np.repeat(stays, self.sets.sizes)
        first = int(self.keys[-1]) + 1
        keys = np.concatenate([self.keys[stays], np.arange(first, first + len(new))])
        rows = np.concatenate([self.rows[stays], new_rows])
        return replace(
            self,
            sets=sets,
            codes=codes,
            is_kept=np.concatenate([self.is_kept[was_there], is_kept]),
            seen={
                name: np.concatenate([values[was_there], new_seen[name]])
                for name, values in self.seen.items()
            },
            rows=rows,
            keys=keys,
            index=self.index.changed(rows, keys),
        )

    def __getstate__(self) -> dict[str, Any]:
        # Without what is kept of sets lately asked for: that stays where it is.
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @lazy
    def _by_class(self) -> tuple[IntArray, IntArray]:
        """Sets in the order of their classes, and where each class begins."""
        order = np.argsort(self.codes, kind="stable")
        n_classes = int(self.codes.max()) + 1
        return order, np.searchsorted(self.codes[order], np.arange(n_classes + 1))

    def sets_of(self, classes: IntArray) -> IntArray:
        """The sets of some classes, ascending."""
        order, first = self._by_class
        parts = [order[first[code] : first[code + 1]] for code in classes]
        return np.sort(np.concatenate(parts))

    def rows_of(self, i: int) -> slice:
        """Where the vectors of a set are."""
        return slice(int(self.sets.offsets[i]), int(self.sets.offsets[i + 1]))

    def bases(self, i: int) -> SetBases:
        """Columns of a gallery set, for any layer; those lately asked for are kept."""
        return self._bases(int(i))

    @lazy
    def _bases(self) -> Any:
        widths = [values.shape[1] for values in self.seen.values()] or [self.sets.n_features]
        n_sets, _ = cached_sets(self.description, self.dims, max(widths))
        return lru_cache(maxsize=n_sets)(self.bases_of_part)

    def bases_of_part(self, i: int, part: IntArray | slice = slice(None)) -> SetBases:
        """Columns of some of the vectors that belong to a set, of what is seen of them."""
        rows = self.rows_of(i)
        kept = self.is_kept[rows]
        seen = {name: values[rows][kept][part] for name, values in self.seen.items()}
        images = Images(self.kept_vectors(i)[part], self.sets.image_shape)
        return SetBases(images, self.views, self.description, self.dims, seen=_doubles(seen))

    def kept_vectors(self, i: int) -> FloatArray:
        """The vectors that belong to a set."""
        rows = self.rows_of(i)
        return np.asarray(self.sets.vectors[rows], dtype=np.float64)[self.is_kept[rows]]

    def nearest_classes(self, probe: SetBases, hidden: Collection[int] = ()) -> IntArray:
        """Classes to judge a probe by, ascending.

        Parameters
        ----------
        probe : SetBases
            What is asked about.
        hidden : collection of int
            Sets that must not be found: a class of no others is none.
        """
        how = self.description.shortlist
        assert how is not None  # noqa: S101
        compared = self._around(probe, how.n_compared, frozenset(hidden))
        sets = np.array([i for i in self.sets_of(compared) if i not in hidden])
        likeness = self._likeness(probe, sets)
        places = np.searchsorted(compared, self.codes[sets])
        best = largest_by_class(likeness, places, len(compared))
        # In single precision: the last digit must not depend on who stands beside whom.
        order = np.argsort(-best.astype(np.float32), kind="stable")
        return np.sort(compared[order[: how.n_classes]])

    def _around(self, probe: SetBases, n_classes: int, hidden: frozenset[int]) -> IntArray:
        """Classes whose sets' means are nearest, ascending; as many as are wanted."""
        query = index_row(probe.seen, self.views)
        n = 2 * n_classes + len(hidden)
        while True:
            places = np.searchsorted(self.keys, self.index.nearest(query, n))
            shown = [i for i in places if i not in hidden]
            found = list(dict.fromkeys(self.codes[shown].tolist()))
            if len(found) >= n_classes or n >= len(self.keys):
                return np.sort(found[:n_classes])
            n *= 2

    def _likeness(self, probe: SetBases, sets: IntArray) -> FloatArray:
        """How like each set is: mean, over views and probe's vectors, of the best cosine."""
        spans = [self.rows_of(i) for i in sets]
        rows = np.concatenate([np.arange(span.start, span.stop) for span in spans])
        rows = rows[self.is_kept[rows]]
        sizes = [int(self.is_kept[span].sum()) for span in spans]
        first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        total = np.zeros(len(sets))
        for name in self.views:
            values = np.asarray(self.seen.get(name, self.sets.vectors)[rows], dtype=np.float64)
            cosines = unit_rows(probe.seen(name)) @ unit_rows(values).T
            total += np.maximum.reduceat(cosines, first, axis=1).mean(axis=0)
        return total


def cached_sets(description: Description, dims: Sequence[int], width: int) -> tuple[int, int]:
    """Of how many sets columns are kept, and bytes of those of one."""
    n_bytes = 8 * width * max(dims) * len(description.representations)
    return max(CACHE_BYTES // n_bytes, FEWEST_CACHED), n_bytes


def index_row(seen: Callable[[str], FloatArray], views: Mapping[str, FittedView]) -> Rows:
    """What the index knows a set by: the directions of its means, side by side.

    In each view that does not learn from the gallery, so that nobody's row changes when
    others come and go.

    Parameters
    ----------
    seen : callable
        Gives the set's vectors as a view shows them.
    views : dict of str to FittedView
        What there is to see them in.
    """
    names = _indexed(views)
    means = [unit_rows(seen(name)).mean(axis=0, keepdims=True) for name in names]
    row = np.concatenate([unit_rows(mean) for mean in means], axis=1)
    return unit_rows(row)[0].astype(np.float32)


def index_width(sets: SetBatch, views: Mapping[str, FittedView]) -> int:
    """How long the rows of the index are."""
    widths = shown_widths(views, sets.n_features, sets.image_shape)
    return sum(widths[name] for name in _indexed(views))


def _indexed(views: Mapping[str, FittedView]) -> list[str]:
    """The views that learn nothing from the gallery; all of them where every one does."""
    fixed = [name for name, view in views.items() if not view.learns and not view.has_lengths]
    return fixed or list(views)


def costly_views(views: Mapping[str, FittedView]) -> list[str]:
    """Those through which a vector costs something to see."""
    return [name for name, view in views.items() if view.feature is not None or view.learns]


def shown(
    sets: SetBatch, views: Mapping[str, FittedView], n_jobs: int | None
) -> dict[str, npt.NDArray[np.float32]]:
    """What those views show of all vectors that cost something to see through.

    Set by set: what a product gives may depend, in its last digit, on what it is computed
    with, and nobody may look otherwise for who else is in the gallery.
    """
    costly = {name: views[name] for name in costly_views(views)}
    if not costly:
        return {}
    widths = shown_widths(costly, sets.n_features, sets.image_shape)
    seen = {
        name: np.empty((len(sets.vectors), width), dtype=np.float32)
        for name, width in widths.items()
    }

    def look(part: range) -> None:
        for i in part:
            images = Images(np.asarray(sets[i], dtype=np.float64), sets.image_shape)
            for name, view in costly.items():
                seen[name][sets.offsets[i] : sets.offsets[i + 1]] = view.show(images)

    in_parts(look, len(sets), n_jobs, "look at all sets")
    return seen


def _rows(
    sets: SetBatch,
    is_kept: BoolArray,
    views: Mapping[str, FittedView],
    seen: Mapping[str, npt.NDArray[np.float32]],
    n_jobs: int | None,
) -> Rows:
    """One row for each set, for the index."""

    def row(i: int) -> Rows:
        span = slice(int(sets.offsets[i]), int(sets.offsets[i + 1]))
        kept = is_kept[span]

        def of_view(name: str) -> FloatArray:
            if name in seen:
                return np.asarray(seen[name][span], dtype=np.float64)[kept]
            vectors = np.asarray(sets.vectors[span], dtype=np.float64)[kept]
            return views[name].show(Images(vectors, sets.image_shape))

        return index_row(of_view, views)

    rows = np.empty((len(sets), index_width(sets, views)), dtype=np.float32)

    def fill(part: range) -> None:
        for i in part:
            rows[i] = row(i)

    in_parts(fill, len(sets), n_jobs, "index all sets")
    return rows


def _doubles(seen: Mapping[str, npt.NDArray[Any]]) -> dict[str, FloatArray]:
    return {name: values.astype(np.float64) for name, values in seen.items()}
