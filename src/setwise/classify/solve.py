"""From a description and labelled sets to a solved gallery, and from one to the next."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.memory import require_memory
from setwise._support.parallel import in_threads, one_blas_thread
from setwise._support.progress import reported
from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.classify.description import Description, Member, Representation
from setwise.classify.gallery import (
    Gallery,
    SetBases,
    SolvedMember,
    usable_dims,
)
from setwise.classify.gallery_weights import (
    FEWEST_TO_HALVE,
    MOST_HALVED,
    STEEPNESS,
    Trials,
    even_weights,
    halves,
    log_odds,
    survivors,
    tried_sets,
    with_weights,
)
from setwise.classify.judge import judge
from setwise.classify.large import solve_large, update_large
from setwise.classify.memory import GalleryShape, bytes_of_whole, known_widths
from setwise.classify.outliers import MOST_COMPARED, NOTHING, strange_cosines
from setwise.classify.trust import alternate_sets, has_learnt_by_heart, trust_in
from setwise.classify.unknown import calibrated
from setwise.errors import LengthsWarning, reject
from setwise.features.views import FittedView, Images
from setwise.sets import SetBatch, check_labels, check_sets

__all__ = ["solve", "solve_checked", "update"]

# How much longer the longest vector of a set may be than the shortest before it is said that
# scaling them to one length may lose something. In half of the sets of real images, and of
# embeddings, it is not twice as long.
WIDEST_LENGTHS = 10.0
# Sets whose lengths are looked at.
MOST_MEASURED = 100


def solve(
    description: Description,
    sets: Any,
    labels: Any,
    *,
    n_jobs: int | None = None,
    caller: str = "solve",
) -> Gallery:
    """Solve a gallery of labelled sets.

    Parameters
    ----------
    description : Description
        What the classifier is made of.
    sets : SetBatch, list of arrays of shape (n_vectors_i, n_features), or 3-D array
        Gallery sets.
    labels : array of shape (n_sets,)
        Class of each set.
    n_jobs : int, optional
        Threads.
    caller : str
        Who asks, for messages.

    Examples
    --------
    >>> from setwise import CVC
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets()
    >>> from setwise.classify import solve
    >>> how = CVC().fit(sets, labels).gallery_.description
    >>> len(solve(how, sets[:6], labels[:6]).sets)
    6
    """
    batch = check_sets(sets, caller=caller, is_compact=True)
    classes, codes = check_labels(labels, len(batch), caller=caller)
    return solve_checked(description, batch, classes, codes, n_jobs=n_jobs)


def solve_checked(
    description: Description,
    sets: SetBatch,
    classes: npt.NDArray[Any],
    codes: IntArray,
    *,
    n_jobs: int | None = None,
) -> Gallery:
    """As :func:`solve`, of sets and labels that have come through the gate."""
    _look_at_lengths(description, sets)
    with one_blas_thread():
        return _solved(description, sets, classes, codes, None, n_jobs)


def _look_at_lengths(description: Description, sets: SetBatch) -> None:
    """Warn where the vectors of sets are so unequal that scaling them may lose what counts."""
    views = [r.view for r in description.representations]
    if any(view.has_lengths for view in views) or all(view.steps for view in views):
        return
    chosen = sets[tried_sets(len(sets), MOST_MEASURED)]
    lengths = [np.linalg.norm(np.asarray(v, dtype=np.float64), axis=1) for v in chosen]
    ratio = float(np.median([x.max() / x[x > 0].min() for x in lengths]))
    if ratio > WIDEST_LENGTHS:
        msg = (
            f"the longest vectors of a set are {ratio:.3g} times as long as the shortest, and "
            "all are scaled to one length: if short ones say little, much is lost. Give "
            'representations=[("lengths", "svd"), ("lengths", "centred"), ("lengths", '
            '"mean")], which keep lengths, alone or beside others.'
        )
        warnings.warn(msg, LengthsWarning, stacklevel=4)  # whoever called fit


def update(
    gallery: Gallery,
    *,
    add: tuple[SetBatch, npt.NDArray[Any]] | None = None,
    is_kept: BoolArray | None = None,
    n_jobs: int | None = None,
    caller: str = "update",
) -> Gallery:
    """A new gallery, without some sets and with others at its end; the old one stays.

    Exactly as if it had been solved from scratch, but only what has changed is solved again.

    Parameters
    ----------
    gallery : Gallery
        The old one.
    add : (sets, labels), optional
        Sets that :meth:`Gallery.check` has passed, and labels of the gallery's type.
    is_kept : array of bool, shape (n_sets,), optional
        Which of the old sets stay; all by default.
    n_jobs, caller
        As for :func:`solve`.

    Examples
    --------
    >>> from setwise import CVC
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets()
    >>> from setwise.classify import update
    >>> gallery = CVC().fit(sets, labels).gallery_
    >>> smaller = update(gallery, is_kept=labels != 2)
    >>> len(gallery.sets), len(smaller.sets)
    (9, 6)
    """
    if not gallery.has_vectors:
        reject(
            f"{caller}: the gallery was saved without its vectors (keep_vectors=False), from "
            "which views and weights are learnt anew when it changes. Fit it again with all "
            "sets, or change the file that still has them."
        )
    stays = np.ones(len(gallery.codes), dtype=bool) if is_kept is None else is_kept
    kept = np.flatnonzero(stays)
    sets, labels = gallery.sets[kept], gallery.classes[gallery.codes[kept]]
    if add is not None:
        sets = SetBatch.join([sets, as_compact(add[0], sets.vectors.dtype)])
        labels = np.concatenate([labels, add[1]])
    classes, codes = check_labels(labels, len(sets), caller=caller)
    with one_blas_thread():
        return _solved(
            gallery.description, sets, classes, codes, _Before(gallery, stays), n_jobs
        )


def as_compact(sets: SetBatch, dtype: np.dtype[Any]) -> SetBatch:
    """Sets in the type of a gallery's, where that holds them exactly."""
    with np.errstate(invalid="ignore", over="ignore"):
        smaller = sets.vectors.astype(dtype)
    is_exact = np.array_equal(smaller, sets.vectors)
    return sets.replaced(vectors=smaller) if is_exact else sets


