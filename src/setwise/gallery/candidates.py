"""Candidate classes of a probe, their layers, and what the layers see of the probe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
from scipy import linalg

from setwise._support.parallel import lazy
from setwise._support.types import FloatArray, IntArray
from setwise.basis import SVD, Basis, Mean, Spread, Vectors
from setwise.features import unit_rows
from setwise.gallery.bases import SetBases, every
from setwise.gallery.description import Layer
from setwise.gallery.evidence import LayerGraph, LayerView, Targets, distances_and_overlaps
from setwise.gallery.fusion import Fused, ScoreMatrix, fuse, is_decided, votes
from setwise.sets import SetBatch

if TYPE_CHECKING:
    from setwise.gallery.gallery import Gallery, SolvedLayer

_MOST_POINTS = 2000


class Candidates:
    """Classes that a probe is compared with, and the layers solved for them."""

    def __init__(
        self,
        gallery: Gallery,
        classes: npt.NDArray[Any],
        sets: IntArray,
        codes: IntArray,
        layers: Mapping[int, SolvedLayer],
    ) -> None:
        self.gallery, self.classes = gallery, classes
        self.sets, self.codes, self.layers = sets, codes, layers
        self._graphs: dict[int, LayerGraph] = {}

    @property
    def n_classes(self) -> int:
        """Number of candidate classes."""
        return len(self.classes)

    @lazy
    def target_classes(self) -> IntArray:
        """Class of each target."""
        return self.gallery.description.target_classes(self.codes, self.n_classes)

    def layer_graph(self, i: int) -> LayerGraph:
        """One layer, with the targets of its columns."""
        if i not in self._graphs:
            solved = self.layers[i]
            classes = self.codes[solved.column_sets]
            by_set = self.gallery.description.distributions == "set"
            of_columns = solved.column_sets if by_set else classes
            n_targets = len(self.target_classes)
            targets = Targets(solved.column_sets, classes, of_columns, n_targets)
            basis = solved.layer.representation.basis
            self._graphs[i] = LayerGraph(solved.graph, targets, basis, self.gallery.comparison)
        return self._graphs[i]

    def view(self, i: int, columns: FloatArray) -> LayerView:
        """One layer's view of a probe, given its columns there."""
        return LayerView(self.layer_graph(i), columns)

    def views(
        self, probe: SetBases, *, stop_early: bool = False, all_layers: bool = False
    ) -> dict[int, LayerView]:
        """Views of a probe by the active layers, or by all, by their place."""
        gallery = self.gallery
        if all_layers:
            return {i: self.view(i, probe[s.layer]) for i, s in self.layers.items()}
        fusion = gallery.description.fusion
        stop_early = stop_early and fusion.can_stop_early
        stop_early = stop_early and gallery.calibration.threshold is None
        active, views = gallery.active_layers(probe.n_inliers), dict[int, LayerView]()
        totals, remaining = np.zeros(self.n_classes), sum(active.values())
        for i, weight in active.items():
            views[i] = self.view(i, probe[self.layers[i].layer])
            if stop_early:
                remaining -= weight
                totals += votes(self.scores({i: views[i]})).sum(axis=0)
                if is_decided(totals, remaining):
                    break
        return views

    def members(self, views: Mapping[int, LayerView]) -> IntArray:
        """Places of the active members of these layers."""
        has_view = np.isin(self.gallery.ensemble.layer_of, list(views))
        return np.flatnonzero(has_view & (self.gallery.member_weights > 0))

    def scores(self, views: Mapping[int, LayerView]) -> ScoreMatrix:
        """Scores of the active members."""
        learnt, members = self.gallery.calibration, self.members(views)
        temperatures = learnt.inverse_temperatures[members]
        return self.scores_of(views, members, learnt.weights[members], temperatures)

    def scores_of(
        self,
        views: Mapping[int, LayerView],
        members: IntArray,
        weights: FloatArray,
        inverse_temperatures: FloatArray,
    ) -> ScoreMatrix:
        """Scores of some members, given by their places, with these weights."""
        ensemble = self.gallery.ensemble
        pairs = [(ensemble.members[m].evidence, views[ensemble.layer_of[m]]) for m in members]
        distances, overlaps = distances_and_overlaps(pairs)
        return ScoreMatrix(
            distances=distances,
            overlaps=overlaps,
            weights=weights,
            dims=ensemble.dims[members],
            target_classes=self.target_classes,
            n_classes=self.n_classes,
            inverse_temperatures=inverse_temperatures,
        )

    def even_scores(self, views: Mapping[int, LayerView]) -> ScoreMatrix:
        """Scores of all members, with equal weights."""
        even = np.ones(len(self.gallery.members))
        temperatures = self.gallery.calibration.inverse_temperatures
        return self.scores_of(views, np.arange(len(even)), even, temperatures)

    def fused(self, views: Mapping[int, LayerView]) -> Fused:
        """Answer of the active members."""
        return fuse(self.scores(views), self.gallery.description.fusion)

    def nearness(self, views: Mapping[int, LayerView]) -> float:
        """How near a probe is to the nearest target, see :func:`nearness_of`."""
        angles = {self.layers[i].layer: view.angles for i, view in views.items()}
        return nearness_of(self.gallery, angles)

    @lazy
    def sketch(self) -> GallerySketch:
        """The candidates' vectors as points of a plane; none where they were not saved."""
        gallery = self.gallery
        if not gallery.has_vectors:
            return GallerySketch.empty(gallery.sets.n_features)
        is_all = len(self.sets) == len(gallery.sets)
        return GallerySketch.of(gallery.sets if is_all else gallery.sets[self.sets], self.codes)


