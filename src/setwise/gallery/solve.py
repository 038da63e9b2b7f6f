"""From a description and labelled sets to a solved gallery, and from one to the next.

Views, dimensionalities and calibration are learnt from all sets together. A large gallery keeps
them until many sets have changed, and any gallery with ``learn="later"``. Everything
else (columns, graphs, candidates) is exactly as solving its sets afresh would give.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.parallel import one_blas_thread
from setwise._support.parameters import check_choice
from setwise._support.types import BoolArray, IntArray
from setwise._support.warned import warn_user
from setwise.errors import LengthsWarning, reject
from setwise.gallery.bases import InlierSets, tried_sets, usable_dims
from setwise.gallery.calibrate import calibrated
from setwise.gallery.description import Description
from setwise.gallery.gallery import Gallery, UpdatePlan
from setwise.gallery.memory import GalleryShape, known_widths
from setwise.gallery.shortlist import solve_with_shortlist
from setwise.gallery.whole import (
    changed_inliers,
    new_inliers,
    require_memory_of,
    solve_whole,
    with_inliers,
)
from setwise.sets import SetBatch, check_labels, check_sets

# Ratio of a set's longest to its shortest vector from which a warning says that normalising
# discards information. In half of the sets of real images and embeddings it is below 2.
WIDEST_LENGTHS = 10.0
# Sets whose lengths are compared.
MOST_MEASURED = 100
# Sets up to which everything is learnt anew with every change, which takes about a second; in
# larger galleries, when more than this share of the sets have changed.
MOST_ANEW, MOST_CHANGED = 100, 0.2
# When views, weights and thresholds are learnt from the sets of a changed gallery.
LEARN = ("now", "later")


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
        See :meth:`setwise.CVC.describe`.
    sets : SetBatch, list of arrays of shape (n_vectors_i, n_features), or 3-D array
        Gallery sets.
    labels : array of shape (n_sets,)
        Class of each set.
    n_jobs : int, optional
        Threads.
    caller : str
        For messages.

    Examples
    --------
    >>> from setwise import CVC
    >>> from setwise.evaluation.testing import separable_sets
    >>> from setwise.gallery import solve
    >>> len(solve(CVC().describe(), *separable_sets()).sets)
    9
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
    """As :func:`solve`, of checked sets and labels."""
    _compare_lengths(description, sets, codes)
    with one_blas_thread():
        return _solved(description, sets, classes, codes, None, n_jobs)


def _compare_lengths(description: Description, sets: SetBatch, codes: IntArray) -> None:
    """Warn where norms differ so much that normalising vectors discards information."""
    views = [r.view for r in description.representations]
    if any(view.has_lengths for view in views) or all(view.steps for view in views):
        return
    chosen = sets[tried_sets(codes, MOST_MEASURED)]
    lengths = [np.linalg.norm(np.asarray(v, dtype=np.float64), axis=1) for v in chosen]
    ratio = float(np.median([x.max() / x[x > 0].min() for x in lengths]))
    if ratio > WIDEST_LENGTHS:
        warn_user(
            f"the longest vectors of a set are {ratio:.3g} times as long as the shortest. All "
            "are scaled to unit length, so near-zero vectors count as much as long ones. Give "
            'representations=[("lengths", "svd"), ("lengths", "centred"), ("lengths", '
            '"mean")], which keep lengths, alone or beside others.',
            LengthsWarning,
        )


def _solved(
    description: Description,
    sets: SetBatch,
    classes: npt.NDArray[Any],
    codes: IntArray,
    plan: UpdatePlan | None,
    n_jobs: int | None,
) -> Gallery:
    """A gallery that is learnt anew; graphs of the old one are reused where they can be."""
    if description.is_large(len(classes)):
        gallery = solve_with_shortlist(description, sets, classes, codes, n_jobs)
        return calibrated(gallery, None, n_jobs)
    # Memory is checked before any work, by what is known then: the widths of views, and which
    # dimensionalities they leave, are known only when they are fitted.
    least = usable_dims(description.dims, sets.sizes, sets.n_features)
    shape, widths = GalleryShape.of(sets, codes), known_widths(description, sets.n_features)
    require_memory_of(replace(description, dims=least), least, shape, widths)
    inliers = _inliers(description, sets, plan, n_jobs)
    gallery = solve_whole(description, sets, classes, codes, inliers, plan=plan, n_jobs=n_jobs)
    return with_inliers(calibrated(gallery, inliers, n_jobs), inliers)


def _inliers(
    description: Description, sets: SetBatch, plan: UpdatePlan | None, n_jobs: int | None
) -> InlierSets:
    """The inliers of all sets; nothing is computed again of sets that stay."""
    changed = None
    if plan is not None:
        changed = changed_inliers(plan, sets, new_inliers(description, plan, sets, n_jobs))
    return changed or InlierSets.of(description, sets, n_jobs)


def update(
    gallery: Gallery,
    *,
    add: tuple[SetBatch, npt.NDArray[Any]] | None = None,
    is_kept: BoolArray | None = None,
    learn: str = "now",
    n_jobs: int | None = None,
    caller: str = "update",
) -> Gallery:
    """A new gallery, without some sets and with others at its end; the old one stays.

    Exactly as if it had been solved from scratch, but only what has changed is solved again. A
    gallery of more than 100 sets keeps its calibration, views and dimensionalities until a
    fifth of its sets have changed, and any gallery with ``learn="later"``, until it is given to
    :func:`learnt`. Nothing is written: an index is written with its gallery.

    Parameters
    ----------
    gallery, n_jobs, caller
        As for :func:`solve`.
    add : (sets, labels), optional
        Sets that :meth:`Gallery.check` has passed, and labels of the gallery's type.
    is_kept : array of bool, shape (n_sets,), optional
        Which of the old sets stay; all by default.
    learn : {"now", "later"}, default="now"
        With ``"later"``, it is judged by what was learnt before, and
        ``calibration.n_changed`` counts the changes since. A gallery that grows beyond the
        classes that are judged whole, or shrinks to them, learns now.

    Examples
    --------
    >>> from setwise import CVC
    >>> from setwise.evaluation.testing import separable_sets
    >>> from setwise.gallery import update
    >>> sets, labels = separable_sets()
    >>> gallery = CVC().fit(sets, labels).gallery_
    >>> len(update(gallery, is_kept=labels != 2).sets)
    6
    """
    check_choice(caller, "learn", learn, LEARN)
    _check_vectors(gallery, caller)
    stays = np.ones(len(gallery.codes), dtype=np.bool_) if is_kept is None else is_kept
    kept = np.flatnonzero(stays)
    sets = gallery.sets if stays.all() else gallery.sets[kept]
    labels = gallery.classes[gallery.codes[kept]]
    if add is not None:
        sets = SetBatch.join([sets, as_compact(add[0], sets.vectors.dtype)])
        labels = np.concatenate([labels, add[1]])
    classes, codes = check_labels(labels, len(sets), caller=caller)
    with one_blas_thread():
        plan = UpdatePlan(gallery, stays)
        return _updated(plan, sets, classes, codes, learn, n_jobs, caller)


def learnt(gallery: Gallery, *, n_jobs: int | None = None, caller: str = "learnt") -> Gallery:
    """The gallery, with everything learnt anew from its sets, if these have changed since.

    As if it had been solved with its sets; features of images are not computed again.

    Parameters
    ----------
    gallery, n_jobs, caller
        As for :func:`solve`.

    Examples
    --------
    >>> from setwise import CVC
    >>> from setwise.evaluation.testing import separable_sets
    >>> from setwise.gallery import learnt, update
    >>> sets, labels = separable_sets()
    >>> gallery = CVC().fit(sets, labels).gallery_
    >>> changed = update(gallery, is_kept=labels != 2, learn="later")
    >>> changed.calibration.n_changed, learnt(changed).calibration.n_changed
    (3, 0)
    """
    if not gallery.calibration.n_changed:
        return gallery
    _check_vectors(gallery, caller)
    _check_not_zero(gallery.sets, caller)
    everything = UpdatePlan(gallery, np.ones(len(gallery.codes), dtype=np.bool_))
    with one_blas_thread():
        return _solved(
            gallery.description,
            gallery.sets,
            gallery.classes,
            gallery.codes,
            everything,
            n_jobs,
        )


def is_stale(gallery: Gallery) -> bool:
    """Whether so many sets have changed that all should be learnt anew.

    Examples
    --------
    >>> from setwise import CVC
    >>> from setwise.evaluation.testing import separable_sets
    >>> from setwise.gallery import is_stale, update
    >>> sets, labels = separable_sets()
    >>> gallery = CVC().fit(sets, labels).gallery_
    >>> is_stale(gallery), is_stale(update(gallery, is_kept=labels != 2, learn="later"))
    (False, True)
    """
    return _is_stale(len(gallery.sets), gallery.calibration.n_changed)


def _is_stale(n_sets: int, n_changed: int) -> bool:
    return n_changed > (0 if n_sets <= MOST_ANEW else MOST_CHANGED * n_sets)


def _check_vectors(gallery: Gallery, caller: str) -> None:
    """Refuse to change a gallery that was saved without its vectors."""
    if not gallery.has_vectors:
        reject(
            f"{caller}: the gallery was saved without its vectors (keep_vectors=False), from "
            "which views and weights are learnt anew when it changes. Fit it again with all "
            "sets, or change the file that still has them."
        )


def _check_not_zero(sets: SetBatch, caller: str) -> None:
    """Refuse to learn from sets that fit would not have accepted."""
    has_any = np.logical_or.reduceat(sets.vectors.any(axis=1), sets.offsets[:-1])
    if not has_any.all():
        name = sets.names[int(np.argmin(has_any))]
        reject(
            f"{caller}: set {name!r} of the gallery holds nothing but zeros. Expected the "
            "vectors it was fitted with; fit it again with them."
        )


def _updated(
    plan: UpdatePlan,
    sets: SetBatch,
    classes: npt.NDArray[Any],
    codes: IntArray,
    learn: str,
    n_jobs: int | None,
    caller: str,
) -> Gallery:
    old = plan.old
    n_changed = old.calibration.n_changed + len(old.codes) + len(sets) - 2 * plan.n_kept
    is_large = old.description.is_large(len(classes))
    keeps = learn == "later" or not _is_stale(len(sets), n_changed)
    if not (keeps and is_large == old.solution.is_shortlist):  # then vectors are used again
        _check_not_zero(sets, caller)
    if is_large != old.solution.is_shortlist:
        return _solved(old.description, sets, classes, codes, None, n_jobs)
    if not keeps:
        return _solved(old.description, sets, classes, codes, plan, n_jobs)
    changed = replace(old, sets=sets, classes=classes, codes=codes)
    solution = old.solution.updated(changed, plan, n_jobs)
    return replace(changed, solution=solution).calibrated(n_changed=n_changed)


def as_compact(sets: SetBatch, dtype: np.dtype[Any]) -> SetBatch:
    """Sets in the type of a gallery's vectors, where that holds them exactly."""
    with np.errstate(invalid="ignore", over="ignore"):
        smaller = sets.vectors.astype(dtype)
    is_exact = np.array_equal(smaller, sets.vectors)
    return sets.replaced(vectors=smaller) if is_exact else sets