def _in_doubles(sets: SetBatch) -> SetBatch:
    return sets.replaced(vectors=np.asarray(sets.vectors, dtype=np.float64))


@dataclass(frozen=True)
class _Before:
    """A gallery of which the first sets of the new one are those that are kept."""

    gallery: Gallery
    is_kept: BoolArray

    @property
    def n_kept(self) -> int:
        return int(self.is_kept.sum())

    def members_of(self, representation: Representation, start: int) -> list[SolvedMember]:
        return [
            solved
            for solved in self.gallery.members
            if (solved.member.representation, solved.member.start) == (representation, start)
        ]


def _solved(
    description: Description,
    sets: SetBatch,
    classes: npt.NDArray[Any],
    codes: IntArray,
    before: _Before | None,
    n_jobs: int | None,
) -> Gallery:
    if description.is_large(len(classes)):
        if before is None:
            return solve_large(description, sets, classes, codes, n_jobs)
        return update_large(before.gallery, sets, classes, codes, before.is_kept, n_jobs)
    if before is not None and before.gallery.directory is not None:
        before = None  # of a large gallery no graph is solved
    doubles = _in_doubles(sets)
    gallery = _even(description, doubles, classes, codes, before, n_jobs)
    gallery = calibrated(_weighed(gallery, n_jobs))
    return replace(gallery, sets=sets)


