"""Galleries of many classes: each probe is judged by the classes around it alone.

An index over one vector per set finds near classes, their vectors are compared with the
probe's, and the nearest become candidates, whose graphs are solved for this probe. Weights and
thresholds are learnt from a sample of sets, each judged by what is around it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from setwise._support.memory import require_memory
from setwise._support.parallel import in_threads, lazy
from setwise._support.progress import reported
from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.features import unit_rows
from setwise.features.views import FittedView, Images, shown_widths
from setwise.gallery.bases import InlierSets, SetBases, find_inliers, tried_sets, usable_dims
from setwise.gallery.candidates import Candidates
from setwise.gallery.description import Description, Layer
from setwise.gallery.fusion import ScoreMatrix
from setwise.gallery.gallery import (
    Gallery,
    LeftOut,
    Overrides,
    Solution,
    SolvedLayer,
    UpdatePlan,
)
from setwise.gallery.index_rows import index_row, index_rows, shown
from setwise.gallery.memory import (
    MOST_LEARNT_FROM,
    GalleryShape,
    bytes_of_large,
    cached_sets,
    known_widths,
)
from setwise.gallery.outliers import KnownVectors, OutlierScale, compared_sets
from setwise.gallery.trials import FEWEST_TO_HALVE, Trials, even_calibration, halves
from setwise.index import BuiltIndex
from setwise.index.base import Rows
from setwise.sets import SetBatch
from setwise.sets.classifier import largest_by_class

# Sets that members are tried on. The share of right answers of a member, and so its weight, has
# a standard error of at most half of 1 / sqrt(200): 3.5 points.
MOST_TRIED = 200
# Sets that are tried as if their classes were unknown.
MOST_UNKNOWN = 400
# Class, columns and overrides of a probe.
_Trial = tuple[int, SetBases, Overrides]


@dataclass(frozen=True)
class ShortlistSolution(Solution):
    """Sets of a large gallery, and the index that finds those around a probe."""

    is_shortlist: ClassVar[bool] = True

    sets: SetBatch
    codes: IntArray
    inliers: BoolArray  # of all vectors
    views: Mapping[str, FittedView]
    seen: Mapping[str, npt.NDArray[np.float32]]  # all vectors in costly views
    description: Description
    dims: tuple[int, ...]
    rows: Rows  # one vector per set, for the index
    keys: IntArray  # name of each set in the index, ascending
    index: BuiltIndex

    def __getstate__(self) -> dict[str, Any]:
        """All but cached bases."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def around(
        self, gallery: Gallery, probe: SetBases, overrides: Overrides | None = None
    ) -> Candidates:
        """The classes nearest to the probe, and its active layers, solved for it.

        Judging by them gives what :func:`setwise.gallery.solve` would, given these classes
        alone and everything that was learnt from the whole gallery.
        """
        active = gallery.active_layers(probe.n_inliers)
        return self._around(gallery, probe, overrides or {}, active)

    def _around(
        self, gallery: Gallery, probe: SetBases, overrides: Overrides, active: Collection[int]
    ) -> Candidates:
        hidden = {i for i, other in overrides.items() if other is None}
        classes = self.nearest_classes(probe, hidden)
        sets = np.array([i for i in self.sets_of(classes) if i not in hidden])
        bases = [overrides.get(int(i)) or self.bases(i) for i in sets]
        codes = np.searchsorted(classes, self.codes[sets])
        layers = gallery.ensemble.layers
        solved = {i: self._solved(layers[i], bases) for i in sorted(active)}
        return Candidates(gallery, gallery.classes[classes], sets, codes, solved)

    def _solved(self, layer: Layer, bases: Sequence[SetBases]) -> SolvedLayer:
        parts = [one[layer] for one in bases]
        column_sets = np.repeat(np.arange(len(parts)), [part.shape[1] for part in parts])
        how = self.description.graph_of(layer.representation)
        graph = how.for_one_probe(np.hstack(parts))
        return SolvedLayer(layer, graph, column_sets)

    def nearest_classes(self, probe: SetBases, hidden: Collection[int] = ()) -> IntArray:
        """Codes of the classes that a probe is judged by, ascending; without hidden sets."""
        how = self.description.shortlist
        assert how is not None  # noqa: S101
        compared = self._near_classes(probe, how.n_compared, hidden)
        sets = np.array([i for i in self.sets_of(compared) if i not in hidden])
        likeness = self._likeness(probe, sets)
        places = np.searchsorted(compared, self.codes[sets])
        best = largest_by_class(likeness, places, len(compared))
        # In single precision: the last digit must not depend on the other candidates.
        order = np.argsort(-best.astype(np.float32), kind="stable")
        return np.sort(compared[order[: how.n_classes]])

    def _near_classes(
        self, probe: SetBases, n_classes: int, hidden: Collection[int]
    ) -> IntArray:
        """Classes whose sets' rows are nearest in the index, ascending."""
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
        """Likeness of each set: sum over views of the mean of the probe's best cosines."""
        spans = [self._vectors_of(i) for i in sets]
        rows = np.concatenate([np.arange(span.start, span.stop) for span in spans])
        rows = rows[self.inliers[rows]]
        sizes = [int(self.inliers[span].sum()) for span in spans]
        first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        total = np.zeros(len(sets))
        for name in self.views:
            values = np.asarray(self.seen.get(name, self.sets.vectors)[rows], dtype=np.float64)
            cosines = unit_rows(probe.seen(name)) @ unit_rows(values).T
            total += np.maximum.reduceat(cosines, first, axis=1).mean(axis=0)
        return total

    @lazy
    def _by_class(self) -> tuple[IntArray, IntArray]:
        """Sets in the order of their classes, and where each class begins."""
        order = np.argsort(self.codes, kind="stable")
        n_classes = int(self.codes.max()) + 1
        return order, np.searchsorted(self.codes[order], np.arange(n_classes + 1))

    def sets_of(self, classes: IntArray) -> IntArray:
        """The sets of some classes, ascending."""
        order, first = self._by_class
        return np.sort(np.concatenate([order[first[c] : first[c + 1]] for c in classes]))

    def _vectors_of(self, i: int) -> slice:
        return slice(int(self.sets.offsets[i]), int(self.sets.offsets[i + 1]))

    def bases(self, i: int) -> SetBases:
        """Columns of a gallery set, for any layer; those lately used are cached."""
        return self._cached_bases(int(i))

    @lazy
    def _cached_bases(self) -> Any:
        widths = [values.shape[1] for values in self.seen.values()] or [self.sets.n_features]
        n_sets, _ = cached_sets(self.description, self.dims, max(widths))
        return lru_cache(maxsize=n_sets)(self.bases_of_part)

    def bases_of_part(self, i: int, part: IntArray | slice = slice(None)) -> SetBases:
        """Columns of some of the inliers of a set."""
        span = self._vectors_of(i)
        inliers = self.inliers[span]
        kept = {name: values[span][inliers][part] for name, values in self.seen.items()}
        seen = {name: values.astype(np.float64) for name, values in kept.items()}
        images = Images(self.inlier_vectors(i)[part], self.sets.image_shape)
        return SetBases(images, self.views, self.description, self.dims, seen=seen)

    def inlier_vectors(self, i: int) -> FloatArray:
        """The inliers of a set."""
        span = self._vectors_of(i)
        return np.asarray(self.sets.vectors[span], dtype=np.float64)[self.inliers[span]]

    def updated(
        self, changed: Gallery, plan: UpdatePlan, n_jobs: int | None
    ) -> ShortlistSolution:
        """Without some of the sets and with others at the end; nothing outside is written."""
        sets, stays = changed.sets, plan.stays
        new = sets[np.arange(plan.n_kept, len(sets))]
        inliers = find_inliers(self.description, new, n_jobs)
        new_seen = shown(new, self.views, n_jobs)
        new_rows = index_rows(new, inliers, self.views, new_seen, n_jobs)
        was_there = np.repeat(stays, self.sets.sizes)
        first = int(self.keys[-1]) + 1
        keys = np.concatenate([self.keys[stays], np.arange(first, first + len(new))])
        rows = np.concatenate([self.rows[stays], new_rows])
        return replace(
            self,
            sets=sets,
            codes=changed.codes,
            inliers=np.concatenate([self.inliers[was_there], inliers]),
            seen={
                name: np.concatenate([values[was_there], new_seen[name]])
                for name, values in self.seen.items()
            },
            rows=rows,
            keys=keys,
            index=self.index.changed(rows, keys),
        )

    def tried(self, codes: IntArray) -> tuple[bool, IntArray]:
        """Whole sets, where at least half of them are of classes that have others."""
        has_others = np.flatnonzero(np.bincount(codes)[codes] > 1)
        by_sets = 2 * len(has_others) >= len(codes)
        chosen = has_others if by_sets else np.arange(len(codes))
        most = MOST_TRIED if by_sets else MOST_TRIED // 2
        return by_sets, chosen[tried_sets(codes[chosen], most)]

    def left_out(self, gallery: Gallery, chosen: IntArray, n_jobs: int | None) -> Trials:
        """Scores of all members for gallery sets, by what else is around each."""
        tried = [(int(self.codes[i]), self.bases(i), {int(i): None}) for i in chosen]
        return self._trials(gallery, tried, n_jobs)

    def halved(
        self, gallery: Gallery, chosen: IntArray, inliers: InlierSets | None, n_jobs: int | None
    ) -> Trials | None:
        """Scores of all members for either half of a set; the other replaces the set."""
        tried: list[_Trial] = []
        for i in map(int, chosen):
            vectors = self.inlier_vectors(i)
            if len(vectors) >= FEWEST_TO_HALVE:
                one, other = (self.bases_of_part(i, half) for half in halves(vectors))
                code = int(self.codes[i])
                tried += [(code, one, {i: other}), (code, other, {i: one})]
        trials = self._trials(gallery, tried, n_jobs)
        return trials if trials.score_matrices else None

    def _trials(self, gallery: Gallery, tried: Sequence[_Trial], n_jobs: int | None) -> Trials:
        """Scores for probes of known class, with overrides."""
        everything = range(len(gallery.ensemble.layers))

        def judged(trial: _Trial) -> tuple[ScoreMatrix, int]:
            code, probe, overrides = trial
            around = self._around(gallery, probe, overrides, everything)
            place = np.flatnonzero(around.classes == gallery.classes[code])
            scores = around.even_scores(around.views(probe, all_layers=True))
            return scores, int(place[0]) if len(place) else -1

        what = "try the gallery's own sets"
        found = list(reported(in_threads(judged, tried, n_jobs), len(tried), what))
        codes = np.array([code for code, *_ in tried], dtype=np.int64)
        places = np.array([place for _, place in found], dtype=np.int64)
        scored = [scores for scores, place in found if place >= 0]
        return Trials(scored, places[places >= 0], codes[places < 0])

    def unknown_nearness(
        self, gallery: Gallery, inliers: InlierSets | None, n_jobs: int | None
    ) -> FloatArray:
        """Of some gallery sets, each without all sets of its class."""

        def nearness(i: int) -> float:
            own = dict.fromkeys(map(int, self.sets_of(self.codes[[i]])))
            probe = gallery.bases(self.sets[i])
            around = self.around(gallery, probe, own)
            return around.nearness(around.views(probe))

        chosen = tried_sets(self.codes, MOST_UNKNOWN)
        found = in_threads(nearness, chosen.tolist(), n_jobs)
        what = "measure the nearness of unknown classes"
        return np.array(list(reported(found, len(chosen), what)))

    def known_vectors(self, gallery: Gallery) -> KnownVectors:
        """Inliers of sets of some classes."""
        return self.compared()

    def compared(self) -> KnownVectors:
        """Inliers of some sets, with which vectors of probes are compared."""
        mean_size = len(self.sets.vectors) / len(self.sets)
        chosen = compared_sets(self.codes, 4.0 * mean_size * self.sets.n_features)
        vectors = [self.inlier_vectors(i) for i in map(int, chosen)]
        return KnownVectors.of(vectors, self.codes[chosen])

    def judged_left_out(self, gallery: Gallery, n_jobs: int | None) -> LeftOut:
        """Answers for gallery sets, by what else is around each."""
        chosen = tried_sets(self.codes, MOST_TRIED)
        chosen = chosen[np.bincount(self.codes)[self.codes[chosen]] > 1]

        def judged(i: int) -> tuple[int, float]:
            probe = self.bases(i)
            around = self.around(gallery, probe, {i: None})
            views = around.views(probe)
            label = around.classes[around.fused(views).code]
            return int(np.searchsorted(gallery.classes, label)), around.nearness(views)

        pairs = list(in_threads(judged, chosen.tolist(), n_jobs))
        codes, nearness = zip(*pairs, strict=True) if pairs else ((), ())
        return LeftOut(chosen, np.array(codes, dtype=np.int64), np.array(nearness))


