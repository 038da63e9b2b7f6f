"""Answers for sets that are judged together: their labels also come from each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.progress import Progress
from setwise._support.types import FloatArray, IntArray
from setwise.classify.answer import Answer
from setwise.classify.judge import LEAST_RUNNER_UP, judge
from setwise.gallery.gallery import Gallery
from setwise.sets import SetBatch
from setwise.together import transduce


def judge_together(
    gallery: Gallery,
    sets: Any,
    *,
    others: SetBatch | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    caller: str = "judge_together",
) -> list[Answer]:
    """Judge sets together; one set without others is judged alone.

    Each set is judged alone first, which says whether it is of an unknown class. The labels of
    the gallery are then spread over all sets (:func:`setwise.together.transduce`). Where the
    gallery has two sets of a class, it loses its own labels in turn; if it recognises more
    of these sets alone than together, by over a standard error, all answers are those of
    judging alone.

    Parameters
    ----------
    gallery : Gallery
        With its vectors.
    sets : SetBatch, list of arrays of shape (n_vectors_i, n_features), or 3-D array
        Probes.
    others : SetBatch, optional
        Further unlabelled sets, which get no answers. Copies of probes are left out.
    n_jobs, progress, caller
        As for :func:`setwise.classify.judge`.

    Examples
    --------
    >>> from setwise import CVC
    >>> from setwise.classify import judge_together
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets(n_sets=4)
    >>> gallery = CVC().fit(sets[::4], labels[::4]).gallery_
    >>> answers = judge_together(gallery, sets[1:4])
    >>> [int(answer.label) for answer in answers], len(answers[0].carried_by)
    ([0, 0, 0], 2)
    """
    probes = gallery.check(sets, caller)
    more = [] if others is None else _not_among(others, probes)
    batch = SetBatch.join([probes, *more]) if more else probes
    alone = list(judge(gallery, batch, n_jobs=n_jobs, progress=progress, caller=caller))
    if len(batch) == 1:
        return alone
    is_unknown = np.array([answer.is_known is False for answer in alone])
    found = transduce(gallery, batch, is_unknown=is_unknown, n_jobs=n_jobs, caller=caller)
    if found.is_better is False:
        return alone[: len(probes)]
    carried = found.carried_by
    return [
        _moved(answer, gallery.classes, found.probabilities[i], carried[i])
        if found.is_reached[i]
        else answer
        for i, answer in enumerate(alone[: len(probes)])
    ]


def _not_among(others: SetBatch, probes: SetBatch) -> list[SetBatch]:
    """The others without copies of probes, as one batch; or none."""
    of_type = probes.vectors.dtype
    known = {vectors.tobytes() for vectors in probes}
    kept = [i for i, v in enumerate(others) if v.astype(of_type).tobytes() not in known]
    return [others[kept]] if kept else []


def _moved(
    answer: Answer,
    classes: npt.NDArray[Any],
    everything: FloatArray,
    carried_by: tuple[tuple[str, float], ...],
) -> Answer:
    """An answer with what was found together; whether its class is known stays.

    Of the classes that it was compared with alone: scores and votes are of these.
    """
    probabilities = everything[np.searchsorted(classes, answer.classes)]
    probabilities = probabilities / probabilities.sum()
    first, second = np.argsort(-probabilities, kind="stable")[:2]
    has_rival = probabilities[second] > LEAST_RUNNER_UP
    return replace(
        answer,
        nearest=answer.classes[first],
        probability=float(probabilities[first]),
        runner_up=answer.classes[second] if has_rival else None,
        margin=float(probabilities[first] - probabilities[second]),
        is_informed=True,
        probabilities=probabilities,
        carried_by=carried_by,
    )


def transduced(
    gallery: Gallery,
    unlabelled: SetBatch,
    codes: IntArray,
    unknown_label: Any,
    *,
    n_jobs: int | None = None,
) -> tuple[npt.NDArray[Any], FloatArray]:
    """Labels and class probabilities of all sets of a fit, of which some are unlabelled.

    ``codes`` has the class of each set, -1 where it is unlabelled.
    """
    answers = judge_together(gallery, unlabelled, n_jobs=n_jobs, caller="CVC.fit")
    rows = [answer.probabilities for answer in answers]
    probabilities = np.eye(gallery.n_classes)[codes]
    probabilities[codes < 0] = of_all_classes(gallery.classes, answers, rows)
    labels = gallery.classes[probabilities.argmax(axis=1)]
    is_unknown = np.zeros(len(codes), dtype=np.bool_)
    is_unknown[codes < 0] = [answer.is_known is False for answer in answers]
    if is_unknown.any():
        labels = np.where(is_unknown, np.array([unknown_label]), labels)
    return labels, probabilities


def of_all_classes(
    classes: npt.NDArray[Any],
    answers: Sequence[Answer],
    rows: Sequence[FloatArray],
    others: Any = 0.0,
) -> FloatArray:
    """Rows with a number for every class; ``others`` for classes that are no candidates."""
    everything = np.empty((len(answers), len(classes)))
    everything[:] = np.reshape(others, (-1, 1))
    for filled, answer, row in zip(everything, answers, rows, strict=True):
        filled[np.searchsorted(classes, answer.classes)] = row
    return everything