def _even(
    description: Description,
    sets: SetBatch,
    classes: npt.NDArray[Any],
    codes: IntArray,
    before: _Before | None,
    n_jobs: int | None,
    dims: tuple[int, ...] | None = None,
) -> Gallery:
    """A gallery whose voices all count alike."""
    wanted = {r.view.name: r.view for r in description.representations}
    # Once before any work, by what is known then: how wide other views than the plain one are,
    # and which dimensionalities that leaves, only their fitting tells.
    shape, plain = GalleryShape.of(sets, codes), known_widths(description, sets.n_features)
    least = replace(
        description, dims=usable_dims(description.dims, sets.sizes, sets.n_features)
    )
    _require_memory(least, shape, plain)
    images = Images(sets.vectors, sets.image_shape)
    is_kept = np.concatenate([description.is_kept(vectors) for vectors in sets])
    kept = images.where(is_kept)
    views = {name: view.fit(kept) for name, view in wanted.items()}
    ends = np.concatenate([[0], np.cumsum(is_kept)])[sets.offsets]
    parts = [kept.part(*span) for span in pairwise(ends)]
    widths = {name: view.show(parts[0]).shape[1] for name, view in views.items()}
    dims = dims or usable_dims(description.dims, sets.sizes, max(widths.values()))
    _require_memory(replace(description, dims=dims), shape, widths)
    bases = [SetBases(part, views, description, dims) for part in parts]
    voices = description.voices(dims)
    compared = tried_sets(len(sets), MOST_COMPARED)
    return Gallery(
        description, sets, classes, codes, dims, views,
        members=_members(description, dims, views, bases, before, n_jobs),
        weights=even_weights(voices, [len(part.vectors) for part in parts]),
        steepness=np.full(len(voices), STEEPNESS),
        strange=NOTHING if description.outliers is None else
            strange_cosines([parts[i].vectors for i in compared], codes[compared]),
    )  # fmt: skip


def _weighed(gallery: Gallery, n_jobs: int | None) -> Gallery:
    """The gallery with the weights and probabilities that its own sets speak for."""
    if gallery.description.weights is None:
        return gallery
    if np.bincount(gallery.codes).min() > 1:
        return _weighed_by_sets(gallery, n_jobs)
    return _weighed_by_halves(gallery, n_jobs)


def _weighed_by_sets(gallery: Gallery, n_jobs: int | None) -> Gallery:
    trials = Trials.of(gallery, tried_sets(len(gallery.codes)), n_jobs)
    weights = log_odds(trials.is_right(), gallery.n_classes)
    weighed, trials = with_weights(gallery, trials, weights, can_choose=True)
    is_right, truth = trials.fused_right(gallery.description.fusion), trials.codes
    if has_learnt_by_heart(gallery):
        is_right, truth = _judged_by_others(weighed, n_jobs)
    return trust_in(weighed, is_right, truth)


def _weighed_by_halves(gallery: Gallery, n_jobs: int | None) -> Gallery:
    """By halves of its sets, each judged by all others; evenly where sets are too small."""
    sets, codes, how = gallery.sets, gallery.codes, gallery.description
    chosen = tried_sets(len(codes), MOST_HALVED)
    kept = [sets[int(i)][how.is_kept(sets[int(i)])] for i in chosen]
    is_large = np.array([len(vectors) >= FEWEST_TO_HALVE for vectors in kept])
    classes, half_codes = np.unique(np.repeat(codes[chosen[is_large]], 2), return_inverse=True)
    if is_large.mean() < 0.5 or len(classes) < 2:
        return gallery
    cut = [half for i in np.flatnonzero(is_large) for half in halves(kept[i])]
    made = SetBatch.from_list(cut)
    batch = SetBatch(made.vectors, made.offsets, image_shape=sets.image_shape)
    plain = replace(how, outliers=None, unknown=None)
    halved = _even(plain, batch, classes, half_codes, None, n_jobs, gallery.dims)
    trials = Trials.of(halved, np.arange(len(half_codes)), n_jobs)
    return with_weights(gallery, trials, survivors(trials.is_right()))[0]


def _judged_by_others(gallery: Gallery, n_jobs: int | None) -> tuple[BoolArray, IntArray]:
    """Whether some sets are recognised by a gallery that has never seen them, and classes."""
    kept, probes = alternate_sets(gallery.codes)
    sets, classes, codes = gallery.sets, gallery.classes, gallery.codes
    plain = replace(gallery.description, unknown=None)
    half = _even(plain, sets[kept], classes, codes[kept], None, n_jobs)
    place = {voice: i for i, voice in enumerate(gallery.voices)}
    if all(voice in place for voice in half.voices):
        same = [place[voice] for voice in half.voices]
        half = replace(half, weights=gallery.weights[same], steepness=gallery.steepness[same])
    answers = judge(half, sets[probes], n_jobs=n_jobs)
    truth = codes[probes]
    labels = np.array([answer.label for answer in answers])
    return labels == classes[truth], truth


