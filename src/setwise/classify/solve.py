"""From a description and labelled sets to a solved gallery, and from one to the next."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.memory import require_memory
from setwise._support.parallel import in_threads, one_blas_thread
from setwise._support.types import BoolArray, IntArray
from setwise.classify.description import Description
from setwise.classify.fusion import fuse
from setwise.classify.gallery import Gallery, SetBases, SolvedLayer, usable_dims
from setwise.classify.gallery_weights import (
    FEWEST_TO_HALVE,
    INVERSE_TEMPERATURE,
    MOST_HALVED,
    Trials,
    even_weights,
    halves,
    log_odds,
    survivors,
    tried_sets,
    with_weights,
)
from setwise.classify.judge import look_at, score_matrix_of
from setwise.classify.kept_sets import KeptSets
from setwise.classify.large import solve_large, update_large
from setwise.classify.layers import Before, Change, solve_layers, update_layers
from setwise.classify.learnt import changes_since_learning
from setwise.classify.memory import GalleryShape, bytes_of_whole, known_widths
from setwise.classify.outliers import MOST_COMPARED, NOTHING, strange_cosines
from setwise.classify.trust import alternate_sets, has_learnt_by_heart, trust_in
from setwise.classify.unknown import calibrated
from setwise.errors import LengthsWarning, reject
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

    Exactly as if it had been solved from scratch, but only what has changed is solved again;
    a gallery of more than a hundred sets keeps what it has learnt as a whole until a fifth of
    them have changed, see :mod:`setwise.classify.learnt`.

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
    stays = np.ones(len(gallery.codes), dtype=np.bool_) if is_kept is None else is_kept
    before = Before(gallery, stays)
    kept = np.flatnonzero(stays)
    sets = gallery.sets if stays.all() else gallery.sets[kept]
    labels = gallery.classes[gallery.codes[kept]]
    if add is not None:
        sets = SetBatch.join([sets, as_compact(add[0], sets.vectors.dtype)])
        labels = np.concatenate([labels, add[1]])
    classes, codes = check_labels(labels, len(sets), caller=caller)
    with one_blas_thread():
        return _updated(before, sets, classes, codes, n_jobs)


def _updated(
    before: Before,
    sets: SetBatch,
    classes: npt.NDArray[Any],
    codes: IntArray,
    n_jobs: int | None,
) -> Gallery:
    gallery = before.gallery
    is_large = gallery.description.is_large(len(classes))
    if is_large != (gallery.directory is not None):  # of a large gallery no graph is solved
        return _solved(gallery.description, sets, classes, codes, None, n_jobs)
    n_changed = changes_since_learning(gallery, before.is_kept, len(sets))
    if n_changed is None:
        return _solved(gallery.description, sets, classes, codes, before, n_jobs)
    changed = replace(gallery, sets=sets, classes=classes, codes=codes, n_changed=n_changed)
    if is_large:
        return update_large(changed, before.is_kept, n_jobs)
    return replace(changed, layers=_layers_as_learnt(changed, before, n_jobs))


def _layers_as_learnt(
    changed: Gallery, before: Before, n_jobs: int | None
) -> tuple[SolvedLayer, ...]:
    """The layers of a changed gallery, by views and dimensionalities that stay."""
    how, sets = changed.description, changed.sets
    widths = {
        solved.layer.representation.view.name: len(solved.graph.columns)
        for solved in before.gallery.layers
    }
    shape = GalleryShape.of(sets, changed.codes)
    _require_memory(replace(how, dims=changed.dims), shape, widths)

    def bases_of(some: SetBatch) -> list[SetBases]:
        kept = KeptSets.of(how, some)
        return [SetBases(images, changed.views, how, changed.dims) for images in kept]

    is_new = np.arange(before.n_kept, len(sets))
    change = Change(before, bases_of(sets[is_new]), cache(lambda: bases_of(sets)))
    return update_layers(change, n_jobs)


def as_compact(sets: SetBatch, dtype: np.dtype[Any]) -> SetBatch:
    """Sets in the type of a gallery's, where that holds them exactly."""
    with np.errstate(invalid="ignore", over="ignore"):
        smaller = sets.vectors.astype(dtype)
    is_exact = np.array_equal(smaller, sets.vectors)
    return sets.replaced(vectors=smaller) if is_exact else sets


def _solved(
    description: Description,
    sets: SetBatch,
    classes: npt.NDArray[Any],
    codes: IntArray,
    before: Before | None,
    n_jobs: int | None,
) -> Gallery:
    """A gallery whose every part is learnt from it; what is solved already is used again."""
    if description.is_large(len(classes)):
        return solve_large(description, sets, classes, codes, n_jobs)
    # Once before any work, by what is known then: how wide other views than the plain one are,
    # and which dimensionalities that leaves, only their fitting tells.
    shape, plain = GalleryShape.of(sets, codes), known_widths(description, sets.n_features)
    least = usable_dims(description.dims, sets.sizes, sets.n_features)
    _require_memory(replace(description, dims=least), shape, plain)
    kept = KeptSets.of(description, sets)
    gallery = _even(description, sets, kept, classes, codes, n_jobs, before)
    return calibrated(_weighed(gallery, kept, n_jobs), kept)


