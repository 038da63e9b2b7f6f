"""Classes of unlabelled sets that are judged together, with the labelled ones of a gallery."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.errors import reject
from setwise.gallery.gallery import Gallery, LeftOut
from setwise.sets import SetBatch
from setwise.together.graph import relate
from setwise.together.spread import carriers, class_probabilities, walked

# Parts of the labelled sets that lose their labels in turn.
N_FOLDS = 5
# Smallest share of a carrier that is told.
_WORTH_SAYING = 0.01
# Share of walkers below which a set is not reached.
_REACHED = 1e-6


@dataclass(frozen=True)
class Transduction:
    """What unlabelled sets are, judged together.

    Examples
    --------
    >>> from setwise import CVC
    >>> from setwise.evaluation.testing import separable_sets
    >>> from setwise.together.transduce import transduce
    >>> sets, labels = separable_sets(n_sets=4)
    >>> clf = CVC().fit(sets[::4], labels[::4])
    >>> others = [i for i in range(12) if i % 4]
    >>> found = transduce(clf.gallery_, clf.gallery_.check([sets[i] for i in others], "me"))
    >>> bool((found.codes == labels[others]).all())
    True
    """

    probabilities: FloatArray  # (n_unlabelled, n_classes)
    is_reached: BoolArray  # sets from which a walker comes to any labelled set
    #: Names of unlabelled sets that each one has its class from, and their shares. What is
    #: missing to 1 comes from labelled sets directly.
    carried_by: tuple[tuple[tuple[str, float], ...], ...]
    #: Whether labelled sets that lose their labels in turn are recognised as well together as
    #: alone, or within a standard error of it; None where no class has two.
    is_better: bool | None

    @property
    def codes(self) -> IntArray:
        """Class of each unlabelled set."""
        return self.probabilities.argmax(axis=1)


def transduce(
    gallery: Gallery,
    sets: SetBatch,
    *,
    is_unknown: BoolArray | None = None,
    n_jobs: int | None = None,
    caller: str = "transduce",
) -> Transduction:
    """Spread the labels of a gallery over unlabelled sets.

    Parameters
    ----------
    gallery : Gallery
        Labelled sets, with their vectors.
    sets : SetBatch
        Unlabelled sets that :meth:`setwise.gallery.Gallery.check` has passed.
    is_unknown : array of bool, shape (n_sets,), optional
        Sets of classes that the gallery has not; they pass labels on, and count for no class.
    n_jobs : int, optional
        Threads. Nothing depends on it.
    caller : str
        For messages.

    Examples
    --------
    >>> from setwise import CVC
    >>> from setwise.evaluation.testing import separable_sets
    >>> from setwise.together.transduce import transduce
    >>> sets, labels = separable_sets(n_sets=4)
    >>> clf = CVC().fit(sets[::4], labels[::4])
    >>> transduce(clf.gallery_, clf.gallery_.check([sets[1], sets[6]], "me")).codes
    array([0, 1])
    """
    if not gallery.has_vectors:
        reject(
            f"{caller}: the gallery was saved without its vectors (keep_vectors=False), which "
            "sets are related by. Fit it again, or judge each set alone."
        )
    n_known, n = len(gallery.codes), len(gallery.codes) + len(sets)
    graph = relate(SetBatch.join([gallery.sets, sets]), gallery=gallery, n_jobs=n_jobs)
    steps, codes = graph.steps(), np.full(n, -1)
    codes[:n_known] = gallery.codes
    shares = walked(steps, codes, gallery.n_classes)
    counted = None if is_unknown is None else ~is_unknown
    probabilities = class_probabilities(shares[n_known:], counted)
    carried = []
    for i, code in enumerate(probabilities.argmax(axis=1), start=n_known):
        found = carriers(steps, shares, i, int(code))
        carried.append(
            tuple(
                (sets.names[j - n_known], share)
                for j, share in found
                if j >= n_known and share >= _WORTH_SAYING
            )
        )
    is_better = _is_better(steps, gallery, codes, n_jobs)
    is_reached = shares[n_known:].sum(axis=1) > _REACHED
    return Transduction(probabilities, is_reached, tuple(carried), is_better)


def _is_better(
    steps: sp.csr_array, gallery: Gallery, codes: IntArray, n_jobs: int | None
) -> bool | None:
    """Whether left-out sets are not recognised worse than alone by over a standard error.

    Sets that both ways get right, or wrong, say nothing of which is better. The number of the
    others is small where labels are few, and one set more or less is no reason to leave out
    what all unlabelled sets say.
    """
    if np.bincount(gallery.codes).max() < 2:
        return None
    alone: LeftOut = gallery.left_out(n_jobs)
    found = left_out_together(steps, codes, gallery.n_classes)[alone.sets]
    truth = gallery.codes[alone.sets]
    gain = (found == truth).astype(np.int64) - (alone.codes == truth)
    return bool(gain.sum() >= -np.sqrt(np.abs(gain).sum()))


def left_out_together(steps: sp.csr_array, codes: IntArray, n_classes: int) -> IntArray:
    """Class that each labelled set gets from the others, when it loses its label.

    The sets of each class lose their labels in turn, at most a part of them at a time; one
    that is alone in its class keeps its label, and gets -1, as unlabelled sets do.
    """
    found, fold = np.full(len(codes), -1), np.full(len(codes), -1)
    for code in range(n_classes):
        own = np.flatnonzero(codes == code)
        if len(own) > 1:
            fold[own] = np.arange(len(own)) % min(N_FOLDS, len(own))
    for part in range(int(fold.max()) + 1):
        hidden = np.where(fold == part, -1, codes)
        asked = np.flatnonzero(hidden < 0)
        labels = class_probabilities(walked(steps, hidden, n_classes)[asked]).argmax(axis=1)
        is_tried = fold[asked] == part
        found[asked[is_tried]] = labels[is_tried]
    return found