def _members(
    description: Description,
    dims: tuple[int, ...],
    views: Mapping[str, FittedView],
    bases: list[SetBases],
    before: _Before | None,
    n_jobs: int | None,
) -> tuple[SolvedMember, ...]:
    """All members, solved; representations are shared out over the threads."""
    parts = list(dict.fromkeys((m.representation, m.start) for m in description.members(dims)))
    # With a single one, its graph is shared out instead.
    graph_jobs = n_jobs if len(parts) == 1 else None

    def solve_part(part: tuple[Representation, int]) -> dict[Member, SolvedMember]:
        still_holds = before is not None and _shows_the_same(part, dims, views, bases, before)
        old = before if still_holds else None
        solved = _solve_part(description, part, dims, bases, old, graph_jobs)
        return {one.member: one for one in solved}

    by_member: dict[Member, SolvedMember] = {}
    for solved in in_threads(solve_part, parts, n_jobs if len(parts) > 1 else None):
        by_member |= solved
    return tuple(by_member[member] for member in description.members(dims))


def _shows_the_same(
    part: tuple[Representation, int],
    dims: tuple[int, ...],
    views: Mapping[str, FittedView],
    bases: list[SetBases],
    before: _Before,
) -> bool:
    """Whether the kept sets look as they did, so that what was solved still holds.

    A view may learn from the gallery, and then shows the same vectors otherwise. Nobody but
    the view knows, so what it shows is compared; image features learn nothing.
    """
    view = part[0].view.name
    if dims != before.gallery.dims:
        return False
    if not views[view].learns:
        return True
    kept = before.gallery.sets[np.flatnonzero(before.is_kept)]
    return all(
        np.array_equal(bases[i].seen(view), before.gallery.bases(vectors).seen(view))
        for i, vectors in enumerate(kept)
    )


def _solve_part(
    description: Description,
    part: tuple[Representation, int],
    dims: tuple[int, ...],
    bases: list[SetBases],
    before: _Before | None,
    n_jobs: int | None,
) -> list[SolvedMember]:
    """The gallery's columns and graphs in one representation, one for each dimensionality."""
    representation, start = part
    offered = representation.basis.offered(dims)
    members = [Member(representation, d, start) for d in offered]
    if before is None:
        what = f"{representation}, seed {start}" if start else str(representation)
        made = reported((one.of(representation, start) for one in bases), len(bases), what)
        return [
            _from_scratch(description, member, list(of_sets), n_jobs)
            for member, of_sets in zip(members, zip(*made, strict=True), strict=True)
        ]
    return [
        _from_before(description, old, bases, before, n_jobs)
        for old in before.members_of(representation, start)
    ]


def _from_scratch(
    description: Description, member: Member, bases: list[FloatArray], n_jobs: int | None
) -> SolvedMember:
    column_sets = np.repeat(np.arange(len(bases)), [basis.shape[1] for basis in bases])
    graph = description.graph.solve(np.hstack(bases), n_jobs=n_jobs)
    return SolvedMember(member, graph, column_sets)


def _from_before(
    description: Description,
    old: SolvedMember,
    bases: list[SetBases],
    before: _Before,
    n_jobs: int | None,
) -> SolvedMember:
    """A member from its old self and the columns of the new sets."""
    how, member, solution = description.graph, old.member, old.graph
    stays = before.is_kept[old.column_sets]
    new = [one[member] for one in bases[before.n_kept :]]
    sizes = [basis.shape[1] for basis in new]
    if not how.can_update(solution, int(stays.sum()) + sum(sizes)):
        return _from_scratch(description, member, [one[member] for one in bases], n_jobs)
    number = np.cumsum(before.is_kept) - 1
    added = before.n_kept + np.arange(len(new))
    column_sets = [number[old.column_sets[stays]], np.repeat(added, sizes)]
    if not stays.all():
        solution = how.forget(solution, stays)
    if new:
        solution = how.enroll(solution, np.hstack(new))
    return SolvedMember(member, solution, np.concatenate(column_sets))


def _require_memory(how: Description, shape: GalleryShape, widths: Mapping[str, int]) -> None:
    require_memory(
        bytes_of_whole(how, shape, widths),
        f"an ensemble of {len(how.members(how.dims))} members over {shape.n_sets} gallery sets",
        "Give fewer dims or representations, or a smaller gallery.",
    )