def _even(
    description: Description,
    sets: SetBatch,
    kept: KeptSets,
    classes: npt.NDArray[Any],
    codes: IntArray,
    n_jobs: int | None,
    before: Before | None = None,
    dims: tuple[int, ...] | None = None,
) -> Gallery:
    """A gallery whose members all count alike."""
    views = kept.fitted_views(description)
    first = {name: view.show(kept[0]) for name, view in views.items()}
    widths = {name: shown.shape[1] for name, shown in first.items()}
    dims = dims or usable_dims(description.dims, sets.sizes, max(widths.values()))
    _require_memory(replace(description, dims=dims), GalleryShape.of(sets, codes), widths)
    bases = [SetBases(images, views, description, dims) for images in kept]
    bases[0] = SetBases(kept[0], views, description, dims, seen=first)
    members = description.members(dims)
    compared = tried_sets(len(sets), MOST_COMPARED)
    return Gallery(
        description, sets, classes, codes, dims, views,
        layers=solve_layers(description, dims, views, bases, before, n_jobs),
        weights=even_weights(members, np.diff(kept.offsets).tolist()),
        inverse_temperatures=np.full(len(members), INVERSE_TEMPERATURE),
        strange=NOTHING if description.outliers is None else
            strange_cosines([kept.vectors(i) for i in compared], codes[compared]),
    )  # fmt: skip


def _weighed(gallery: Gallery, kept: KeptSets, n_jobs: int | None) -> Gallery:
    """The gallery with the weights and probabilities that its own sets speak for."""
    if gallery.description.weights is None:
        return gallery
    if np.bincount(gallery.codes).min() > 1:
        return _weighed_by_sets(gallery, kept, n_jobs)
    return _weighed_by_halves(gallery, kept, n_jobs)


def _weighed_by_sets(gallery: Gallery, kept: KeptSets, n_jobs: int | None) -> Gallery:
    trials = Trials.of(gallery, tried_sets(len(gallery.codes)), n_jobs)
    weights = log_odds(trials.is_right(), gallery.n_classes)
    weighed, trials = with_weights(gallery, trials, weights, can_choose=True)
    is_right, truth = trials.fused_right(gallery.description.fusion), trials.codes
    if has_learnt_by_heart(gallery):
        is_right, truth = _judged_by_others(weighed, kept, n_jobs)
    return trust_in(weighed, is_right, truth)


def _weighed_by_halves(gallery: Gallery, kept: KeptSets, n_jobs: int | None) -> Gallery:
    """By halves of its sets, each judged by all others; evenly where sets are too small."""
    codes, how = gallery.codes, gallery.description
    chosen = tried_sets(len(codes), MOST_HALVED)
    is_large = np.diff(kept.offsets)[chosen] >= FEWEST_TO_HALVE
    halved = chosen[is_large]
    classes, half_codes = np.unique(np.repeat(codes[halved], 2), return_inverse=True)
    if is_large.mean() < 0.5 or len(classes) < 2:
        return gallery
    rows = [kept.offsets[i] + half for i in halved for half in halves(kept.vectors(i))]
    cut = kept.of_rows(rows)
    plain = replace(how, outliers=None, unknown=None)
    tried = _even(plain, cut.batch(), cut, classes, half_codes, n_jobs, dims=gallery.dims)
    trials = Trials.of(tried, np.arange(len(half_codes)), n_jobs)
    return with_weights(gallery, trials, survivors(trials.is_right()))[0]


def _judged_by_others(
    gallery: Gallery, kept: KeptSets, n_jobs: int | None
) -> tuple[BoolArray, IntArray]:
    """Whether some sets are recognised by a gallery that has never seen them, and classes."""
    known, probes = alternate_sets(gallery.codes)
    sets, classes, codes = gallery.sets[known], gallery.classes, gallery.codes
    plain = replace(gallery.description, unknown=None)
    half = _even(plain, sets, kept.take(known), classes, codes[known], n_jobs)
    place = {member: i for i, member in enumerate(gallery.members)}
    if all(member in place for member in half.members):
        same = [place[member] for member in half.members]
        half = replace(
            half,
            weights=gallery.weights[same],
            inverse_temperatures=gallery.inverse_temperatures[same],
        )

    def code_of(i: int) -> int:
        bases = half.bases_of(kept[i])
        return fuse(score_matrix_of(half, look_at(half, bases)), plain.fusion).code

    answers = list(in_threads(code_of, map(int, probes), n_jobs))
    return np.array(answers) == codes[probes], codes[probes]


def _require_memory(how: Description, shape: GalleryShape, widths: Mapping[str, int]) -> None:
    require_memory(
        bytes_of_whole(how, shape, widths),
        f"an ensemble of {len(how.layers(how.dims))} layers over {shape.n_sets} gallery sets",
        "Give fewer dims or representations, or a smaller gallery.",
    )
