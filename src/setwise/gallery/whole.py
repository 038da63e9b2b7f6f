"""Galleries solved as a whole: one graph per layer, into which every probe is inserted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from setwise._support.memory import require_memory
from setwise._support.parallel import in_threads
from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.features.views import FittedView
from setwise.gallery.bases import InlierSets, SetBases, tried_sets, usable_dims
from setwise.gallery.candidates import Candidates, nearness_layers, nearness_of
from setwise.gallery.description import Description, Layer
from setwise.gallery.evidence import set_angles, target_angles
from setwise.gallery.fusion import ScoreMatrix
from setwise.gallery.gallery import (
    Gallery,
    LeftOut,
    Overrides,
    Solution,
    SolvedLayer,
    UpdatePlan,
)
from setwise.gallery.layers import Change, solve_layers, update_layers
from setwise.gallery.left_out import LeftOutViews
from setwise.gallery.memory import (
    MOST_ASKED,
    MOST_HALVED,
    MOST_OWN_SETS,
    N_FOLDS,
    GalleryShape,
    bytes_of_whole,
)
from setwise.gallery.outliers import KnownVectors, OutlierScale, compared_sets
from setwise.gallery.trials import (
    FEWEST_TO_HALVE,
    N_HALVINGS,
    Trials,
    alternate_sets,
    even_calibration,
    halves,
)
from setwise.sets import SetBatch

# Sets that are tried as if their classes were unknown.
MOST_UNKNOWN = 1000


@dataclass(frozen=True)
class WholeSolution(Solution):
    """All classes, solved once; every probe is compared with them."""

    is_shortlist: ClassVar[bool] = False
    layers: tuple[SolvedLayer, ...] = ()
    # What the vectors of the gallery's sets give; None, to be computed, after some files.
    inliers: InlierSets | None = None

    def around(
        self, gallery: Gallery, probe: SetBases, overrides: Overrides | None = None
    ) -> Candidates:
        """All classes. Replaced sets would need other graphs: see :meth:`left_out`."""
        assert not overrides  # noqa: S101
        return gallery.everything

    def updated(self, changed: Gallery, plan: UpdatePlan, n_jobs: int | None) -> WholeSolution:
        """Layers of which only what the change concerns is solved again."""
        how, sets = changed.description, changed.sets
        columns = {s.layer.representation.view.name: s.graph.columns for s in self.layers}
        widths = {name: len(matrix) for name, matrix in columns.items()}
        require_memory_of(how, changed.dims, GalleryShape.of(sets, changed.codes), widths)

        new = new_inliers(how, plan, sets, n_jobs)

        def bases_of(some: InlierSets) -> list[SetBases]:
            return [SetBases(images, changed.views, how, changed.dims) for images in some]

        def everything() -> list[SetBases]:
            return bases_of(
                changed_inliers(plan, sets, new) or InlierSets.of(how, sets, n_jobs)
            )

        layers = update_layers(changed, Change(plan, bases_of(new), cache(everything)), n_jobs)
        return WholeSolution(layers, changed_inliers(plan, sets, new))

    def tried(self, codes: IntArray) -> tuple[bool, IntArray]:
        """Whole sets, where every class has several."""
        by_sets = bool(np.bincount(codes).min() > 1)
        return by_sets, tried_sets(codes, MOST_OWN_SETS if by_sets else MOST_HALVED)

    def left_out(self, gallery: Gallery, chosen: IntArray, n_jobs: int | None) -> Trials:
        """Scores of all members; neither graph nor cuts depend on which set is left out."""

        def judged(i: int) -> tuple[FloatArray, FloatArray]:
            layer = self.layers[i].layer
            kinds = [m.evidence for m in gallery.members if m.layer == layer]
            # Views would fill the memory; only their scores are kept.
            pairs = [
                ([e.distances(view) for e in kinds], [e.overlaps(view) for e in kinds])
                for view in LeftOutViews(gallery.everything.layer_graph(i), chosen)
            ]
            distances, overlaps = zip(*pairs, strict=True)
            return np.array(distances), np.array(overlaps)

        tables = list(in_threads(judged, range(len(self.layers)), n_jobs))
        distances = np.concatenate([table for table, _ in tables], axis=1)
        overlaps = np.concatenate([table for _, table in tables], axis=1)
        return Trials.of(gallery.everything, distances, overlaps, gallery.codes[chosen])

    def halved(
        self, gallery: Gallery, chosen: IntArray, inliers: InlierSets | None, n_jobs: int | None
    ) -> Trials | None:
        """Halves of sets, judged by a gallery of the other halves.

        Sets are cut along the direction in which they vary most, then along the next ones: the
        first halves may differ more than two sets of a class do, the others less. Views are
        fitted without the halves that are judged: one that was fitted to both would know them,
        and tell how alike they are better than how alike two sets are.
        """
        inliers = inliers or self.known_inliers(gallery, n_jobs)
        is_enough = inliers.sizes[chosen] >= FEWEST_TO_HALVE
        halved = chosen[is_enough]
        classes, codes = np.unique(gallery.codes[halved], return_inverse=True)
        if is_enough.mean() < 0.5 or len(classes) < 2:
            return None
        starts, asked = inliers.offsets[halved], tried_sets(codes, MOST_ASKED)
        found: list[ScoreMatrix] = []
        for k in range(N_HALVINGS):
            pairs = [halves(inliers.vectors(i), k)[:: 1 - 2 * (k % 2)] for i in halved]
            known, other = (
                inliers.of_rows(
                    [start + half for start, half in zip(starts, side, strict=True)]
                )
                for side in zip(*pairs, strict=True)
            )
            solved = _of_halves(gallery, classes, codes, known, n_jobs)
            probes = [solved.bases_of(other[i]) for i in asked]

            def scores(probe: SetBases, of: Candidates = solved.everything) -> ScoreMatrix:
                return of.even_scores(of.views(probe, all_layers=True))

            found += list(in_threads(scores, probes, n_jobs))
        return Trials(found, np.tile(codes[asked], N_HALVINGS), np.zeros(0, dtype=np.int64))

    def recognised_by_others(
        self, gallery: Gallery, inliers: InlierSets | None, n_jobs: int | None
    ) -> tuple[BoolArray, IntArray] | None:
        """Sets that a gallery of every other set recognises, if views may have overfitted."""
        if not may_overfit(gallery):
            return None
        inliers = inliers or self.known_inliers(gallery, n_jobs)
        known, probes = alternate_sets(gallery.codes)
        plain = replace(gallery.description, unknown=None)
        codes, kept = gallery.codes, inliers.take(known)
        half = solve_whole(
            plain, gallery.sets[known], gallery.classes, codes[known], kept, n_jobs=n_jobs
        )
        place = {member: i for i, member in enumerate(gallery.members)}
        if all(member in place for member in half.members):
            same = [place[member] for member in half.members]
            learnt = gallery.calibration
            half = half.calibrated(
                weights=learnt.weights[same],
                inverse_temperatures=learnt.inverse_temperatures[same],
            )

        def code_of(i: int) -> int:
            return half.everything.fused(half.everything.views(half.bases_of(inliers[i]))).code

        answers = list(in_threads(code_of, map(int, probes), n_jobs))
        return np.array(answers) == codes[probes], codes[probes]

    def known_inliers(self, gallery: Gallery, n_jobs: int | None) -> InlierSets:
        """The inliers of the gallery's sets, with all that was computed of them."""
        return self.inliers or InlierSets.of(gallery.description, gallery.sets, n_jobs)

    def unknown_nearness(
        self, gallery: Gallery, inliers: InlierSets | None, n_jobs: int | None
    ) -> FloatArray:
        """Of groups of classes in turn, with views that are fitted without them."""
        inliers = inliers or self.known_inliers(gallery, n_jobs)
        n_groups = min(N_FOLDS, gallery.n_classes)
        group = (np.arange(gallery.n_classes) % n_groups)[gallery.codes]
        tried = tried_sets(gallery.codes, MOST_UNKNOWN)
        active = [gallery.ensemble.layers[i] for i in np.flatnonzero(gallery.layer_weights)]
        layers = nearness_layers(gallery, active)
        # Views that learn nothing show the sets as before, whichever classes are known.
        views = gallery.views
        fixed = [m for m in layers if not views[m.representation.view.name].learns]
        asked = _as_probes(gallery, inliers, tried)

        def columns(views: Mapping[str, FittedView], layers: Sequence[Layer]) -> _Columns:
            of_sets = _columns_of(gallery, inliers, views, layers, n_jobs)
            if asked is None:
                return {m: (found, [found[i] for i in tried]) for m, found in of_sets.items()}
            of_probes = _columns_of(gallery, asked, views, layers, n_jobs)
            return {layer: (of_sets[layer], of_probes[layer]) for layer in layers}

        known = columns(views, fixed)
        parts = []
        for k in range(n_groups):
            is_known, rest = group != k, [m for m in layers if m not in fixed]
            learning = [m.representation.view for m in rest]
            views = inliers.fitted(learning, np.flatnonzero(is_known))
            found = known | columns(views, rest)
            of_group = np.flatnonzero(group[tried] == k)
            parts.append(_nearness_to_others(gallery, found, is_known, of_group, n_jobs))
        return np.concatenate(parts)

    def known_vectors(self, gallery: Gallery) -> KnownVectors:
        """Inliers of sets of all classes."""
        return _compared(self.known_inliers(gallery, None), gallery.codes)

    def judged_left_out(self, gallery: Gallery, n_jobs: int | None) -> LeftOut:
        """Answers of the layers' views of sets that are left out."""
        chosen = tried_sets(gallery.codes, MOST_OWN_SETS)
        chosen = chosen[np.bincount(gallery.codes)[gallery.codes[chosen]] > 1]
        if not len(chosen):
            return LeftOut(chosen, chosen, np.zeros(0))
        learnt = gallery.calibration
        trials = self.left_out(gallery, chosen, n_jobs)
        trials = trials.counted(learnt.weights, learnt.inverse_temperatures)
        angles = {}
        for i in map(int, np.flatnonzero(gallery.layer_weights)):
            views = LeftOutViews(gallery.everything.layer_graph(i), chosen)
            angles[self.layers[i].layer] = views.angles
        nearness = [
            nearness_of(gallery, {m: (big[k], mean[k]) for m, (big, mean) in angles.items()})
            for k in range(len(chosen))
        ]
        codes = trials.fused_codes(gallery.description.fusion)
        return LeftOut(chosen, codes, np.array(nearness))


