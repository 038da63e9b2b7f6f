"""The layers of an ensemble, solved: from scratch, or from what they were before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from setwise._support.parallel import in_threads
from setwise._support.progress import reported
from setwise._support.types import BoolArray, FloatArray
from setwise.classify.description import Description, Layer, Representation
from setwise.classify.gallery import Gallery, SetBases, SolvedLayer
from setwise.classify.on_device import make_bases_on
from setwise.device import current_device
from setwise.features.views import FittedView

__all__ = ["Before", "Change", "solve_layers", "update_layers"]

# A representation, and which of its starts.
_Part = tuple[Representation, int]


@dataclass(frozen=True)
class Before:
    """A gallery of which the first sets of the new one are those that are kept."""

    gallery: Gallery
    is_kept: BoolArray

    @property
    def n_kept(self) -> int:
        """How many are kept."""
        return int(self.is_kept.sum())


@dataclass(frozen=True)
class Change:
    """What becomes of a gallery, as far as its layers have to know.

    Attributes
    ----------
    before : Before
        What they were, and which sets stay.
    new : list of SetBases
        The sets that come.
    everything : callable
        Gives all sets, those that stay first: for a graph that has to be solved from scratch.
    """

    before: Before
    new: list[SetBases]
    everything: Callable[[], list[SetBases]]


def solve_layers(
    description: Description,
    dims: tuple[int, ...],
    views: Mapping[str, FittedView],
    bases: list[SetBases],
    before: Before | None,
    n_jobs: int | None,
) -> tuple[SolvedLayer, ...]:
    """All layers of an ensemble whose views were fitted anew.

    Those whose view shows the sets that were there as it did are made from what they were.
    """
    change = None
    if before is not None and dims == before.gallery.dims:
        change = Change(before, bases[before.n_kept :], lambda: bases)

    def solve_part(part: _Part, graph_jobs: int | None) -> list[SolvedLayer]:
        name = part[0].view.name
        if change is None or not views[name].shows_as(change.before.gallery.views[name]):
            return _solved_part(description, part, dims, bases, graph_jobs)
        return _updated_part(description, part, change, graph_jobs)

    return _in_order(description, dims, solve_part, n_jobs)


def update_layers(change: Change, n_jobs: int | None) -> tuple[SolvedLayer, ...]:
    """All layers of a gallery that keeps what it has learnt."""
    gallery = change.before.gallery

    def update_part(part: _Part, graph_jobs: int | None) -> list[SolvedLayer]:
        return _updated_part(gallery.description, part, change, graph_jobs)

    return _in_order(gallery.description, gallery.dims, update_part, n_jobs)


def _in_order(
    description: Description,
    dims: tuple[int, ...],
    solve_part: Callable[[_Part, int | None], list[SolvedLayer]],
    n_jobs: int | None,
) -> tuple[SolvedLayer, ...]:
    """What is made of each representation, as layers; they are shared out over threads."""
    layers = description.layers(dims)
    parts = list(dict.fromkeys((m.representation, m.start) for m in layers))
    # With a single one, its graph is shared out instead.
    part_jobs, graph_jobs = (n_jobs, None) if len(parts) > 1 else (None, n_jobs)
    by_layer: dict[Layer, SolvedLayer] = {}
    for of_part in in_threads(lambda part: solve_part(part, graph_jobs), parts, part_jobs):
        by_layer |= {solved.layer: solved for solved in of_part}
    return tuple(by_layer[layer] for layer in layers)


def _solved_part(
    description: Description,
    part: _Part,
    dims: tuple[int, ...],
    bases: list[SetBases],
    n_jobs: int | None,
) -> list[SolvedLayer]:
    """The gallery's columns and graphs in one representation, one for each dimensionality."""
    representation, start = part
    layers = [Layer(representation, d, start) for d in representation.basis.offered(dims)]
    what = f"{representation}, seed {start}" if start else str(representation)
    device = current_device()
    if device is not None:
        make_bases_on(device, bases, representation, dims)
    made = reported((one.of(representation, start) for one in bases), len(bases), what)
    return [
        _from_scratch(description, layer, list(of_sets), n_jobs)
        for layer, of_sets in zip(layers, zip(*made, strict=True), strict=True)
    ]


def _from_scratch(
    description: Description, layer: Layer, bases: list[FloatArray], n_jobs: int | None
) -> SolvedLayer:
    column_sets = np.repeat(np.arange(len(bases)), [basis.shape[1] for basis in bases])
    graph = description.graph.solve(np.hstack(bases), n_jobs=n_jobs)
    return SolvedLayer(layer, graph, column_sets)


def _updated_part(
    description: Description, part: _Part, change: Change, n_jobs: int | None
) -> list[SolvedLayer]:
    return [
        _updated(description, old, change, n_jobs)
        for old in change.before.gallery.layers
        if (old.layer.representation, old.layer.start) == part
    ]


def _updated(
    description: Description, old: SolvedLayer, change: Change, n_jobs: int | None
) -> SolvedLayer:
    """A layer from its old self and the columns of the new sets."""
    how, layer, solution, before = description.graph, old.layer, old.graph, change.before
    stays = before.is_kept[old.column_sets]
    new = [one[layer] for one in change.new]
    sizes = [basis.shape[1] for basis in new]
    if not how.can_update(solution, int(stays.sum()) + sum(sizes)):
        bases = [one[layer] for one in change.everything()]
        return _from_scratch(description, layer, bases, n_jobs)
    number = np.cumsum(before.is_kept) - 1
    added = before.n_kept + np.arange(len(new))
    column_sets = [number[old.column_sets[stays]], np.repeat(added, sizes)]
    if not stays.all():
        solution = how.forget(solution, stays)
    if new:
        solution = how.enroll(solution, np.hstack(new))
    return SolvedLayer(layer, solution, np.concatenate(column_sets))
