"""Layers of a gallery: solved from scratch, or from the layers of the gallery before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from setwise._support.parallel import in_threads
from setwise._support.progress import reported
from setwise._support.types import FloatArray
from setwise.features.views import FittedView
from setwise.gallery.bases import SetBases
from setwise.gallery.description import Description, Layer, Representation
from setwise.gallery.gallery import Gallery, SolvedLayer, UpdatePlan

# A representation, and which of its starts.
_Part = tuple[Representation, int]


@dataclass(frozen=True)
class Change:
    """The plan of an update, and the bases of new sets, or of all where a graph needs them."""

    plan: UpdatePlan
    new: Sequence[SetBases]
    everything: Callable[[], Sequence[SetBases]]


def solve_layers(
    description: Description,
    dims: tuple[int, ...],
    views: Mapping[str, FittedView],
    bases: list[SetBases],
    plan: UpdatePlan | None,
    n_jobs: int | None,
) -> tuple[SolvedLayer, ...]:
    """All layers, those of views that show the old sets as before made from the old ones."""
    change = None
    if plan is not None and dims == plan.old.dims:
        change = Change(plan, bases[plan.n_kept :], lambda: bases)

    def solve_part(part: _Part, graph_jobs: int | None) -> list[SolvedLayer]:
        name = part[0].view.name
        if change is None or not views[name].shows_as(change.plan.old.views[name]):
            return _solved_part(description, part, dims, bases, graph_jobs)
        return _updated_part(description, part, change, graph_jobs)

    return _in_order(description, dims, solve_part, n_jobs)


def update_layers(
    changed: Gallery, change: Change, n_jobs: int | None
) -> tuple[SolvedLayer, ...]:
    """All layers of a changed gallery that keeps its views and dimensionalities."""

    def update_part(part: _Part, graph_jobs: int | None) -> list[SolvedLayer]:
        return _updated_part(changed.description, part, change, graph_jobs)

    return _in_order(changed.description, changed.dims, update_part, n_jobs)


def _in_order(
    description: Description,
    dims: tuple[int, ...],
    solve_part: Callable[[_Part, int | None], list[SolvedLayer]],
    n_jobs: int | None,
) -> tuple[SolvedLayer, ...]:
    """Layers of all representations, which are shared out over threads."""
    layers = description.ensemble(dims).layers
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
    """The layers of one representation, one for each dimensionality."""
    representation, start = part
    layers = [Layer(representation, d, start) for d in representation.basis.offered(dims)]
    what = f"{representation}, seed {start}" if start else str(representation)
    made = reported((one.of(representation, start) for one in bases), len(bases), what)
    return [
        solved_layer(description, layer, list(of_sets), n_jobs)
        for layer, of_sets in zip(layers, zip(*made, strict=True), strict=True)
    ]


def solved_layer(
    description: Description,
    layer: Layer,
    bases: list[FloatArray],
    n_jobs: int | None = None,
) -> SolvedLayer:
    """One layer from the columns of each set."""
    column_sets = np.repeat(np.arange(len(bases)), [basis.shape[1] for basis in bases])
    graph = description.graph_of(layer.representation).solve(np.hstack(bases), n_jobs=n_jobs)
    return SolvedLayer(layer, graph, column_sets)


def _updated_part(
    description: Description, part: _Part, change: Change, n_jobs: int | None
) -> list[SolvedLayer]:
    return [
        _updated(description, old, change, n_jobs)
        for old in change.plan.old.layers
        if (old.layer.representation, old.layer.start) == part
    ]


def _updated(
    description: Description, old: SolvedLayer, change: Change, n_jobs: int | None
) -> SolvedLayer:
    """A layer from the old one and the columns of the new sets."""
    layer, solution, plan = old.layer, old.graph, change.plan
    how = description.graph_of(layer.representation)
    stays = plan.stays[old.column_sets]
    new = [one[layer] for one in change.new]
    sizes = [basis.shape[1] for basis in new]
    if not how.can_update(solution, int(stays.sum()) + sum(sizes)):
        bases = [one[layer] for one in change.everything()]
        return solved_layer(description, layer, bases, n_jobs)
    number = np.cumsum(plan.stays) - 1
    added = plan.n_kept + np.arange(len(new))
    column_sets = [number[old.column_sets[stays]], np.repeat(added, sizes)]
    if not stays.all():
        solution = how.forget(solution, stays)
    if new:
        solution = how.enroll(solution, np.hstack(new))
    return SolvedLayer(layer, solution, np.concatenate(column_sets))