def _of_halves(
    gallery: Gallery,
    classes: npt.NDArray[Any],
    codes: IntArray,
    known: InlierSets,
    n_jobs: int | None,
) -> Gallery:
    """A gallery of halves of sets, in which nothing more is dropped."""
    plain = replace(gallery.description, outliers=None, unknown=None)
    return solve_whole(
        plain, known.batch(), classes, codes, known, n_jobs=n_jobs, dims=gallery.dims
    )


def new_inliers(
    how: Description, plan: UpdatePlan, sets: SetBatch, n_jobs: int | None
) -> InlierSets:
    """The inliers of the new sets; features of vectors that only move are kept."""
    new = InlierSets.of(how, sets[np.arange(plan.n_kept, len(sets))], n_jobs)
    known, gone = _known_inliers(plan.old), np.flatnonzero(~plan.stays)
    if known is not None and len(gone):
        offsets = plan.old.sets.offsets
        rows = np.concatenate([np.arange(*offsets[i : i + 2]) for i in gone])
        new.images.recall(known.images, rows)
    return new


def changed_inliers(plan: UpdatePlan, sets: SetBatch, new: InlierSets) -> InlierSets | None:
    """The inliers of a changed gallery; None where those of the old one are not known."""
    known, sizes = _known_inliers(plan.old), plan.old.sets.sizes
    if known is None:
        return None
    return known.changed(sets, np.repeat(plan.stays, sizes), new)