def solve_with_shortlist(
    description: Description,
    sets: SetBatch,
    classes: npt.NDArray[Any],
    codes: IntArray,
    n_jobs: int | None,
) -> Gallery:
    """A gallery of many classes, whose members have equal weights."""
    shape, plain = GalleryShape.of(sets, codes), known_widths(description, sets.n_features)
    _require_memory(description, shape, plain)  # before any work, by what is known then
    inliers = find_inliers(description, sets, n_jobs)
    views = fitted_to_sample(description, sets, codes, inliers)
    widths = shown_widths(views, sets.n_features, sets.image_shape)
    dims = usable_dims(description.dims, sets.sizes, max(widths.values()))
    _require_memory(replace(description, dims=dims), shape, widths)
    seen, keys = shown(sets, views, n_jobs), np.arange(len(sets))
    rows = index_rows(sets, inliers, views, seen, n_jobs)
    index = description.index.build(rows, keys)
    solution = ShortlistSolution(
        sets, codes, inliers, views, seen, description, dims, rows, keys, index
    )
    scale = OutlierScale()
    if description.outliers is not None:
        scale = OutlierScale.of(solution.compared())
    sizes = np.add.reduceat(inliers, sets.offsets[:-1], dtype=np.int64)
    learnt = even_calibration(description.ensemble(dims), sizes, scale)
    return Gallery(description, sets, classes, codes, dims, views, solution, learnt)


def fitted_to_sample(
    description: Description, sets: SetBatch, codes: IntArray, inliers: BoolArray
) -> dict[str, FittedView]:
    """The views, fitted to the vectors of a sample of the sets."""
    most = max(1, int(MOST_LEARNT_FROM / float(np.mean(sets.sizes))))
    chosen = tried_sets(codes, most)
    rows = np.concatenate([np.arange(*sets.offsets[i : i + 2]) for i in chosen])
    rows = rows[inliers[rows]]
    images = Images(np.asarray(sets.vectors[rows], dtype=np.float64), sets.image_shape)
    views = {r.view.name: r.view for r in description.representations}
    return {name: view.fit(images) for name, view in views.items()}


def _require_memory(how: Description, shape: GalleryShape, widths: Mapping[str, int]) -> None:
    require_memory(
        bytes_of_large(how, shape, widths),
        f"a gallery of {shape.n_sets} sets of {shape.n_vectors} vectors",
        "Give fewer representations, or a smaller gallery.",
    )