# Classes from which views that learn from the gallery tell known from unknown ones: of fewer,
# they learn what these classes are rather than what classes are.
FEWEST_LEARNT = 5
# Bases by whose likeness nearness is measured, where an ensemble has them: the mean, and what
# of the others comes first.
_OF_NEARNESS = (Mean, Spread, Vectors, SVD)


def nearness_layers(gallery: Gallery, layers: Sequence[Layer]) -> list[Layer]:
    """The layers by which nearness is measured: means, and spreads about zero if there are any.

    With the vectors themselves beside them, both in views that learn, where the gallery has
    classes enough; in the others where it has not. Without spreads, singular vectors; without
    means or these, all layers.
    """

    def of(kind: type[Basis]) -> list[Layer]:
        return [m for m in layers if type(m.representation.basis) is kind]

    bases = [(m, m.representation.basis) for m in layers]
    # Those about the mean of a set do not say where it is.
    spreads = [m for m, basis in bases if isinstance(basis, Spread) and not basis.centred]
    if not spreads:
        return [*of(Mean), *of(SVD)] or list(layers)
    learns = gallery.n_classes >= FEWEST_LEARNT
    beside = [*spreads, *(of(Vectors) if learns else ())]
    views = gallery.views
    chosen = [m for m in beside if views[m.representation.view.name].learns == learns]
    return [*of(Mean), *(chosen or spreads)]


def nearness_of(
    gallery: Gallery, angles: Mapping[Layer, tuple[FloatArray, FloatArray]]
) -> float:
    """How near a probe is to the nearest target, by both cosines of each in each layer.

    An absolute measure beside the relative votes: the cosine of the means plus the mean squared
    cosine of each other kind of basis, over its layers. It tells known from unknown classes
    better than the cosine alone (docs/evidence.md).
    """
    means: dict[type, list[FloatArray]] = {}
    for layer in nearness_layers(gallery, list(angles)):
        kind, (largest, mean) = _kind_of_nearness(layer), angles[layer]
        means.setdefault(kind, []).append(largest if kind is Mean else mean)
    ordered = [means[kind] for kind in (*_OF_NEARNESS, object) if kind in means]
    total = np.sum([np.mean(values, axis=0) for values in ordered], axis=0)
    return float(np.max(total, initial=0.0))


def largest_nearness(gallery: Gallery) -> float:
    """How near a set is to itself: 1 for each kind of basis by which nearness is measured."""
    active = [gallery.ensemble.layers[i] for i in np.flatnonzero(gallery.layer_weights)]
    return float(len(set(map(_kind_of_nearness, nearness_layers(gallery, active)))))


def _kind_of_nearness(layer: Layer) -> type:
    kind = type(layer.representation.basis)
    return kind if kind in _OF_NEARNESS else object


@dataclass(frozen=True)
class GallerySketch:
    """Some of the gallery's vectors in the plane of its two largest principal directions."""

    mean: FloatArray  # of the unit vectors
    axes: FloatArray  # at most two principal directions
    points: FloatArray  # (n_points, 2): at most 2000 vectors, every k-th
    classes: IntArray  # class code of each point

    @classmethod
    def of(cls, sets: SetBatch, codes: IntArray) -> Self:
        """Sketch of sets with these class codes."""
        step = every(len(sets.vectors), _MOST_POINTS)
        units = unit_rows(np.asarray(sets.vectors[::step], dtype=np.float64))
        mean = units.mean(axis=0)
        axes = linalg.svd(units - mean, full_matrices=False)[2][:2]
        classes = np.repeat(codes, sets.sizes)[::step]
        empty = cls(mean, axes, np.empty((0, 2)), classes)
        return cls(mean, axes, empty.project(units), classes)

    @classmethod
    def empty(cls, n_features: int) -> Self:
        """A sketch without points, in which every probe is at the origin."""
        none = np.zeros((0, 2)), np.zeros(0, dtype=np.int64)
        return cls(np.zeros(n_features), np.zeros((2, n_features)), *none)

    def project(self, vectors: FloatArray) -> FloatArray:
        """Vectors as points of the plane."""
        points = (unit_rows(vectors) - self.mean) @ self.axes.T
        return np.pad(points, ((0, 0), (0, 2 - points.shape[1])))