def _known_inliers(gallery: Gallery) -> InlierSets | None:
    solution = gallery.solution
    return solution.inliers if isinstance(solution, WholeSolution) else None


def may_overfit(gallery: Gallery) -> bool:
    """Whether views have learnt from fewer vectors than features, left-out sets among them."""
    learns = any(view.learns for view in gallery.views.values())
    return learns and len(gallery.sets.vectors) <= gallery.sets.n_features


def _columns_of(
    gallery: Gallery,
    inliers: InlierSets,
    views: Mapping[str, FittedView],
    layers: Sequence[Layer],
    n_jobs: int | None,
) -> dict[Layer, list[FloatArray]]:
    """Columns of all sets in some layers, by some views, up to a rotation of each view."""
    whiten = {layer.representation.view.name for layer in layers}
    whiten = {name for name in whiten if views[name].whitens}
    shown = {name: views[name].coordinates(inliers.images) for name in whiten}

    def columns(i: int) -> list[FloatArray]:
        own = slice(*inliers.offsets[i : i + 2])
        seen = {name: rows[own] for name, rows in shown.items()}
        bases = SetBases(inliers[i], views, gallery.description, gallery.dims, seen=seen)
        return [bases[layer] for layer in layers]

    if not layers:
        return {}
    by_set = in_threads(columns, range(len(inliers)), n_jobs)
    return {m: list(of) for m, of in zip(layers, zip(*by_set, strict=True), strict=True)}


