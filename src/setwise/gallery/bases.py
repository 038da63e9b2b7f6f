"""Inliers of sets, and the bases that views and representations make of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np

from setwise._support.parallel import in_parts
from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.features import unit_rows
from setwise.features.views import FeatureTable, FittedView, Images, View, are_equal
from setwise.features.whitening import Moments, Principal
from setwise.gallery.description import Description, Layer, Representation
from setwise.sets import SetBatch


def usable_dims(dims: Sequence[int], set_sizes: IntArray, width: int) -> tuple[int, ...]:
    """The dimensionalities that can tell sets apart; the largest such if all are larger.

    No set has more columns than vectors. And two subspaces of more than half of the features
    always intersect, whatever sets they are of.
    """
    most = max(1, min(int(set_sizes.max()), width // 2))
    return tuple(d for d in dims if d <= most) or (most,)


def every(n: int, most: int) -> int:
    """The step by which at most so many of ``n`` things are chosen."""
    return max(1, -(-n // most))


def tried_sets(codes: IntArray, most: int) -> IntArray:
    """At most so many sets, ascending: evenly chosen from each class, in its order."""
    by_class = np.argsort(codes, kind="stable")
    return np.sort(by_class[:: every(len(codes), most)])


def find_inliers(description: Description, sets: SetBatch, n_jobs: int | None) -> BoolArray:
    """Which vectors of a batch are no outliers of their sets."""
    inliers = np.empty(len(sets.vectors), dtype=np.bool_)

    def look(part: range) -> None:
        for i in part:
            of_set = slice(*sets.offsets[i : i + 2])
            inliers[of_set] = description.inliers(sets[i])

    in_parts(look, len(sets), n_jobs, "find outliers")
    return inliers


@dataclass(frozen=True)
class InlierSets:
    """Vectors of sets without their outliers; each feature of them is computed once."""

    images: Images  # the vectors of all sets, one set after the other
    offsets: IntArray  # first vector of each set, and the end
    is_inlier: BoolArray  # of all vectors that the images are a part of
    # What was learnt from, and shown of, all of them, while a gallery is solved.
    _moments: list[tuple[Any, Moments]] = field(default_factory=list)
    _shown: dict[str, tuple[FittedView, FloatArray]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, description: Description, sets: SetBatch, n_jobs: int | None = None
    ) -> InlierSets:
        """The inliers of a batch."""
        return cls.known(sets, find_inliers(description, sets, n_jobs))

    @classmethod
    def known(
        cls, sets: SetBatch, is_inlier: BoolArray, tables: Sequence[FeatureTable] = ()
    ) -> InlierSets:
        """The inliers of a batch, which were found before, and features that were computed."""
        ends = np.concatenate([[0], np.cumsum(is_inlier)])
        images = Images(sets.vectors, sets.image_shape, tables)
        return cls(images.where(is_inlier), ends[sets.offsets], is_inlier)

    def changed(self, sets: SetBatch, was_there: BoolArray, new: InlierSets) -> InlierSets:
        """Of the sets that follow, where some vectors have gone and those of others come last.

        Nothing is computed of the vectors that stay.
        """
        kept = np.flatnonzero(was_there)
        is_inlier = np.concatenate([self.is_inlier[kept], new.is_inlier])
        tables = [
            FeatureTable.joined([table.taken(kept), new.images.table(table.feature)])
            for table in self.images.tables
        ]
        return InlierSets.known(sets, is_inlier, tables)

    def stored(self, sets: SetBatch) -> InlierSets:
        """The same, without vectors that were converted to double precision."""
        return InlierSets.known(sets, self.is_inlier, self.images.tables)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, i: int) -> Images:
        return self.images.part(int(self.offsets[i]), int(self.offsets[i + 1]))

    def __iter__(self) -> Iterator[Images]:
        return (self[i] for i in range(len(self)))

    @property
    def sizes(self) -> IntArray:
        """Number of vectors of each set."""
        return np.diff(self.offsets)

    def vectors(self, i: int) -> FloatArray:
        """The vectors of a set."""
        return self[i].vectors

    def of_rows(self, parts: Sequence[IntArray]) -> InlierSets:
        """Other sets, each made of some of the vectors, given by their places."""
        offsets = np.concatenate([[0], np.cumsum([len(rows) for rows in parts])])
        rows = np.concatenate(parts)
        shown = {name: (view, made[rows]) for name, (view, made) in self._shown.items()}
        return InlierSets(self.images.where(rows), offsets, self.is_inlier, _shown=shown)

    def take(self, chosen: IntArray) -> InlierSets:
        """Some of the sets."""
        return self.of_rows([np.arange(*self.offsets[i : i + 2]) for i in chosen])

    def batch(self) -> SetBatch:
        """The vectors as sets, whose names are their numbers."""
        return SetBatch(self.images.compact, self.offsets, image_shape=self.images.shape)

    def fitted(
        self, views: Iterable[View], sets: IntArray | None = None
    ) -> dict[str, FittedView]:
        """Views, each once, fitted to the vectors of some sets, or of all."""
        part = self if sets is None else self.take(sets)
        is_chosen = np.ones(len(self), dtype=np.bool_)
        if sets is not None:
            is_chosen = np.isin(np.arange(len(self)), sets)
        rows = np.flatnonzero(np.repeat(is_chosen, self.sizes))

        def principal(feature: Any) -> Principal:
            return self.moments(feature).principal(rows)

        by_name = {view.name: view for view in views}
        return {name: view.fit(part.images, principal) for name, view in by_name.items()}

    def moments(self, feature: Any) -> Moments:
        """Of a feature of all vectors, from which whiteners of some or all are learnt."""
        for known, moments in self._moments:
            if are_equal(feature, known):
                return moments
        self._moments.append((feature, Moments(unit_rows(self.images.seen_by(feature)))))
        return self._moments[-1][1]

    def bases(
        self, views: Mapping[str, FittedView], description: Description, dims: Sequence[int]
    ) -> list[SetBases]:
        """Columns of each set. Vectors of all sets are whitened together, in less time."""
        shown = {name: self._whitened(view) for name, view in views.items() if view.whitens}

        def of(i: int) -> SetBases:
            own = slice(*self.offsets[i : i + 2])
            seen = {name: rows[own] for name, rows in shown.items()}
            return SetBases(self[i], views, description, dims, seen=seen)

        return [of(i) for i in range(len(self))]

    def _whitened(self, view: FittedView) -> FloatArray:
        known, rows = self._shown.get(view.name, (None, None))
        if known is not view or rows is None:
            rows = view.show(self.images)
            self._shown[view.name] = view, rows
        return rows


class SetBases:
    """Columns of one set for any layer, computed when first asked for."""

    def __init__(
        self,
        images: Images,
        views: Mapping[str, FittedView],
        description: Description,
        dims: Sequence[int],
        inliers: BoolArray | None = None,
        seen: Mapping[str, FloatArray] | None = None,
    ) -> None:
        everything = np.ones(len(images), dtype=np.bool_)
        self.inliers = everything if inliers is None else inliers
        self._images = images
        self._views = views
        self._description = description
        self._dims = tuple(dims)
        self._seen: dict[str, FloatArray] = dict(seen or {})
        self._made: dict[tuple[Representation, int], list[FloatArray]] = {}
        self._lock = Lock()  # representations that share a view may ask at the same time

    @property
    def n_inliers(self) -> int:
        """Number of vectors that columns are made of."""
        return int(self.inliers.sum())

    def seen(self, view: str) -> FloatArray:
        """The vectors of the set as a view shows them."""
        fitted = self._views[view]
        if fitted.feature is None and fitted.rest is None:  # cheaper to compute than to keep
            return fitted.show(self._images)
        with self._lock:
            if view not in self._seen:
                self._seen[view] = fitted.show(self._images)
            return self._seen[view]

    def of(self, representation: Representation, start: int = 0) -> list[FloatArray]:
        """Bases of the set in one representation, one for each dimensionality it offers."""
        key = representation, start
        if key not in self._made:
            self._made[key] = self._description.columns(
                self.seen(representation.view.name),
                representation,
                start,
                representation.basis.offered(self._dims),
            )
        return self._made[key]

    def __getitem__(self, layer: Layer) -> FloatArray:
        bases = self.of(layer.representation, layer.start)
        return bases[layer.representation.basis.offered(self._dims).index(layer.n_columns)]

    def shares(self, layer: Layer) -> FloatArray:
        """Share of each vector in each column of a layer: rows sum to 1, of outliers to 0."""
        basis = layer.representation.basis
        columns = self[layer]
        shares = np.zeros((len(self.inliers), columns.shape[1]))
        seen = self.seen(layer.representation.view.name)
        shares[self.inliers] = basis.shares(seen, columns)
        return shares