def _as_probes(gallery: Gallery, inliers: InlierSets, tried: IntArray) -> InlierSets | None:
    """Some sets with the vectors that would count in probes; None where these are the same."""
    scale, known = gallery.calibration.outliers, gallery.known_vectors
    counts = inliers.is_inlier.copy()
    for i in map(int, tried):
        own = slice(*gallery.sets.offsets[i : i + 2])
        counts[own] = scale.with_rare(gallery.sets[i], inliers.is_inlier[own], known)
    if (counts == inliers.is_inlier).all():
        return None
    return InlierSets.known(gallery.sets, counts, inliers.images.tables).take(tried)


# Of each layer, the columns of all sets, and of those that are tried.
_Columns = dict[Layer, tuple[list[FloatArray], list[FloatArray]]]


def _nearness_to_others(
    gallery: Gallery,
    columns: _Columns,
    is_known: BoolArray,
    tried: IntArray,
    n_jobs: int | None,
) -> FloatArray:
    """Nearness of some of the tried sets to the known ones, as judging would find it."""
    how, known = gallery.description, np.flatnonzero(is_known)
    classes, codes = np.unique(gallery.codes[known], return_inverse=True)
    n_targets = len(how.target_classes(codes, len(classes)))
    set_targets = np.arange(len(codes)) if how.distributions == "set" else codes
    matrices, sets = {}, {}
    for layer, (of_sets, _) in columns.items():
        parts = [of_sets[i] for i in known.tolist()]
        matrices[layer] = np.hstack(parts)
        sets[layer] = np.repeat(np.arange(len(parts)), [part.shape[1] for part in parts])

    def nearness(i: int) -> float:
        found = {}
        for layer, matrix in matrices.items():
            basis, own = layer.representation.basis, sets[layer]
            to_sets = set_angles(columns[layer][1][i].T @ matrix, own, basis)
            found[layer] = target_angles(to_sets, set_targets[np.unique(own)], n_targets)
        return nearness_of(gallery, found)

    return np.array(list(in_threads(nearness, map(int, tried), n_jobs)))


def solve_whole(
    description: Description,
    sets: SetBatch,
    classes: npt.NDArray[Any],
    codes: IntArray,
    inliers: InlierSets,
    *,
    plan: UpdatePlan | None = None,
    views: Mapping[str, FittedView] | None = None,
    dims: tuple[int, ...] | None = None,
    n_jobs: int | None = None,
) -> Gallery:
    """A gallery whose members have equal weights; parts that are solved already are reused."""
    views = views or inliers.fitted(r.view for r in description.representations)
    first = {name: view.show(inliers[0]) for name, view in views.items()}
    widths = {name: shown.shape[1] for name, shown in first.items()}
    dims = dims or usable_dims(description.dims, sets.sizes, max(widths.values()))
    require_memory_of(description, dims, GalleryShape.of(sets, codes), widths)
    bases = inliers.bases(views, description, dims)
    layers = solve_layers(description, dims, views, bases, plan, n_jobs)
    solution = WholeSolution(layers)
    scale = OutlierScale()
    if description.outliers is not None:
        scale = OutlierScale.of(_compared(inliers, codes))
    learnt = even_calibration(description.ensemble(dims), inliers.sizes, scale)
    return Gallery(description, sets, classes, codes, dims, views, solution, learnt)


def _compared(inliers: InlierSets, codes: IntArray) -> KnownVectors:
    n_bytes = 4.0 * float(inliers.sizes.mean()) * inliers.images.compact.shape[1]
    chosen = compared_sets(codes, n_bytes)
    return KnownVectors.of([inliers.vectors(i) for i in chosen], codes[chosen])


def with_inliers(gallery: Gallery, inliers: InlierSets) -> Gallery:
    """The gallery, which keeps what its vectors gave."""
    assert isinstance(gallery.solution, WholeSolution)  # noqa: S101
    solution = replace(gallery.solution, inliers=inliers.stored(gallery.sets))
    return replace(gallery, solution=solution)


def require_memory_of(
    how: Description, dims: tuple[int, ...], shape: GalleryShape, widths: Mapping[str, int]
) -> None:
    """Refuse a gallery that will not fit into memory, before any work."""
    n_layers = len(how.ensemble(dims).layers)
    require_memory(
        bytes_of_whole(replace(how, dims=dims), shape, widths),
        f"an ensemble of {n_layers} layers over {shape.n_sets} gallery sets",
        "Give fewer dims or representations, or a smaller gallery.",
    )
